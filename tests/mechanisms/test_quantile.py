"""Quantiles: their guarantee over every small database, and their tolerance of any value."""

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf
from scipy.stats import chisquare

from discreet import Quantile
from discreet.errors import InvalidInput, InvalidValue, OutOfRange
from tests.mechanisms.distances import is_private
from tests.mechanisms.every_draw import distribution

ALPHA = 1e-6
UNIVERSE = range(3)
MOST_ROWS = 4


@lru_cache(maxsize=4096)
def law(mechanism, rows) -> Any:
    found, leftover = distribution(lambda: mechanism.release(list(rows)))
    assert abs(leftover) < 1e-45
    return found


def databases(most) -> Any:
    return [rows for n in range(most + 1) for rows in combinations_with_replacement(UNIVERSE, n)]


def neighbours(relation, rows_per_unit) -> Any:
    """All pairs: rows of one unit added, or the rows of one unit replaced by those of another."""
    for others in databases(MOST_ROWS - rows_per_unit):
        for mine in databases(rows_per_unit):
            for yours in [()] if relation == "add_remove" else databases(rows_per_unit):
                yield tuple(sorted(others + mine)), tuple(sorted(others + yours))


@pytest.mark.parametrize("rows_per_unit", [1, 2])
@pytest.mark.parametrize("relation", ["add_remove", "change_one"])
@pytest.mark.parametrize("q", ["1/2", "1/5"])
def test_no_pair_of_neighbours_is_further_apart_than_epsilon(q, relation, rows_per_unit):
    epsilon = Fraction(3, 2)
    mechanism = Quantile(
        q,
        bounds=(0, 2),
        epsilon=epsilon,
        rows_per_unit=rows_per_unit,
        relation=relation,
    )
    for rows, changed in neighbours(relation, rows_per_unit):
        assert is_private(law(mechanism, rows), law(mechanism, changed), epsilon)
        assert is_private(law(mechanism, changed), law(mechanism, rows), epsilon)


@pytest.mark.parametrize("relation", ["add_remove", "change_one"])
def test_the_utility_moves_by_the_sensitivity_and_no_more(relation):
    for q in (Fraction(1, 2), Fraction(1, 5), Fraction(9, 10)):
        for rows_per_unit in (1, 2):
            worst = max(
                abs(utility(q, rows, v) - utility(q, changed, v))
                for rows, changed in neighbours(relation, rows_per_unit)
                for v in UNIVERSE
            )
            mechanism = Quantile(
                q, bounds=(0, 2), epsilon=1, rows_per_unit=rows_per_unit, relation=relation
            )
            assert mechanism.sensitivity == worst == mechanism.event.sensitivity


def utility(q, rows, v) -> Any:
    return -abs((1 - q) * sum(x < v for x in rows) - q * sum(x > v for x in rows))


@pytest.mark.parametrize("q", ["1/2", "1/4", "0.9"])
@given(rows=st.lists(st.integers(-3, 12), max_size=12))
def test_every_grid_point_has_the_probability_of_its_utility(q, rows):
    mechanism = Quantile(q, bounds=(0, 9), epsilon=2)
    clamped = [min(max(x, 0), 9) for x in rows]
    per_unit = mpf(2) / (2 * mechanism.sensitivity.numerator) * mechanism.sensitivity.denominator
    exponents = [utility(mechanism.q, clamped, v) for v in range(10)]
    weights = [mpmath.exp(per_unit * u.numerator / u.denominator) for u in exponents]
    found = law(mechanism, tuple(rows))
    for v in range(10):
        assert abs(found[v] - weights[v] / mpmath.fsum(weights)) < 1e-40


@pytest.mark.parametrize(
    ("grid", "kind"), [("1", int), ("2", int), ("1/2", float), ("1/10", float)]
)
def test_a_release_is_a_grid_point_within_the_bounds(grid, kind):
    mechanism = Quantile(bounds=(-4, 6), epsilon="1/100", grid=grid)
    for _ in range(200):
        point = mechanism.release([0.0, 1.0])
        assert type(point) is kind
        assert -4 <= point <= 6
        assert float(round(Fraction(point) / Fraction(grid)) * Fraction(grid)) == point


def test_releases_follow_the_enumerated_law():
    # Chi-square over 10 points; false alarms: one in a million.
    mechanism, rows, n = Quantile(bounds=(0, 9), epsilon=1), (1, 2, 2, 7, 8), 2500
    counts = Counter(mechanism.release(rows) for _ in range(n))
    observed = [counts[v] for v in range(10)]
    masses = np.array([float(law(mechanism, rows)[v]) for v in range(10)])
    assert chisquare(observed, n * masses / masses.sum()).pvalue > ALPHA
    wider = Quantile(bounds=(0, 9), epsilon="1/2")
    masses = np.array([float(law(wider, rows)[v]) for v in range(10)])
    assert chisquare(observed, n * masses / masses.sum()).pvalue < ALPHA


