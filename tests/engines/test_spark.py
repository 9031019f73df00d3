"""Spark as an engine: snapshots swapped whole, words that quote nothing, work that ends."""

import json
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engines.spark import Spark
from discreet.engines.spark.settings import LEGACY, PINNED, pin
from discreet.errors import EngineFailed, Unsupported

SECRET = "ALICE-SECRET"


@pytest.fixture
def source(tmp_path):
    """A folder of Parquet files, as Spark calls it."""
    folder = tmp_path / "rows"
    folder.mkdir()
    pq.write_table(pa.table({"a": [1, 2, 3], "b": ["x", SECRET, None]}), folder / "1.parquet")
    return f"`parquet`.`{folder}`"


@pytest.fixture
def engine(spark, tmp_path, source):
    engine = made(tmp_path, source, spark, reader="spark")
    yield engine
    engine.close()


def made(folder: Path, relation: str, master: str, **options: Any) -> Spark:
    return Spark(
        folder / "kept here, 100%", relation=relation, address=master, where="master", **options
    )


def rows(table: pa.Table) -> Any:
    return table.to_pylist()


class TestSnapshots:
    def test_a_snapshot_is_queried_by_its_name(self, engine, source):
        engine.prepare(f"SELECT a + 1 AS a FROM {source}", definition="d")
        table = engine.run(f"SELECT SUM(a) AS s, COUNT(*) AS n FROM {engine.table}")
        assert rows(table) == [{"s": 9, "n": 3}]

    def test_what_it_was_made_from_is_kept_with_it(self, engine, source):
        assert engine.snapshot() is None
        name = engine.prepare(f"SELECT a FROM {source}", definition="what")
        assert engine.snapshot()[:2] == (name, "what")

    def test_a_new_one_takes_the_place_of_the_old_one(self, engine, source):
        first = engine.prepare(f"SELECT a FROM {source}")
        second = engine.prepare(f"SELECT a * 10 AS a FROM {source}")
        assert first != second == engine.snapshot().id
        assert rows(engine.run("SELECT MAX(a) AS m FROM snapshot")) == [{"m": 30}]

    @pytest.mark.parametrize("reader", ["spark", "duckdb"])
    def test_a_query_is_answered_by_the_snapshot_it_was_planned_for(
        self, spark, source, tmp_path, reader
    ):
        engine = made(tmp_path, source, spark, reader=reader)
        first = engine.prepare(f"SELECT a FROM {source}")
        second = engine.prepare(f"SELECT a * 10 AS a FROM {source}")
        asked = "SELECT MAX(a) AS m FROM snapshot"
        assert rows(engine.run(asked, snapshot=first)) == [{"m": 3}]
        assert rows(engine.run(asked, snapshot=second)) == [{"m": 30}]
        engine.prepare(f"SELECT a * 100 AS a FROM {source}")
        assert not (tmp_path / "kept here, 100%" / first).exists()
        with pytest.raises(EngineFailed):
            engine.run(asked, snapshot=first)
        engine.close()

    def test_columns_that_have_changed_since_are_told_of(self, engine, source, tmp_path):
        engine.prepare(f"SELECT a FROM {source}")
        assert engine.types() == {"a": "bigint", "b": "string"}
        pq.write_table(pa.table({"a": ["x"]}), tmp_path / "rows" / "1.parquet")
        with pytest.raises(EngineFailed, match="have changed"):
            engine.prepare(f"SELECT a FROM {source}")
        assert engine.types() == {"a": "string"}

    def test_another_engine_of_the_same_folder_sees_the_new_one(
        self, engine, source, spark, tmp_path
    ):
        other = made(tmp_path, source, spark, reader="spark")
        engine.prepare(f"SELECT a FROM {source}")
        assert rows(other.run("SELECT MAX(a) AS m FROM snapshot")) == [{"m": 3}]
        engine.prepare(f"SELECT a * 10 AS a FROM {source}")
        assert rows(other.run("SELECT MAX(a) AS m FROM snapshot")) == [{"m": 30}]
        other.close()

    def test_a_failed_one_leaves_the_old_one_and_no_files(self, engine, source, tmp_path):
        name = engine.prepare(f"SELECT a FROM {source}", definition="old")
        with pytest.raises(EngineFailed):
            engine.prepare(f"SELECT CAST(b AS INT) AS a FROM {source}", definition="new")
        assert engine.snapshot()[:2] == (name, "old")
        folders = [entry for entry in (tmp_path / "kept here, 100%").iterdir() if entry.is_dir()]
        assert [folder.name for folder in folders] == [name]

    def test_only_its_owner_can_read_it(self, engine, source, tmp_path):
        engine.prepare(f"SELECT a FROM {source}")
        assert (tmp_path / "kept here, 100%").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "kept here, 100%" / "snapshots.json").stat().st_mode & 0o777 == 0o600

    def test_one_whose_files_are_gone_is_not_there(self, engine, source, tmp_path):
        name = engine.prepare(f"SELECT a FROM {source}")
        (tmp_path / "kept here, 100%" / name / "_SUCCESS").unlink()
        assert engine.snapshot() is None

    def test_one_that_the_policy_wants_elsewhere_is_made_anew(
        self, engine, source, spark, tmp_path
    ):
        engine.prepare(f"SELECT a FROM {source}")
        there = made(tmp_path, source, spark, snapshots=(tmp_path / "there").as_uri())
        assert there.snapshot() is None
        there.prepare(f"SELECT a FROM {source}")
        assert there.place.startswith((tmp_path / "there").as_uri())
        there.close()

    def test_a_cluster_has_to_be_told_where_its_workers_can_write(self, tmp_path, source):
        far = made(tmp_path, source, "spark://far:7077")
        assert "snapshots = " in str(far.obstacle())
        near = made(tmp_path, source, "spark://far:7077", snapshots="hdfs:///discreet")
        assert near.obstacle() is None

    def test_a_folder_whose_name_spark_takes_for_a_pattern_holds_none(self, tmp_path, source):
        assert "pattern" in str(made(tmp_path / "[a]", source, "local[2]").obstacle())

    def test_files_with_other_columns_are_read_together(self, engine, source, tmp_path):
        pq.write_table(pa.table({"a": [4], "c": [True]}), tmp_path / "rows" / "2.parquet")
        assert engine.types() == {"a": "bigint", "b": "string", "c": "boolean"}

    def test_progress_only_grows_and_ends_at_one(self, engine, source):
        seen: list[float] = []
        engine.prepare(
            "SELECT k, COUNT(*) AS n FROM (SELECT id % 1000 AS k, HASH(id) AS h "
            "FROM RANGE(0, 20000000, 1, 8)) GROUP BY k",
            progress=seen.append,
        )
        assert seen == sorted(seen)
        assert seen[-1] == 1.0
        assert any(0 < far < 1 for far in seen)


