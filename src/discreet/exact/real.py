"""Computable reals: numbers known to as many bits as anyone asks for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from discreet.errors import Undecided
from discreet.exact import balls
from discreet.exact.balls import arb
from discreet.exact.rounding import float_down, float_up

Number: TypeAlias = "int | Fraction | Real"

# Where two reals still overlap at this precision they are taken to be equal, and a comparison is
# refused rather than guessed.
_MOST_BITS = 1 << 15


class Real:
    """A real number, given by a rule that encloses it in a ball at any precision.

    Arithmetic builds new rules; nothing is rounded until a question is asked, and then only
    outward or to the nearest float. Rationals stay rational.

    >>> x = Real(2).log()
    >>> float(x)
    0.6931471805599453
    >>> x < Fraction(7, 10), Real(Fraction(1, 3)) + Fraction(2, 3) == 1
    (True, True)
    """

    __slots__ = ("_rule", "exact")

    def __init__(self, value: Number | Callable[[], arb]) -> None:
        """``value`` is a number, or a function that computes a ball at the current precision."""
        self.exact: Fraction | None = None
        self._rule: Callable[[], arb]
        if isinstance(value, Real):
            self.exact = value.exact
            self._rule = value._rule
        elif isinstance(value, int | Fraction):
            exact = self.exact = Fraction(value)
            self._rule = lambda: balls.from_fraction(exact)
        elif callable(value):
            self._rule = value
        else:
            raise TypeError(
                f"a Real is made from an int, a Fraction or a rule, not {type(value).__name__}"
            )

    @staticmethod
    def sum_of(terms: Iterable[Number]) -> Real:
        """The sum of many numbers, in one flat rule (a chain of ``+`` nests as deep as it is long).

        >>> float(Real.sum_of(Real(n).sqrt() for n in range(5000)))
        235666.6977594872
        """
        rational, rules = Fraction(0), []
        for term in map(Real, terms):
            if term.exact is None:
                rules.append(term._rule)
            else:
                rational += term.exact
        if not rules:
            return Real(rational)
        return Real(lambda: sum((rule() for rule in rules), balls.from_fraction(rational)))

    @staticmethod
    def max_of(first: Number, *others: Number) -> Real:
        """The largest of several numbers, without having to decide which one it is.

        >>> Real.max_of(Real(2).log(), Real(4).log() / 2, Fraction(1, 2)).float_up()
        0.6931471805599454
        """
        numbers = [Real(first), *map(Real, others)]
        exact = [number.exact for number in numbers if number.exact is not None]
        rules = [number._rule for number in numbers if number.exact is None]
        if exact:
            rules.append(Real(max(exact))._rule)
        if len(exact) == len(numbers):
            return Real(max(exact))
        return Real(lambda: reduce(arb.max, (rule() for rule in rules)))

    # Questions ---------------------------------------------------------------------------------

    def ball(self, bits: int = 64) -> arb:
        """A ball around the number with a relative accuracy of at least ``bits`` bits.

        A number that is zero, or indistinguishable from it, gets the narrowest ball found.
        """
        working = bits + 16
        while True:
            ball = self.enclosure(working)
            if ball.is_finite() and ball.rel_accuracy_bits() >= bits:
                return ball
            if working >= _MOST_BITS:
                return ball
            working = min(2 * working, _MOST_BITS)

    def enclosure(self, bits: int) -> arb:
        """The rule's ball when computed with ``bits`` working bits, however wide it is."""
        with balls.precision(bits):
            return self._rule()

    def lower(self, bits: int = 64) -> Fraction:
        """A rational at or below the number, tight to about ``bits`` bits."""
        return balls.lower(self.ball(bits)) if self.exact is None else self.exact

    def upper(self, bits: int = 64) -> Fraction:
        """A rational at or above the number, tight to about ``bits`` bits."""
        return balls.upper(self.ball(bits)) if self.exact is None else self.exact

    def float_down(self) -> float:
        """A float at or below the number (the largest, but for one unit in the last place)."""
        if self.exact is not None:
            return float_down(self.exact)
        return float_down(balls.lower(self._within_floats(80)))

    def float_up(self) -> float:
        """A float at or above the number (the smallest, but for one unit in the last place)."""
        if self.exact is not None:
            return float_up(self.exact)
        return float_up(balls.upper(self._within_floats(80)))

    def _within_floats(self, bits: int) -> arb:
        """The ball, or one that no float reaches either where the number is that large."""
        ball = self.ball(bits)
        far = arb(2) ** 1100
        return far if ball > far else -far if ball < -far else ball

    def floor(self) -> int:
        """The largest integer at or below the number."""
        if self.exact is not None:
            return math.floor(self.exact)
        for bits in _doubling():
            with balls.precision(bits):  # floor itself rounds to the current precision
                whole = self._rule().floor().unique_fmpz()
            if whole is not None:
                return int(whole)
        raise _undecided("the integer below a number")

    def sign(self) -> int:
        """-1, 0 or 1; zero only when the number is exactly the rational 0."""
        if self.exact is not None:
            return (self.exact > 0) - (self.exact < 0)
        for bits in _doubling():
            ball = self.enclosure(bits)
            if ball > 0:
                return 1
            if ball < 0:
                return -1
        raise _undecided("the sign of a difference")

    def __float__(self) -> float:
        """The nearest float (ties and numbers within 2**-200 of one aside)."""
        if self.exact is not None:
            return _float(self.exact)
        for bits in (64, 128, 256):
            ball = self._within_floats(bits)
            low, high = _float(balls.lower(ball)), _float(balls.upper(ball))
            if low == high:
                break
        return low

    def __repr__(self) -> str:
        return f"Real({self.exact if self.exact is not None else float(self)!r})"

    # Comparison --------------------------------------------------------------------------------

    def __lt__(self, other: Number) -> bool:
        return (self - other).sign() < 0

    def __le__(self, other: Number) -> bool:
        return (self - other).sign() <= 0

    def __gt__(self, other: Number) -> bool:
        return (self - other).sign() > 0

    def __ge__(self, other: Number) -> bool:
        return (self - other).sign() >= 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | Fraction | Real):
            return (self - other).sign() == 0
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equality of reals is not decidable

    # Arithmetic --------------------------------------------------------------------------------

    def __add__(self, other: Number) -> Real:
        that = Real(other)
        if self.exact is not None and that.exact is not None:
            return Real(self.exact + that.exact)
        return Real(lambda: self._rule() + that._rule())

    def __mul__(self, other: Number) -> Real:
        that = Real(other)
        if self.exact is not None and that.exact is not None:
            return Real(self.exact * that.exact)
        if self.exact == 0 or that.exact == 0:
            return Real(0)
        return Real(lambda: self._rule() * that._rule())

    def __truediv__(self, other: Number) -> Real:
        that = Real(other)
        if that.exact is not None:
            return self * (1 / that.exact)
        return Real(lambda: self._rule() / that._rule())

    def __rtruediv__(self, other: int | Fraction) -> Real:
        return Real(other) / self

    def __neg__(self) -> Real:
        return self * -1

    def __sub__(self, other: Number) -> Real:
        return self + -Real(other)

    def __rsub__(self, other: int | Fraction) -> Real:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    def __pow__(self, power: int) -> Real:
        if self.exact is not None:
            return Real(self.exact**power)
        return Real(lambda: self._rule() ** power)

    def __abs__(self) -> Real:
        return Real(abs(self.exact)) if self.exact is not None else Real(lambda: abs(self._rule()))

    # Functions ---------------------------------------------------------------------------------

    def exp(self) -> Real:
        """e to this power."""
        return Real(1) if self.exact == 0 else Real(lambda: self._rule().exp())

    def expm1(self) -> Real:
        """e to this power, less 1, without cancellation."""
        return Real(0) if self.exact == 0 else Real(lambda: self._rule().expm1())

    def log(self) -> Real:
        """The natural logarithm."""
        return Real(0) if self.exact == 1 else Real(lambda: self._rule().log())

    def sqrt(self) -> Real:
        """The square root, exact where it is rational."""
        if self.exact is not None and self.exact >= 0:
            roots = (math.isqrt(self.exact.numerator), math.isqrt(self.exact.denominator))
            root = Fraction(*roots)
            if root * root == self.exact:
                return Real(root)
        return Real(lambda: self._rule().sqrt())

    def normal_cdf(self) -> Real:
        """The standard normal distribution function, accurate in both tails.

        >>> float(Real(0).normal_cdf()), float(Real(-30).normal_cdf()) > 0
        (0.5, True)
        """
        return Real(lambda: (self._rule() * -(arb(2).rsqrt())).erfc() / 2)

    def normal_quantile(self) -> Real:
        """The inverse of ``normal_cdf``; the number must lie between 0 and 1.

        >>> float(Real(Fraction(39, 40)).normal_quantile())
        1.9599639845400543
        """
        return Real(lambda: (2 * self._rule()).erfcinv() * -(arb(2).sqrt()))


def _doubling() -> list[int]:
    return [1 << power for power in range(6, _MOST_BITS.bit_length())]


def _float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _undecided(what: str) -> Undecided:
    return Undecided(
        f"{what} could not be decided with {_MOST_BITS} bits: the two sides are probably equal.",
        hint="compare with a rational slightly to one side, or use lower() and upper().",
    )
