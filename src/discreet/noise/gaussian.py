"""Gaussian noise on the integers: a continuous normal, rounded."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.exact import Rational, Real, balls
from discreet.exact.balls import arb
from discreet.noise.curves import Curve, HalfNormal
from discreet.noise.sampling import sampling_scale
from discreet.noise.symmetric import Symmetric


@dataclass(frozen=True)
class RoundedGaussian(Symmetric):
    """A normal variable of standard deviation ``sigma``, rounded to the nearest integer.

    Adding it to an integer is rounding after adding the continuous normal, so whatever holds of
    the continuous Gaussian mechanism holds of this one too.

    >>> noise = RoundedGaussian(10)
    >>> noise.interval(0.95)
    (-19, 20)
    >>> round(float(noise.variance), 9)
    100.083333333
    """

    scale: Fraction
    curve: ClassVar[Curve] = HalfNormal()

    def __init__(self, sigma: Rational) -> None:
        object.__setattr__(self, "scale", sampling_scale(sigma, name="sigma"))

    @property
    def sigma(self) -> Fraction:
        """The standard deviation of the normal before rounding."""
        return self.scale

    def quantile_ball(self, v: arb) -> arb:
        """``sigma sqrt(2) erfcinv(v) + 1/2``: the inverse of the tail."""
        return balls.from_fraction(self.sigma) * self.curve.value(v) + balls.from_fraction(_HALF)

    def tail_ball(self, k: int) -> arb:
        """``erfc((k - 1/2) / (sigma sqrt 2))``."""
        return (balls.from_fraction((k - _HALF) / self.sigma) / arb(2).sqrt()).erfc()

    def shift(self) -> Real:
        """Nothing: the normal itself is rounded to the nearest."""
        return Real(0)

    @property
    def variance(self) -> Real:
        """The variance after rounding: close to sigma^2 + 1/12 unless sigma is small."""
        return Real(self._poisson_sum if self.sigma >= 1 else self._tail_sum)

    def _tail_sum(self) -> arb:
        # E X^2 = sum over k >= 1 of (2k - 1) P(abs(X) >= k). For sigma < 1 and k >= 4 each term is
        # less than half of the one before, so what is left out is less than the last one added.
        total, k = arb(0), 0
        while True:
            k += 1
            term = (2 * k - 1) * self.tail_ball(k)
            total += term
            if k >= 5 and term < balls.ulp():
                return total + term.union(arb(0))

    def _poisson_sum(self) -> arb:
        # Sheppard's correction with its remainder: the terms alternate and shrink, so what is left
        # out is at most the last one added.
        square = balls.from_fraction(self.sigma**2)
        total, m = square + balls.from_fraction(Fraction(1, 12)), 0
        while True:
            m += 1
            frequency = (arb.pi() * m) ** 2
            term = (-2 * frequency * square).exp() * (4 * square + 1 / frequency)
            total += -term if m % 2 else term
            if term < balls.ulp():
                return total + term.union(-term)


_HALF = Fraction(1, 2)
