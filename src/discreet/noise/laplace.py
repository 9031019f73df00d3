"""Laplace noise on a public grid: two-sided geometric noise in steps of the grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Grid, Rational, Real, rational
from discreet.exact.parameters import positive
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.sampling import BLOCK


@dataclass(frozen=True)
class GridLaplace:
    """Multiples of ``grid`` with ``P(z)`` proportional to ``exp(-abs(z) / scale)``.

    Draws are integers, in steps of the grid; everything else is in the units of ``scale``.

    >>> noise = GridLaplace(10, grid="1/1024")
    >>> noise.sample(3).dtype
    dtype('int64')
    >>> low, high = noise.interval(0.95)
    >>> float(low), float(high)
    (-29.95703125, 29.95703125)
    """

    scale: Fraction
    grid: Fraction

    def __init__(self, scale: Rational, *, grid: Rational) -> None:
        object.__setattr__(self, "scale", positive(scale, name="scale"))
        object.__setattr__(self, "grid", Grid(grid).step)
        TwoSidedGeometric(self.scale / self.grid)  # refuses a scale out of range

    @property
    def steps(self) -> TwoSidedGeometric:
        """The same noise, counted in steps of the grid."""
        return TwoSidedGeometric(self.scale / self.grid)

    def sample(self, n: int) -> NDArray[np.int64]:
        """``n`` independent draws, in steps of the grid."""
        return self.steps.sample(n)

    def stream(self, n: int, *, block: int = BLOCK) -> Iterator[NDArray[np.int64]]:
        """``n`` independent draws as arrays of at most ``block``, in constant memory."""
        return self.steps.stream(n, block=block)

    def pmf(self, z: Rational) -> Real:
        """The probability of one grid point; 0 between them."""
        steps = rational(z, name="z") / self.grid
        return self.steps.pmf(int(steps)) if steps.denominator == 1 else Real(0)

    def pdf(self, z: Rational) -> Real:
        """The density of the continuous Laplace that this noise approaches as the grid shrinks."""
        return Real(-abs(rational(z, name="z")) / self.scale).exp() / (2 * self.scale)

    def cdf(self, z: Rational) -> Real:
        """``P(X <= z)``, exactly."""
        return self.steps.cdf(int(rational(z, name="z") // self.grid))

    def tail(self, t: Rational) -> Real:
        """``P(abs(X) >= t)``, exactly."""
        return self.steps.tail(int(-(-rational(t, name="t") // self.grid)))

    def quantile(self, p: Rational) -> Fraction:
        """The smallest grid point z with ``P(X <= z) >= p``."""
        return self.steps.quantile(p) * self.grid

    def interval(self, confidence: Rational) -> tuple[Fraction, Fraction]:
        """The narrowest interval of grid points that holds a draw with the given confidence."""
        low, high = self.steps.interval(confidence)
        return low * self.grid, high * self.grid

    @property
    def mean(self) -> Fraction:
        """0, by symmetry."""
        return Fraction(0)

    @property
    def variance(self) -> Real:
        """The exact variance: a little less than twice the scale squared."""
        return self.steps.variance * self.grid**2
