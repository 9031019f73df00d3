"""Values go to the nearest point of a public grid, halves upward, exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidNumber, InvalidValue, OffGrid, OutOfRange
from discreet.exact import Grid
from discreet.exact.grid import LARGEST_UNITS

STEPS = ["1", "1/4", "1/1024", "8", "1/1099511627776", "0.1", "0.01", "1/3", "3/7", "2.5", "1e-9"]

steps = st.one_of(
    st.sampled_from(STEPS).map(Fraction),
    st.integers(-200, 200).map(lambda e: Fraction(2) ** e),
    st.fractions(min_value=Fraction(1, 10**12), max_value=10**12),
)


def truth(x: Fraction, step: Fraction) -> int:
    return (2 * x + step) // (2 * step)


def assert_rounded_exactly(x: float, step: Fraction) -> None:
    expected = truth(Fraction(x), step)
    if abs(expected) <= LARGEST_UNITS - 1024:
        assert Grid(step).units([x]).tolist() == [expected]
    elif abs(expected) > LARGEST_UNITS:
        with pytest.raises(OutOfRange):
            Grid(step).units([x])


@given(st.floats(allow_nan=False, allow_infinity=False), steps)
def test_any_float_is_rounded_as_the_rationals_say(x, step):
    assert_rounded_exactly(x, step)


@given(st.integers(-(2**53), 2**53), st.integers(-3, 3), steps)
def test_floats_next_to_a_half_are_rounded_as_the_rationals_say(n, ulps, step):
    x = float((n + Fraction(1, 2)) * step)
    for _ in range(abs(ulps)):
        x = np.nextafter(x, np.inf if ulps > 0 else -np.inf)
    assert_rounded_exactly(float(x), step)


@given(st.integers(-(2**62), 2**62), st.integers(-2, 2), steps)
def test_large_values_are_rounded_as_the_rationals_say(n, ulps, step):
    x = float(n * step)
    for _ in range(abs(ulps)):
        x = np.nextafter(x, np.inf if ulps > 0 else -np.inf)
    assert_rounded_exactly(float(x), step)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5), steps)
def test_any_integers_are_rounded_as_the_rationals_say(numbers, step):
    array = np.array(numbers, dtype=np.int64)
    expected = [truth(Fraction(n), step) for n in numbers]
    if all(abs(n) <= LARGEST_UNITS for n in [*expected, *numbers]):
        assert Grid(step).units(array).tolist() == expected
    else:
        with pytest.raises(OutOfRange):
            Grid(step).units(array)


@pytest.mark.parametrize("step", STEPS)
def test_halves_go_up_on_both_sides_of_zero(step):
    exact = Fraction(step)
    for n in range(-5, 5):
        half = (n + Fraction(1, 2)) * exact
        if Fraction(float(half)) == half:
            assert Grid(step).units([float(half)]).tolist() == [n + 1]


@pytest.mark.parametrize("step", STEPS)
def test_rounding_never_stretches_a_distance_by_more_than_the_grid_itself(step):
    grid, exact = Grid(step), Fraction(step)
    x = np.random.default_rng(1).normal(size=2000) * 50 * float(exact)
    y = x + float(exact)
    apart = [abs(Fraction(b) - Fraction(a)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    units = np.abs(grid.units(y) - grid.units(x)).tolist()
    assert all(u <= -(-d // exact) for u, d in zip(units, apart, strict=True))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("step", STEPS)
def test_narrow_floats_mean_the_binary_numbers_they_are(dtype, step):
    values = np.array([0.3, -1.7, 2.5, 0.0, 60.0], dtype=dtype)
    expected = [truth(Fraction(float(x)), Fraction(step)) for x in values]
    assert Grid(step).units(values).tolist() == expected


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
@pytest.mark.parametrize("step", STEPS)
def test_integers_of_every_width(dtype, step):
    values = np.array([0, 1, 100, 127], dtype=dtype)
    expected = [truth(Fraction(int(x)), Fraction(step)) for x in values]
    units = Grid(step).units(values)
    assert units.dtype == np.int64
    assert units.tolist() == expected


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3), (0, 4)])
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_the_shape_is_kept(step, shape, dtype):
    units = Grid(step).units(np.ones(shape, dtype=dtype))
    assert isinstance(units, np.ndarray)
    assert units.shape == shape
    assert units.dtype == np.int64
    assert (units == truth(Fraction(1), Fraction(step))).all()


def test_more_values_than_one_chunk_are_all_rounded():
    values = np.arange(100_000) / 8 + 0.03
    expected = [truth(Fraction(x), Fraction(1, 10)) for x in values[::997].tolist()]
    assert Grid("0.1").units(values)[::997].tolist() == expected


def test_the_caller_keeps_the_array_as_it_was():
    values = np.array([0.3, 0.5])
    Grid("0.1").units(values)
    assert values.tolist() == [0.3, 0.5]


@pytest.mark.parametrize(
    "values",
    [
        [float("nan")],
        [1.0, float("inf")],
        ["1"],
        [None],
        [True],
        [1j],
        [[1], [2, 3]],
        [Fraction(1, 2)],
        [2**70],
        np.array([1], dtype="datetime64[s]"),
        [2**53 + 1, 0.5],
    ],
)
@pytest.mark.parametrize("step", ["1/4", "0.1"])
def test_what_cannot_be_rounded_exactly_is_refused(values, step):
    with pytest.raises(InvalidValue, match="Hint: "):
        Grid(step).units(values)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="no wider floats here")
def test_wider_floats_are_refused_since_they_would_be_narrowed():
    with pytest.raises(InvalidValue):
        Grid(1).units(np.array([0.5], dtype=np.longdouble))


@pytest.mark.parametrize("step", ["1", "1/4", "0.1", "1/3", "8"])
def test_values_beyond_the_limit_are_refused(step):
    edge = float(LARGEST_UNITS * Fraction(step))
    for value in (edge * 2, -edge * 2, 1.7e308):
        with pytest.raises(OutOfRange, match="Hint: "):
            Grid(step).units([value])
    with pytest.raises(OutOfRange):
        Grid(step).units(np.array([2**64 - 1], dtype=np.uint64))
    with pytest.raises(OutOfRange):
        Grid(step).units(np.array([-(2**63)], dtype=np.int64))


def test_a_double_that_looks_small_enough_does_not_slip_a_larger_value_past_the_limit():
    accepted = []
    for step in map(Fraction, ("1/3", "0.1", "3/7", "1e-9", "2.5")):
        x = float(np.nextafter(float(LARGEST_UNITS * step), 0))
        for _ in range(4):
            try:
                accepted += Grid(step).units([x]).tolist()
            except OutOfRange:  # a value within a hair of the limit may be refused
                assert truth(Fraction(x), step) > LARGEST_UNITS - 1024
            x = float(np.nextafter(x, np.inf))
    assert accepted
    assert max(accepted) <= LARGEST_UNITS


def test_zero_lies_on_the_finest_grid():
    finest = Grid(Fraction(1, 2**1000))
    assert finest.units([0]).tolist() == [0]
    assert finest.units([0.0]).tolist() == [0]
    assert Grid(2**1000).units([1e300, -1e300]).tolist() == [0, 0]


@pytest.mark.parametrize("step", [0, -1, "nan", True, "1e400", "1e-400", Fraction(1, 2**1001)])
def test_a_step_must_be_positive_and_fit_a_float(step):
    with pytest.raises(InvalidNumber, match="Hint: "):
        Grid(step)


@pytest.mark.parametrize("step", STEPS)
def test_points_of_the_grid_come_back_exactly(step):
    grid = Grid(step)
    units = np.array([-(2**40), -3, 0, 1, 7, 12345, 2**40])
    assert grid.exact_units(grid.values(units)).tolist() == units.tolist()
    near = [float(int(u) * Fraction(step)) for u in units]
    assert grid.values(units).tolist() == near


@pytest.mark.parametrize(
    ("step", "value"),
    [("1/4", 0.3), ("0.1", 0.35), ("3", 4), ("1", 0.5), ("0.1", np.nextafter(0.3, 1))],
)
def test_values_between_the_points_are_refused_where_points_are_asked_for(step, value):
    with pytest.raises(OffGrid, match="Hint: "):
        Grid(step).exact_units([value])


@given(st.fractions(min_value=0), steps)
def test_distances_are_rounded_up(distance, step):
    units = Grid(step).units_up(distance)
    assert (units - 1) * step < distance <= units * step
