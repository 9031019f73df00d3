"""Intervals by simulation keep what they promise at any confidence, in memory that is bounded."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidConfidence
from discreet.session.postprocess import Output, postprocess, run
from discreet.session.simulation import draws
from discreet.session.table import NoisyTable, Released
from tests.session.made import ROWS, ward

GROUPED = "SELECT ward, {} AS x, COUNT(*) AS n FROM visits GROUP BY ward"
RATIO = GROUPED.format("SUM(cost) / COUNT(*)")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with ward(tmp_path_factory.mktemp("ward"), epsilon=10) as opened:
        yield opened


def noisy(request, groups: int) -> tuple[NoisyTable, list[np.ndarray]]:
    """A table of so many groups with the noise of a request, and what it was before."""
    exact = [np.full(groups, 10_000) for _ in request.noise.lowered.primitives]
    keys = (tuple(f"w{i}" for i in range(groups)),)
    _, shown = request.noise.release(exact, groups=groups)
    return NoisyTable(keys, tuple(shown), groups), exact


def test_one_interval_in_a_thousand_misses_where_that_is_the_promise(session):
    groups, confidence = 4000, Fraction(999, 1000)
    request = session.plan(GROUPED.format("SUM(cost) - COUNT(*)"), epsilon=1)
    table, exact = noisy(request, groups)
    found = postprocess(Released(table, request.noise), request.query.stages, confidence)
    before = Released(NoisyTable(table.keys, tuple(exact), groups), request.noise)
    truth = run(before, request.query.stages)[0]["x"].data
    x = found[1]
    assert x.low is not None
    assert x.high is not None
    missed = int(((x.low > truth) | (x.high < truth)).sum())
    # Of 4,000 cells each missing with odds of 1/1000 at most, 20 or more do so once in 10**7 times.
    assert missed < 20


def test_both_ends_have_replicas_beyond_them_at_every_confidence():
    for beyond in (Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000), Fraction(1, 10**6)):
        for rows in (1, 1000, 10**6):
            assert draws(1 - beyond, rows) * beyond / 2 >= 5


@pytest.mark.parametrize("number", ["AVG(cost)", "SUM(cost) / COUNT(*)", "2 * COUNT(*)"])
def test_a_confidence_that_no_simulation_reaches_is_refused_and_not_charged(session, number):
    spent = session.balance().spent["epsilon"]
    for ask in (session.sql, session.explain):
        with pytest.raises(InvalidConfidence, match=r"reaches a confidence of 0\.999999 ") as told:
            ask(GROUPED.format(number), epsilon=1, confidence="0.9999999")
        assert str(told.value.hint).startswith("confidence=0.999999, or counts and sums alone")
    assert session.balance().spent["epsilon"] == spent


def test_counts_and_sums_have_exact_intervals_at_any_confidence(session):
    answer = session.sql(GROUPED.format("SUM(cost)"), epsilon=1, confidence=1 - Fraction(1, 10**12))
    for row in answer.rows():
        assert row["x"]["low"] < row["x"]["value"] < row["x"]["high"]


def test_the_more_groups_the_less_confidence_is_reached(tmp_path):
    wards = [f"w{i}" for i in range(30_000)]
    with ward(tmp_path, keys={"ward": wards}) as opened:
        text = "SELECT ward, AVG(cost) AS x FROM visits GROUP BY ward"
        with pytest.raises(InvalidConfidence, match=r"0\.99985 in 30,000 groups"):
            opened.plan(text, epsilon=1, confidence="0.99999")
        assert opened.plan(text, epsilon=1, confidence="0.99985").noise.epsilon == 1


BY_LENGTH = "SELECT LENGTH(w) AS l, SUM(y) AS x FROM ({}) GROUP BY l"
INNER = "SELECT ward AS w, {} AS y FROM visits GROUP BY w"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ward, {} AS x FROM visits GROUP BY ward",
        f"SELECT SUM(y) AS x FROM ({INNER})",
        BY_LENGTH.format(INNER),
    ],
    ids=["groups", "one", "some"],
)
def test_memory_does_not_grow_with_the_groups(session, text):
    request = session.plan(text.format("SUM(cost) / COUNT(*)"), epsilon=1)
    table, _ = noisy(request, 20_000)
    tracemalloc.start()
    try:
        postprocess(Released(table, request.noise), request.query.stages, Fraction(97, 100))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # 334 replicas or more of 20,000 groups are 53 MB for each of a dozen arrays.
    assert peak < 120e6


def test_neither_order_nor_another_column_changes_an_interval(session):
    plain = session.sql(RATIO, epsilon=1)
    turned = session.sql(f"{RATIO} ORDER BY ward DESC", epsilon=1)
    alone = session.sql(RATIO.replace(", COUNT(*) AS n", ""), epsilon=1)
    assert plain.column("x").low == turned.column("x").low[::-1]
    assert plain.column("x").low == alone.column("x").low


def test_blocks_hold_the_same_intervals_as_the_whole(session, monkeypatch):
    def answered(text: str) -> list[Output]:
        request = session.plan(text, epsilon=1)
        return postprocess(Released(table, request.noise), request.query.stages, Fraction(9, 10))

    request = session.plan(RATIO, epsilon=1)
    table, _ = noisy(request, 50)
    outer = f"SELECT LENGTH(ward) AS l, SUM(x) AS y, AVG(x) FROM ({RATIO}) GROUP BY l"
    for text in (RATIO, outer, f"{RATIO} HAVING COUNT(*) > 9990 ORDER BY x LIMIT 7"):
        whole = answered(text)
        monkeypatch.setattr("discreet.session.simulation._CELLS", 3001)
        parts = answered(text)
        monkeypatch.undo()
        for one, other in zip(whole, parts, strict=True):
            if one.low is None or other.low is None:
                continue
            # Other draws of the same noise: ends of 1,000 replicas stray a fifth of the width
            # with odds far below 1e-6.
            width = np.asarray(one.high) - one.low
            assert np.all(np.abs(one.low - other.low) < width / 3)
            assert np.all(np.abs(np.asarray(one.high) - np.asarray(other.high)) < width / 3)


def test_numbers_on_a_decimal_grid_have_no_more_decimals_than_it(tmp_path):
    many = [row | {"who": i, "cost": 25.7} for i, row in enumerate(ROWS * 50)]
    with ward(tmp_path, rows=many, grids={"cost": 0.1}) as opened:
        text = "SELECT ward, SUM(cost) AS x FROM visits GROUP BY ward"
        for epsilon in (1, 2, 3):
            x = opened.sql(text, epsilon=epsilon).column("x")
            for end in (x.values, x.low or (), x.high or ()):
                numbers = np.array(end, dtype=float)
                assert np.array_equal(numbers, np.round(numbers, 1))
