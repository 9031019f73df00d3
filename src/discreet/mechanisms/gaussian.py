"""The Gaussian mechanism, calibrated analytically."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.errors import InvalidEpsilon
from discreet.events import Event
from discreet.exact import Rational, Real
from discreet.exact import delta as exact_delta
from discreet.exact import epsilon as exact_epsilon
from discreet.exact import sensitivity as exact_sensitivity
from discreet.exact.parameters import positive
from discreet.mechanisms.additive import Additive
from discreet.mechanisms.values import whole
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.search import crossing, smallest
from discreet.theory.divergences import gaussian_delta


@dataclass(frozen=True, init=False)
class Gaussian(Additive):
    """Adds rounded Gaussian noise to values on a grid, each coordinate independently.

    Guarantee: (epsilon, delta)-differential privacy for every pair with ``delta(epsilon)`` at most
    delta; rounding to the grid is post-processing of the continuous mechanism.
    Sensitivity: l2, over all coordinates of one release together, not rounded (values on the grid
    move by the distance they move).
    Exactness: a continuous normal of standard deviation ``sigma``, rounded to the grid, exactly.
    Reference: Balle and Wang (2018), Theorem 8 and Algorithm 1.

    >>> mechanism = Gaussian.from_epsilon(sensitivity=1, epsilon=1, delta=1e-6)
    >>> round(float(mechanism.sigma), 4)
    4.2247
    >>> mechanism.delta(1) <= Fraction(1, 10**6)
    True
    >>> mechanism.error(0.95).exact
    Fraction(8, 1)
    """

    norm = "l2"
    shape = RoundedGaussian

    @classmethod
    def from_epsilon(
        cls,
        *,
        sensitivity: Rational,
        epsilon: Rational,
        delta: Rational,
        grid: Rational = 1,
        relation: str = "add_remove",
    ) -> Gaussian:
        """The least noise that is (epsilon, delta)-private, certified."""
        exact = exact_sensitivity(sensitivity)
        sigma = exact * smallest_sigma(exact_epsilon(epsilon), exact_delta(delta))
        return cls(sensitivity=exact, scale=sigma, grid=grid, relation=relation)

    @classmethod
    def from_scale(
        cls,
        *,
        sensitivity: Rational,
        sigma: Rational,
        grid: Rational = 1,
        relation: str = "add_remove",
    ) -> Gaussian:
        """Noise of a given standard deviation; ``delta`` and ``epsilon`` say what it gives."""
        exact = positive(sigma, name="sigma")
        return cls(sensitivity=sensitivity, scale=exact, grid=grid, relation=relation)

    @classmethod
    def for_histogram(
        cls,
        *,
        epsilon: Rational,
        delta: Rational,
        rows_per_unit: int = 1,
        grid: Rational = 1,
        relation: str = "add_remove",
    ) -> Gaussian:
        """For counts in any number of disjoint bins whose keys are public.

        All rows of a unit may share one bin, so the l2 sensitivity is the number of rows; changing
        a unit may empty one bin and fill another, which is sqrt(2) times that.
        """
        factor = Real(1) if relation == "add_remove" else Real(2).sqrt()
        return cls.from_epsilon(
            sensitivity=(factor * whole(rows_per_unit, name="rows_per_unit")).upper(48),
            epsilon=epsilon,
            delta=delta,
            grid=grid,
            relation=relation,
        )

    @property
    def sigma(self) -> Fraction:
        """The standard deviation of the noise before it is rounded to the grid."""
        return self.scale

    @property
    def noise(self) -> RoundedGaussian:
        """The noise added to each coordinate, in steps of the grid."""
        return RoundedGaussian(self.scale / self.grid)

    @property
    def event(self) -> Event:
        """The release, as accountants read it."""
        return Event(
            "gaussian",
            {"sigma": self.sigma, "grid": self.grid},
            self.sensitivity,
            self.relation,
        )

    def delta(self, epsilon: Rational) -> Real:
        """The smallest delta that goes with an epsilon."""
        return gaussian_delta(
            sigma=self.sigma, sensitivity=self.sensitivity, epsilon=exact_epsilon(epsilon)
        )

    def epsilon(self, delta: Rational) -> Fraction:
        """The smallest epsilon that goes with a delta, rounded up to a millionth."""
        wanted = exact_delta(delta)
        step = Fraction(1, 10**6)
        return step * smallest(lambda k: self.delta(k * step) <= wanted, start=1)

    def _textbook(self, beta: Fraction, coordinates: int) -> Real:
        # P(abs(N) >= t sigma) <= 2 exp(-t^2/2), and a union over the coordinates.
        return (2 * Real(2 * coordinates / beta).log()).sqrt() * self.sigma


@lru_cache(maxsize=1024)
def smallest_sigma(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The smallest certified sigma for sensitivity 1, to within one part in 2**30.

    >>> float(smallest_sigma(Fraction(1), Fraction(1, 10**5))) < 3.7307
    True
    """

    def private(sigma: Fraction) -> bool:
        return gaussian_delta(sigma=sigma, sensitivity=Fraction(1), epsilon=epsilon) <= delta

    return crossing(private, near=_about(float(epsilon), float(delta)))[1]


def _about(epsilon: float, delta: float) -> float:
    """The same in floats, as a guess to start from."""
    low, high = -64.0, 64.0  # of the logarithm to base 2
    try:
        for _ in range(60):
            middle = (low + high) / 2
            shift, tilt = 2.0**-middle / 2, epsilon * 2.0**middle
            above, below = (math.erfc(x * math.sqrt(0.5)) / 2 for x in (tilt - shift, tilt + shift))
            if above - math.exp(epsilon) * below > delta:
                low = middle
            else:
                high = middle
    except OverflowError:
        return 1.0
    return float(2.0**high)


def classical_sigma(*, sensitivity: Rational, epsilon: Rational, delta: Rational) -> Real:
    """The textbook's ``sqrt(2 ln(1.25/delta)) sensitivity / epsilon``, for comparison only.

    Its proof needs epsilon at most 1.

    Reference: Dwork and Roth (2014), Theorem A.1.

    >>> round(float(classical_sigma(sensitivity=1, epsilon=1, delta=1e-6)), 4)
    5.2988
    """
    exact = exact_epsilon(epsilon)
    if exact > 1:
        raise InvalidEpsilon(
            f"epsilon = {epsilon}: the classical formula is proved for epsilon up to 1 only.",
            hint="Gaussian.from_epsilon(sensitivity=..., epsilon=..., delta=...) holds for all.",
        )
    spread = (2 * Real(Fraction(5, 4) / exact_delta(delta)).log()).sqrt()
    return spread * (exact_sensitivity(sensitivity) / exact)
