"""Sums and roundings that may only err on the safe side."""

from __future__ import annotations

import math
from fractions import Fraction

# Sums are exact until their denominator would be longer than this; what comes after is rounded
# up. Sums of decimals stay exact for ever; sums of unrelated rationals double in length each time.
_LONGEST_DENOMINATOR = 1 << 512
_FINE = 1 << 256


class Sum:
    """A running sum of amounts that are at least 0: exact, or rounded up by less than 2**-255.

    >>> total = Sum()
    >>> total.add(Fraction(1, 10), times=1_000_000)
    >>> total.value
    Fraction(100000, 1)
    """

    __slots__ = ("_bottom", "_fine", "_top")

    def __init__(self) -> None:
        # top / bottom, not reduced: adding to it costs no greatest common divisor.
        self._top, self._bottom = 0, 1
        self._fine = 0

    def add(self, amount: Fraction, *, times: int = 1) -> None:
        """Add ``amount``, ``times`` over."""
        top, bottom = times * amount.numerator, amount.denominator
        if self._bottom % bottom:
            common = math.lcm(self._bottom, bottom)
            if common > _LONGEST_DENOMINATOR:
                self._fine -= -top * _FINE // bottom
                return
            self._top *= common // self._bottom
            self._bottom = common
        self._top += top * (self._bottom // bottom)

    @property
    def value(self) -> Fraction:
        """The sum, never below the true one."""
        exact = Fraction(self._top, self._bottom)
        return exact + Fraction(self._fine, _FINE) if self._fine else exact


def significant_up(value: Fraction, digits: int = 15) -> Fraction:
    """The smallest decimal of ``digits`` significant digits at or above a positive ``value``.

    >>> significant_up(Fraction(2, 3), 3), significant_up(Fraction(1, 8), 3)
    (Fraction(667, 1000), Fraction(1, 8))
    """
    step = _step(value, digits)
    return -(-value // step) * step


def significant_down(value: Fraction, digits: int = 15) -> Fraction:
    """The largest decimal of ``digits`` significant digits at or below a positive ``value``."""
    step = _step(value, digits)
    return value // step * step


def shown_up(value: Fraction, *, digits: int = 6) -> str:
    """An amount for people to read, rounded up.

    >>> shown_up(Fraction(1, 3)), shown_up(Fraction(1, 10**6), digits=3), shown_up(Fraction(0))
    ('0.333334', '1e-06', '0')
    """
    return f"{float(significant_up(value, digits)):.{digits}g}"


def shown_down(value: Fraction, *, digits: int = 6) -> str:
    """An amount for people to read, rounded down."""
    return f"{float(significant_down(value, digits)):.{digits}g}"


def log(value: Fraction) -> float:
    """The natural logarithm, about right, of a positive rational too large or small for a float."""
    return math.log(value.numerator) - math.log(value.denominator)


def _step(value: Fraction, digits: int) -> Fraction:
    if value <= 0:
        return Fraction(1)
    leading = math.floor(log(value) / math.log(10))
    return Fraction(10) ** (leading + 1 - digits)
