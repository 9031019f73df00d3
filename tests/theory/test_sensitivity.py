"""The rules never fall below what brute force finds, and meet it where the theory says so."""

from fractions import Fraction
from statistics import median_low
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidValue, NoSensitivity, TooLarge, UnboundedSensitivity
from discreet.exact import Real
from discreet.theory import (
    After,
    Before,
    Bins,
    Count,
    GroupBounded,
    GroupedRows,
    Linear,
    LinearAverage,
    Maximum,
    Mean,
    Median,
    Minimum,
    Proportion,
    Query,
    RowBounded,
    Sum,
    Together,
    brute_force,
    unit_universe,
)

RELATIONS = ["add_remove", "change_one"]
BOUNDS = st.tuples(st.integers(-4, 4), st.integers(-4, 4)).filter(lambda b: b[0] < b[1])


def compare(query: Query, universe: Any, relation: str, *, size: int, tight: bool = True) -> None:
    found = brute_force(query, universe, relation, size=size)
    assert found.l1 <= query.l1(relation)
    rule = query.l2(relation)
    # Roots of small rationals: equal, or far further apart than a unit in the last place.
    assert found.l2.float_down() <= rule.float_up()
    if tight:
        assert found.l1 == query.l1(relation)
        assert rule.float_down() <= found.l2.float_up()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    "query",
    [
        Count(lambda row: row > 1),
        Count(),
        Linear(lambda row: Fraction(row, 3)),
        Bins((0, 1, 2, 3)),
        Bins(("low", "high"), lambda row: "low" if row < 2 else "high"),
        Maximum(bounds=(0, 3)),
        Minimum(bounds=(0, 3)),
        Sum(bounds=(0, 3)),
        Sum(bounds=(0, 3)) * -2,
        After(lambda row: min(row, 2), Sum(bounds=(0, 2))),
        Before(Sum(bounds=(0, 3)), lambda total: total / 2, lipschitz="1/2"),
    ],
)
def test_rules_are_tight(query, relation):
    tight = not (isinstance(query, Count) and query == Count() and relation == "change_one")
    compare(query, range(4), relation, size=3, tight=tight)


@given(BOUNDS)
def test_sums_follow_their_bounds(bounds):
    query = Sum(bounds=bounds)
    universe = range(bounds[0], bounds[1] + 1)
    for relation in RELATIONS:
        compare(query, universe, relation, size=2)
    assert query.l1("add_remove") == max(abs(bounds[0]), abs(bounds[1]))
    assert query.l1("change_one") == bounds[1] - bounds[0]


@given(BOUNDS, st.integers(1, 3))
def test_means_and_averages_divide_by_the_public_size(bounds, size):
    universe = range(bounds[0], bounds[1] + 1)
    compare(Mean(size=size, bounds=bounds), universe, "change_one", size=size)
    compare(
        Proportion(size=size, where=lambda row: row > bounds[0]), universe, "change_one", size=size
    )
    high, low = bounds[1], bounds[0]
    weigh = LinearAverage(size=size, weight=lambda row: Fraction(row - low, high - low))
    compare(weigh, universe, "change_one", size=size)


def test_k_arbitrary_counts_cost_k():
    for relation in RELATIONS:
        counts = Together(*(Count(lambda row: row > 0) for _ in range(4)))
        assert counts.l1(relation) == 4
        assert counts.l2(relation) == 2
        compare(counts, range(2), relation, size=2)


@given(
    st.lists(
        st.sampled_from([Count(), Bins(range(3)), Sum(bounds=(-1, 2))]), min_size=1, max_size=3
    )
)
def test_several_queries_together_never_exceed_their_rule(queries):
    for relation in RELATIONS:
        compare(Together(*queries), range(-1, 3), relation, size=2, tight=False)


def test_mean_age_of_the_text():
    ages = Mean(size=100, bounds=(0, 150))
    assert ages.l1("change_one") == Fraction(3, 2)


def test_a_histogram_costs_one_or_two_whatever_the_number_of_bins():
    for bins in (2, 50, 3143):
        assert Bins(range(bins)).l1("add_remove") == 1
        assert Bins(range(bins)).l1("change_one") == 2
        assert Bins(range(bins)).l2("change_one") ** 2 < 2 + Fraction(1, 2**60)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("query", [Sum(), Mean(size=10), Maximum(), Minimum(), Median()])
def test_unbounded_values_are_refused_with_a_way_out(query, relation):
    with pytest.raises(
        UnboundedSensitivity, match=r"no finite sensitivity[\s\S]*clamp[\s\S]*quantile"
    ):
        query.l1(relation)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_plain_median_is_refused_because_it_is_as_bad_as_its_range(relation):
    with pytest.raises(UnboundedSensitivity, match=r"whole range, 10[\s\S]*quantile"):
        Median(bounds=(0, 10)).l1(relation)
    size = 3 if relation == "change_one" else 2
    assert brute_force(Median(bounds=(0, 10)), (0, 10), relation, size=size).l1 == 10
    found = brute_force(
        lambda rows: median_low(map(int, map(str, rows))), (0, 10), "change_one", size=3
    )
    assert found.l1 == 10


