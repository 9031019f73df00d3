"""Where curves are sampled, and numbers as they are written into a specification."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeVar

from discreet.errors import InvalidEpsilon, InvalidValue
from discreet.exact import Real
from discreet.theory.losses import Loss, loss

Value = TypeVar("Value")

_DIGITS = 6
_SMALLEST, _LARGEST = 1e-4, 20.0


def evenly(low: float, high: float, steps: int) -> list[Fraction]:
    """Points at equal distances, both ends included."""
    return [short(low + (high - low) * step / steps) for step in range(steps + 1)]


def by_factors(low: float, high: float, steps: int) -> list[Fraction]:
    """Points at equal ratios, both ends included: for logarithmic axes."""
    return [short(low * (high / low) ** (step / steps)) for step in range(steps + 1)]


def powers(low: float, high: float) -> list[float]:
    """The powers of ten from one number to another: the ticks of a logarithmic axis."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [float(f"1e{power}") for power in range(first, last + 1)]


def short(number: float) -> Fraction:
    """A number with few digits: what is computed there is exact, and fast."""
    return Fraction(f"{number:.{_DIGITS}g}")


def shown(number: Real | Fraction | float) -> float:
    """A number as a specification holds it: more digits than any screen has pixels."""
    return float(f"{float(number):.{_DIGITS}g}")


def tiny(delta: Fraction) -> str:
    """A delta as people write it.

    >>> tiny(Fraction(1, 10**6)), tiny(Fraction(1, 20))
    ('1e-6', '0.05')
    """
    return f"{float(delta):g}".replace("e-0", "e-")


def level(epsilon: Loss, *, name: str = "epsilon") -> Real:
    """An epsilon that can be drawn."""
    read = loss(epsilon)
    if not _SMALLEST <= float(read) <= _LARGEST:
        raise InvalidEpsilon(
            f"{name} = {epsilon} cannot be drawn: from {_SMALLEST:g} to {_LARGEST:g}.",
            hint=f"{name}=1",
        )
    return read


def name_of(epsilon: Loss) -> str:
    """An epsilon as a label: as it was written, where that is short.

    >>> name_of("ln 3"), name_of("1/3"), name_of(0.5)
    ('ln 3', '0.333', '0.5')
    """
    if isinstance(epsilon, str) and "ln" in epsilon:
        return epsilon.strip()
    return f"{float(level(epsilon)):.3g}"


def several(values: Iterable[Value], *, name: str, most: int = 5) -> list[Value]:
    """One to five values: more lines than that nobody can tell apart."""
    listed = list(values)
    if not 1 <= len(listed) <= most:
        raise InvalidValue(
            f"{name} has {len(listed)} values: a picture shows 1 to {most}.",
            hint=f"{name}=1,2,4",
        )
    return listed
