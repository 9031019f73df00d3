"""Private SQL against the plain query in DuckDB, and against the queries of OpenDP and of Tumult.

The plain side reads the same Parquet file, with nothing bounded and no noise. Ours is the whole way
from text to answer: parsing, planning, two durable entries in the ledger, the engine, noise,
intervals.
"""

import os
import time
from pathlib import Path

import duckdb

from bench.events import DATA, csv, events
from bench.harness import Row, Sheet, Side, best, significant, timed
from bench.peers import Peer
from bench.sessions import asking, opened
from bench.terms import QUERIES
from discreet.session import Session

ROWS, FEWER = 20_000_000, 1_000_000
CSV_ROWS = 5_000_000
PLAIN_TARGETS = {"Q2": 1 / 1.2, "Q3": 1 / 1.2, "Q4": 1.0}
OPENDP_TARGETS = {"Q1": 20.0, "Q2": 20.0, "Q3": 20.0, "Q4": 5.0}
TUMULT_TARGET = 50.0
MEMORY_TARGET = 1 / 1.2
ROUNDS = 7
OPENDP_ROUNDS = TUMULT_ROUNDS = 2


def run(sheet: Sheet, *, long: bool) -> None:
    """All of it; `long` adds Tumult on twenty million rows, which takes it half an hour."""
    path = events(ROWS)
    with duckdb.connect() as plain:
        plain.read_parquet(str(path)).create_view("events")
        with opened(path) as session:
            _build(sheet, session, plain)
            _against_plain(sheet, session, plain, 20)
            _against_opendp(sheet, session, path)
            if long:
                _against_tumult(sheet, session, path, ROWS, rounds=1)
            _payoff(sheet, session, path)
        with opened(path, rows_per_unit=50) as session:
            _against_plain(sheet, session, plain, 50)
    with opened(events(FEWER)) as session:
        _against_tumult(sheet, session, events(FEWER), FEWER, rounds=TUMULT_ROUNDS)
    _memory(sheet, path)
    _from_csv(sheet, csv(CSV_ROWS))


def _planning(session: Session, query: str) -> Side:
    return timed(lambda: session.plan(query, epsilon=1))


def plainly(connection: duckdb.DuckDBPyConnection, name: str) -> Side:
    """The plain query."""
    return timed(lambda: connection.execute(QUERIES[name]).fetchall())


def _against_plain(
    sheet: Sheet, session: Session, plain: duckdb.DuckDBPyConnection, kept: int
) -> None:
    sync = _fdatasync(DATA)
    for name, query in QUERIES.items():
        sides = [asking(session, name), plainly(plain, name)]
        ours, theirs = sheet.best(f"{name}, {kept} rows a person", sides, (ROUNDS, ROUNDS))
        what = f"{name} on {ROWS:,} rows, at most {kept} a person"
        if name == "Q1":
            # Plain DuckDB answers from the file's footer; the target is a time of our own.
            limit = 0.010 + 2 * sync
            sheet.add(Row.of(what, ours=ours, unit="s", target=round(limit, 4)))
        else:
            what = f"{what}, against plain DuckDB"
            sheet.add(Row.of(what, ours=ours, peer=theirs, unit="s", target=PLAIN_TARGETS[name]))
        (planning,) = best([_planning(session, query)], (ROUNDS,))
        what = f"{name}, at most {kept} a person: planning and pricing alone"
        sheet.add(Row.of(what, ours=planning, unit="s", target=0.01))


def _against_opendp(sheet: Sheet, session: Session, path: Path) -> None:
    with Peer("opendp_polars", worker="bench.peers.opendp_polars") as peer:
        for name in QUERIES:
            theirs = peer.side("query", name=name, path=str(path), rows_per_unit=20)
            sides = [asking(session, name), theirs]
            seconds = sheet.best(f"{name} against OpenDP", sides, (ROUNDS, OPENDP_ROUNDS))
            what = f"{name} on {ROWS:,} rows, at most 20 a person, against OpenDP"
            target = OPENDP_TARGETS[name]
            sheet.add(Row.of(what, ours=seconds[0], peer=seconds[1], unit="s", target=target))
        their_keys = peer.ask("query", name="Q3", path=str(path), rows_per_unit=20)["groups"]
    our_keys = len(session.sql(QUERIES["Q3"], epsilon=1))
    name = "private keys shown by Q3 at epsilon 1, delta 1e-9, against OpenDP"
    ratio = significant(our_keys / their_keys)
    sheet.add(Row(name, our_keys, their_keys, "keys", ratio, 1.0, our_keys >= their_keys))


