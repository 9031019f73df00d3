"""How a question is recognised: the same for the same measurement, and for nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from discreet.plan.expressions import literal
from discreet.plan.query import Key
from tests.session.made import ward

SNAPSHOT = "0" * 32


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with ward(tmp_path_factory.mktemp("request")) as opened:
        yield opened


def planned(session, text: str, **terms):
    return replace(session.plan(text, **({"epsilon": 1} | terms)), snapshot=SNAPSHOT)


def test_it_is_written_in_a_form_that_does_not_change(session):
    """Another value here means that every stored answer is forgotten: is that intended?"""
    found = planned(session, "SELECT ward, COUNT(*), AVG(cost) FROM visits GROUP BY ward")
    found = replace(found, measurement=replace(found.measurement, sql="SELECT 1"))
    assert found.sha256 == "b2d5f594b7757b24f88b052dd97d2e14e2020e26b00473bf9b7d06b417848dd0"


DIFFERENT: list[tuple[str, dict[str, Any]]] = [
    ("SELECT COUNT(*) FROM visits", {}),
    ("SELECT COUNT(*) FROM visits", {"epsilon": 2}),
    ("SELECT COUNT(*) FROM visits", {"epsilon": "1/3"}),
    ("SELECT COUNT(age) FROM visits", {}),
    ("SELECT COUNT(DISTINCT who) FROM visits", {}),
    ("SELECT COUNT(*) FROM visits WHERE urgent", {}),
    ("SELECT COUNT(*) FILTER (WHERE urgent) FROM visits", {}),
    ("SELECT COUNT(*) FROM visits WHERE ward = 'north'", {}),
    ("SELECT COUNT(*) FROM visits WHERE ward = 'North'", {}),
    ("SELECT SUM(age) FROM visits", {}),
    ("SELECT AVG(age) FROM visits", {}),
    ("SELECT SUM(age), AVG(age) FROM visits", {}),
    ("SELECT SUM(CLAMP(age, 0, 50)) FROM visits", {}),
    ("SELECT SUM(CLAMP(age, 0, 51)) FROM visits", {}),
    ("SELECT SUM(cost) FROM visits", {}),
    ("SELECT SUM(-cost) FROM visits", {}),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward", {}),
    ("SELECT urgent, COUNT(*) FROM visits GROUP BY urgent", {}),
    ("SELECT ward, urgent, COUNT(*) FROM visits GROUP BY ward, urgent", {}),
    ("SELECT cost, COUNT(*) FROM visits GROUP BY cost", {}),
    ("SELECT cost, COUNT(*) FROM visits GROUP BY cost", {"delta": "1e-10"}),
]


def test_no_two_questions_are_taken_for_one(session):
    marks = [planned(session, text, **terms).sha256 for text, terms in DIFFERENT]
    assert [
        pair
        for pair in combinations(range(len(marks)), 2)
        if len({*map(marks.__getitem__, pair)}) == 1
    ] == []


def test_what_is_done_with_the_noisy_table_is_not_in_it(session):
    base = "SELECT ward, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward"
    marks = {
        planned(session, text, **terms).sha256
        for text, terms in (
            (base, {}),
            (base, {"confidence": "0.5"}),
            (f"{base} HAVING COUNT(*) > 3 ORDER BY n DESC LIMIT 1", {}),
            (f"SELECT MAX(n) FROM ({base})", {}),
            ("SELECT COUNT(*) * 2 + SUM(age) FROM visits GROUP BY ward", {}),
        )
    }
    assert len(marks) == 1


def test_keys_of_different_types_are_different_keys(session):
    request = planned(session, "SELECT ward, COUNT(*) FROM visits GROUP BY ward")
    (key,) = request.query.core.keys
    marks = set()
    alike: list[Any] = [
        1,
        True,
        "1",
        Fraction(1),
        "true",
        None,
        "null",
        date(2026, 1, 1),
        "2026-01-01",
    ]
    for value in [*alike, datetime(2026, 1, 1)]:  # noqa: DTZ001
        keys = (Key(literal("x"), (value,), key.name),)
        core = replace(request.query.core, keys=keys)
        query = replace(request.query, core=core)
        marks.add(replace(request, query=query).sha256)
    assert len(marks) == len(alike) + 1


def test_the_order_of_the_keys_is_the_order_of_the_lines(session):
    request = planned(session, "SELECT ward, COUNT(*) FROM visits GROUP BY ward")
    (key,) = request.query.core.keys
    turned = replace(key, values=key.values[::-1])
    query = replace(request.query, core=replace(request.query.core, keys=(turned,)))
    assert replace(request, query=query).sha256 != request.sha256
