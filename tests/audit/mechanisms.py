"""Mechanisms to put to the audit: right ones, and wrong ones as controls."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from discreet.noise import GridLaplace, RoundedGaussian, TwoSidedGeometric

_GEOMETRIC, _SHORT = TwoSidedGeometric(1), TwoSidedGeometric(Fraction(95, 100))
_LAPLACE = GridLaplace(1, grid=Fraction(1, 2**20))
_UNSAFE = np.random.default_rng()


def geometric(value: Any, n: int) -> Any:
    return value + _GEOMETRIC.sample(n)


def short_geometric(value: Any, n: int) -> Any:
    """The scale is 5 % short of what epsilon 1 needs."""
    return value + _SHORT.sample(n)


def grid_laplace(value: Any, n: int) -> Any:
    """In steps of 2^-20, as floats, which hold them exactly."""
    return (value * 2**20 + _LAPLACE.sample(n)) / 2**20


def rounded_gaussian(value: Any, n: int) -> Any:
    return value + RoundedGaussian(4).sample(n)


def response(value: Any, n: int) -> Any:
    """Randomized response: the truth three times in four."""
    lies = _UNSAFE.random(n) < 0.25
    return np.where(lies, 1 - value, value)


def numpy_laplace(value: Any, n: int) -> Any:
    return value + _UNSAFE.laplace(size=n)


def textbook_laplace(value: Any, n: int) -> Any:
    u = _UNSAFE.random(n) - 0.5
    return value - np.sign(u) * np.log(1 - 2 * np.abs(u))


def numpy_gaussian(value: Any, n: int) -> Any:
    return value + _UNSAFE.normal(scale=4, size=n)


def never_twice(value: Any, n: int) -> Any:
    """Returns one output too few."""
    return np.zeros(n - 1)


def fails(value: Any, n: int) -> Any:
    return 1 / (n - n)


def words(value: Any, n: int) -> Any:
    """Tells its input in one answer of a hundred."""
    told = _UNSAFE.random(n) < 0.01
    return np.where(told, str(value), "nobody")


def pairs(value: Any, n: int) -> Any:
    """Two numbers, each with the noise of epsilon 1: together it is 2."""
    return value + _GEOMETRIC.sample(2 * n).reshape(n, 2)


def infinite(value: Any, n: int) -> Any:
    """NaN now and then, for one input only."""
    drawn = geometric(value, n).astype(float)
    if value:
        drawn[_UNSAFE.random(n) < 0.01] = np.nan
    return drawn


LARGE = 2**25


@cache
def _float_sum(large: bool) -> int:
    """A running sum in single precision: beside a large value each 3 is rounded up to 4."""
    values = np.full(2**22 + 1, 3, dtype=np.float32)
    values[0] = LARGE if large else 0
    return int(np.cumsum(values, dtype=np.float32)[-1])


def naive_sum(large: Any, n: int) -> Any:
    """The sum of values up to LARGE with noise for that sensitivity, and one of them there or not.

    The noise is exact; the float sum moves an eighth further than any one value.
    """
    return _float_sum(bool(large)) + TwoSidedGeometric(LARGE).sample(n)