class TestDuckDBAsReader:
    def test_it_is_the_default_where_the_files_are_on_this_machine(self, tmp_path, source):
        assert made(tmp_path, source, "local[2]").reader == "duckdb"
        assert made(tmp_path, source, "yarn", snapshots="hdfs:///x").reader == "spark"
        shared = made(tmp_path, source, "spark://far:7077", snapshots="file:///mnt/shared")
        assert shared.reader == "duckdb"

    def test_both_see_the_same_rows(self, engine, source, spark, tmp_path):
        select = (
            f"SELECT a, b, CAST(a AS DOUBLE) / 3 AS r, a > 1 AS t, "
            "MAKE_DATE(1500, 2, CAST(a AS INT)) AS d, "
            f"TIMESTAMP_NTZ '0001-01-01 00:00:00.000001' AS m FROM {source}"
        )
        engine.prepare(select)
        fast = made(tmp_path, source, spark)
        asked = "SELECT * FROM snapshot ORDER BY a"
        assert rows(fast.run(asked)) == rows(engine.run(asked))
        fast.close()

    def test_it_reads_nothing_else(self, engine, source, spark, tmp_path):
        engine.prepare(f"SELECT a FROM {source}")
        fast = made(tmp_path, source, spark)
        for sql in (
            f"SELECT * FROM READ_PARQUET('{tmp_path}/rows/1.parquet')",
            f"COPY snapshot TO '{tmp_path}/kept here, 100%/out.csv'",
            "SELECT * FROM READ_TEXT('/etc/hostname')",
        ):
            with pytest.raises(EngineFailed):
                fast.run(sql)
        fast.close()


