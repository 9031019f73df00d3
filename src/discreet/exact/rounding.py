"""Outward rounding, with the direction in the name."""

from __future__ import annotations

import math
from fractions import Fraction


def float_down(value: Fraction | int) -> float:
    """The largest float at or below ``value``.

    >>> float_down(Fraction(1, 10)) < Fraction(1, 10) < float_up(Fraction(1, 10))
    True
    >>> float_down(Fraction(1, 2))
    0.5
    """
    return 0.0 - float_up(-value)  # and never -0.0


def float_up(value: Fraction | int) -> float:
    """The smallest float at or above ``value``."""
    try:
        nearest = value.numerator / value.denominator  # correctly rounded for integers
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0)
    if Fraction(nearest) >= value:
        return nearest + 0.0  # a negative number rounds up to 0.0, not to -0.0
    return math.nextafter(nearest, math.inf)


def fraction_up(value: Fraction, *, step: Fraction) -> Fraction:
    """The smallest multiple of ``step`` at or above ``value``.

    >>> fraction_up(Fraction(1, 3), step=Fraction(1, 10))
    Fraction(2, 5)
    """
    return -(-value // step) * step


def fraction_down(value: Fraction, *, step: Fraction) -> Fraction:
    """The largest multiple of ``step`` at or below ``value``."""
    return value // step * step