def test_a_large_epsilon_gives_the_quantile_itself():
    ages = [20, 30, 30, 30, 90]
    assert Quantile(bounds=(0, 120), epsilon=200).release(ages) == 30
    assert Quantile("0.9", bounds=(0, 120), epsilon=900).release(range(121)) == 108


@pytest.mark.parametrize(
    "value",
    [1e300, -1e300, np.inf, -np.inf, 2.0**61, 5e-324, -0.0, np.float32(3e38)],
)
def test_no_float_is_too_large_to_be_clamped(value):
    mechanism = Quantile(bounds=(0, 9), epsilon=200)
    assert mechanism.release([value] * 9) == (9 if value > 1 else 0)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float16, np.float64])
def test_every_kind_of_number_is_clamped_alike(dtype):
    largest = np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else np.finfo(dtype).max
    mechanism = Quantile(bounds=(-500, 500), epsilon=900, grid="1/2")
    assert mechanism.release(np.array([largest] * 9, dtype)) == min(largest, 500)
    smallest = np.iinfo(dtype).min if np.dtype(dtype).kind in "iu" else np.finfo(dtype).min
    assert mechanism.release(np.array([smallest] * 9, dtype)) == max(smallest, -500)


@pytest.mark.parametrize(
    "values", [[np.nan], [1, np.nan], ["a"], [None], [1j], [True], [[1], [2, 3]]]
)
def test_what_is_not_a_number_is_refused(values):
    with pytest.raises(InvalidValue, match=r"\n\nHint: "):
        Quantile(bounds=(0, 9), epsilon=1).release(values)


def test_no_values_at_all_leave_every_point_equally_likely():
    found = law(Quantile(bounds=(0, 4), epsilon=1), ())
    assert all(abs(found[v] - mpf("0.2")) < 1e-45 for v in range(5))
    assert law(Quantile(bounds=(3, 3), epsilon=1), (1, 2)) == {3: 1}


def test_the_error_holds_and_one_tenth_of_a_rank_less_may_not():
    epsilon, points = Fraction(2), 5
    mechanism = Quantile(bounds=(0, points - 1), epsilon=epsilon)
    error = mechanism.error("0.9")
    worst = mpf(0)
    for rows in combinations_with_replacement((0, 4), 12):
        clear = {v: utility(mechanism.q, rows, v) for v in range(points)}
        best = max(clear.values())
        missed = mpmath.fsum(
            m for v, m in law(mechanism, rows).items() if best - clear[v] > error.exact
        )
        worst = max(worst, missed)
    assert worst <= mpf("0.1")
    # The bound is met with equality by one best point and all others at that distance.
    others = (points - 1) * mpmath.exp(-mpf(2) * float(error.exact))
    assert others / (1 + others) == pytest.approx(0.1, rel=1e-9)
    assert error.textbook == pytest.approx(2 * 0.5 / 2 * np.log(points / 0.1), rel=1e-12)


@pytest.mark.parametrize(
    "bounds",
    [
        None,
        5,
        (1,),
        (1, 2, 3),
        (2, 1),
        ("x", 1),
        (0, float("nan")),
        (0, float("inf")),
        "01",
        (0, 1.5),
    ],
)
def test_bounds_are_two_grid_points_low_first(bounds):
    with pytest.raises(InvalidInput, match=r"bounds = .*\n\nHint: "):
        Quantile(bounds=bounds, epsilon=1)


@pytest.mark.parametrize("q", [0, 1, -1, 2, "x", None, True, float("nan")])
def test_q_lies_strictly_between_0_and_1(q):
    with pytest.raises(InvalidInput, match=r"q = .*\n\nHint: "):
        Quantile(q, bounds=(0, 1), epsilon=1)


def test_what_could_overflow_is_refused_before_any_value_is_seen():
    with pytest.raises(OutOfRange, match="bounds"):
        Quantile(bounds=(0, 2**60), epsilon=1)
    with pytest.raises(OutOfRange, match="denominator"):
        Quantile("0.12345678901", bounds=(0, 1), epsilon=1)
    widest = Quantile(Fraction(1, 2**20), bounds=(1 - 2**60, 2**60 - 1), epsilon=1)
    assert -(2**60) <= widest.release([1, 2, 3]) <= 2**60
    assert -(2**60) <= widest.release([]) <= 2**60