class TestFailing:
    def test_nothing_that_spark_says_is_repeated(self, engine, source, capfd):
        with pytest.raises(EngineFailed) as error:
            engine.run_live(f"SELECT CAST(b AS INT) FROM {source}")
        assert SECRET not in str(error.value)
        assert SECRET not in "".join(capfd.readouterr())

    def test_every_failure_has_the_same_words(self, engine, source):
        engine.prepare(f"SELECT a FROM {source}")
        said = set()
        for sql in ("SELECT 1/0", "SELECT nowhere FROM snapshot", "SELECT FROM"):
            with pytest.raises(EngineFailed) as error:
                engine.run(sql)
            said.add(str(error.value))
        assert len(said) == 1

    def test_another_master_than_the_running_one_is_refused(self, spark, tmp_path, source):
        other = made(tmp_path, source, "local[7]")
        with pytest.raises(Unsupported, match="has a Spark already"):
            other.types()

    def test_a_query_that_takes_too_long_is_stopped(self, engine):
        with pytest.raises(EngineFailed):
            engine.run_live(FOR_EVER, timeout=1.0)
        assert rows(engine.run_live("SELECT 1 AS one")) == [{"one": 1}]

    def test_a_query_can_be_cancelled_from_another_thread(self, engine):
        threading.Timer(1.0, engine.cancel).start()
        with pytest.raises(EngineFailed):
            engine.run_live(FOR_EVER)

    def test_cancelling_stops_no_query_of_another_engine(self, engine, source, spark, tmp_path):
        other = made(tmp_path, source, spark)
        threading.Timer(0.5, other.cancel).start()
        sql = "SELECT COUNT(DISTINCT id % 1000) AS n FROM RANGE(0, 20000000, 1, 8)"
        assert rows(engine.run_live(sql)) == [{"n": 1000}]
        other.close()


FOR_EVER = "SELECT SUM(HASH(id) % 7) AS s FROM RANGE(0, 100000000000, 1, 8)"


class TestSettings:
    def test_what_others_have_set_is_set_right(self, spark):
        from pyspark.sql import SparkSession

        session = SparkSession.active().newSession()
        others = {
            "spark.sql.ansi.enabled": "false",
            "spark.sql.session.timeZone": "Asia/Tokyo",
            "spark.sql.groupByOrdinal": "false",
            "spark.sql.variable.substitute": "true",
            "spark.sql.legacy.timeParserPolicy": "LEGACY",
            "spark.sql.legacy.parquet.nanosAsLong": "true",
        }
        usual = {name: session.conf.get(name) for name in others}
        for name, value in others.items():
            session.conf.set(name, value)
        pin(session)
        assert {name: session.conf.get(name) for name in PINNED} == dict(PINNED)
        for name, value in others.items():
            if name.startswith(LEGACY):
                assert session.conf.get(name) == usual[name] != value

    def test_text_is_not_filled_in_with_sparks_settings_or_the_environment(self, engine):
        text = "${spark.master} ${env:PATH} ${system:user.name}"
        assert rows(engine.run_live(f"SELECT '{text}' AS t")) == [{"t": text}]

    def test_an_unusual_name_is_no_pattern(self, engine, tmp_path):
        pq.write_table(pa.table({"(a|b).*": [1], "a": [2]}), tmp_path / "odd.parquet")
        sql = f"SELECT `(a|b).*` AS x FROM parquet.`{tmp_path}/odd.parquet`"
        assert rows(engine.run_live(sql)) == [{"x": 1}]


def test_what_says_which_snapshots_there_are_holds_no_rows(engine, source, tmp_path):
    engine.prepare(f"SELECT a, b FROM {source}")
    (said,) = json.loads((tmp_path / "kept here, 100%" / "snapshots.json").read_text())
    assert set(said) == {"id", "definition", "built", "place", "schema", "source"}
    assert SECRET not in json.dumps(said)
