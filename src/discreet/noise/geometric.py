"""Geometric noise: the discrete Laplace distribution on the integers, and its positive half."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Rational, Real, balls
from discreet.exact import confidence as exact_confidence
from discreet.exact.balls import arb
from discreet.noise.curves import Curve, Exponential
from discreet.noise.sampling import BLOCK, blocks, count, draw, sampling_scale
from discreet.noise.search import smallest
from discreet.noise.symmetric import Symmetric


@dataclass(frozen=True)
class TwoSidedGeometric(Symmetric):
    """Integers with ``P(z)`` proportional to ``exp(-abs(z) / scale)``.

    With a = exp(-1/scale): P(z) = (1-a)/(1+a) a^abs(z), variance 2a/(1-a)^2,
    P(abs(X) >= k) = 2a^k/(1+a) for k >= 1.

    >>> noise = TwoSidedGeometric(2)
    >>> noise.sample(3).dtype
    dtype('int64')
    >>> noise.interval(0.95)
    (-5, 6)
    >>> round(float(noise.pmf(0)), 6)
    0.244919
    """

    scale: Fraction
    curve: ClassVar[Curve] = Exponential()

    def __init__(self, scale: Rational) -> None:
        object.__setattr__(self, "scale", sampling_scale(scale))

    def quantile_ball(self, v: arb) -> arb:
        """``-scale ln(v (1+a)/2)``: the inverse of the tail."""
        return -balls.from_fraction(self.scale) * v.log() + self._lift()

    def tail_ball(self, k: int) -> arb:
        """``2 a^k / (1+a)``."""
        per_step = -1 / balls.from_fraction(self.scale)
        return 2 * (k * per_step).exp() / (1 + per_step.exp())

    def shift(self) -> Real:
        """The part of the quantile that v does not enter, less 1/2: rounding instead of floor."""
        return Real(self._lift) - Fraction(1, 2)

    def _lift(self) -> arb:
        # -scale ln((1+a)/2), written so that nothing cancels when a is close to 1.
        scale = balls.from_fraction(self.scale)
        return -scale * ((-1 / scale).expm1() / 2).log1p()

    @property
    def variance(self) -> Real:
        """``2a / (1-a)^2``."""
        return 2 * _ratio(self.scale) / (-Real(-1 / self.scale).expm1()) ** 2


@dataclass(frozen=True)
class OneSidedGeometric:
    """Integers from 0 up with ``P(k)`` proportional to ``exp(-k / scale)``.

    >>> noise = OneSidedGeometric(3)
    >>> int(noise.sample(1000).min()) >= 0
    True
    >>> float(noise.tail(3)) == float(Real(-1).exp())
    True
    """

    scale: Fraction
    curve: ClassVar[Curve] = Exponential()

    def __init__(self, scale: Rational) -> None:
        object.__setattr__(self, "scale", sampling_scale(scale))

    def quantile_ball(self, v: arb) -> arb:
        """``-scale ln v``."""
        return -balls.from_fraction(self.scale) * v.log()

    def tail_ball(self, k: int) -> arb:
        """``a^k``."""
        return (-k / balls.from_fraction(self.scale)).exp()

    def shift(self) -> Real:
        """Less 1/2: rounding instead of floor."""
        return Real(Fraction(-1, 2))

    def sample(self, n: int) -> NDArray[np.int64]:
        """``n`` independent draws."""
        return np.abs(draw(self, count(n)))

    def stream(self, n: int, *, block: int = BLOCK) -> Iterator[NDArray[np.int64]]:
        """``n`` independent draws as arrays of at most ``block``, in constant memory."""
        return (self.sample(size) for size in blocks(n, block))

    def tail(self, k: int) -> Real:
        """``P(X >= k)``, exactly."""
        return Real(1) if k <= 0 else Real(lambda: self.tail_ball(k))

    def pmf(self, k: int) -> Real:
        """``P(X = k)``, exactly."""
        return Real(0) if k < 0 else self.tail(k) - self.tail(k + 1)

    def cdf(self, k: int) -> Real:
        """``P(X <= k)``, exactly."""
        return 1 - self.tail(k + 1)

    def quantile(self, p: Rational) -> int:
        """The smallest k with ``P(X <= k) >= p``."""
        wanted = exact_confidence(p, name="p")
        return smallest(lambda k: self.cdf(k) >= wanted)

    def interval(self, confidence: Rational) -> tuple[int, int]:
        """The narrowest interval that holds a draw with the given confidence: it starts at 0."""
        return 0, self.quantile(confidence)

    @property
    def mean(self) -> Real:
        """``a / (1-a)``."""
        return _ratio(self.scale) / -Real(-1 / self.scale).expm1()

    @property
    def variance(self) -> Real:
        """``a / (1-a)^2``."""
        return _ratio(self.scale) / (-Real(-1 / self.scale).expm1()) ** 2


def _ratio(scale: Fraction) -> Real:
    return Real(-1 / scale).exp()