@pytest.mark.parametrize(
    "query", [Proportion(size=5), LinearAverage(size=5), Mean(size=5, bounds=(0, 1))]
)
def test_a_public_size_has_no_meaning_under_add_remove(query):
    with pytest.raises(NoSensitivity, match=r"private under add_remove[\s\S]*change_one"):
        query.l1("add_remove")


@given(BOUNDS, st.integers(1, 2))
def test_units_that_own_several_rows(bounds, most):
    a, b = bounds
    rows = [(group, value) for group in "xy" for value in sorted({a, 0, b} & set(range(a, b + 1)))]
    universe = unit_universe(rows, rows_per_unit=most)
    shape: Any = {"rows_per_unit": most, "bounds": bounds, "value": lambda row: row[1]}
    grouped = RowBounded(**shape, groups="xy", group=lambda row: row[0])
    ungrouped = RowBounded(**shape)
    for relation in RELATIONS:
        size = 1
        compare(ungrouped, universe, relation, size=size)
        compare(grouped, universe, relation, size=size)


def test_the_practical_rules_in_numbers():
    ages: Any = {"rows_per_unit": 20, "bounds": (-10, 110)}
    grouped, ungrouped = RowBounded(**ages, groups="ab"), RowBounded(**ages)
    assert ungrouped.l1("add_remove") == grouped.l1("add_remove") == 20 * 110
    assert grouped.l2("add_remove") == 20 * 110  # never sqrt(K) M: all rows may share a group
    assert ungrouped.l1("change_one") == 20 * 120
    assert grouped.l1("change_one") == 2 * 20 * 110
    assert grouped.l2("change_one") ** 2 - 2 * (20 * 110) ** 2 < Fraction(1, 2**40)
    across = RowBounded(rows_per_unit=3, bounds=(-5, 5), groups="ab")
    assert across.l2("change_one") == 3 * 10  # K R exceeds sqrt(2) K M
    count = RowBounded(rows_per_unit=3, bounds=(1, 1), value=lambda row: 1)
    assert count.l1("add_remove") == count.l1("change_one") == 3


@pytest.mark.parametrize("relation", RELATIONS)
def test_units_in_a_bounded_number_of_groups(relation):
    rows = [(group, value) for group in "xyz" for value in (-9, 9)]
    universe = unit_universe(rows, rows_per_unit=2)
    query = GroupBounded(
        groups_per_unit=2,
        clip=5,
        groups="xyz",
        value=lambda row: row[1],
        group=lambda row: row[0],
    )
    compare(query, universe, relation, size=1)
    assert query.l1("add_remove") == 10
    assert query.l2("add_remove") ** 2 - 50 < Fraction(1, 2**40)


@given(BOUNDS, st.integers(1, 2), st.integers(1, 2))
def test_rows_in_a_bounded_number_of_groups(bounds, groups, each):
    a, b = bounds
    rows = [(group, value) for group in "xy" for value in sorted({a, b})]
    universe = unit_universe(rows, rows_per_unit=3)
    query = GroupedRows(
        rows_per_unit=3,
        groups_per_unit=groups,
        rows_per_group=each,
        bounds=bounds,
        groups="xy",
        value=lambda row: row[1],
        group=lambda row: row[0],
    )
    for relation in RELATIONS:
        # Two groups are too few for a changed unit to leave all of its groups for others.
        compare(query, universe, relation, size=1, tight=False)


def test_people_counted_in_groups_move_them_by_the_root_of_their_number():
    people = GroupedRows(
        rows_per_unit=20, groups_per_unit=9, rows_per_group=1, bounds=(1, 1), groups=range(50)
    )
    assert people.l1("add_remove") == 9
    assert people.l2("add_remove") == 3
    assert people.l1("change_one") == 18
    assert people.l2("change_one") ** 2 - 18 < Fraction(1, 2**40)
    spread = GroupedRows(
        rows_per_unit=7, groups_per_unit=5, rows_per_group=3, bounds=(0, 10), groups=range(50)
    )
    assert spread.l1("add_remove") == 70  # the rows bound it before the groups do
    assert spread.l2("add_remove") ** 2 - 100 * (9 + 9 + 1) < Fraction(1, 2**40)


def test_brute_force_takes_any_function_and_shows_its_pair():
    found = brute_force(lambda rows: len(set(rows)), "abc", "add_remove", size=3)
    assert found.l1 == 1
    x, y = found.l1_pair
    assert abs(len(set(x)) - len(set(y))) == 1


def test_brute_force_stops_before_it_hurts():
    with pytest.raises(TooLarge, match=r"[\d,]+ pairs"):
        brute_force(sum, range(100), "change_one", size=10)


def test_values_outside_their_bounds_are_refused_without_being_shown():
    with pytest.raises(InvalidValue) as caught:
        Sum(bounds=(0, 10))((3, 77))
    assert "77" not in str(caught.value)
    with pytest.raises(InvalidValue, match="wrong way round"):
        Sum(bounds=(10, 0)).l1("add_remove")
    with pytest.raises(InvalidValue, match="number of rows"):
        Proportion(size=3)((1, 2))


def test_vectors_of_reals_have_rational_l1_and_real_l2():
    both = Together(Count(), Bins(range(5)))
    assert both.l1("change_one") == 3
    assert isinstance(both.l2("change_one"), Real)
    assert float(both.l2("change_one")) == 3**0.5
