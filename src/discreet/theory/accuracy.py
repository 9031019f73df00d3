"""How far noise throws an answer: exact tails, and the textbook bounds beside them.

``k`` is the number of coordinates that get noise of their own; errors are the largest of theirs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidValue, TooLarge
from discreet.exact import Rational, Real, balls, positive, probability, rational
from discreet.theory.losses import Loss, loss

MOST_COORDINATES = 1_000_000

_LONGEST_SUM = 100


class Noise(ABC):
    """A symmetric noise distribution around 0."""

    __slots__ = ()

    @abstractmethod
    def tail(self, distance: Rational | Real) -> Real:
        """P(abs(Z) > distance), exactly."""

    @abstractmethod
    def tail_bound(self, distance: Rational | Real) -> Real:
        """The textbook bound on it."""

    @abstractmethod
    def mean_error(self) -> Real:
        """E abs(Z)."""

    @abstractmethod
    def variance(self) -> Real:
        """E Z^2."""

    def rms_error(self) -> Real:
        """The root of the mean square."""
        return self.variance().sqrt()

    def largest_tail(self, distance: Rational | Real, k: int) -> Real:
        """P(the largest of k errors > distance), exactly: 1 - (1 - tail)^k."""
        return 1 - (1 - self.tail(distance)) ** _many(k)

    def largest_tail_bound(self, distance: Rational | Real, k: int) -> Real:
        """The union bound on it: k times the textbook tail."""
        return _many(k) * self.tail_bound(distance)

    def expected_l1(self, k: int) -> Real:
        """The expected sum of k errors."""
        return _many(k) * self.mean_error()


@dataclass(frozen=True, slots=True, init=False)
class LaplaceNoise(Noise):
    """Density ``exp(-abs(z)/scale) / (2 scale)``.

    >>> LaplaceNoise(20).mean_error(), LaplaceNoise(20).variance()
    (Real(Fraction(20, 1)), Real(Fraction(800, 1)))
    """

    scale: Fraction

    def __init__(self, scale: Rational) -> None:
        object.__setattr__(self, "scale", positive(scale, name="scale"))

    @classmethod
    def for_privacy(cls, *, sensitivity: Rational, epsilon: Rational) -> LaplaceNoise:
        """The Laplace mechanism's noise: scale sensitivity / epsilon."""
        return cls(positive(sensitivity, name="sensitivity") / positive(epsilon, name="epsilon"))

    def density(self, z: Rational) -> Real:
        """The density at z."""
        return Real(-abs(rational(z)) / self.scale).exp() / (2 * self.scale)

    def mean(self) -> Real:
        """0, by symmetry."""
        return Real(0)

    def tail(self, distance: Rational | Real) -> Real:
        """``exp(-distance/scale)``."""
        return (-1 * (_distance(distance) / self.scale)).exp()

    tail_bound = tail

    def mean_error(self) -> Real:
        """The scale."""
        return Real(self.scale)

    def variance(self) -> Real:
        """Twice the scale squared."""
        return Real(2 * self.scale**2)

    def error(self, beta: Rational, k: int = 1) -> Real:
        """The distance that the largest of k errors exceeds with probability beta, exactly."""
        # 1 - (1 - p)^k = beta  <=>  p = 1 - (1 - beta)^(1/k)
        one = -((Real(1 - _beta(beta)).log() / _many(k)).expm1())
        return one.log() * -self.scale

    def error_bound(self, beta: Rational, k: int = 1) -> Real:
        """The textbook's: ``scale ln(k/beta)``; exact for k = 1."""
        return Real(_many(k) / _beta(beta)).log() * self.scale

    def expected_largest(self, k: int) -> Real:
        """The expected largest of k errors, exactly: scale times 1 + 1/2 + ... + 1/k."""
        return Real(self.scale) * _harmonic(_many(k))

    def expected_largest_bound(self, k: int) -> Real:
        """The textbook's: ``scale (ln k + 1)``."""
        return (Real(_many(k)).log() + 1) * self.scale


