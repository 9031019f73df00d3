"""Outputs betray nothing by their last bits: the attack on floating-point noise, and its control.

Neighbouring answers 0 and 1 get Laplace noise of scale 1 (epsilon = 1). Were the k-th binary digit
of the output set with a probability under one answer that exceeds e times the other's, the
guarantee would be broken. Exact (Clopper-Pearson) bounds on both probabilities, over 81 digits and
both directions, give a false-alarm rate below 1e-6 in all.
"""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import betaincinv

from discreet.exact import Grid
from discreet.noise import GridLaplace, RoundedGaussian

DIGITS = range(81)
ALPHA = 1e-6 / (len(DIGITS) * 2 * 2)
EPSILON = 1


def digits(outputs: NDArray[np.float64]) -> list[int]:
    """How often each binary digit, of weight 2**-k, is set. Scaling by 2**k is exact."""
    size = np.abs(outputs)
    return [int((np.floor(np.ldexp(size, k)) % 2 == 1).sum()) for k in DIGITS]


def broken(zero: NDArray[np.float64], one: NDArray[np.float64]) -> set[int]:
    """The digits that are set more often under one answer than e**epsilon allows."""
    n = len(zero)
    seen = digits(zero), digits(one)
    found = set()
    for first, second in (seen, seen[::-1]):
        for k, often, rarely in zip(DIGITS, first, second, strict=True):
            least = betaincinv(often, n - often + 1, ALPHA) if often else 0.0
            most = betaincinv(rarely + 1, n - rarely, 1 - ALPHA) if rarely < n else 1.0
            if least > math.exp(EPSILON) * most:
                found.add(k)
    return found


@pytest.mark.parametrize(
    ("step", "n"),
    [
        ("1/1024", 200_000),
        ("1/1099511627776", 200_000),
        ("0.001", 200_000),
        pytest.param("1/1024", 10**6, marks=pytest.mark.deep),
    ],
)
def test_no_digit_of_an_answer_on_a_grid_tells_the_neighbours_apart(step, n):
    grid = Grid(step)
    noise = GridLaplace(1, grid=step)
    zero = grid.values(grid.units([0.0]) + noise.sample(n))
    one = grid.values(grid.units([1.0]) + noise.sample(n))
    assert broken(zero, one) == set()


def test_the_digits_of_textbook_noise_tell_them_apart():
    generator = np.random.default_rng()
    zero = 0.0 + generator.laplace(size=200_000)
    one = 1.0 + generator.laplace(size=200_000)
    assert broken(zero, one) >= set(range(54, 60))


@pytest.mark.parametrize("answer", [0.0, 1.0, -12345.678])
def test_not_one_of_a_million_outputs_is_off_the_grid(answer):
    grid = Grid("1/1024")
    for noise in (GridLaplace(1, grid="1/1024"), RoundedGaussian(1024)):
        outputs = grid.values(grid.units([answer]) + noise.sample(10**6))
        assert int((np.floor(outputs * 1024) != outputs * 1024).sum()) == 0


def test_a_quarter_of_textbook_outputs_is_off_the_finest_grid_of_the_neighbour():
    outputs = 0.0 + np.random.default_rng().laplace(size=10**6)
    off = np.floor(np.ldexp(outputs, 53)) != np.ldexp(outputs, 53)
    assert 0.2 < off.mean() < 0.35
    outputs = 1.0 + np.random.default_rng().laplace(size=10**6)
    off = np.floor(np.ldexp(outputs, 53)) != np.ldexp(outputs, 53)
    assert off.mean() < 0.001
