"""What every symmetric integer noise offers: draws, probabilities, tails and intervals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Rational, Real
from discreet.exact import confidence as exact_confidence
from discreet.exact.balls import arb
from discreet.noise.curves import Curve
from discreet.noise.sampling import BLOCK, blocks, count, draw
from discreet.noise.search import smallest


class Symmetric(ABC):
    """Noise on the integers, symmetric about 0.

    A subclass says how its magnitude falls off (``tail_ball``) and the inverse of that
    (``quantile_ball``); the rest follows.
    """

    curve: ClassVar[Curve]
    scale: Fraction

    @property
    @abstractmethod
    def variance(self) -> Real:
        """The exact variance."""

    @abstractmethod
    def quantile_ball(self, v: arb) -> arb:
        """The function whose integer part at a uniform V is the magnitude."""

    @abstractmethod
    def tail_ball(self, k: int) -> arb:
        """``P(abs(X) >= k)`` for k >= 1."""

    @abstractmethod
    def shift(self) -> Real:
        """What to add to ``scale * curve`` so that rounding it to the nearest gives a magnitude."""

    # Draws -------------------------------------------------------------------------------------

    def sample(self, n: int) -> NDArray[np.int64]:
        """``n`` independent draws."""
        return draw(self, count(n))

    def stream(self, n: int, *, block: int = BLOCK) -> Iterator[NDArray[np.int64]]:
        """``n`` independent draws as arrays of at most ``block``, in constant memory."""
        return (self.sample(size) for size in blocks(n, block))

    # Probabilities -----------------------------------------------------------------------------

    def tail(self, k: int) -> Real:
        """``P(abs(X) >= k)``, exactly."""
        return Real(1) if k <= 0 else Real(lambda: self.tail_ball(k))

    def pmf(self, k: int) -> Real:
        """``P(X = k)``, exactly."""
        k = abs(k)
        mass = self.tail(k) - self.tail(k + 1)
        return mass if k == 0 else mass / 2

    def cdf(self, k: int) -> Real:
        """``P(X <= k)``, exactly."""
        return self.tail(-k) / 2 if k < 0 else 1 - self.tail(k + 1) / 2

    def quantile(self, p: Rational) -> int:
        """The smallest k with ``P(X <= k) >= p``."""
        wanted = exact_confidence(p, name="p")
        if wanted > Fraction(1, 2):
            return smallest(lambda k: self.cdf(k) >= wanted)
        # cdf(-k) = tail(k) / 2: the largest k for which that still reaches p.
        return 1 - smallest(lambda k: self.tail(k) / 2 < wanted)

    @property
    def mean(self) -> Fraction:
        """0, by symmetry."""
        return Fraction(0)

    @property
    def standard_deviation(self) -> Real:
        """The square root of the variance."""
        return self.variance.sqrt()

    def within(self, confidence: Rational, *, draws: int = 1) -> int:
        """The smallest t such that all of ``draws`` lie in [-t, t] with that confidence."""
        wanted, power = exact_confidence(confidence), count(draws)
        return smallest(lambda t: (1 - self.tail(t + 1)) ** power >= wanted)

    def interval(self, confidence: Rational) -> tuple[int, int]:
        """The narrowest interval of integers that holds a draw with the given confidence.

        It is symmetric, or one step longer upward where that is enough and symmetry is too much.
        """
        wanted = exact_confidence(confidence)
        t = self.within(wanted)
        if t > 0 and self.cdf(t) - self.cdf(-t) >= wanted:
            return 1 - t, t
        return -t, t
