"""The short forms: any form of numbers, a grid from public facts, sensitivity to spare."""

from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import discreet
from discreet.errors import InvalidValue, OutOfRange
from discreet.exact import Grid, Real
from discreet.mechanisms.additive import Additive
from discreet.noise.magnitude import LARGEST_NOISE
from tests.mechanisms.every_draw import scripted

ALPHA = 1e-6


def laplace(value, **rest) -> Any:
    return discreet.laplace(value, **{"sensitivity": 1, "epsilon": 0.5, **rest})


def geometric(value, **rest) -> Any:
    return discreet.geometric(value, **{"sensitivity": 1, "epsilon": 0.5, **rest})


def gaussian(value, **rest) -> Any:
    return discreet.gaussian(value, **{"sensitivity": 1, "epsilon": 0.5, "delta": 1e-6, **rest})


def used(call, *args, **rest) -> Any:
    """The mechanism that a short form put to work."""
    found = []
    release = Additive.release_units

    def spy(mechanism, units) -> Any:
        found.append(mechanism)
        return release(mechanism, units)

    with patch.object(Additive, "release_units", spy):
        call(*args, **rest)
    (mechanism,) = found
    return mechanism


# Forms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [laplace, gaussian])
@pytest.mark.parametrize("number", [3, 3.25, np.int16(3), np.float32(3.25), np.float64(3)])
def test_a_number_gives_a_float(call, number):
    assert type(call(number)) is float


@pytest.mark.parametrize("number", [3, np.int16(3), np.uint64(3)])
def test_a_whole_number_with_geometric_noise_stays_one(number):
    assert type(geometric(number)) is int


@pytest.mark.parametrize("call", [laplace, geometric, gaussian])
@pytest.mark.parametrize(
    ("values", "form"),
    [
        ([1, 2, 3], list),
        ((1, 2), list),
        ([[1, 2], [3, 4]], list),
        ([], list),
        ([[]], list),
        (range(4), list),
        ({"a": 1, "b": 2}, dict),
        ({}, dict),
        (np.arange(6), np.ndarray),
        (np.arange(6).reshape(2, 3), np.ndarray),
        (np.array(7), np.ndarray),
        (np.empty((0, 3), np.int64), np.ndarray),
        (np.arange(8)[::2], np.ndarray),
        (np.asfortranarray(np.arange(6).reshape(2, 3)), np.ndarray),
    ],
    ids=repr,
)
def test_the_answer_has_the_form_of_the_values(call, values, form):
    released = call(values)
    assert type(released) is form
    if form is dict:
        assert released.keys() == values.keys()
        assert {type(x) for x in released.values()} <= {int if call is geometric else float}
    else:
        assert np.shape(released) == np.shape(values)
    if form is np.ndarray:
        assert released.dtype == (np.int64 if call is geometric else np.float64)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float64])
def test_the_callers_array_is_left_alone(dtype):
    values = np.full(300, 7, dtype)
    laplace(values)
    gaussian(values)
    assert (values == 7).all()
    assert values.dtype == dtype


@pytest.mark.parametrize("values", [1.0, [1.0], np.ones(3), {"a": 2.5}, [1, 2.5]])
def test_geometric_noise_is_for_whole_numbers(values):
    with pytest.raises(InvalidValue, match=r"whole numbers.*\n\nHint: use discreet.laplace"):
        geometric(values)


# Grids ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [laplace, gaussian])
@pytest.mark.parametrize("sensitivity", ["1e-9", "0.3", "1", "1e6"])
@pytest.mark.parametrize("size", [1, 300])
def test_the_default_grid_is_a_power_of_two_that_the_values_do_not_enter(call, sensitivity, size):
    grids = {
        used(call, np.full(size, value), sensitivity=sensitivity).grid
        for value in (0.0, float(sensitivity), 1e-30, float(Fraction(sensitivity)) * 1e6)
    }
    (grid,) = grids
    assert Grid(grid).is_dyadic
    assert grid <= Fraction(sensitivity) / 2**20


@pytest.mark.parametrize("call", [laplace, gaussian])
def test_every_answer_is_a_multiple_of_the_grid(call):
    for values in (np.linspace(-5, 5, 1000), np.arange(1000)):
        mechanism = used(call, values)
        released = call(values) / float(mechanism.grid)
        assert (released == np.rint(released)).all()
    for grid in ("1/10", "3", "0.25"):
        released = call([0.3, -7.7], grid=grid)
        for number in released:
            nearest = Grid(grid).unit_of(Fraction(number)) * Fraction(grid)
            assert number == float(nearest)


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-10", "3e-11", "1e-12", "1e-13", "1e-14"])
def test_tiny_epsilons_still_find_a_grid(epsilon):
    mechanism = used(laplace, 0.0, epsilon=epsilon)
    assert 2**47 <= mechanism.noise.scale <= 10**15 or Fraction(epsilon) > Fraction(1, 10**9)
    assert mechanism.epsilon == Fraction(epsilon)


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_the_default_grid_hardly_adds_to_the_noise(size):
    values = np.zeros(size)
    assert used(laplace, values).scale <= 2 * Fraction(10003, 10000)
    optimal = discreet.Gaussian.from_epsilon(sensitivity=1, epsilon=0.5, delta=1e-6).sigma
    assert used(gaussian, values).sigma <= optimal * Fraction(10003, 10000)


