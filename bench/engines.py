"""Private SQL where the data already live, against the plain query on the same engine.

The plain side asks the engine itself, with nothing bounded and no noise; ours is the whole way from
text to answer. Parts: `postgres`, `spark`, `tumult` (whose queries run on Spark too) and `growth`
(rows against time on Spark); `python -m bench engines --only spark` measures one and keeps what was
measured of the others.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import psycopg
from pyspark.sql import SparkSession

import discreet
from bench.events import DATA, events
from bench.harness import RESULTS, Row, Sheet, Side, best, timed
from bench.peers import Peer
from bench.sessions import asking
from bench.spark import MASTER, running, shuffling
from bench.terms import QUERIES
from discreet.session import Session
from tests.ledger.private_postgres import PrivatePostgres

SPARK_ROWS, POSTGRES_ROWS, TUMULT_ROWS = 20_000_000, 5_000_000, 1_000_000
GROWTH, LONG_GROWTH = (1_000_000, 10_000_000), (1_000_000, 10_000_000, 100_000_000)
ROUNDS, LIVE_ROUNDS = 5, 2
PLAIN_TARGET = round(1 / 1.3, 4)
TUMULT_TARGET = 5.0
# A row of a longer table may take so many times what a row of a shorter one takes.
LINEAR = 1.2

POLICY = """
[dataset.events]
source = {source}
mode = "{mode}"
unit = "user_id"
rows_per_unit = 20
delta_per_query = 1e-9
columns.user_id = {{ type = "integer" }}
columns.region = {{ type = "integer", keys = {regions} }}
columns.day = {{ type = "integer", keys = {days} }}
columns.category = {{ type = "integer" }}
columns.amount = {{ type = "real", bounds = [0, 500], grid = 0.01, missing = 0 }}
budget = {{ epsilon = 1000000, delta = 1e-3, accountant = "approximate" }}
analysts.curator = {{ epsilon = 1000000, delta = 1e-3 }}
"""


def run(sheet: Sheet, *, long: bool, only: str | None = None) -> None:
    """All parts, or one; `long` adds Tumult on twenty million rows and a table of a hundred."""
    if only is not None and only not in PARTS:
        raise SystemExit(f"no part {only!r}; there are: {', '.join(PARTS)}")
    for name, part in PARTS.items():
        if only in (None, name):
            part(sheet, long)
        else:
            for row in _written(name):
                sheet.rows.append(row)


def _written(part: str) -> list[Row]:
    """What an earlier run found of a part."""
    path = RESULTS / "engines.json"
    rows = [Row(**each) for each in json.loads(path.read_text())] if path.exists() else []
    return [row for row in rows if row.name.startswith(f"{part}: ")]


@contextmanager
def _opened(source: str, mode: str = "snapshot") -> Iterator[Session]:
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        path = Path(folder, "policy.toml")
        lists = {"regions": list(range(50)), "days": list(range(365))}
        path.write_text(POLICY.format(source=source, mode=mode, **lists))
        with discreet.open(path) as session:
            yield session


def _against_plain(
    sheet: Sheet, part: str, source: str, plain: Callable[[str], Side], rows: int
) -> None:
    """The four queries: on a snapshot and live, each against the plain one."""
    with _opened(source) as session:
        (build,) = best([timed(lambda: session.prepare(refresh=True))], (1,))
        sheet.add(
            Row.of(f"{part}: making a snapshot of {rows:,} rows", ours=build, unit="s", target=None)
        )
        for name in QUERIES:
            sides = [asking(session, name), plain(name)]
            ours, theirs = sheet.best(f"{part}, {name}", sides, (ROUNDS, ROUNDS))
            what = f"{part}: {name} on a snapshot of {rows:,} rows, against plain"
            sheet.add(Row.of(what, ours=ours, peer=theirs, unit="s", target=PLAIN_TARGET))
    with _opened(source, "live") as session:
        for name in QUERIES:
            sides = [asking(session, name), plain(name)]
            ours, theirs = sheet.best(f"{part}, {name} live", sides, (LIVE_ROUNDS, LIVE_ROUNDS))
            what = f"{part}: {name} live on {rows:,} rows, against plain"
            sheet.add(Row.of(what, ours=ours, peer=theirs, unit="s", target=None))


# PostgreSQL -----------------------------------------------------------------------------------


def _postgres(sheet: Sheet, long: bool) -> None:  # noqa: FBT001, ARG001
    server = PrivatePostgres()
    try:
        address = server.database()
        _load(address, events(POSTGRES_ROWS))
        os.environ["DISCREET_BENCH_DSN"] = address
        source = '{ kind = "postgres", table = "events", connection = "env:DISCREET_BENCH_DSN" }'
        with psycopg.connect(address, autocommit=True) as plain:

            def side(name: str) -> Side:
                return timed(lambda: plain.execute(QUERIES[name].encode()).fetchall())

            _against_plain(sheet, "postgres", source, side, POSTGRES_ROWS)
    finally:
        server.stop()


def _load(address: str, path: Path) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE events (user_id bigint, region integer, day integer, category integer, "
            "amount double precision)"
        )
        with tempfile.TemporaryDirectory(dir=DATA) as folder:
            text = Path(folder, "events.csv")
            duckdb.execute(f"COPY (FROM read_parquet('{path}')) TO '{text}' (HEADER false)")
            with (
                text.open("rb") as file,
                connection.cursor().copy("COPY events FROM STDIN (FORMAT csv)") as copy,
            ):
                while block := file.read(1 << 20):
                    copy.write(block)
        connection.execute("VACUUM ANALYZE events")


# Spark ----------------------------------------------------------------------------------------


def _source(path: Path, reader: str = "spark") -> str:
    return f'{{ kind = "spark", path = "{path}", master = "{MASTER}", reader = "{reader}" }}'


def _plain_spark(spark: SparkSession, path: Path) -> Callable[[str], Side]:
    spark.read.parquet(str(path)).createOrReplaceTempView("events")
    return lambda name: timed(lambda: spark.sql(QUERIES[name]).toArrow())


def _spark(sheet: Sheet, long: bool) -> None:  # noqa: FBT001, ARG001
    path = events(SPARK_ROWS)
    with running() as spark:
        plain = _plain_spark(spark, path)
        _against_plain(sheet, "spark", _source(path), plain, SPARK_ROWS)
        _shuffles(sheet, spark, path)
        with _opened(_source(path, "duckdb")) as session:
            session.prepare()
            for name in QUERIES:
                sides = [asking(session, name), plain(name)]
                ours, theirs = sheet.best(f"spark, {name} by DuckDB", sides, (ROUNDS, LIVE_ROUNDS))
                what = f"spark: {name} on the snapshot as DuckDB reads it, against plain Spark"
                sheet.add(Row.of(what, ours=ours, peer=theirs, unit="s", target=PLAIN_TARGET))


def _shuffles(sheet: Sheet, spark: SparkSession, path: Path) -> None:
    """What crosses the network on a cluster, by Spark's own count."""
    with _opened(_source(path)) as session:
        with shuffling(spark) as building:
            session.prepare()
        (sent,) = building
        what = "spark: shuffles in making a snapshot"
        sheet.add(Row.of(what, ours=sent.times, unit="shuffles", target=1))
        what = "spark: bytes shuffled for each row of the source, making a snapshot"
        sheet.add(Row.of(what, ours=sent.bytes / SPARK_ROWS, unit="bytes", target=None))
        what = "spark: bytes shuffled for each unit, making a snapshot"
        sheet.add(Row.of(what, ours=sent.bytes / (SPARK_ROWS // 20), unit="bytes", target=None))
        for name in QUERIES:
            with shuffling(spark) as asked:
                asking(session, name)()
            (sent,) = asked
            what = f"spark: records shuffled by {name} on the snapshot"
            sheet.add(Row.of(what, ours=sent.records, unit="records", target=None))
            what = f"spark: bytes shuffled by {name} on the snapshot"
            sheet.add(Row.of(what, ours=sent.bytes, unit="bytes", target=None))


def _tumult(sheet: Sheet, long: bool) -> None:  # noqa: FBT001
    """The same data, the same two cores, and Spark on both sides."""
    for rows, rounds in ((TUMULT_ROWS, 2), (SPARK_ROWS, 1))[: 2 if long else 1]:
        path = events(rows)
        with (
            running(),
            Peer("tumult", worker="bench.peers.tumult_analytics") as peer,
            _opened(_source(path)) as session,
            _opened(_source(path), "live") as live,
        ):
            session.prepare()
            for name in QUERIES:
                theirs = peer.side("query", name=name, path=str(path), rows_per_unit=20)
                sides = [asking(session, name), asking(live, name), theirs]
                kept, inlined, tumult = sheet.best(
                    f"{name} against Tumult", sides, (ROUNDS, LIVE_ROUNDS, rounds)
                )
                what = f"tumult: {name} on Spark, {rows:,} rows, against Tumult"
                sheet.add(Row.of(what, ours=kept, peer=tumult, unit="s", target=TUMULT_TARGET))
                what = f"tumult: {name} live on Spark, {rows:,} rows, against Tumult"
                sheet.add(Row.of(what, ours=inlined, peer=tumult, unit="s", target=None))


def _growth(sheet: Sheet, long: bool) -> None:  # noqa: FBT001
    """Rows against time: linear, or better where a fixed cost hides the rest."""
    sizes = LONG_GROWTH if long else GROWTH
    seconds: dict[str, list[float]] = {name: [] for name in ("making a snapshot", *QUERIES)}
    with running():
        for rows in sizes:
            with _opened(_source(events(rows))) as session:
                sides = [timed(lambda: session.prepare(refresh=True))]
                seconds["making a snapshot"] += sheet.best(f"{rows:,} rows", sides, (2,))
                for name in QUERIES:
                    sides = [asking(session, name)]
                    seconds[name] += sheet.best(f"{name}, {rows:,} rows", sides, (ROUNDS,))
    for name, taken in seconds.items():
        for rows, each in zip(sizes, taken, strict=True):
            sheet.add(Row.of(f"growth: {name}, {rows:,} rows", ours=each, unit="s", target=None))
        growth = (taken[-1] / taken[-2]) / (sizes[-1] / sizes[-2])
        what = f"growth: {name}, time for each row: {sizes[-1]:,} rows over {sizes[-2]:,}"
        sheet.add(Row.of(what, ours=growth, unit="times", target=LINEAR))


PARTS: dict[str, Callable[[Sheet, bool], None]] = {
    "postgres": _postgres,
    "spark": _spark,
    "tumult": _tumult,
    "growth": _growth,
}
