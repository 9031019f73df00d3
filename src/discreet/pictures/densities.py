"""Noise and what it hides: densities of outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import InvalidValue
from discreet.exact import Rational, positive, rational, sensitivity
from discreet.pictures.picture import Picture, Spec
from discreet.pictures.points import evenly, level, name_of, several, short, shown
from discreet.pictures.style import BLUE, FAINT, INK, VERMILION, drawn, lines, quantity
from discreet.theory.accuracy import LaplaceNoise
from discreet.theory.losses import Loss

DENSITY = "probability density"

_TALLEST = 3  # peaks


def laplace(*, scales: Sequence[Rational] = (1, 2, 4)) -> Picture:
    """The density of Laplace noise for several scales.

    >>> laplace(scales=[1, 10]).title
    'Laplace noise: the larger the scale, the wider the noise'
    """
    chosen = sorted(positive(scale, name="scale") for scale in several(scales, name="scales"))
    reach = 4 * float(chosen[-1])
    names = [f"{float(scale):g}" for scale in chosen]
    rows = [
        {"noise": shown(z), "density": shown(LaplaceNoise(scale).density(z)), "scale": name}
        for scale, name in zip(chosen, names, strict=True)
        for z in _around(reach, 4 * float(scale))
    ]
    return drawn(
        "Laplace noise: the larger the scale, the wider the noise",
        "density exp(-|z|/b)/(2b) for scale b = sensitivity/ε; the mean absolute error is b",
        data={"values": rows},
        mark="line",
        encoding={
            "x": quantity("noise", "noise z, in units of the answer", domain=(-reach, reach)),
            "y": quantity("density", DENSITY) | {"scale": {"zero": True}},
            **lines("scale", names, "scale b"),
        },
    )


def neighbours(
    *, epsilon: Loss = 1, sensitivity: Rational = 1, observed: Rational | None = None
) -> Picture:
    """What two neighbouring databases answer, the e^epsilon band, and one observed output."""
    rate, width = level(epsilon), _sensitivity(sensitivity)
    noise = LaplaceNoise((width / rate).upper(40))
    reach = 3.2 * float(noise.scale)
    low, high = short(-reach), short(float(width) + reach)
    seen = width * Fraction(8, 5) if observed is None else rational(observed, name="observed")
    if not 3 * low < seen < 3 * high:
        raise InvalidValue(
            f"observed = {float(seen):g} is too far from the answers, 0 and {float(width):g}, to "
            "be drawn.",
            hint=f"observed={float(2 * width):g}",
        )
    low, high = min(low, seen - width / 2), max(high, seen + width / 2)
    grid = sorted({*evenly(float(low), float(high), 160), Fraction(0), short(float(width))})
    factor = math.exp(float(rate))

    def row(y: Fraction) -> Spec:
        here, there = float(noise.density(y)), float(noise.density(y - width))
        return {
            "output": shown(y),
            "here": shown(here),
            "there": shown(there),
            "above": shown(here * factor),
            "below": shown(here / factor),
            "loss": shown((abs(y - width) - abs(y)) / noise.scale),
        }

    x = quantity("output", "output y, in units of the answer", domain=(float(low), float(high)))
    untitled = {**x, "title": None}
    found = row(seen)
    label = name_of(epsilon)
    data: Spec = {"values": [row(y) for y in grid]}
    point: Spec = {"values": [found]}
    # A band that is far above the densities would press them flat: it is cut off.
    most = min(factor, _TALLEST) / (2 * float(noise.scale))
    density = quantity("here", DENSITY, domain=(0, 1.05 * most))
    top = {
        "width": 560,
        "height": 260,
        "data": data,
        "layer": [
            _band(untitled, density),
            *(
                _density(untitled, {**density, "field": field}, name)
                for field, name in _NAMES.items()
            ),
            _rule(untitled, point),
            *(_dot(untitled, point, field) for field in _NAMES),
        ],
    }
    bottom = {
        "width": 560,
        "height": 140,
        "data": data,
        "layer": [*_losses(x, float(rate), label), _rule(x, point), _dot(x, point, "loss")],
    }
    ratio = math.exp(abs(found["loss"]))
    sides = (_HERE, _THERE) if found["loss"] >= 0 else (_THERE, _HERE)
    bound = (
        f"Laplace noise, sensitivity {float(width):g}, ε = {label}: "
        f"the ratio of the two densities is at most e^ε = {factor:.3g}"
    )
    evidence = (
        f"observed output {float(seen):g}: {ratio:.3g} times likelier with {sides[0]} "
        f"than with {sides[1]}"
    )
    return drawn(
        "What is printed is at most e^ε times likelier than for a neighbour",
        [bound, evidence],
        vconcat=[top, bottom],
        resolve={"scale": {"x": "shared", "color": "independent"}},
    )


_HERE, _THERE, _BAND = "database x", "its neighbour x′", "within e^±ε of x's density"
_NAMES = {"here": _HERE, "there": _THERE}
_LEGEND: Spec = {
    "type": "nominal",
    "title": None,
    "sort": None,
    "scale": {
        "domain": [_HERE, _THERE, _BAND],
        "range": [BLUE, VERMILION, "#bcd8ea"],
    },
    "legend": {
        "symbolType": "square",
        "symbolSize": 180,
        "symbolOpacity": 1,
        "symbolStrokeWidth": 0,
    },
}


def _band(x: Spec, density: Spec) -> Spec:
    return {
        "mark": {"type": "area", "opacity": 0.6, "clip": True},
        "encoding": {
            "x": x,
            "y": {**density, "field": "below"},
            "y2": {"field": "above"},
            "color": {"datum": _BAND, **_LEGEND},
        },
    }


def _density(x: Spec, y: Spec, name: str) -> Spec:
    return {
        "mark": "line",
        "encoding": {"x": x, "y": y, "color": {"datum": name, **_LEGEND}},
    }


def _rule(x: Spec, point: Spec) -> Spec:
    return {
        "data": point,
        "mark": {"type": "rule", "color": INK, "strokeDash": [4, 3]},
        "encoding": {"x": x},
    }


def _dot(x: Spec, point: Spec, field: str) -> Spec:
    return {
        "data": point,
        "mark": {"type": "point", "filled": True, "size": 70, "color": INK, "opacity": 1},
        "encoding": {"x": x, "y": {"field": field, "type": "quantitative"}},
    }


def _losses(x: Spec, rate: float, label: str) -> list[Spec]:
    y = quantity(
        "loss", "privacy loss ln(p/p′)", domain=(-1.35 * rate, 1.35 * rate), ticks=[-rate, 0, rate]
    )
    shown_as = f"datum.value > 0 ? '+ε = {label}' : datum.value < 0 ? '−ε' : '0'"
    y["axis"] |= {"labelExpr": shown_as}
    return [
        {"mark": {"type": "line", "color": FAINT}, "encoding": {"x": x, "y": y}},
        *(
            {
                "data": {"values": [{"loss": end}]},
                "mark": {"type": "rule", "color": FAINT, "strokeDash": [6, 4]},
                "encoding": {"y": {"field": "loss", "type": "quantitative"}},
            }
            for end in (-rate, rate)
        ),
    ]


def _around(reach: float, near: float) -> list[Fraction]:
    """Points over the whole axis, and more of them where this density has its corner."""
    return sorted({*evenly(-reach, reach, 60), *evenly(-near, near, 80)})


_sensitivity = sensitivity  # the argument has the same name
