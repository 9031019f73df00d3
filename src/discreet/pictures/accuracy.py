"""What privacy costs: errors against epsilon, and against the number of people."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import InvalidValue
from discreet.exact import Rational, Real, confidence, sensitivity
from discreet.pictures.picture import Picture, Spec
from discreet.pictures.points import by_factors, level, name_of, powers, several, short, shown
from discreet.pictures.style import decades, drawn, lines, quantity
from discreet.theory.accuracy import LaplaceNoise
from discreet.theory.losses import Loss
from discreet.theory.planning import central_rms_error
from discreet.theory.response import Response

_EPSILONS = (0.01, 10.0)
_PEOPLE = (10.0, 1e7)


def error(
    *,
    counts: Sequence[int] = (1, 100, 10_000),
    sensitivity: Rational = 1,
    confidence: Rational = "0.95",
) -> Picture:
    """The error of Laplace noise against epsilon, for one number and for the worst of many.

    >>> error(counts=[1, 3143]).title
    'Halve ε and the error doubles'
    """
    width, sure = _sensitivity(sensitivity), _confidence(confidence)
    chosen = sorted(int(count) for count in several(counts, name="counts"))
    if chosen[0] < 1:
        raise InvalidValue(f"{chosen[0]} numbers cannot be released.", hint="counts=1,100")
    names = {k: "one number" if k == 1 else f"the worst of {k:,}" for k in reversed(chosen)}
    # Scales and errors grow together: the tails are worked out once for each k.
    unit = {k: LaplaceNoise(1).error(1 - sure, k) for k in chosen}
    rows: list[Spec] = [
        {
            "epsilon": shown(epsilon),
            "error": shown(float(unit[k]) * float(width / epsilon)),
            "numbers": names[k],
        }
        for k in chosen
        for epsilon in by_factors(*_EPSILONS, 60)
    ]
    every = [row["error"] for row in rows]
    return drawn(
        "Halve ε and the error doubles",
        f"Laplace noise, sensitivity {float(width):g}: the error that is not exceeded with "
        f"{float(sure):.4g} confidence",
        data={"values": rows},
        mark="line",
        encoding={
            "x": quantity(
                "epsilon",
                "ε of the release (smaller is more private)",
                domain=_EPSILONS,
                ticks=powers(*_EPSILONS),
                form="~g",
                log=True,
            ),
            "y": decades("error", "error, in units of the answer", every, form=",~g"),
            **lines("numbers", list(names.values()), "released at this ε"),
        },
    )


def people(*, epsilon: Loss = "ln 3") -> Picture:
    """The error of a fraction against the number of people: Laplace and randomized response."""
    read, label = level(epsilon), name_of(epsilon)
    names = (
        "local: randomized response, as 1/√n",
        "sampling error of any survey, at most",
        "central: Laplace noise, as 1/n",
    )
    response = Response(read)
    rows: list[Spec] = []
    for point in by_factors(*_PEOPLE, 48):
        n = round(point)
        errors: tuple[Real | Fraction, ...] = (
            response.rms_error(people=n),
            short(0.5 / n**0.5),
            central_rms_error(people=n, epsilon=read),
        )
        rows += [
            {"people": n, "error": shown(found), "model": name}
            for name, found in zip(names, errors, strict=True)
        ]
    every = [row["error"] for row in rows]
    return drawn(
        "Without a curator, privacy needs more people",
        f"rms error of a fraction at ε = {label}: ten times the people, a tenth of the error "
        "or only a third",
        data={"values": rows},
        mark="line",
        encoding={
            "x": quantity(
                "people",
                "people n",
                domain=_PEOPLE,
                ticks=powers(*_PEOPLE),
                form="~s",
                log=True,
            ),
            "y": decades("error", "rms error of the fraction", every, form="~%"),
            **lines("model", names),
        },
    )


_sensitivity, _confidence = sensitivity, confidence  # arguments have the same names
