"""Privacy losses: logarithms of ratios, compared exactly, and the one that is infinite."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NoReturn, TypeAlias

from discreet.errors import InvalidEpsilon
from discreet.exact import Rational, Real, balls, rational

Loss: TypeAlias = Rational | Real
"""What is accepted as an epsilon: a number, text such as "0.1" or "ln 3", or a Real."""

# Powers up to this size are multiplied out; beyond it a sum of logarithms is left as it stands.
_LARGEST_POWER = 4096

# Losses that differ are told apart with far fewer bits than this.
_RACE_BITS = 256

_LOGARITHM = re.compile(r"ln\s*\(?\s*([^()\s]+)\s*\)?")


class Log(Real):
    """``times * ln(argument)`` for rationals.

    Two of them can always be told apart or found equal, which two reals in general cannot. Their
    exponentials are exact where they are rational.

    >>> Log(3) + Log(3) == Log(9), Log(9) / 2 == Log(3), Log(3) < Fraction(11, 10)
    (True, True, True)
    >>> Log(3).exp()
    Real(Fraction(3, 1))
    """

    __slots__ = ("argument", "times")

    def __init__(self, argument: int | Fraction, times: int | Fraction = 1) -> None:
        self.argument = Fraction(argument)
        self.times = Fraction(times)
        if self.argument <= 0:
            raise InvalidEpsilon(
                f"ln({argument}) is not a number: a logarithm needs a positive argument.",
                hint="Log(3) is the loss of two fair coins.",
            )
        while self.times.denominator % 2 == 0 and (root := Real(self.argument).sqrt().exact):
            if root == self.argument:
                break
            self.argument, self.times = root, self.times * 2
        if self.argument == 1 or self.times == 0:
            super().__init__(0)
        else:
            # The rule must not hold the object that holds it.
            base, many = self.argument, self.times
            super().__init__(lambda: balls.from_fraction(base).log() * balls.from_fraction(many))

    def sign(self) -> int:
        """-1, 0 or 1, always decided."""
        side = (self.argument > 1) - (self.argument < 1)
        return side * ((self.times > 0) - (self.times < 0))

    def exp(self) -> Real:
        """The ratio itself, exact where it is rational."""
        if self.times.denominator <= 2 and abs(self.times.numerator) <= _LARGEST_POWER:
            power = Real(self.argument**self.times.numerator)
            return power if self.times.denominator == 1 else power.sqrt()
        return super().exp()

    def __add__(self, other: Any) -> Real:
        if isinstance(other, Log):
            common = math.lcm(self.times.denominator, other.times.denominator)
            ours, theirs = self.times * common, other.times * common
            if self.argument == other.argument:
                return Log(self.argument, self.times + other.times)
            if max(abs(ours), abs(theirs)) <= _LARGEST_POWER:
                product = self.argument**ours.numerator * other.argument**theirs.numerator
                return Log(product, Fraction(1, common))
        if isinstance(other, Infinity):
            return other
        if not isinstance(other, Real) and other == 0:
            return self
        return super().__add__(other)

    def __mul__(self, other: Any) -> Real:
        factor = other.exact if isinstance(other, Real) else other
        if isinstance(factor, int | Fraction):
            return Log(self.argument, self.times * factor)
        return super().__mul__(other)

    def __sub__(self, other: Any) -> Real:
        negative: int | Fraction | Real = -other
        return self + negative

    def __neg__(self) -> Log:
        return Log(self.argument, -self.times)

    __radd__ = __add__
    __rmul__ = __mul__

    def __repr__(self) -> str:
        times = "" if self.times == 1 else f"{self.times} * "
        return f"{times}ln({self.argument})"


class Infinity(Real):
    """The loss of a mechanism that gives something away for certain: above every number.

    >>> Log(3) < INFINITY, Log(3) > -INFINITY, float(INFINITY)
    (True, True, inf)
    """

    __slots__ = ("side",)

    def __init__(self, side: int = 1) -> None:
        self.side = side
        super().__init__(balls.arb.pos_inf if side > 0 else balls.arb.neg_inf)

    def sign(self) -> int:
        """1 for infinity, -1 for minus infinity."""
        return self.side

    def exp(self) -> Real:
        """Infinity, or 0."""
        return self if self.side > 0 else Real(0)

    def log(self) -> Real:
        """Infinity, of itself."""
        return self if self.side > 0 else super().log()

    def lower(self, bits: int = 64) -> NoReturn:
        """No rational is infinite."""
        raise OverflowError(f"infinity is not a rational, with {bits} bits or more")

    upper = lower

    def float_up(self) -> float:
        """The float that is infinite as well."""
        return self.side * math.inf

    float_down = __float__ = float_up

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Infinity) and other.side == self.side

    __hash__ = None

    def __lt__(self, other: Any) -> bool:
        return self.side < 0 and self != other

    def __le__(self, other: Any) -> bool:
        return self.side < 0 or self == other

    def __gt__(self, other: Any) -> bool:
        return self.side > 0 and self != other

    def __ge__(self, other: Any) -> bool:
        return self.side > 0 or self == other

    def __add__(self, other: Any) -> Real:
        if isinstance(other, Infinity) and other.side != self.side:
            raise ArithmeticError("infinity less infinity is no number")
        return self

    def __mul__(self, other: Any) -> Real:
        side = Real(other).sign() if not isinstance(other, Real) else other.sign()
        if side == 0:
            raise ArithmeticError("infinity times 0 is no number")
        return Infinity(side * self.side)

    def __sub__(self, other: Any) -> Real:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Real:
        return Infinity(-self.side).__add__(other)

    def __neg__(self) -> Real:
        return Infinity(-self.side)

    __radd__ = __add__
    __rmul__ = __mul__

    def __repr__(self) -> str:
        return "INFINITY" if self.side > 0 else "-INFINITY"


INFINITY = Infinity()


def ln(ratio: int | Fraction | Real) -> Real:
    """The natural logarithm; of a rational, one that compares exactly.

    >>> ln(3), ln(INFINITY)
    (ln(3), INFINITY)
    """
    if isinstance(ratio, int | Fraction):
        return Log(ratio)
    return Log(ratio.exact) if ratio.exact is not None else ratio.log()


def loss(value: Loss, *, name: str = "epsilon") -> Real:
    """Read an epsilon: zero or more, a rational as written, ``"ln 3"``, or a Real.

    >>> loss("ln 3"), loss(0.1), loss("inf")
    (ln(3), Real(Fraction(1, 10)), INFINITY)
    """
    if isinstance(value, Real):
        read = value
    elif str(value) in {"inf", "infinity", "INFINITY"}:
        return INFINITY
    elif isinstance(value, str) and (match := _LOGARITHM.fullmatch(value.strip())):
        read = Log(rational(match[1], name=name, error=InvalidEpsilon))
    else:
        read = Real(rational(value, name=name, error=InvalidEpsilon))
    if (read.exact is not None and read.exact < 0) or read < 0:
        raise InvalidEpsilon(
            f"{name} = {value} is not allowed: it must be 0 or more.", hint=f"{name}=0.5"
        )
    return read


def largest(values: Iterable[Real]) -> Real:
    """The largest of several losses (0 if there is none), exact wherever it can be told."""
    numbers = list(values)
    if any(number == INFINITY for number in numbers if isinstance(number, Infinity)):
        return INFINITY
    if not all(isinstance(number, Log) or number.exact is not None for number in numbers):
        # Only what cannot be told from the largest stays in the race.
        lows = [number.lower(_RACE_BITS) for number in numbers]
        best = max(lows)
        numbers = [number for number in numbers if number.upper(_RACE_BITS) >= best]
    if all(isinstance(number, Log) or number.exact is not None for number in numbers):
        return max(numbers, default=Log(1))
    return Real.max_of(*numbers)
