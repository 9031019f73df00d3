"""Finding where a monotone statement becomes true."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.errors import InvalidScale

_PRECISION = 30
_LARGEST_EXPONENT = 1000


def smallest(holds: Callable[[int], bool], *, start: int = 0, near: int | None = None) -> int:
    """The smallest k >= start for which ``holds``, given that it keeps holding above.

    ``near`` is a guess: the better it is, the fewer steps are taken.

    >>> smallest(lambda k: k * k >= 50), smallest(lambda k: k * k >= 50, near=9)
    (8, 8)
    """
    # Fails at low, or low lies below the start; holds at high, once that is found.
    low, high, step = start - 1, start if near is None else max(start, near), 1
    if holds(high):
        while high - step > low:
            if not holds(high - step):
                low = high - step
                break
            high -= step
            step *= 2
    else:
        low = high
        while not holds(low + step):
            low += step
            step *= 2
        high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def crossing(holds: Callable[[Fraction], bool], *, near: float = 1.0) -> tuple[Fraction, Fraction]:
    """Two positive numbers, one part in 2**30 apart: it fails at the first, holds at the second.

    Given that it fails near 0 and, once it holds, keeps holding above. ``near`` is a guess.

    >>> low, high = crossing(lambda x: x * x >= 2)
    >>> low**2 < 2 <= high**2, float(high / low - 1) < 2**-29
    (True, True)
    >>> crossing(lambda x: x * x >= 2, near=1.4142) == (low, high)
    True
    """
    exponent = math.frexp(near)[1]
    if holds(Fraction(2) ** exponent):
        while holds(Fraction(2) ** (exponent - 1)):
            exponent = _bounded(exponent - 1)
    else:
        exponent = _bounded(exponent + 1)
        while not holds(Fraction(2) ** exponent):
            exponent = _bounded(exponent + 1)
    base = Fraction(2) ** (exponent - 1)
    step = base / 2**_PRECISION
    guess = min(int((Fraction(near) - base) / step), 2**_PRECISION)
    multiple = smallest(lambda k: k >= 2**_PRECISION or holds(base + k * step), start=1, near=guess)
    return base + (multiple - 1) * step, base + multiple * step


def _bounded(exponent: int) -> int:
    if abs(exponent) > _LARGEST_EXPONENT:
        raise InvalidScale(
            "no scale between 2**-1000 and 2**1000 meets what was asked.",
            hint="ask for a less extreme epsilon, delta or error.",
        )
    return exponent
