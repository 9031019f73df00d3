"""How fine and how large the doubles of an expression can be, in powers of two.

PostgreSQL raises where a double overflows or underflows, other engines go on with infinity or zero.
So that no row can make a query fail, and every engine computes the same, products and quotients
are kept away from both ends: this is known beforehand for most of them, and where it is not, an
operand that is too large counts as NULL and one that is too small as 0 (see ``operations``).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

MODERATE = 400
"""Reals without bounds are 0 or lie between 2**-400 and 2**400 in magnitude, about 1e120."""

SAFE = 1000
"""Doubles end near 2**1024 and 2**-1074: up to here nothing overflows or underflows."""

_DIGITS = 53


@dataclass(frozen=True, slots=True)
class Scale:
    """Values are multiples of ``2**finest``, and none is larger than ``2**largest``."""

    finest: int
    largest: int

    @staticmethod
    def of(value: Fraction) -> Scale:
        """A number, or the double nearest to it.

        >>> Scale.of(Fraction(6)), Scale.of(Fraction(1, 10))
        (Scale(finest=0, largest=3), Scale(finest=-57, largest=-3))
        """
        if value == 0:
            return Scale(0, 0)
        power = exponent(abs(value))
        whole = value.denominator == 1 and power <= _DIGITS
        return Scale(0 if whole else power - _DIGITS, power + 1)

    def join(self, other: Scale) -> Scale:
        """Values of both."""
        return Scale(min(self.finest, other.finest), max(self.largest, other.largest))

    def within(self, magnitude: Fraction) -> Scale:
        """Values that are cut off at a magnitude, or at the double nearest to it.

        >>> Scale(0, 64).within(Fraction(6))
        Scale(finest=0, largest=4)
        """
        most = exponent(magnitude) + 2 if magnitude else 0
        return Scale(self.finest, min(self.largest, most))

    def __add__(self, other: Scale) -> Scale:
        return Scale(min(self.finest, other.finest), max(self.largest, other.largest) + 1)

    def __mul__(self, other: Scale) -> Scale:
        return Scale(self.finest + other.finest, self.largest + other.largest)

    def __truediv__(self, other: Scale) -> Scale:
        return Scale(self.finest - other.largest - _DIGITS - 1, max(self.largest - other.finest, 0))

    def root(self) -> Scale:
        """Of square roots."""
        return Scale(self.finest // 2 - _DIGITS - 1, -(-self.largest // 2))

    def whole(self) -> Scale:
        """Of whole numbers nearby."""
        return Scale(0, max(self.largest, 0) + 1)


def exponent(value: Fraction) -> int:
    """The power of two at or just below a positive number.

    >>> exponent(Fraction(1, 3)), exponent(Fraction(4))
    (-2, 2)
    """
    power = value.numerator.bit_length() - value.denominator.bit_length()
    return power if Fraction(2) ** power <= value else power - 1


ANY = Scale(-1074, 1024)
"""Whatever a double can be."""

WHOLE = Scale(0, 64)
"""Whole numbers of an engine."""

CLEANED = Scale(-MODERATE - _DIGITS, MODERATE)
"""Cells of a snapshot: 0 or moderate."""