# Sensitivity ------------------------------------------------------------------------------------


def test_rounding_takes_vectors_further_apart_than_the_naive_rule_says():
    # Every coordinate sits just below the middle between two steps; a hair lifts all of them.
    grid, distance = Fraction(1), Fraction(1)
    naive, worst = ceil(distance / grid), 0
    eighths = [Fraction(k, 8) for k in range(-8, 9)]
    for x, y in product(product(eighths, repeat=2), repeat=2):
        if sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= distance:
            steps = [
                Grid(grid).unit_of(a) - Grid(grid).unit_of(b) for a, b in zip(x, y, strict=True)
            ]
            worst = max(worst, sum(map(abs, steps)))
    assert worst == naive + 1  # ceil(D / g) + d - 1 for d = 2: our rule, met exactly


numbers = st.floats(-50, 50, allow_subnormal=False)


@given(
    pairs=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6),
    grid=st.sampled_from(["1", "1/4", "1/3", "0.7", "5"]),
)
def test_rounded_vectors_are_never_further_apart_than_the_sensitivity_stated(pairs, grid):
    x, y = (np.array(side) for side in zip(*pairs, strict=True))
    exact = [abs(Fraction(a) - Fraction(b)) for a, b in pairs]
    l1, l2 = sum(exact), Real(sum(d * d for d in exact)).sqrt().upper()
    if l1 == 0:
        return
    steps = Grid(grid).units(x) - Grid(grid).units(y)
    step = Fraction(grid)
    stated = used(laplace, x, sensitivity=l1, grid=grid).sensitivity
    assert int(np.abs(steps).sum()) * step <= stated
    stated = used(gaussian, x, sensitivity=l2, grid=grid).sensitivity
    assert int((steps**2).sum()) * step**2 <= stated**2


def test_values_that_need_no_rounding_cost_nothing():
    for grid in ("1", "1/4", "1/10"):
        mechanism = used(laplace, [1, 2, 3], grid=grid)
        assert mechanism.sensitivity == 1
        assert used(gaussian, np.arange(5), grid=grid).sensitivity == 1
        assert used(laplace, [1.0, 2.0, 3.0], grid=grid).sensitivity == 1 + 2 * Fraction(grid)
        assert used(gaussian, [1.0, 2.0, 3.0], grid=grid).sensitivity == 1 + 2 * Fraction(grid)
    # A grid that does not hold all whole numbers rounds them too.
    assert used(laplace, [3, 6], grid="3").sensitivity == 6
    assert used(laplace, [1, 2], grid="2/3").sensitivity == 2


def test_epsilon_is_kept_however_the_sensitivity_is_widened():
    for values in (1.5, [1.5, 2.5], np.ones((3, 4))):
        for grid in (None, "1/3", "4"):
            mechanism = used(laplace, values, sensitivity="0.7", epsilon="0.3", grid=grid)
            assert mechanism.epsilon == Fraction(3, 10)
            mechanism = used(gaussian, values, sensitivity="0.7", epsilon="0.3", grid=grid)
            assert mechanism.delta("0.3") <= Fraction(1, 10**6)


# Limits -----------------------------------------------------------------------------------------


def test_values_near_the_limit_do_not_wrap():
    top = 2**61 - 1
    released = scripted(lambda: geometric([top, -top]), [LARGEST_NOISE, -LARGEST_NOISE])
    assert released == [2**62, -(2**62)]
    released = scripted(lambda: geometric([top, -top]), [-LARGEST_NOISE, LARGEST_NOISE])
    assert released == [-(2**62), 2**62]
    assert abs(laplace(float(2**60), grid=1) - 2**60) < 2**20


@pytest.mark.parametrize("call", [laplace, gaussian])
@pytest.mark.parametrize("value", [1e300, -1e19, 2**62])
def test_values_beyond_the_limit_are_refused(call, value):
    with pytest.raises(OutOfRange, match=r"\n\nHint: "):
        call(value)


@pytest.mark.parametrize("call", [laplace, geometric, gaussian])
def test_the_relation_is_written_into_the_event(call):
    for relation in ("add_remove", "change_one"):
        assert used(call, 1, relation=relation).event.relation == relation
    assert used(call, 1).event.relation == "add_remove"


@pytest.mark.parametrize("call", [laplace, geometric, gaussian])
def test_answers_are_centred_on_the_values(call):
    # The sign of the noise is fair; binomial, false alarms: one in a million.
    n = 20_000
    noise = call(np.full(n, 12)) - 12
    above, below = int((noise > 0).sum()), int((noise < 0).sum())
    assert binomtest(above, above + below).pvalue > ALPHA
    mechanism = used(call, np.full(n, 12))
    spread = float(mechanism.noise.variance) ** 0.5 * float(mechanism.grid)
    # By Chebyshev for the mean of squares: 5 % is far outside for n draws of these noises.
    assert np.std(noise) == pytest.approx(spread, rel=0.1)
