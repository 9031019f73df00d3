"""Interval arithmetic: the range that an expression cannot leave, whatever the rows hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Interval:
    """All numbers from ``low`` to ``high``; None means that there is no bound on that side.

    >>> Interval(Fraction(-1), Fraction(2)) * Interval(Fraction(3), Fraction(4))
    Interval(-4, 8)
    >>> Interval(Fraction(0), None) + Interval(Fraction(1), Fraction(2))
    Interval(1, None)
    """

    low: Fraction | None = None
    high: Fraction | None = None

    @staticmethod
    def of(low: int | Fraction, high: int | Fraction) -> Interval:
        """A bounded interval."""
        return Interval(Fraction(low), Fraction(high))

    @staticmethod
    def point(value: int | Fraction) -> Interval:
        """One number."""
        return Interval.of(value, value)

    def __repr__(self) -> str:
        return f"Interval({self.low}, {self.high})"

    @property
    def bounded(self) -> tuple[Fraction, Fraction] | None:
        """Both bounds, or None where one is missing."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def magnitude(self) -> Fraction | None:
        """The largest absolute value."""
        both = self.bounded
        return None if both is None else max(abs(both[0]), abs(both[1]))

    def __neg__(self) -> Interval:
        return Interval(
            None if self.high is None else -self.high, None if self.low is None else -self.low
        )

    def __add__(self, other: Interval) -> Interval:
        return Interval(_both(self.low, other.low), _both(self.high, other.high))

    def __sub__(self, other: Interval) -> Interval:
        return self + -other

    def __mul__(self, other: Interval) -> Interval:
        if Interval.point(0) in (self, other):
            return Interval.point(0)
        mine, theirs = self.bounded, other.bounded
        if mine is None or theirs is None:
            return Interval()  # a sign analysis would be finer; nobody has needed it
        products = [x * y for x in mine for y in theirs]
        return Interval(min(products), max(products))

    def __truediv__(self, other: Interval) -> Interval:
        divisor = other.bounded
        if divisor is None or divisor[0] <= 0 <= divisor[1]:
            return Interval()
        return self * Interval(1 / divisor[1], 1 / divisor[0])

    def __abs__(self) -> Interval:
        if self.low is not None and self.low >= 0:
            return self
        if self.high is not None and self.high <= 0:
            return -self
        return Interval(Fraction(0), self.magnitude)

    def map(self, monotone: Callable[[Fraction], int | Fraction]) -> Interval:
        """The image under a function that never decreases."""
        return Interval(
            None if self.low is None else Fraction(monotone(self.low)),
            None if self.high is None else Fraction(monotone(self.high)),
        )

    def clamp(self, low: Fraction, high: Fraction) -> Interval:
        """What is left after values outside [low, high] were moved to its ends."""
        return Interval(
            low if self.low is None else min(max(self.low, low), high),
            high if self.high is None else min(max(self.high, low), high),
        )


def hull(intervals: Iterable[Interval]) -> Interval:
    """The smallest interval that holds them all; of nothing, no interval is known."""
    parts = list(intervals)
    if not parts:
        return Interval()
    lows = [part.low for part in parts]
    highs = [part.high for part in parts]
    return Interval(
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
    )


def _both(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return None if left is None or right is None else left + right