def _against_tumult(sheet: Sheet, session: Session, path: Path, rows: int, *, rounds: int) -> None:
    with Peer("tumult", worker="bench.peers.tumult_analytics") as peer:
        for name in QUERIES:
            theirs = peer.side("query", name=name, path=str(path), rows_per_unit=20)
            sides = [asking(session, name), theirs]
            seconds = sheet.best(f"{name} against Tumult", sides, (ROUNDS, rounds))
            what = f"{name} on {rows:,} rows, at most 20 a person, against Tumult on Spark"
            sheet.add(
                Row.of(what, ours=seconds[0], peer=seconds[1], unit="s", target=TUMULT_TARGET)
            )


def _build(sheet: Sheet, session: Session, plain: duckdb.DuckDBPyConnection) -> None:
    """Making the snapshot against one scan and sort of the file."""
    sort = "CREATE OR REPLACE TEMP TABLE sorted AS SELECT * FROM events ORDER BY user_id, amount"
    sides = [
        timed(lambda: session.prepare(refresh=True)),
        timed(lambda: plain.execute(sort)),
    ]
    ours, theirs = sheet.best("snapshot", sides, (2, 2))
    plain.execute("DROP TABLE sorted")
    what = f"making a snapshot of {ROWS:,} rows, against one scan and sort"
    sheet.add(Row.of(what, ours=ours, peer=theirs, unit="s", target=round(1 / 6, 4)))


def _payoff(sheet: Sheet, session: Session, path: Path) -> None:
    """After how many queries a snapshot has taken less time than as many live ones."""
    (build,) = best([timed(lambda: session.prepare(refresh=True))], (2,))
    with opened(path, mode="live") as live:
        for name in QUERIES:
            sides = [asking(session, name), asking(live, name)]
            kept, inlined = sheet.best(f"{name}, live", sides, (ROUNDS, 2))
            what = f"{name} on {ROWS:,} rows: on the snapshot, against live mode"
            sheet.add(Row.of(what, ours=kept, peer=inlined, unit="s", target=None))
            what = f"{name} on {ROWS:,} rows: queries after which the snapshot has paid for itself"
            sheet.add(Row.of(what, ours=build / (inlined - kept), unit="queries", target=None))


def _memory(sheet: Sheet, path: Path) -> None:
    """The most memory that a process ever held which asks one query, privately and plainly."""
    with opened(path) as session:
        session.prepare()
        source = session.policy.datasets["events"].source.path
        for name, query in QUERIES.items():
            peaks = []
            for side in ("private", "plain"):
                with Peer(None, worker="bench.memory") as worker:
                    answer = worker.ask(side, path=source, query=query)
                    peaks.append(answer["peak_megabytes"])
            what = f"{name} on {ROWS:,} rows: peak memory, against plain DuckDB"
            target = None if name == "Q1" else MEMORY_TARGET
            sheet.add(Row.of(what, ours=peaks[0], peer=peaks[1], unit="MB", target=target))


def _from_csv(sheet: Sheet, path: Path) -> None:
    """Making a snapshot of a CSV file, against plain DuckDB reading it into a table."""
    read = f"CREATE OR REPLACE TEMP TABLE loaded AS FROM read_csv('{path}')"
    types = {"user_id": "integer", "category": "integer"}
    with duckdb.connect() as plain, opened(path, types=types) as session:
        sides = [timed(lambda: session.prepare(refresh=True)), timed(lambda: plain.execute(read))]
        ours, theirs = sheet.best("CSV", sides, (2, 2))
    what = f"making a snapshot of a CSV file of {CSV_ROWS:,} rows, against plainly reading it"
    sheet.add(Row.of(what, ours=ours, peer=theirs, unit="s", target=None))


def _fdatasync(folder: Path) -> float:
    """The median of several durable writes on this disk."""
    probe = folder / "probe"
    handle = os.open(probe, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        seconds = []
        for _ in range(20):
            os.pwrite(handle, os.urandom(4096), 0)
            start = time.perf_counter()
            os.fdatasync(handle)
            seconds.append(time.perf_counter() - start)
        return sorted(seconds)[len(seconds) // 2]
    finally:
        os.close(handle)
        probe.unlink()
