"""What all mechanisms that add noise share: forms, grids, errors, intervals, no wrapping."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from discreet import Gaussian, Geometric, Laplace
from discreet.errors import InvalidInput, InvalidValue, OffGrid, OutOfRange
from discreet.noise.magnitude import LARGEST_NOISE, LARGEST_RESULT
from tests.mechanisms.every_draw import number, scripted

ALPHA = 1e-6


def laplace(scale: Any, **rest: Any) -> Laplace:
    return Laplace.from_scale(sensitivity=1, scale=scale, **rest)


def gaussian(scale: Any, **rest: Any) -> Gaussian:
    return Gaussian.from_scale(sensitivity=1, sigma=scale, **rest)


FAMILIES = [laplace, gaussian]


def at_most(noise, t, draws) -> Any:
    """P(all draws lie in [-t, t]), added up one probability at a time."""
    return sum(number(noise.pmf(k)) for k in range(-t, t + 1)) ** draws


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("scale", ["0.3", "1", "7", "23"])
@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.9999"])
@pytest.mark.parametrize("coordinates", [1, 10])
def test_the_error_is_the_narrowest_by_brute_force(family, scale, confidence, coordinates):
    grid = Fraction(1, 8)
    mechanism = family(Fraction(scale) * grid, grid=grid)
    error = mechanism.error(confidence, coordinates=coordinates)
    steps = error.exact / grid
    assert steps.denominator == 1
    wanted = number(Fraction(confidence))
    assert at_most(mechanism.noise, int(steps), coordinates) >= wanted
    if steps:
        assert at_most(mechanism.noise, int(steps) - 1, coordinates) < wanted
    assert error.coordinates == coordinates


def test_the_textbook_stands_beside_the_exact_error():
    laplace = Laplace.from_scale(sensitivity=1, scale=10, grid="1/100")
    assert laplace.error("0.95", coordinates=7).textbook == pytest.approx(10 * np.log(7 / 0.05))
    assert laplace.error("0.95").exact <= laplace.error("0.95").textbook + 0.01
    gaussian = Gaussian.from_scale(sensitivity=1, sigma=10)
    assert gaussian.error("0.95", coordinates=7).textbook == pytest.approx(
        10 * np.sqrt(2 * np.log(2 * 7 / 0.05))
    )
    assert gaussian.error("0.95").exact < gaussian.error("0.95").textbook


@pytest.mark.parametrize("kind", [Laplace, Geometric, Gaussian])
@pytest.mark.parametrize("within", ["1", "5", "50.9", "1e6"])
@pytest.mark.parametrize("coordinates", [1, 100])
def test_from_error_is_the_widest_noise_that_meets_the_target(kind, within, coordinates):
    mechanism = kind.from_error(sensitivity=1, within=within, coordinates=coordinates)
    met = mechanism.error("0.95", coordinates=coordinates).exact
    assert met <= Fraction(within)
    wider = mechanism.scale * (1 + Fraction(1, 2**29))
    again = (
        kind.from_scale(sensitivity=1, sigma=wider)
        if kind is Gaussian
        else kind.from_scale(sensitivity=1, scale=wider)
    )
    assert again.error("0.95", coordinates=coordinates).exact > Fraction(within)


def test_a_target_below_one_step_means_no_error_at_all():
    mechanism = Laplace.from_error(sensitivity=1, within="0.1", confidence="0.9")
    assert mechanism.error("0.9").exact == 0
    assert mechanism.noise.pmf(0) >= Fraction(9, 10)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_interval_covers_the_truth_as_often_as_it_says(family):
    # Binomial; false alarms: one in a million.
    mechanism, n = family(3, grid="1/10"), 2000
    noisy = mechanism.release(np.full(n, 0.7))
    hits = 0
    for released in noisy.tolist():
        low, high = mechanism.interval(released, "0.9")
        hits += low <= 0.7 <= high
    low, high = mechanism.noise.interval("0.9")
    chance = float(sum(number(mechanism.noise.pmf(k)) for k in range(low, high + 1)))
    assert binomtest(hits, n, chance).pvalue > ALPHA


@pytest.mark.parametrize("grid", ["1/10", "1/3", "1/8", "7/3"])
def test_the_ends_of_an_interval_are_rounded_outward(grid):
    step = Fraction(grid)
    mechanism = Laplace.from_scale(sensitivity=1, scale=3 * step, grid=step)
    low, high = mechanism.noise.interval("0.95")
    for units in (0, 1, 3, -7, 10**6 + 1):
        released = scripted(lambda: mechanism.release(0.0), [units])
        left, right = mechanism.interval(released)
        assert Fraction(left) <= (units - high) * step
        assert Fraction(right) >= (units - low) * step
        assert right - left <= float((high - low) * step) * (1 + 1e-9)


@pytest.mark.parametrize("released", [float("nan"), float("inf"), None, "x", True])
def test_an_interval_is_around_a_number(released):
    with pytest.raises(InvalidInput, match=r"released = .*\n\nHint: "):
        Laplace.from_scale(sensitivity=1, scale=1).interval(released)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "values",
    [3, 3.5, [1, 2], [1.5, 2.0], (1, 2), [[1, 2], [3, 4]], [], {"a": 1, "b": 2.5}, {}],
)
def test_a_release_has_the_form_of_its_values(family, values):
    released = family(1, grid="1/2").release(values)
    form: type = type(released)
    other_form: dict[type, type] = {int: float, tuple: list}
    assert form is other_form.get(type(values), type(values))
    if isinstance(values, dict):
        assert list(released) == list(values)
        assert all(type(number) is float for number in released.values())
    else:
        assert np.shape(released) == np.shape(values)


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (2, 0, 4), (1, 1, 1, 1)])
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.uint64, np.float32, np.float64])
def test_an_array_gives_an_array_of_its_shape(shape, dtype):
    for family in FAMILIES:
        values = np.ones(shape, dtype)
        released = family(1).release(values)
        assert isinstance(released, np.ndarray)
        assert released.shape == shape
        whole = np.dtype(dtype).kind in "iu"
        assert released.dtype == (np.int64 if whole else np.float64)
        assert (values == 1).all(), "the caller's array is left alone"


def test_whole_numbers_stay_whole_on_whole_grids_only():
    assert type(Laplace.from_scale(sensitivity=1, scale=1).release(5)) is int
    assert type(Laplace.from_scale(sensitivity=3, scale=3, grid=3).release(6)) is int
    assert type(Laplace.from_scale(sensitivity=1, scale=1, grid="1/2").release(5)) is float
    assert type(Laplace.from_scale(sensitivity=1, scale=1).release(5.0)) is float


@pytest.mark.parametrize(
    ("grid", "values"),
    [
        ("1", [0.5]),
        ("1/4", [0.25, 0.3]),
        ("3", [3, 4]),
        ("2/7", [1]),
        ("1/10", [0.1 + 0.2]),
        ("2", [2.0, 3.0]),
    ],
)
def test_values_off_the_grid_are_refused(grid, values):
    for family in FAMILIES:
        with pytest.raises(OffGrid, match=r"\n\nHint: "):
            family(5, grid=grid).release(values)


@given(units=st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=5))
def test_floats_that_name_decimal_grid_points_are_taken_for_them(units):
    mechanism = Laplace.from_scale(sensitivity=1, scale=1, grid="1/100")
    values = [float(Fraction(u, 100)) for u in units]
    assert scripted(lambda: mechanism.release(values), [0] * len(units)) == values


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("form", [int, float])
def test_the_clamp_comes_after_the_noise_and_nothing_wraps(sign, form):
    mechanism = Laplace.from_scale(sensitivity=1, scale=1)
    largest = sign * form(2**61 - 1 if form is int else 2**60)
    for noise, expected in (
        (LARGEST_NOISE, LARGEST_RESULT),
        (2**62, LARGEST_RESULT),
        (2**62 - 2**61, int(largest * sign) + 2**61),
        (0, int(largest * sign)),
    ):
        released = scripted(lambda: mechanism.release(largest), [sign * noise])
        assert released == sign * min(expected, LARGEST_RESULT)
        # Back from the other side: a value is not clamped before the noise is added.
        back = scripted(lambda: mechanism.release(largest), [-sign * noise])
        assert back == sign * max(int(largest * sign) - noise, -LARGEST_RESULT)


@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_on_a_coarse_grid_do_not_wrap_either(sign):
    grid = 10**6
    mechanism = Laplace.from_scale(sensitivity=grid, scale=grid, grid=grid)
    released = scripted(lambda: mechanism.release([5 * grid]), [sign * LARGEST_NOISE])
    assert released == [sign * (LARGEST_RESULT // grid) * grid]
    wide = Laplace.from_scale(sensitivity=grid, scale=10**20, grid=grid)
    with pytest.raises(OutOfRange, match=r"do not fit 64 bits\.\n\nHint: "):
        wide.release([0])
    assert abs(wide.release([0.0])[0]) < 1e23
    huge = Laplace.from_scale(sensitivity=2**70, scale=2**69, grid=2**70)
    with pytest.raises(OutOfRange, match="do not fit"):
        huge.release(0)
    assert huge.release(0.0) % 2**70 == 0


@pytest.mark.parametrize("value", [2**61, -(2**61), 2**63, -(2**63), 2.0**61, 1e300])
def test_values_beyond_61_bits_are_refused(value):
    for family in FAMILIES:
        with pytest.raises(OutOfRange, match=r"2\*\*61"):
            family(1).release([value])


@pytest.mark.parametrize(
    "values",
    [
        float("nan"),
        [1.0, float("inf")],
        [1, None],
        None,
        "7",
        True,
        [True, False],
        1j,
        [[1], [1, 2]],
        {"a": [1], "b": [1, 2]},
        {"a": None},
        2**64,
        Fraction(1, 2),
        pytest.param(object(), id="object"),
        {1, 2},
        np.array([1, 2], dtype=object),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.ma.masked_array([1, 2], mask=[False, True]),
        np.ones(2, np.longdouble),
    ],
    ids=repr,
)
def test_what_is_not_a_number_is_refused(values):
    for family in FAMILIES:
        with pytest.raises(InvalidValue, match=r"\n\nHint: "):
            family(1).release(values)


def test_no_message_repeats_a_value():
    secrets = [[4711.25], {"a": 4711.25}, [4711.25, float("nan")], 4711.25e30, [4711.25, None]]
    for values in secrets:
        with pytest.raises(InvalidInput) as refusal:
            Laplace.from_scale(sensitivity=1, scale=1).release(values)
        assert "4711" not in str(refusal.value)


def test_mechanisms_are_frozen_and_compare_by_value():
    one = Laplace.from_epsilon(sensitivity=1, epsilon=0.5)
    assert one == Laplace.from_scale(sensitivity=1, scale=2)
    assert hash(one) == hash(Laplace.from_scale(sensitivity=1, scale=2))
    assert one != Laplace.from_scale(sensitivity=1, scale=2, relation="change_one")
    with pytest.raises(AttributeError):
        one.scale = Fraction(1)  # type: ignore[misc]
