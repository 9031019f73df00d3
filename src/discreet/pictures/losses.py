"""Privacy losses: the curve delta(epsilon), and what many releases lose together."""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting import account
from discreet.accounting.advanced import drv
from discreet.errors import InvalidValue
from discreet.events import Event
from discreet.exact import Rational, Real
from discreet.exact import delta as exact_delta
from discreet.pictures.picture import Picture, Spec
from discreet.pictures.points import by_factors, evenly, level, name_of, powers, shown, tiny
from discreet.pictures.style import decades, drawn, lines, quantity
from discreet.theory.divergences import gaussian_delta, laplace_delta
from discreet.theory.losses import Loss
from discreet.theory.randomizers import randomized_response

_LEAST_DELTA = 1e-12
_MOST_QUERIES = 10_000


def delta(*, epsilon: Loss = 1) -> Picture:
    """The least delta against epsilon: randomized response, geometric, Laplace, Gaussian noise.

    The first two, for one person's count, have the same curve.
    """
    read = level(epsilon)
    pure, label = read.lower(40), name_of(epsilon)
    # Laplace noise of scale 1/epsilon has the variance 2/epsilon^2; so has this.
    sigma = (Real(2).sqrt() / read).upper(40)
    names = (
        "Gaussian of the Laplace's variance",
        "randomized response; geometric on a count",
        "Laplace",
    )
    response = randomized_response(Real(pure))

    def gaussian(at: Fraction) -> Real:
        return gaussian_delta(sigma=sigma, sensitivity=Fraction(1), epsilon=at)

    def laplace(at: Fraction) -> Real:
        return laplace_delta(scale=1 / pure, sensitivity=Fraction(1), epsilon=at)

    size = float(read)
    most = 6 * size
    # Near the pure epsilon two of the curves fall without end.
    falling = [pure * (1 - Fraction(1, 10**power)) for power in range(1, 16)]
    below = sorted({*evenly(0, size * 0.999, 60), *falling})
    curves = (
        (names[0], gaussian, evenly(0, most, 120)),
        (names[1], response.delta, below),
        (names[2], laplace, below),
    )
    rows = [
        {"epsilon": shown(at), "delta": shown(found), "mechanism": name}
        for name, curve, points in curves
        for at in points
        if (found := float(curve(at))) >= _LEAST_DELTA / 1000
    ]
    return drawn(
        "Pure noise ends at its ε; Gaussian noise always leaves a δ",
        f"the least δ for which each is (ε, δ)-private; noise for ε = {label}, one count",
        data={"values": rows},
        mark={"type": "line", "clip": True},
        encoding={
            "x": quantity("epsilon", "ε", domain=(0, most)),
            "y": _deltas(),
            **lines("mechanism", names),
        },
    )


def composition(
    *, epsilon: Rational = "0.1", delta: Rational = "1e-6", queries: int = 1000
) -> Picture:
    """What k releases lose together, by basic and advanced composition, zCDP and RDP."""
    most, slack = _many(queries), exact_delta(delta)
    each = level(epsilon).upper(40)
    event = Event("geometric", {"scale": 1 / each}, 1)
    names = (
        "basic: kε",
        "advanced, textbook",
        "zCDP",
        "RDP",
        "optimal for ε-private releases",
    )
    counts = sorted({round(k) for k in by_factors(1, most, 40)})
    rows: list[Spec] = []
    for k in counts:
        batch = {event: k}
        losses = (
            account(batch, accountant="pure").epsilon,
            drv(each, k, slack),
            account(batch, accountant="zcdp", delta=slack).epsilon,
            account(batch, accountant="rdp", delta=slack).epsilon,
            account(batch, accountant="advanced", delta=slack).epsilon,
        )
        rows += [
            {"queries": k, "epsilon": shown(found), "theorem": name}
            for name, found in zip(names, losses, strict=True)
        ]
    every = [row["epsilon"] for row in rows]
    return drawn(
        "What k releases lose together, by four theorems and at best",
        f"k counts with geometric noise, each ε = {name_of(epsilon)}; "
        f"total ε at δ = {tiny(slack)} (basic: at δ = 0)",
        data={"values": rows},
        mark="line",
        encoding={
            "x": quantity(
                "queries",
                "releases k",
                domain=(1, most),
                ticks=_counts(most),
                form=",.0f",
                log=True,
            ),
            "y": decades("epsilon", "total ε (smaller is more private)", every, form=",~g"),
            **lines("theorem", names),
        },
    )


def _counts(most: int) -> list[float]:
    ticks = powers(1, most)
    return ticks if most < 2 * ticks[-1] else [*ticks, most]


def _deltas() -> Spec:
    ticks = powers(_LEAST_DELTA, 1)[::2]
    axis = quantity("delta", "least δ", domain=(_LEAST_DELTA, 1), ticks=ticks, log=True)
    axis["axis"] |= {"labelExpr": "datum.value === 1 ? '1' : format(datum.value, '.0e')"}
    return axis


def _many(queries: int) -> int:
    if not 2 <= queries <= _MOST_QUERIES:
        raise InvalidValue(
            f"queries = {queries} cannot be drawn: from 2 to {_MOST_QUERIES:,}.",
            hint="queries=1000",
        )
    return queries
