"""Charged before it is answered, answered once, and never again for free."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import discreet
from discreet.engines.duckdb import DuckDB
from discreet.errors import (
    DiscreetError,
    EngineFailed,
    InsufficientBudget,
    InvalidInput,
    InvalidQuery,
    InvalidScale,
    KeyReused,
    PolicyDiffers,
)
from tests.session.made import ward

COUNT = "SELECT COUNT(*) FROM visits"


def left(session) -> float:
    return float(session.balance().remaining["epsilon"])


def same_bytes(one, other) -> bool:
    """Whether two answers show the same, but for what they cost."""
    hidden = {"cost", "left", "stored", "shared"}
    shown = [
        json.dumps({k: v for k, v in answer.to_json().items() if k not in hidden})
        for answer in (one, other)
    ]
    return shown[0] == shown[1]


def test_a_stored_answer_is_free_and_the_same_to_the_last_bit(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        text = "SELECT ward, COUNT(*), AVG(age), SUM(cost) / COUNT(*) FROM visits GROUP BY ward"
        first = session.sql(text, epsilon=0.5)
        again = session.sql(text, epsilon=0.5)
        assert (first.stored, again.stored) == (False, True)
        assert (float(first.cost.epsilon), float(again.cost.epsilon)) == (0.5, 0.0)
        assert same_bytes(first, again)
        assert left(session) == 0.5


def test_it_is_still_there_when_the_session_is_opened_again(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        first = session.sql(COUNT, epsilon=0.5)
    with discreet.open(
        tmp_path / "visits.parquet",
        unit="who",
        rows_per_unit=2,
        bounds={"age": (0, 110), "cost": (0, 100)},
        grids={"cost": 0.5},
        keys={"ward": ["north", "south", "west"]},
        epsilon=1,
        delta=1e-3,
        delta_per_query=1e-9,
    ) as session:
        assert left(session) == 0.5
        again = session.sql(COUNT, epsilon=0.5)
        assert again.stored
        assert same_bytes(first, again)


SPELLINGS = [
    "select count(*) from visits where age > 30",
    "SELECT COUNT(*) FROM visits WHERE (age > 30)",
    "SELECT COUNT(*) AS n FROM visits AS v WHERE v.age > 30",
    'SELECT COUNT( * ) FROM "visits" WHERE "age" > 30;',
    "SELECT COUNT(*) -- people\nFROM visits WHERE ((age) > (30))",
    "WITH v AS (SELECT * FROM visits WHERE age > 30) SELECT COUNT(*) FROM v",
    "SELECT COUNT(*) FROM (SELECT age AS a FROM visits) AS v WHERE a > 30",
    "SELECT n FROM (SELECT COUNT(*) AS n FROM visits WHERE age > 30) AS v",
    "SELECT COUNT(*) + 0 AS n FROM public.visits WHERE age > 30 ORDER BY 1 LIMIT 5",
    "SELECT COUNT(1) FROM visits WHERE age > 30",
]


def test_other_spellings_of_a_question_get_the_same_answer(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        answers = [session.sql(text, epsilon=0.5) for text in SPELLINGS]
        assert [answer.stored for answer in answers] == [False] + [True] * (len(SPELLINGS) - 1)
        assert len({answer.columns[0].values[0] for answer in answers}) == 1
        assert left(session) == 0.5


def test_what_is_not_the_same_question_is_charged(tmp_path):
    with ward(tmp_path, epsilon=10) as session:
        session.sql("SELECT COUNT(*) FROM visits WHERE age > 30 AND urgent", epsilon=1)
        for number, text in enumerate(
            [
                "SELECT COUNT(*) FROM visits WHERE urgent AND age > 30",
                "SELECT COUNT(*) FROM visits WHERE age > 30 AND urgent AND TRUE",
                "SELECT COUNT(*) FROM visits WHERE age >= 31 AND urgent",
                "SELECT COUNT(age) FROM visits WHERE age > 30 AND urgent",
            ]
        ):
            assert not session.sql(text, epsilon=1).stored
            assert left(session) == 10 - (number + 2)


def spelled(pick: random.Random, condition: str) -> str:
    """One of very many ways to write a count."""
    words = f"select count(*) from visits where {condition}".split(" ")
    text = "".join(
        "".join(pick.choice([c.lower(), c.upper()]) for c in word)
        + pick.choice([" ", "  ", "\n", "\t", " /* x */ ", " -- y\n"])
        for word in words
    )
    if pick.random() < 0.3:
        text = f"SELECT c FROM ({text.replace('*)', '*) AS c ')}) AS s"
    return text


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.deep)])
def test_no_spelling_buys_a_free_fresh_draw(count, tmp_path):
    pick = random.Random(5)
    with ward(tmp_path, epsilon=2000) as session:
        bought = set()
        for _ in range(count):
            before = left(session)
            answer = session.sql(spelled(pick, "age > 30"), epsilon=1)
            value = answer.columns[0].values[0]
            paid = before - left(session)
            assert paid == float(answer.cost.epsilon)
            # Whoever pays nothing sees what was bought before.
            assert paid == 1 or (paid == 0 and value in bought)
            bought.add(value)
        assert left(session) == 1999


def test_a_key_makes_retries_one_question(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        first = session.sql(COUNT, epsilon=0.5, key="monday")
        for _ in range(20):
            assert same_bytes(first, session.sql(COUNT, epsilon=0.5, key="monday"))
        assert left(session) == 0.5


def test_many_retries_at_once_settle_on_one_answer(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        session.prepare()
        with ThreadPoolExecutor(8) as pool:
            answers = list(
                pool.map(lambda _: session.sql(COUNT, epsilon=0.5, key="monday"), range(24))
            )
        assert len({answer.columns[0].values for answer in answers}) == 1
        assert left(session) == 0.5


def test_a_key_with_another_question_is_refused(tmp_path):
    with ward(tmp_path, epsilon=3) as session:
        session.sql(COUNT, epsilon=0.5, key="monday")
        for text, epsilon in (
            ("SELECT SUM(age) FROM visits", 0.5),
            (COUNT, 0.25),
            (f"{COUNT} WHERE urgent", 0.5),
        ):
            with pytest.raises(KeyReused):
                session.sql(text, epsilon=epsilon, key="monday")
        assert left(session) == 2.5


def test_an_exhausted_budget_refuses_and_charges_nothing(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        session.sql(COUNT, epsilon=0.75)
        with pytest.raises(InsufficientBudget) as refusal:
            session.sql("SELECT SUM(age) FROM visits", epsilon=0.5)
        assert refusal.value.exit_status == 4
        assert left(session) == 0.25
        session.sql("SELECT SUM(age) FROM visits", epsilon=0.25)
        assert left(session) == 0
        assert session.sql(COUNT, epsilon=0.75).stored  # what was bought stays bought


def test_deltas_are_spent_too(tmp_path):
    with ward(tmp_path, epsilon=10, delta=2e-9, keys=None) as session:
        text = "SELECT ward, COUNT(*) FROM visits {} GROUP BY ward"
        session.sql(text.format(""), epsilon=1)
        session.sql(text.format("WHERE urgent"), epsilon=1)
        with pytest.raises(InsufficientBudget):
            session.sql(text.format("WHERE age > 3"), epsilon=1)


def test_a_refusal_costs_nothing(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        for text, error in (
            ("SELECT * FROM visits", DiscreetError),
            ("SELECT MAX(age) FROM visits", DiscreetError),
            ("SELECT COUNT(*) FROM nothing", DiscreetError),
        ):
            with pytest.raises(error):
                session.sql(text, epsilon=1)
        with pytest.raises(InvalidScale):
            session.sql(
                "SELECT SUM(CASE WHEN urgent THEN 1000000000000000 END) FROM visits", epsilon=1e-3
            )
        for epsilon in (0, -1, float("nan"), "x"):
            with pytest.raises(InvalidInput):
                session.sql(COUNT, epsilon=epsilon)
        assert left(session) == 1


def test_an_engine_that_fails_keeps_the_charge_and_a_retry_is_not_charged_again(
    tmp_path, monkeypatch
):
    with ward(tmp_path, epsilon=1) as session:
        session.prepare()

        def fail(*_: object, **__: object) -> None:
            raise EngineFailed("the engine could not answer this query.")

        with monkeypatch.context() as broken:
            broken.setattr(DuckDB, "run", fail)
            with pytest.raises(EngineFailed):
                session.sql(COUNT, epsilon=0.5)
        assert left(session) == 0.5
        assert not isinstance(session.sql(COUNT, epsilon=0.5), EngineFailed)
        assert left(session) == 0.5


def test_a_new_snapshot_spends_from_the_same_budget(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        first = session.sql(COUNT, epsilon=0.5)
        session.prepare(refresh=True)
        again = session.sql(COUNT, epsilon=0.5)
        assert not again.stored
        assert again.snapshot != first.snapshot
        assert left(session) == 0


def test_a_larger_budget_is_not_had_by_asking_for_it(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        session.sql(COUNT, epsilon=1)
    with pytest.raises(PolicyDiffers):
        ward(tmp_path, epsilon=100)


def test_explaining_and_planning_cost_nothing(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        session.explain(COUNT, epsilon=1)
        session.plan(COUNT, epsilon=1)
        assert left(session) == 1


def test_a_question_about_no_row_is_refused_before_it_is_charged(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        for text in ("SELECT ward FROM visits GROUP BY ward", "SELECT DISTINCT ward FROM visits"):
            with pytest.raises(InvalidQuery, match="all values of ward are public"):
                session.sql(text, epsilon=0.5)
        assert left(session) == 1
        assert session.snapshot() is None
