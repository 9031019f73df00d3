from collections import Counter
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidRelation, InvalidValue, TooLarge, UnboundedUniverse
from discreet.theory import (
    Histogram,
    all_bags,
    all_pairs,
    all_rows,
    by_unit,
    components,
    distance,
    neighbours_of,
    pairs,
    to_histogram,
    to_rows,
    unit_universe,
    within,
)

ROWS = st.lists(st.sampled_from("abc"), max_size=5).map(tuple)
RELATIONS = st.sampled_from(["add_remove", "change_one"])


def test_rows_and_histogram_of_the_text():
    histogram = to_histogram(["Y", "Y", "N", "Y"], universe=("Y", "N"))
    assert histogram.counts == (3, 1)
    assert to_rows(histogram) == ("Y", "Y", "Y", "N")


@given(ROWS)
def test_the_two_forms_convert_into_each_other(rows):
    histogram = to_histogram(rows, "abc")
    assert Counter(to_rows(histogram)) == Counter(rows)
    assert to_histogram(to_rows(histogram), "abc") == histogram
    assert histogram.size == len(rows)


@given(ROWS, ROWS)
def test_the_distance_is_that_of_the_histograms(x, y):
    a, b = to_histogram(x, "abc"), to_histogram(y, "abc")
    l1 = sum(abs(i - j) for i, j in zip(a.counts, b.counts, strict=True))
    assert distance(x, y, "add_remove") == distance(a, b, "add_remove") == l1
    if len(x) == len(y):
        assert distance(a, b, "change_one") == l1 / 2 <= distance(x, y, "change_one")
    else:
        assert distance(x, y, "change_one") == distance(a, b, "change_one") == float("inf")


@given(ROWS, RELATIONS)
def test_the_neighbours_listed_are_those_at_distance_one(rows, relation):
    near: list[Any] = list(neighbours_of(rows, "abc", relation))
    assert all(distance(rows, other, relation) == 1 for other in near)
    everything: list[Any] = [x for size in range(len(rows) + 2) for x in all_rows("abc", size)]
    wanted = {x for x in everything if distance(rows, x, relation) == 1}
    if relation == "add_remove":  # bags: the order does not matter
        assert {tuple(sorted(x)) for x in near} == {tuple(sorted(x)) for x in wanted}
    else:
        assert set(near) == wanted
    assert len(near) == len(set(near))


@given(ROWS, RELATIONS)
def test_histograms_have_the_same_neighbours_as_rows(rows, relation):
    histogram = to_histogram(rows, "abc")
    near = set(neighbours_of(histogram, "abc", relation))
    others: Any = neighbours_of(rows, "abc", relation)
    assert near == {to_histogram(other, "abc") for other in others}


def test_every_database_is_listed_once():
    assert len(set(all_rows("abc", 3))) == 27
    assert len(set(all_bags("abc", most=3))) == 20


def test_units_own_bags_of_rows():
    universe = unit_universe("ab", rows_per_unit=2)
    assert universe == ((), ("a",), ("b",), ("a", "a"), ("a", "b"), ("b", "b"))
    people = by_unit([("ann", 1), ("bob", 2), ("ann", 3)], unit=lambda row: row[0])
    assert people == ((("ann", 1), ("ann", 3)), (("bob", 2),))
    # Losing a person with two rows is one step, whatever the number of rows.
    assert distance(people, people[1:], "add_remove") == 1


def test_groups_reach_as_far_as_their_size():
    line = [(n, n + 1) for n in range(4)]
    assert len(within(line, 1)) == 4
    assert len(within(line, 4)) == 10 == len(all_pairs(range(5)))


def test_change_one_never_joins_databases_of_different_sizes():
    databases = [(), ("a",), ("b",), ("a", "b")]
    apart = components(databases, pairs(databases, "change_one"))
    assert {frozenset({("a",), ("b",)}), frozenset({()}), frozenset({("a", "b")})} == set(apart)
    assert len(components(databases, pairs(databases, "add_remove"))) == 1


@pytest.mark.parametrize("endless", [count(), (x for x in "ab"), iter([1])])
def test_a_universe_that_cannot_be_listed_is_refused(endless):
    with pytest.raises(UnboundedUniverse, match="Hint"):
        all_bags(endless, most=1)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: all_rows(range(1000), 10),
        lambda: all_bags(range(1000), most=10),
        lambda: to_histogram([], range(10**12)),
        lambda: all_pairs(range(10_000)),
        lambda: pairs([(n,) for n in range(10_000)], "change_one"),
    ],
)
def test_sizes_that_would_take_forever_are_named_and_refused(ask):
    with pytest.raises(TooLarge, match=r"\d,\d{3}.*forever"):
        ask()


def test_faults_are_named():
    with pytest.raises(InvalidValue, match="does not have"):
        to_histogram(["a", "z"], "ab")
    with pytest.raises(InvalidValue, match="twice"):
        to_histogram(["a"], "aa")
    with pytest.raises(InvalidValue, match="2 counts were given for 3"):
        Histogram(("a", "b", "c"), (1, 2))
    with pytest.raises(InvalidValue, match="whole number"):
        Histogram(("a",), (-1,))
    with pytest.raises(InvalidRelation, match="swap"):
        distance((), (), "swap")
    with pytest.raises(InvalidValue, match="histogram"):
        distance(("a",), Histogram(("a",), (1,)), "add_remove")