@dataclass(frozen=True, slots=True, init=False)
class GeometricNoise(Noise):
    """Integers, ``P(z) = (1 - a)/(1 + a) a^abs(z)`` with ``a = exp(-1/scale)``.

    >>> noise = GeometricNoise.for_privacy(sensitivity=1, epsilon="ln 2")
    >>> noise.probability(0), noise.tail(0)
    (Real(Fraction(1, 3)), Real(Fraction(2, 3)))
    """

    decay: Real

    def __init__(self, scale: Rational) -> None:
        object.__setattr__(self, "decay", Real(-1 / positive(scale, name="scale")).exp())

    @classmethod
    def for_privacy(cls, *, sensitivity: Rational, epsilon: Loss) -> GeometricNoise:
        """The geometric mechanism's noise: a = exp(-epsilon/sensitivity)."""
        made = cls(1)
        rate = loss(epsilon) / positive(sensitivity, name="sensitivity")
        object.__setattr__(made, "decay", (-1 * rate).exp())
        return made

    def probability(self, z: int) -> Real:
        """P(Z = z)."""
        return (1 - self.decay) / (1 + self.decay) * self.decay ** abs(z)

    def tail(self, distance: Rational | Real) -> Real:
        """``2 a^(m+1) / (1 + a)`` for the whole number m at or below the distance."""
        return 2 * self.decay ** (_distance(distance).floor() + 1) / (1 + self.decay)

    def tail_bound(self, distance: Rational | Real) -> Real:
        """``a^m``: the Laplace tail at the whole number at or below the distance."""
        return self.decay ** _distance(distance).floor()

    def mean_error(self) -> Real:
        """``2a / (1 - a^2)``."""
        return 2 * self.decay / (1 - self.decay**2)

    def variance(self) -> Real:
        """``2a / (1 - a)^2``."""
        return 2 * self.decay / (1 - self.decay) ** 2

    def error(self, beta: Rational, k: int = 1) -> int:
        """The least whole number that the largest of k errors exceeds with at most that chance."""
        allowed, low, high = _beta(beta), 0, 1
        while self.largest_tail(high, k) > allowed:
            low, high = high + 1, 2 * high
        while low < high:
            middle = (low + high) // 2
            if self.largest_tail(middle, k) > allowed:
                low = middle + 1
            else:
                high = middle
        return low


@dataclass(frozen=True, slots=True, init=False)
class GaussianNoise(Noise):
    """Normal with standard deviation ``sigma``.

    >>> float(GaussianNoise(1).tail(2)), float(GaussianNoise(1).tail_bound(2))
    (0.04550026389635842, 0.2706705664732254)
    """

    sigma: Fraction

    def __init__(self, sigma: Rational) -> None:
        object.__setattr__(self, "sigma", positive(sigma, name="sigma"))

    def density(self, z: Rational) -> Real:
        """The density at z."""
        ratio = rational(z) / self.sigma
        return Real(-ratio * ratio / 2).exp() / ((2 * _pi()).sqrt() * self.sigma)

    def tail(self, distance: Rational | Real) -> Real:
        """``2 Phi(-distance/sigma)``."""
        return 2 * (-1 * (_distance(distance) / self.sigma)).normal_cdf()

    def tail_bound(self, distance: Rational | Real) -> Real:
        """``2 exp(-distance^2 / (2 sigma^2))``."""
        return 2 * ((_distance(distance) / self.sigma) ** 2 / -2).exp()

    def mean_error(self) -> Real:
        """``sigma sqrt(2/pi)``."""
        return (2 / _pi()).sqrt() * self.sigma

    def variance(self) -> Real:
        """sigma squared."""
        return Real(self.sigma**2)

    def error(self, beta: Rational, k: int = 1) -> Real:
        """The distance that the largest of k errors exceeds with probability beta, exactly."""
        one = -((Real(1 - _beta(beta)).log() / _many(k)).expm1())
        return (one / 2).normal_quantile() * -self.sigma

    def error_bound(self, beta: Rational, k: int = 1) -> Real:
        """The textbook's: ``sigma sqrt(2 ln(2k/beta))``."""
        return (2 * Real(2 * _many(k) / _beta(beta)).log()).sqrt() * self.sigma


def _pi() -> Real:
    return Real(balls.arb.pi)


def _harmonic(k: int) -> Real:
    """1 + 1/2 + ... + 1/k: the fraction, or where that is long, psi(k + 1) + Euler's constant."""
    if k <= _LONGEST_SUM:
        return Real(sum((Fraction(1, i) for i in range(1, k + 1)), Fraction(0)))
    return Real(lambda: balls.arb(k + 1).digamma() + balls.arb.const_euler())


def _distance(value: Rational | Real) -> Real:
    exact = value if isinstance(value, Real) else Real(rational(value, name="distance"))
    if exact.exact is not None and exact.exact < 0:
        raise InvalidValue(f"distance = {value} is negative.", hint="distance=10")
    return exact


def _beta(value: Rational) -> Fraction:
    beta = probability(value, name="beta")
    if not 0 < beta < 1:
        raise InvalidValue(
            f"beta = {value} is not allowed: it must lie strictly between 0 and 1.",
            hint="beta=0.05",
        )
    return beta


def _many(k: int) -> int:
    if k < 1:
        raise InvalidValue(f"k = {k} is not a number of coordinates.", hint="k=1")
    if k > MOST_COORDINATES:
        raise TooLarge(
            f"k = {k:,} coordinates are more than the {MOST_COORDINATES:,} that are worked out "
            "exactly.",
            hint=f"k={MOST_COORDINATES}; errors grow with ln k only.",
        )
    return k
