"""Where the number of people is public and every one of them has a value, AVG needs no count."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet
from discreet.noise import TwoSidedGeometric
from discreet.plan.noise import NoisePlan, plan_noise
from discreet.plan.primitives import lower
from discreet.plan.schema import Schema
from discreet.policy import single
from discreet.session import Session
from discreet.sql.queries import read_query

SETTINGS: dict[str, Any] = {
    "unit": None,
    "relation": "change_one",
    "people": 3,
    "bounds": {"n": (-1, 4), "m": (2, 5)},
    "missing": {"n": 0},
    "epsilon": 10**6,
}
AVERAGE = "SELECT AVG(n) FROM t"


def planned(text: str, **settings: Any) -> NoisePlan:
    policy = single(
        "t.parquet", types={"n": "integer", "m": "integer", "u": "integer"}, **(SETTINGS | settings)
    )
    dataset = policy.datasets["t"]
    core = read_query(text, {"t": Schema.of(dataset)}).core
    return plan_noise(core, lower(core), dataset, epsilon=Fraction(1), delta=None)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (AVERAGE, {"relation": "add_remove"}),
        (AVERAGE, {"people": None}),
        (AVERAGE, {"unit": "u", "rows_per_unit": 2}),
        (AVERAGE, {"missing": None}),
        ("SELECT AVG(m) FROM t", {}),
        ("SELECT AVG(n) FROM t WHERE m > 3", {}),
        ("SELECT AVG(n) FROM (SELECT n FROM t WHERE m > 3)", {}),
        ("SELECT AVG(n) FILTER (WHERE m > 3) FROM t", {}),
        ("SELECT m, AVG(n) FROM t GROUP BY m", {}),
        ("SELECT AVG(NULLIF(n, 2)) FROM t", {}),
    ],
)
def test_whatever_may_leave_somebody_out_needs_a_count(text, settings):
    assert [each.kind for each in planned(text, **settings).lowered.primitives] == ["sum", "rows"]


@pytest.mark.parametrize("settings", [{}, {"unit": "u", "rows_per_unit": 1}])
def test_of_everybody_only_the_sum_is_measured(settings):
    plan = planned(AVERAGE, **settings)
    (sum_,) = plan.lowered.primitives
    assert (sum_.kind, sum_.centre) == ("sum", 1)
    assert plan.sensitivities[0].l1 == 4 - -1  # b - a; over n, it is the (b - a) / n of the theory
    assert plan.scales == (Fraction(5),)
    assert plan.lowered.recipes[0].over == 3


def test_two_averages_and_a_sum_share_what_they_can():
    plan = planned("SELECT AVG(n), SUM(n), AVG(n + 1), COUNT(*) FROM t")
    assert [each.kind for each in plan.lowered.primitives] == ["sum", "sum", "rows"]
    assert [each.over for each in plan.lowered.recipes] == [3, None, 3, None]


def write(rows: tuple[int | None, ...], folder: Path) -> Path:
    cells = ", ".join(f"({'NULL' if row is None else row}::INTEGER)" for row in rows)
    path = folder / "t.parquet"
    duckdb.execute(f"COPY (SELECT * FROM (VALUES {cells}) AS t(n)) TO '{path}' (FORMAT parquet)")
    return path


def opened(path: Path, **settings: Any) -> Session:
    own = {"unit": "each row", "bounds": {"n": (-1, 4)}}
    return discreet.open(path, **(SETTINGS | own | settings))


def test_no_change_of_one_person_moves_the_sum_further_than_declared(tmp_path):
    """All databases of two people over values in, at and beyond the bounds, and NULL."""
    values = (-9, -1, 0, 4, 9, None)
    sums: dict[tuple[int | None, ...], int] = {}
    with opened(write((0, 0), tmp_path), people=2) as session:
        for rows in product(values, repeat=2):
            write(rows, tmp_path)
            session.prepare(refresh=True)
            request = session.plan(AVERAGE, epsilon=1)
            sums[rows] = int(session.aggregate(request).values[0][0])
    declared = request.noise.sensitivities[0].l1
    moved = max(
        abs(one - sums[there])
        for here, one in sums.items()
        for there in sums
        if sum(a != b for a, b in zip(here, there, strict=True)) == 1
    )
    assert moved == declared == 5


def test_the_answer_its_interval_and_its_error(tmp_path):
    with opened(write((4, 3, None), tmp_path)) as session:
        answer = session.sql(AVERAGE, epsilon=10**5)
        assert answer.columns[0].values[0] == pytest.approx(7 / 3)
        assert "over 3 people, a public number" in answer.statement()
        explained = session.explain(AVERAGE, epsilon=5)
        (error,) = explained.errors.values()
        assert error is not None
        # Sensitivity 5 at epsilon 5: noise of scale 1 on the sum, a third of it on the mean.
        assert 3 * error == TwoSidedGeometric(1).within(Fraction(95, 100))
        assert "averages     over 3 people" in str(explained)
        noisy: Any = session.sql(AVERAGE, epsilon=Fraction(1, 3)).columns[0]
        assert -1 <= noisy.low[0] <= noisy.values[0] <= noisy.high[0] <= 4
        assert session.explain(AVERAGE, within=2).epsilon > 0
