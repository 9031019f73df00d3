"""Finding where a monotone statement becomes true."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.errors import InvalidScale

_PRECISION = 30
_LARGEST_EXPONENT = 1000


def smallest(holds: Callable[[int], bool], *, start: int = 0) -> int:
    """The smallest k >= start for which ``holds``, given that it keeps holding above.

    >>> smallest(lambda k: k * k >= 50)
    8
    """
    if holds(start):
        return start
    step = 1
    while not holds(start + step):
        step *= 2
    low, high = start + step // 2, start + step  # fails at low (or low is start), holds at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def crossing(holds: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """Two positive numbers, one part in 2**30 apart: it fails at the first, holds at the second.

    Given that it fails near 0 and, once it holds, keeps holding above.

    >>> low, high = crossing(lambda x: x * x >= 2)
    >>> low**2 < 2 <= high**2, float(high / low - 1) < 2**-29
    (True, True)
    """
    exponent = 0
    if holds(Fraction(1)):
        while holds(Fraction(2) ** (exponent - 1)):
            exponent = _bounded(exponent - 1)
    else:
        exponent = 1
        while not holds(Fraction(2) ** exponent):
            exponent = _bounded(exponent + 1)
    base = Fraction(2) ** (exponent - 1)
    step = base / 2**_PRECISION
    multiple = smallest(lambda k: k == 2**_PRECISION or holds(base + k * step), start=1)
    return base + (multiple - 1) * step, base + multiple * step


def _bounded(exponent: int) -> int:
    if abs(exponent) > _LARGEST_EXPONENT:
        raise InvalidScale(
            "no scale between 2**-1000 and 2**1000 meets what was asked.",
            hint="ask for a less extreme epsilon, delta or error.",
        )
    return exponent
