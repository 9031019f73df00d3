"""The short forms: one call, one release.

Values need not be on a grid: they are rounded onto one, exactly, and the sensitivity is widened by
what rounding can add. One coordinate then moves by at most ceil(sensitivity / grid) steps. In a
vector every coordinate may be pushed over an edge, so an l1 distance grows by up to one step for
each further coordinate, an l2 distance by up to the square root of their number. Whole numbers on
a grid that holds all whole numbers do not move, and cost nothing.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidValue
from discreet.exact import Grid, Rational
from discreet.exact import delta as exact_delta
from discreet.exact import epsilon as exact_epsilon
from discreet.exact import sensitivity as exact_sensitivity
from discreet.mechanisms.additive import Additive
from discreet.mechanisms.gaussian import Gaussian, smallest_sigma
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.values import Restore, Values, unpack


def laplace(
    value: Values,
    *,
    sensitivity: Rational,
    epsilon: Rational,
    relation: str = "add_remove",
    grid: Rational | None = None,
) -> Any:
    """The value plus Laplace noise: epsilon-differential privacy at this l1 sensitivity.

    The answer has the form of the value: a float, a list, an array or a dictionary of floats. It is
    a multiple of ``grid``, by default a power of two far finer than the noise.

    >>> noisy = laplace(42.5, sensitivity=1, epsilon=0.5)
    >>> isinstance(noisy, float)
    True
    >>> laplace([1.0, 2.0], sensitivity=1, epsilon=0.5).__class__
    <class 'list'>
    """
    numbers, restore = unpack(value)
    exact, cost = exact_sensitivity(sensitivity), exact_epsilon(epsilon)
    steps = _grid(grid, exact, exact / cost, numbers.size)
    widened = steps.units_up(exact)
    if not _is_on(numbers, steps):
        widened += max(numbers.size - 1, 0)
    mechanism = Laplace.from_epsilon(
        sensitivity=widened * steps.step, epsilon=cost, grid=steps.step, relation=relation
    )
    return _release(mechanism, numbers, restore, steps)


def geometric(
    value: Values, *, sensitivity: Rational, epsilon: Rational, relation: str = "add_remove"
) -> Any:
    """A whole number plus geometric noise: epsilon-differential privacy, and a whole number again.

    >>> noisy = geometric(1234, sensitivity=1, epsilon=0.5)
    >>> isinstance(noisy, int)
    True
    """
    numbers, restore = unpack(value)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise InvalidValue(
            f"geometric noise is for whole numbers, and these are {numbers.dtype}.",
            hint="use discreet.laplace(...) for real numbers, or convert: value.astype(int).",
        )
    mechanism = Geometric.from_epsilon(sensitivity=sensitivity, epsilon=epsilon, relation=relation)
    return restore(mechanism.release_units(Grid(1).units(numbers)))


def gaussian(
    value: Values,
    *,
    sensitivity: Rational,
    epsilon: Rational,
    delta: Rational,
    relation: str = "add_remove",
    grid: Rational | None = None,
) -> Any:
    """The value plus Gaussian noise: (epsilon, delta)-privacy at this l2 sensitivity.

    >>> noisy = gaussian(42.5, sensitivity=1, epsilon=0.5, delta=1e-6)
    >>> isinstance(noisy, float)
    True
    """
    numbers, restore = unpack(value)
    exact = exact_sensitivity(sensitivity)
    ratio = smallest_sigma(exact_epsilon(epsilon), exact_delta(delta))
    steps = _grid(grid, exact, exact * ratio, numbers.size)
    if _is_on(numbers, steps):
        widened = exact
    elif numbers.size <= 1:
        widened = steps.units_up(exact) * steps.step
    else:
        widened = exact + (isqrt(numbers.size - 1) + 1) * steps.step
    mechanism = Gaussian.from_scale(
        sensitivity=widened, sigma=widened * ratio, grid=steps.step, relation=relation
    )
    return _release(mechanism, numbers, restore, steps)


def _release(
    mechanism: Additive, numbers: NDArray[np.generic], restore: Restore, grid: Grid
) -> Any:
    return restore(grid.values(mechanism.release_units(grid.units(numbers))))


def _is_on(numbers: NDArray[np.generic], grid: Grid) -> bool:
    """Whether the values are on the grid by their type alone, whatever they are."""
    return numbers.dtype.kind in "iu" and grid.holds_integers


def _grid(given: Rational | None, sensitivity: Fraction, scale: Fraction, size: int) -> Grid:
    """The grid asked for, or a power of two that adds less than 0.03 % to the noise.

    (More only where epsilon is below 1e-10 for each coordinate: noise must fit 64 bits.) Public
    facts alone decide: the values themselves are not looked at.
    """
    if given is not None:
        return Grid(given)
    fine = min(sensitivity / 2**20, sensitivity / (2**12 * max(size, 1)), scale / 2**10)
    coarse = scale / 2**48  # at most 2**49 steps, with room for the widening below 10**15
    return Grid(_power_of_two_below(max(fine, coarse)))


def _power_of_two_below(value: Fraction) -> Fraction:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    power = Fraction(2) ** exponent
    return power if power <= value else power / 2
