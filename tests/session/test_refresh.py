"""Snapshots are made anew by the clock; answers belong to theirs, the budget to the people."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import duckdb
import pytest

import discreet
from discreet.engines.duckdb import DuckDB
from discreet.errors import EngineFailed, KeyReused
from tests.session.made import EXACT, ROWS, write

COUNT = "SELECT COUNT(*) AS n FROM visits"
POLICY = """
[dataset.visits]
source = "visits.parquet"
unit = "who"
rows_per_unit = 2
{settings}

[dataset.visits.columns]
who = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, 110] }}
ward = {{ type = "text", keys = ["north", "south"] }}

[dataset.visits.budget]
epsilon = 1000000

[dataset.visits.analysts]
ann = {{ epsilon = 1000000 }}
"""
ENDLESS = "SELECT COUNT(*) FROM RANGE(1000000000) a, RANGE(1000) b WHERE a.range % 7 = b.range % 5"
MORE = [*ROWS, ROWS[3] | {"who": 77}]


@pytest.fixture
def opened(tmp_path):
    """Open a policy with these settings, as often as you like."""

    def open_(settings: str = 'refresh = "daily at 03:00"'):
        (tmp_path / "policy.toml").write_text(POLICY.format(settings=settings))
        return discreet.open(tmp_path / "policy.toml", analyst="ann")

    write(tmp_path)
    return open_


def aged(tmp_path, by: timedelta) -> None:
    """Make the snapshot look as if it had been made so much earlier."""
    path = tmp_path / ".discreet" / "snapshots" / "visits.duckdb"
    with duckdb.connect(str(path)) as file:
        (built,) = file.execute("SELECT built FROM identity").fetchone() or ("",)
        then = datetime.fromisoformat(built) - by
        file.execute("UPDATE identity SET built = ?", [then.isoformat()])


def spent(session) -> int:
    return int(session.balance().spent["epsilon"])


def test_when_its_moment_has_come_the_next_question_makes_it_anew(opened, tmp_path):
    with opened() as session:
        first = session.sql(COUNT, epsilon=EXACT)
    write(tmp_path, MORE)
    aged(tmp_path, timedelta(days=1))
    with opened() as session:
        second = session.sql(COUNT, epsilon=EXACT)
        assert (first["n"], second["n"]) == ((5,), (6,))
        assert second.snapshot != first.snapshot
        # The question is about other rows now; the people are the same, and so is their budget.
        assert not second.stored
        assert spent(session) == 2 * EXACT
        assert session.sql(COUNT, epsilon=EXACT).stored


def test_a_retry_with_its_key_gets_what_it_bought_before(opened, tmp_path):
    with opened() as session:
        first = session.sql(COUNT, epsilon=EXACT, key="monday")
    write(tmp_path, MORE)
    for _ in range(3):
        aged(tmp_path, timedelta(days=1))
        with opened() as session:
            session.prepare()
            retried = session.sql(COUNT, epsilon=EXACT, key="monday")
            assert (retried.stored, retried["n"], retried.snapshot) == (True, (5,), first.snapshot)
            assert spent(session) == EXACT
            with pytest.raises(KeyReused):
                session.sql("SELECT COUNT(age) FROM visits", epsilon=EXACT, key="monday")
            with pytest.raises(KeyReused):
                session.sql(COUNT, epsilon=EXACT // 2, key="monday")


def test_a_retry_whose_answer_never_came_is_answered_from_the_rows_of_now(
    opened, tmp_path, monkeypatch
):
    def fails(*_, **__):
        raise EngineFailed("no.", hint="again.")

    with opened() as session, monkeypatch.context() as broken:
        broken.setattr(DuckDB, "run", fails)
        with pytest.raises(EngineFailed):
            session.sql(COUNT, epsilon=EXACT, key="monday")
    write(tmp_path, MORE)
    aged(tmp_path, timedelta(days=1))
    with opened() as session:
        found = [session.sql(COUNT, epsilon=EXACT, key="monday") for _ in range(2)]
        assert [(each["n"], each.stored) for each in found] == [((6,), False), ((6,), True)]
        assert spent(session) == EXACT


def test_until_then_a_changed_source_changes_nothing(opened, tmp_path):
    with opened() as session:
        first = session.sql(COUNT, epsilon=EXACT)
        write(tmp_path, MORE)
        again = session.sql(COUNT, epsilon=EXACT)
        assert again.stored
        assert again.snapshot == first.snapshot
        assert session.sql("SELECT COUNT(age) AS n FROM visits", epsilon=EXACT)["n"] == (4,)


def test_an_open_session_hears_the_clock_too(opened, tmp_path):
    with opened() as session:
        first = session.prepare()
        aged(tmp_path, timedelta(days=1))
        assert session.prepare() != first


def test_without_a_schedule_it_is_made_anew_on_command_alone(opened, tmp_path):
    with opened("") as session:
        first = session.prepare()
        aged(tmp_path, timedelta(days=1000))
        assert session.prepare() == first
        assert session.snapshot().due is None


def test_the_next_moment_follows_from_the_clock_alone(opened):
    with opened('refresh = "every 6 hours"') as session:
        session.prepare()
        kept = session.snapshot()
        assert kept.good
        now = datetime.now(UTC)
        assert timedelta(0) < kept.due - now <= timedelta(hours=6)
        assert (kept.due.minute, kept.due.hour % 6) == (0, 0)


def test_many_questions_at_that_moment_make_one_snapshot(opened, tmp_path, monkeypatch):
    built: list[str] = []
    prepare = DuckDB.prepare

    def counted(self: DuckDB, *words, **settings) -> str:
        built.append(prepare(self, *words, **settings))
        return built[-1]

    with opened() as session:
        session.prepare()
        aged(tmp_path, timedelta(days=1))
        monkeypatch.setattr(DuckDB, "prepare", counted)
        with opened() as other, ThreadPoolExecutor(8) as pool:
            found = pool.map(lambda turn: (session, other)[turn % 2].prepare(), range(16))
            assert set(found) == set(built)
    assert len(built) == 1


def test_a_question_and_a_refresh_at_once_never_mix(opened, tmp_path):
    """Each answer is that of the snapshot it names, whoever refreshes meanwhile."""
    with opened("") as session, opened("") as other:
        truths = {session.prepare(): 5}
        done = threading.Event()

        def refresh() -> None:
            turn = 0
            while not done.is_set() and turn < 20:
                turn += 1
                write(tmp_path, [*ROWS, *(ROWS[3] | {"who": 100 + i} for i in range(turn))])
                truths[other.prepare(refresh=True)] = 5 + turn

        refresher = threading.Thread(target=refresh)
        refresher.start()
        seen = []
        try:
            for turn in range(30):
                text = f"SELECT COUNT(*) AS n FROM visits WHERE age IS NULL OR age < {200 + turn}"
                seen.append(session.sql(text, epsilon=1000))
        finally:
            done.set()
            refresher.join()
    assert len({answer.snapshot for answer in seen}) > 1
    # Noise of scale 2 / 1000 is 0 but for a chance below e**-500.
    assert all(answer["n"] == (truths[answer.snapshot],) for answer in seen)


def test_explaining_makes_no_snapshot(opened):
    with opened() as session:
        session.explain(COUNT, epsilon=1)
        assert session.snapshot() is None


def test_whoever_waits_is_told_how_far_it_is(opened):
    told: list[float] = []
    with opened() as session:
        session.prepare(progress=told.append)
        session.progress = told.append
        session.prepare(refresh=True)
    assert told[-1] == 1.0
    assert told.count(1.0) == 2


def test_the_engine_uses_what_the_policy_grants(opened):
    settings = 'engine = { memory = "123 MB", threads = 1, spill = "spilled" }'
    with opened(settings) as session:
        session.prepare()
        asked = (
            "SELECT CURRENT_SETTING('threads') AS t, CURRENT_SETTING('memory_limit') AS m, "
            "CURRENT_SETTING('temp_directory') AS d"
        )
        (row,) = session._data["visits"].run(asked).to_pylist()
    assert row["t"] == 1
    assert row["m"].startswith(("117", "123"))  # in MiB
    assert row["d"].endswith("spilled")


def test_the_interrupt_key_keeps_the_charge_and_the_same_question_is_answered_for_it(
    opened, monkeypatch
):
    with opened() as session:
        session.prepare()
        run = DuckDB.run

        def slow(self: DuckDB, sql: str, **which):
            timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            run(self, ENDLESS)

        with monkeypatch.context() as patched:
            patched.setattr(DuckDB, "run", slow)
            with pytest.raises(KeyboardInterrupt):
                session.sql(COUNT, epsilon=EXACT)
        assert spent(session) == EXACT
        assert session.sql(COUNT, epsilon=EXACT)["n"] == (5,)
        assert spent(session) == EXACT


def test_another_thread_can_cancel(opened):
    with opened() as session:
        session.prepare()
        engine = session._data["visits"]
        done = threading.Event()

        def cancel() -> None:
            while not done.wait(0.1):
                session.cancel()

        canceller = threading.Thread(target=cancel)
        canceller.start()
        with pytest.raises(discreet.DiscreetError, match="stays charged"):
            engine.run(ENDLESS)
        done.set()
        canceller.join()
