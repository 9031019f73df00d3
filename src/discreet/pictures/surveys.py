"""Have you ever ...? One survey, with a curator and without."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.exact import Rational, probability
from discreet.pictures.picture import Picture, Spec
from discreet.pictures.points import level, name_of, several, shown
from discreet.pictures.style import BLUE, FAINT, VERMILION, drawn, from_zero
from discreet.theory.accuracy import GeometricNoise
from discreet.theory.losses import Loss
from discreet.theory.response import Response

_CENTRAL, _LOCAL = "central: a curator adds noise once", "local: everybody answers with noise"
_TITLE = "estimated share of yes"
_NORMAL = 1.959964  # half the width of the middle 95 % of a standard normal


def survey(
    *,
    epsilons: Sequence[Loss] = ("0.1", "0.5", "ln 3", "3"),
    people: int = 1000,
    share: Rational = "0.2",
) -> Picture:
    """Where 95 % of the estimates fall, with a curator and without, for several epsilons."""
    truth = float(probability(share, name="share"))
    chosen = sorted(
        several(epsilons, name="epsilons", most=6),
        key=lambda each: float(level(each, name="epsilons")),
    )
    names = [f"ε = {name_of(epsilon)}" for epsilon in chosen]
    rows: list[Spec] = []
    for epsilon, name in zip(chosen, names, strict=True):
        read = level(epsilon)
        local = _NORMAL * float(Response(read).rms_error(people=people))
        central = GeometricNoise.for_privacy(sensitivity=1, epsilon=read).error("0.05") / people
        rows += [
            {
                "epsilon": name,
                "model": model,
                "share": truth,
                "low": shown(truth - reach),
                "high": shown(truth + reach),
                "reach": f"± {_points(float(reach))} points",
            }
            for model, reach in ((_CENTRAL, central), (_LOCAL, local))
        ]
    return drawn(
        "“Have you ever ...?” with a curator and without",
        [
            f"{people:,} people, {100 * truth:.4g} % would say yes; bars hold 95 % of estimates",
            "an estimate below 0 % or above 100 % says: too few people for this ε",
        ],
        width=560,
        height={"step": 24},
        data={"values": rows},
        encoding=_places(names),
        layer=[_truth(truth), *_bars()],
    )


def _points(reach: float) -> str:
    points = 100 * reach
    return f"{points:,.0f}" if points >= 10 else f"{points:.2g}"


_MODELS = [_CENTRAL, _LOCAL]


def _places(names: Sequence[str]) -> Spec:
    return {
        "y": {
            "field": "epsilon",
            "type": "nominal",
            "sort": list(names),
            "title": None,
            "scale": {"paddingInner": 0.3},
            "axis": {"domain": False, "ticks": False, "labelPadding": 8},
        },
        "yOffset": {"field": "model", "type": "nominal", "sort": _MODELS},
    }


def _bars() -> list[Spec]:
    colour: Spec = {
        "field": "model",
        "type": "nominal",
        "title": None,
        "scale": {"domain": _MODELS, "range": [BLUE, VERMILION]},
        "legend": {"orient": "bottom", "columns": 2, "symbolType": "square", "symbolSize": 180},
    }
    return [
        {
            "mark": {"type": "bar", "height": 14},
            "encoding": {
                "x": from_zero("low", _TITLE, form="~%"),
                "x2": {"field": "high"},
                "color": colour,
            },
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 7},
            "encoding": {
                "x": {"field": "high", "type": "quantitative"},
                "text": {"field": "reach"},
            },
        },
    ]


def _truth(share: float) -> Spec:
    x = {"datum": share, **from_zero("low", _TITLE, form="~%")}
    del x["field"]
    return {
        "mark": {"type": "rule", "color": FAINT, "strokeDash": [4, 3], "strokeWidth": 1.5},
        "encoding": {"x": x, "y": None, "yOffset": None},
    }
