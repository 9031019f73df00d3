"""The odd cases: nothing to add up, NULL, keys that nobody declared, counts below one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet
from discreet.errors import InvalidDelta, InvalidQuery
from discreet.plan.primitives import lower
from discreet.session.postprocess import postprocess
from discreet.session.table import NoisyTable, Released
from tests.session.made import EXACT, ROWS, select, ward


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with ward(tmp_path_factory.mktemp("ward")) as opened:
        yield opened


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    with ward(tmp_path_factory.mktemp("empty"), rows=[]) as opened:
        yield opened


def table(session, text: str, **terms) -> list[tuple[Any, ...]]:
    """The rows of an answer without noise."""
    answer = session.sql(text, **({"epsilon": EXACT} | terms))
    return list(zip(*(column.values for column in answer.columns), strict=True))


def exact(session, text: str) -> list[list[int]]:
    """The primitives of a query before noise."""
    request = session.plan(text, epsilon=1)
    return [values.tolist() for values in session.aggregate(request).values]


def test_the_sum_of_nothing_is_zero(empty):
    assert exact(empty, "SELECT SUM(cost), COUNT(*), COUNT(cost), AVG(cost) FROM visits") == [
        [0],
        [0],
        [0],
    ]


def test_an_ungrouped_query_has_one_row_even_of_an_empty_table(empty):
    rows = table(empty, "SELECT COUNT(*), SUM(age), COUNT(DISTINCT who), AVG(age) FROM visits")
    assert rows == [(0, 0, 0, None)]


def test_an_ungrouped_query_has_one_row_where_nothing_is_left(session):
    assert table(session, "SELECT COUNT(*), SUM(age) FROM visits WHERE FALSE") == [(0, 0)]


def test_every_declared_key_appears_and_no_other(session, empty):
    text = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
    assert table(session, text) == [("north", 2), ("south", 1), ("west", 0)]
    assert table(empty, text) == [("north", 0), ("south", 0), ("west", 0)]


def test_rows_without_a_person_are_nobodys(session):
    assert table(session, "SELECT COUNT(*), COUNT(DISTINCT who) FROM visits") == [(5, 4)]


def test_other_values_are_dropped_beside_a_private_key_too(tmp_path):
    many = [row | {"who": i, "age": 40} for i, row in enumerate(ROWS * 200)]
    with ward(tmp_path, rows=many, bounds={}, grids={}) as opened:
        rows = table(
            opened, "SELECT ward, age, COUNT(*) FROM visits GROUP BY ward, age", epsilon=100
        )
    assert {(ward_, age) for ward_, age, _ in rows} == {("north", 40), ("south", 40)}


def test_null_is_a_group_where_it_is_declared(tmp_path):
    with ward(tmp_path, keys={"ward": ["north", None]}) as opened:
        rows = table(opened, "SELECT ward, COUNT(*) FROM visits GROUP BY ward")
    assert rows == [("north", 2), (None, 1)]


def test_null_is_a_group_of_a_condition(session):
    rows = table(session, "SELECT urgent, COUNT(*) FROM visits GROUP BY urgent")
    assert dict(rows) == {False: 2, True: 2, None: 1}


def test_a_private_null_group_is_selected_like_any_other(tmp_path):
    many = [
        {"who": i, "ward": ward_, "age": 1, "cost": 1.0, "urgent": True}
        for i, ward_ in enumerate([None] * 300 + ["common"] * 300 + ["rare"])
    ]
    with ward(tmp_path, rows=many, keys=None) as opened:
        rows = table(opened, "SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=100)
    assert sorted(rows, key=str) == [("common", 300), (None, 300)]


def test_private_keys_come_in_their_own_order(tmp_path):
    many = [
        {"who": i, "ward": f"w{9 - i % 10}", "age": 1, "cost": 1.0, "urgent": True}
        for i in range(2000)
    ]
    with ward(tmp_path, rows=many, keys=None) as opened:
        answer = opened.sql("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=100)
    assert list(answer["ward"]) == [f"w{i}" for i in range(10)]


def test_private_keys_need_a_delta(tmp_path):
    with (
        ward(tmp_path, keys=None, delta=None, delta_per_query=None) as opened,
        pytest.raises(InvalidDelta, match="private"),
    ):
        opened.sql("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=1)


def test_nobody_is_shown_where_all_groups_are_small(session):
    text = "SELECT age, COUNT(*) FROM visits WHERE cost > 5 GROUP BY LOWER(ward), age"
    with pytest.raises(InvalidQuery):
        session.sql(text.replace("age,", "cost,"), epsilon=1)
    assert table(session, text.replace("SELECT age", "SELECT LOWER(ward) AS w"), epsilon=1) == []


def test_an_aggregate_over_no_group_at_all(session):
    inner = "SELECT LOWER(ward) AS w, COUNT(*) AS n FROM visits GROUP BY 1"
    rows = table(
        session, f"SELECT COUNT(*), SUM(n), MAX(n), MIN(w), AVG(n) FROM ({inner}) AS g", epsilon=1
    )
    assert rows == [(0, None, None, None, None)]


def test_values_are_clamped_and_put_on_their_grid(session):
    assert exact(session, "SELECT SUM(cost) FROM visits") == [[20 + 41 + 60 + 200]]


def test_an_average_shares_the_count_of_what_is_there(session):
    core = session.plan("SELECT COUNT(*), COUNT(age), AVG(age) FROM visits", epsilon=1).query.core
    lowered = lower(core)
    kinds = [(p.kind, p.argument is None) for p in lowered.primitives]
    assert kinds == [("rows", True), ("rows", False), ("sum", False)]
    assert lowered.recipes[2].count == 1


def test_an_average_shares_the_count_of_rows_where_nothing_can_be_missing(tmp_path):
    with ward(tmp_path, missing={"age": 40}) as opened:
        core = opened.plan("SELECT COUNT(*), AVG(age) FROM visits", epsilon=1).query.core
        assert [p.kind for p in lower(core).primitives] == ["rows", "sum"]
        assert table(opened, "SELECT AVG(age) FROM visits") == [(48.0,)]


def test_an_average_beside_its_sum_shares_it(session):
    core = session.plan("SELECT SUM(age), AVG(age) FROM visits", epsilon=1).query.core
    assert [p.kind for p in lower(core).primitives] == ["sum", "rows"]
    assert table(session, "SELECT SUM(age), AVG(age) FROM visits") == [(200, 50.0)]


def test_equal_aggregates_are_asked_once(session):
    once = session.plan("SELECT COUNT(*) FROM visits", epsilon=1)
    often = session.plan("SELECT COUNT(*), COUNT(*) + 1, 2 * COUNT(1) FROM visits", epsilon=1)
    assert often.noise.scales == once.noise.scales
    assert often.sha256 == once.sha256


def test_a_count_that_is_not_positive_gives_no_average(session):
    request = session.plan("SELECT ward, AVG(age), COUNT(age) FROM visits GROUP BY ward", epsilon=1)
    count = request.noise.lowered.recipes[0].count
    numbers = [np.array([10, 10, 10]), np.array([10, 10, 10])]
    assert count is not None
    numbers[count] = np.array([1000, 0, -5])
    noisy = NoisyTable((("north", "south", "west"),), tuple(numbers), 3)
    outputs = postprocess(Released(noisy, request.noise), request.query.stages, request.confidence)
    average = outputs[1]
    assert average.values.valid.tolist() == [True, False, False]
    assert average.low is not None
    assert average.high is not None
    assert np.isfinite(average.low[0])
    assert (average.low[1:] == -np.inf).all()
    assert (average.high[1:] == np.inf).all()


def test_a_missing_average_is_flagged_and_has_no_bounds(empty):
    answer = empty.sql("SELECT AVG(age) AS a FROM visits", epsilon=EXACT)
    assert list(answer.rows()) == [
        {"a": {"value": None, "low": None, "high": None, "flag": "unreliable"}}
    ]


def test_conditions_beside_an_aggregate_are_its_own(session):
    rows = table(
        session,
        "SELECT COUNT(*) FILTER (WHERE urgent), SUM(age) FILTER (WHERE age > 40) FROM visits",
    )
    assert rows == [(2, 140)]


def test_sorting_limits_and_having_are_free(session):
    core = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    plain = session.plan(core, epsilon=1)
    for above in (
        f"{core} ORDER BY n DESC",
        f"{core} HAVING COUNT(*) > 1 LIMIT 1",
        f"SELECT SUM(n) FROM ({core}) AS g",
        f"WITH g AS ({core}) SELECT ward, n * 2 AS twice FROM g WHERE n > 0",
        "SELECT COUNT(*) + 1, ward FROM visits GROUP BY ward",
    ):
        assert session.plan(above, epsilon=1).sha256 == plain.sha256
    assert table(session, f"{core} ORDER BY n DESC LIMIT 1") == [("north", 2)]
    assert table(session, f"SELECT SUM(n) FROM ({core}) AS g") == [(3,)]


def test_arithmetic_of_aggregates(session):
    text = (
        "SELECT SUM(age) / COUNT(*) AS a, COUNT(*) * 2 - 1 AS b, ROUND(AVG(age)) AS c FROM visits"
    )
    assert table(session, text) == [(40.0, 9, 50)]


def test_text_made_of_a_noisy_number_is_answered(session):
    assert table(session, "SELECT LENGTH(CAST(COUNT(*) AS VARCHAR)) FROM visits") == [(1,)]


def test_two_columns_of_one_name_are_both_there(session):
    answer = session.sql("SELECT COUNT(*) AS n, SUM(age) AS n FROM visits", epsilon=EXACT)
    assert [column.values for column in answer.columns] == [(5,), (200,)]
    assert len({column.name for column in answer.columns}) == 2


def test_names_do_not_care_about_case(session):
    assert table(session, "SELECT Count(*) FROM VISITS WHERE Ward = 'north'") == [(2,)]


def test_the_order_of_rows_in_the_file_changes_nothing(session, tmp_path):
    text = "SELECT ward, COUNT(*), SUM(cost), AVG(age) FROM visits GROUP BY ward"
    with ward(tmp_path, rows=ROWS[::-1]) as turned:
        assert exact(turned, text) == exact(session, text)


def test_what_is_missing_is_not_clamped_to_the_lower_bound(session):
    assert exact(session, "SELECT SUM(CLAMP(age, 10, 60)) FROM visits") == [[30 + 30 + 60 + 50]]
    assert exact(session, "SELECT SUM(age * 1) FROM visits") == [[200]]


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_equal_zeros_one_is_shown(order, tmp_path):
    many = [
        {"who": i, "ward": "x", "age": 1, "cost": cost, "urgent": i % 2 == 0}
        for i, cost in enumerate([0.0, -0.0] * 20)
    ]
    with ward(tmp_path, rows=many[::order], bounds={}, grids={}, keys=None) as opened:
        for key in ("cost", "-cost", "cost * CASE WHEN urgent THEN 1.5 ELSE -1.5 END"):
            request = opened.plan(f"SELECT {key} AS k, COUNT(*) FROM visits GROUP BY 1", epsilon=1)
            (found,) = opened.aggregate(request).keys
            assert [repr(value) for value in found.to_pylist()] == ["0.0"]  # type: ignore[union-attr]


def test_sums_beyond_64_bits_saturate_and_never_wrap(tmp_path):
    most = 2**61 - 1
    path = tmp_path / "t.parquet"
    select("SELECT i AS u, 9000000000000000000 AS n, i < 3000 AS f FROM RANGE(3200) t(i)", path)
    with discreet.open(
        path, unit="u", rows_per_unit=1, bounds={"n": (-8 * 10**15, 8 * 10**15)}, epsilon=100
    ) as session:
        for text, expected in (
            ("SELECT SUM(n) FROM t", [most]),
            ("SELECT SUM(-n) FROM t", [-most]),
            ("SELECT f, SUM(n) FROM t GROUP BY f", [200 * 8 * 10**15, most, 0]),
            ("SELECT AVG(CLAMP(n, 6000000000000000, 8000000000000000)) FROM t", [most]),
        ):
            values = session.aggregate(session.plan(text, epsilon=10)).values
            assert values[0].tolist() == expected
