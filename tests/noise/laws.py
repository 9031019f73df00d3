"""The distributions once more, written from their formulas in mpmath: an independent witness."""

from fractions import Fraction

import mpmath
import numpy as np
from mpmath import mp, mpf
from numpy.typing import NDArray
from scipy.special import ndtri

DIGITS = 60


def exact(x: mpf) -> Fraction:
    """The rational that an mpf is; 0 for what would fill the memory."""
    sign, mantissa, exponent, _ = x._mpf_
    if exponent < -50_000:
        return Fraction(0)
    return Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** int(exponent)


def real(x: Fraction | int) -> mpf:
    return mpf(x.numerator) / x.denominator


class Law:
    """A distribution on the integers with ``tail(k) = P(abs(X) >= k)`` for k >= 1."""

    two_sided = True

    def __init__(self, scale: Fraction | int | str) -> None:
        self.scale = Fraction(scale)

    def tail(self, k: int) -> mpf:
        raise NotImplementedError

    def pmf(self, k: int) -> mpf:
        with mp.workdps(DIGITS):
            if k < 0 and not self.two_sided:
                return mpf(0)
            mass = (self.tail(abs(k)) if k else mpf(1)) - self.tail(abs(k) + 1)
            return mass / 2 if k and self.two_sided else mass

    def cdf(self, k: int) -> mpf:
        with mp.workdps(DIGITS):
            if not self.two_sided:
                return mpf(0) if k < 0 else 1 - self.tail(k + 1)
            return self.tail(-k) / 2 if k < 0 else 1 - self.tail(k + 1) / 2

    def score(self) -> tuple[int, float, float]:
        """The power of abs(X) that tells most about the scale, its mean and its variance."""
        raise NotImplementedError

    def edges(self, p: NDArray[np.float64]) -> NDArray[np.int64]:
        """Integers near the given quantiles: where to cut the line into cells."""
        return np.unique(np.rint(float(self.scale) * self.unit_quantile(p)).astype(np.int64))

    def unit_quantile(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        raise NotImplementedError


class Geometric(Law):
    """P(z) proportional to exp(-abs(z) / scale)."""

    def tail(self, k: int) -> mpf:
        with mp.workdps(DIGITS + 30):
            a = mpmath.exp(-1 / real(self.scale))
            return 2 * mpmath.exp(-k / real(self.scale)) / (1 + a)

    def score(self) -> tuple[int, float, float]:
        with mp.workdps(DIGITS):
            a = mpmath.exp(-1 / real(self.scale))
            mean = 2 * a / (1 - a * a)
            return 1, float(mean), float(2 * a / (1 - a) ** 2 - mean**2)

    def unit_quantile(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(p < 0.5, np.log(2 * p), -np.log(2 - 2 * p))


class HalfGeometric(Law):
    """P(k) proportional to exp(-k / scale) for k >= 0."""

    two_sided = False

    def tail(self, k: int) -> mpf:
        with mp.workdps(DIGITS + 30):
            return mpmath.exp(-k / real(self.scale))

    def score(self) -> tuple[int, float, float]:
        with mp.workdps(DIGITS):
            a = mpmath.exp(-1 / real(self.scale))
            return 1, float(a / (1 - a)), float(a / (1 - a) ** 2)

    def unit_quantile(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        return -np.log1p(-p)


class Gaussian(Law):
    """A normal of standard deviation ``scale``, rounded to the nearest integer."""

    def tail(self, k: int) -> mpf:
        with mp.workdps(DIGITS + 30):
            return mpmath.erfc((k - mpf(1) / 2) / (real(self.scale) * mpmath.sqrt(2)))

    def score(self) -> tuple[int, float, float]:
        if self.scale < 20:
            moments = [self.moment(2), self.moment(4)]
        else:  # Sheppard's corrections; what they leave out is below exp(-2 (20 pi)^2)
            s = real(self.scale)
            moments = [s**2 + mpf(1) / 12, 3 * s**4 + s**2 / 2 + mpf(1) / 80]
        return 2, float(moments[0]), float(moments[1] - moments[0] ** 2)

    def unit_quantile(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(ndtri(p))

    def moment(self, power: int) -> mpf:
        with mp.workdps(DIGITS):
            reach = int(20 * self.scale) + 5
            return mpmath.fsum(2 * k**power * self.pmf(k) for k in range(1, reach))
