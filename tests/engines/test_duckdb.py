"""A snapshot is a private file, and its connection a locked room."""

from __future__ import annotations

import logging
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import duckdb
import pytest

from discreet.engines.duckdb import DuckDB, schema_of
from discreet.engines.words import LOG
from discreet.errors import EngineFailed, InvalidInput
from tests.engines.hospital import Kept
from tests.session.made import select


@pytest.fixture
def engine(tmp_path):
    made = DuckDB(tmp_path / "home" / "snapshots" / "t.duckdb", threads=1)
    made.prepare("SELECT i AS n, 'SECRET-' || i AS name FROM RANGE(100) t(i)", definition="v1")
    yield made
    made.close()


def rows(engine, **which) -> int:
    return int(engine.run("SELECT COUNT(*) AS c FROM snapshot", **which).column("c")[0].as_py())


def beside(engine) -> list[str]:
    return sorted(path.name for path in engine.path.parent.iterdir())


def mode(path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def test_the_file_is_the_owners_alone(engine):
    assert mode(engine.path) == "0o600"
    assert mode(engine.path.parent) == "0o700"


def test_nothing_is_left_beside_it(engine):
    engine.run("SELECT SUM(n) AS s FROM snapshot")
    assert beside(engine) == ["t.duckdb", "t.duckdb.lock"]


def test_a_failed_build_leaves_the_old_snapshot_and_no_trace(engine):
    before = engine.snapshot()
    with pytest.raises(EngineFailed):
        engine.prepare("SELECT CAST('SECRET' AS INTEGER) AS n", definition="v2")
    assert engine.snapshot() == before
    assert beside(engine) == ["t.duckdb", "t.duckdb.lock"]


def test_a_new_build_has_a_new_name(engine):
    first = engine.snapshot()
    second = engine.prepare("SELECT 1 AS n", definition="v2")
    assert rows(engine) == 1
    assert first is not None
    kept = engine.snapshot()
    assert kept[:2] == (second, "v2")
    assert first.id != second
    assert first.built <= kept.built <= datetime.now(UTC)


def test_a_query_is_answered_by_the_snapshot_that_it_was_planned_for(engine):
    planned = engine.snapshot().id
    other = DuckDB(engine.path, threads=1)
    other.prepare("SELECT 1 AS n, 'x' AS name", definition="v2")
    assert rows(other) == 1
    assert rows(engine, snapshot=planned) == 100
    assert rows(engine) == 1
    newest = engine.snapshot()
    assert (newest.definition, rows(engine, snapshot=newest.id)) == ("v2", 1)
    assert rows(engine, snapshot=planned) == 100
    with pytest.raises(EngineFailed):
        rows(other, snapshot=planned)
    other.close()


def test_a_file_that_is_no_snapshot_is_none(engine):
    engine.path.write_bytes(b"nothing")
    assert DuckDB(engine.path).snapshot() is None
    duckdb.connect(str(engine.path.with_name("old"))).close()
    engine.path.with_name("old").replace(engine.path)
    assert DuckDB(engine.path).snapshot() is None


def test_it_is_as_old_as_its_reading_not_as_its_writing(tmp_path):
    made = DuckDB(tmp_path / "t.duckdb", threads=1)
    began = datetime.now(UTC)
    made.prepare("SELECT SUM(HASH(i)) AS n FROM RANGE(20000000) t(i)")
    ended = datetime.now(UTC)
    kept = made.snapshot()
    assert kept is not None
    assert kept.built - began < ended - kept.built
    made.close()


def test_what_does_not_fit_into_memory_is_written_where_it_was_told_to_be(tmp_path):
    spill = tmp_path / "spill"
    made = DuckDB(tmp_path / "t.duckdb", threads=2, memory="40MB", spill=spill)
    made.prepare("SELECT MD5(i::VARCHAR) AS s, i AS n FROM RANGE(1200000) t(i)")
    seen: set[str] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            seen.update(path.name for path in spill.glob("*"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        groups = "SELECT COUNT(*) AS c FROM (SELECT s, SUM(n) FROM snapshot GROUP BY s)"
        assert made.run(groups).column("c").to_pylist() == [1_200_000]
    finally:
        done.set()
        watcher.join()
    made.close()
    assert seen
    assert list(spill.glob("*")) == []
    assert {path.name for path in tmp_path.iterdir()} <= {"t.duckdb", "t.duckdb.lock", "spill"}


ENDLESS = (
    "SELECT COUNT(*) AS n FROM RANGE(1000000000) a, RANGE(1000) b WHERE a.range % 7 = b.range % 5"
)


def after(seconds: float, act) -> threading.Timer:
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


def test_the_interrupt_key_stops_a_query_and_is_heard(engine):
    timer = after(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        engine.run(ENDLESS)
    timer.join()
    assert rows(engine) == 100


def test_the_interrupt_key_stops_a_snapshot_and_leaves_the_old_one(engine):
    before = engine.snapshot()
    timer = after(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        engine.prepare(ENDLESS, progress=lambda _: None)
    timer.join()
    assert engine.snapshot() == before
    assert beside(engine) == ["t.duckdb", "t.duckdb.lock"]


@contextmanager
def builder(engine) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that makes a snapshot without end, and its hidden file."""
    code = (
        "import sys; from pathlib import Path; from discreet.engines.duckdb import DuckDB\n"
        "DuckDB(Path(sys.argv[1]), threads=1).prepare(sys.argv[2])"
    )
    before = set(beside(engine))
    with subprocess.Popen([sys.executable, "-c", code, engine.path, ENDLESS]) as process:
        try:
            while set(beside(engine)) <= before:
                assert process.poll() is None
                time.sleep(0.02)
            yield process
        finally:
            process.kill()


def hidden(engine) -> list[str]:
    return [name for name in beside(engine) if name.startswith(".")]


@pytest.mark.parametrize("then", ["open", "build"])
def test_what_a_killed_builder_left_is_removed_by_the_next_that_comes(engine, then):
    with builder(engine) as killed:
        killed.send_signal(signal.SIGKILL)
    assert hidden(engine) != []
    with closing(DuckDB(engine.path, threads=1)) as other:
        if then == "open":
            assert other.snapshot() == engine.snapshot()
        else:
            other.prepare("SELECT 1 AS n")
    assert hidden(engine) == []


def test_what_a_living_builder_makes_is_left_alone_beside_what_a_killed_one_left(engine):
    with builder(engine) as killed:
        killed.send_signal(signal.SIGKILL)
    left = hidden(engine)
    with builder(engine) as alive:
        made = hidden(engine)  # the second builder has removed what the first one left
        assert set(made).isdisjoint(left)
        with closing(DuckDB(engine.path, threads=1)) as other:
            other.prepare("SELECT 1 AS n")
            assert rows(other) == 1
        assert alive.poll() is None
        assert set(made) <= set(hidden(engine))


def test_a_link_that_a_killed_reader_left_is_removed_too_and_nothing_that_is_not_ours(engine):
    folder = engine.path.parent
    os.link(engine.path, folder / f".t.duckdb.{'0a' * 16}")
    for name in (".t.duckdb.backup", f".other.duckdb.{'0a' * 16}", "t.duckdb.old"):
        (folder / name).touch()
    with closing(DuckDB(engine.path, threads=1)) as other:
        assert rows(other) == 100
    assert hidden(engine) == [f".other.duckdb.{'0a' * 16}", ".t.duckdb.backup"]
    assert "t.duckdb.old" in beside(engine)


def test_a_snapshot_that_is_being_made_can_be_cancelled(engine):
    done = threading.Event()

    def cancel() -> None:
        # Whatever has not begun by then is not stopped.
        while not done.wait(0.1):
            engine.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    with pytest.raises(EngineFailed):
        engine.prepare(ENDLESS)
    done.set()
    canceller.join()
    assert rows(engine) == 100


FORBIDDEN = [
    "SELECT * FROM READ_TEXT('{other}')",
    "SELECT * FROM READ_CSV('{other}')",
    "SELECT * FROM READ_BLOB('{other}')",
    "SELECT * FROM READ_PARQUET('{other}')",
    "SELECT * FROM '{other}'",
    "SELECT * FROM GLOB('/*')",
    "SELECT * FROM SNIFF_CSV('{other}')",
    "SELECT * FROM READ_CSV('https://127.0.0.1:9/x.csv')",
    "COPY snapshot TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{folder}/out.parquet' (FORMAT parquet)",
    "EXPORT DATABASE '{folder}/out'",
    "ATTACH '{folder}/other.duckdb' AS other",
    "ATTACH ':memory:' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{other}'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET python_enable_replacements = true",
    "SET threads = 7",
    "SET memory_limit = '1GB'",
    "SET allowed_directories = ['/']",
    "SET temp_directory = '{folder}'",
    "RESET lock_configuration",
    "PRAGMA enable_profiling = 'json'",
    "PRAGMA profiling_output = '{folder}/profile.json'",
    "CREATE TABLE copy AS SELECT * FROM snapshot",
    "INSERT INTO snapshot VALUES (1, 'x')",
    "UPDATE snapshot SET n = 0",
    "DELETE FROM snapshot",
    "DROP TABLE snapshot",
    "ALTER TABLE snapshot ADD COLUMN x INTEGER",
    "CREATE SECRET s (TYPE s3)",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_locked_connection_refuses(engine, statement, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a\n1\n")
    with pytest.raises(EngineFailed):
        engine.run(statement.format(other=other, folder=tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "other.csv"]


def test_a_table_in_python_cannot_be_seen(engine):
    import pyarrow as pa

    secret = pa.table({"a": [1]})
    with pytest.raises(EngineFailed):
        engine.run("SELECT * FROM secret")
    assert secret.num_rows == 1


def test_live_it_sees_its_own_files_alone(tmp_path):
    mine, other = tmp_path / "mine.parquet", tmp_path / "other.parquet"
    for path in (mine, other):
        select("SELECT 1 AS n", path)
    source = f"READ_PARQUET('{mine}')"
    engine = DuckDB(tmp_path / "none.duckdb", source=source, paths=[str(mine)])
    assert engine.types() == {"n": "integer"}
    query = "SELECT SUM(n) AS s FROM READ_PARQUET('{}')"
    answer = engine.run_live(query.format(mine))
    assert answer.column("s").to_pylist() == [1]
    for statement in [query.format(other), *FORBIDDEN[:3]]:
        with pytest.raises(EngineFailed):
            engine.run_live(statement.format(other=other, folder=tmp_path))


def test_every_failure_has_the_same_words(engine):
    said = set()
    for statement in (
        "SELECT CAST(name AS INTEGER) FROM snapshot",
        "SELECT SUM(n) FROM snapshot GROUP BY nothing",
        "SELECT * FROM nothing",
        "SELEC",
        "SELECT 2147483647::INTEGER + n::INTEGER FROM snapshot WHERE n > 1",
        "SELECT ERROR(name) FROM snapshot",
    ):
        with pytest.raises(EngineFailed) as failure:
            engine.run(statement)
        said.add(str(failure.value))
        assert failure.value.__cause__ is None
        assert failure.value.__suppress_context__
    assert len(said) == 1
    assert "SECRET" not in said.pop()


def test_what_the_engine_said_is_for_the_curator_alone(engine, capfd):
    curator, everybody = Kept(), Kept()
    LOG.addHandler(curator)
    logging.getLogger().addHandler(everybody)
    try:
        with pytest.raises(EngineFailed):
            engine.run("SELECT CAST(name AS INTEGER) FROM snapshot")
    finally:
        LOG.removeHandler(curator)
        logging.getLogger().removeHandler(everybody)
    assert any("SECRET" in line for line in curator.lines)
    assert everybody.lines == []
    assert "SECRET" not in "".join(capfd.readouterr())


SLOW = "SELECT COUNT(*) FROM RANGE(100000) a(i), RANGE(100000) b(j) WHERE (i * j) % 7 = 3"


def test_a_query_that_takes_too_long_is_stopped(engine):
    with pytest.raises(EngineFailed):
        engine.run(SLOW, timeout=0.05)


def test_a_running_query_can_be_cancelled(engine):
    failures = []

    def ask() -> None:
        try:
            engine.run(SLOW)
        except EngineFailed as failure:
            failures.append(failure)

    asking = threading.Thread(target=ask)
    asking.start()
    while asking.is_alive():
        engine.cancel()
        time.sleep(0.01)
    assert len(failures) == 1


def test_it_answers_again_after_a_failure(engine):
    with pytest.raises(EngineFailed):
        engine.run("SELEC")
    assert engine.run("SELECT COUNT(*) AS c FROM snapshot").column("c").to_pylist() == [100]


def test_progress_ends_at_one(tmp_path):
    told: list[float] = []
    engine = DuckDB(tmp_path / "t.duckdb")
    engine.prepare("SELECT i AS n FROM RANGE(1000) t(i)", progress=told.append)
    engine.close()
    assert told[-1] == 1.0


def test_without_a_file_there_is_no_snapshot(tmp_path):
    assert DuckDB(tmp_path / "none.duckdb").snapshot() is None


def test_the_schema_of_a_file_is_read_and_nothing_else(tmp_path):
    path = tmp_path / "t.parquet"
    select("SELECT 1::BIGINT AS n, 'a' AS name", path)
    assert schema_of(path) == {"n": "BIGINT", "name": "VARCHAR"}
    base = tmp_path / "t.duckdb"
    with duckdb.connect(str(base)) as connection:
        connection.execute("CREATE SCHEMA h; CREATE TABLE h.v (d DATE, x DOUBLE)")
    assert schema_of(base, table="h.v") == {"d": "DATE", "x": "DOUBLE"}
    with pytest.raises(InvalidInput, match="could not be read"):
        schema_of(tmp_path / "missing.parquet")
