"""Private SQL against the plain query in DuckDB, and against OpenDP's Polars queries.

The plain side reads the same Parquet file, with nothing bounded and no noise. Ours is the whole way
from text to answer: parsing, planning, two durable entries in the ledger, the engine, noise,
intervals.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import duckdb

import discreet
from bench.events import DATA, events
from bench.harness import Row, Sheet, Side, best, significant, timed
from bench.peers import Peer
from discreet.session import Session

ROWS = 20_000_000
LONG_ROWS = 100_000_000
QUERIES = {
    "Q1": "SELECT COUNT(*) FROM events",
    "Q2": "SELECT region, COUNT(*), SUM(amount) FROM events GROUP BY region",
    "Q3": "SELECT category, COUNT(*), AVG(amount) FROM events GROUP BY category",
    "Q4": "SELECT day, COUNT(DISTINCT user_id) FROM events GROUP BY day",
}
PLAIN_TARGETS = {"Q2": 1 / 1.2, "Q3": 1 / 1.2, "Q4": 1.0}
OPENDP_TARGETS = {"Q1": 20.0, "Q2": 20.0, "Q3": 20.0, "Q4": 5.0}
ROUNDS = 7
OPENDP_ROUNDS = 2

# An epsilon of its own for each question, so that none is answered from the ledger.
_FRESH: Iterator[str] = (f"1.{n:06}" for n in count(1))


def run(sheet: Sheet, *, long: bool) -> None:
    """All of it; `long` adds a hundred million rows."""
    path = events(ROWS)
    with duckdb.connect() as plain, tempfile.TemporaryDirectory(dir=DATA) as folder:
        plain.read_parquet(str(path)).create_view("events")
        sync = _fdatasync(Path(folder))
        for kept in (20, 50):
            with _opened(path, Path(folder) / str(kept), kept) as session:
                if kept == 20:
                    _build(sheet, session, plain)
                _against_plain(sheet, session, plain, kept, sync)
                if kept == 20:
                    _against_opendp(sheet, session, path)
    _scaling(sheet, (1_000_000, ROWS, LONG_ROWS) if long else (1_000_000, ROWS))


def _opened(path: Path, home: Path, kept: int) -> Session:
    """A session of its own: its ledger and snapshot stand beside a second name of the data."""
    home.mkdir()
    os.link(path, home / path.name)
    return discreet.open(
        home / path.name,
        unit="user_id",
        rows_per_unit=kept,
        bounds={"amount": (0, 500)},
        grids={"amount": "0.01"},
        missing={"amount": 0},
        keys={"region": list(range(50)), "day": list(range(365))},
        epsilon=10**6,
        delta="1e-3",
        delta_per_query="1e-9",
        name="events",
    )


def _ask(session: Session, query: str) -> Side:
    return timed(lambda: session.sql(query, epsilon=next(_FRESH)))


def _planning(session: Session, query: str) -> Side:
    return timed(lambda: session.plan(query, epsilon=1))


def _plain(connection: duckdb.DuckDBPyConnection, query: str) -> Side:
    return timed(lambda: connection.sql(query).fetchall())


def _against_plain(
    sheet: Sheet, session: Session, plain: duckdb.DuckDBPyConnection, kept: int, sync: float
) -> None:
    for name, query in QUERIES.items():
        sides = [_ask(session, query), _plain(plain, query)]
        ours, theirs = sheet.best(f"{name}, {kept} rows a person", sides, (ROUNDS, ROUNDS))
        what = f"{name} on {ROWS:,} rows, at most {kept} a person"
        if name == "Q1":
            # Plain DuckDB answers from the file's footer; the target is a time of our own.
            limit = 0.010 + 2 * sync
            sheet.add(Row.of(what, ours=ours, unit="s", target=round(limit, 4)))
            continue
        row = Row.of(
            f"{what}, against plain DuckDB",
            ours=ours,
            peer=theirs,
            unit="s",
            target=PLAIN_TARGETS[name],
        )
        sheet.add(row)
        (planning,) = best([_planning(session, query)], (ROUNDS,))
        sheet.add(
            Row.of(f"{name}, planning and pricing alone", ours=planning, unit="s", target=0.01)
        )


def _against_opendp(sheet: Sheet, session: Session, path: Path) -> None:
    with Peer("opendp_polars", worker="bench.peers.opendp_polars") as peer:
        for name, query in QUERIES.items():
            theirs = peer.side("query", name=name, path=str(path), rows_per_unit=20)
            sides = [_ask(session, query), theirs]
            seconds = sheet.best(f"{name} against OpenDP", sides, (ROUNDS, OPENDP_ROUNDS))
            row = Row.of(
                f"{name} on {ROWS:,} rows, at most 20 a person, against OpenDP",
                ours=seconds[0],
                peer=seconds[1],
                unit="s",
                target=OPENDP_TARGETS[name],
            )
            sheet.add(row)
        their_keys = peer.ask("query", name="Q3", path=str(path), rows_per_unit=20)["groups"]
    our_keys = len(session.sql(QUERIES["Q3"], epsilon=1))
    name = "private keys shown by Q3 at epsilon 1, delta 1e-9, against OpenDP"
    ratio = significant(our_keys / their_keys)
    sheet.add(Row(name, our_keys, their_keys, "keys", ratio, 1.0, our_keys >= their_keys))


def _build(sheet: Sheet, session: Session, plain: duckdb.DuckDBPyConnection) -> None:
    """Making the snapshot against one sort of the file, and when it has paid for itself."""
    sort = "CREATE OR REPLACE TEMP TABLE sorted AS SELECT * FROM events ORDER BY user_id, amount"
    sides = [
        timed(lambda: session.prepare(refresh=True)),
        timed(lambda: plain.execute(sort)),
    ]
    ours, theirs = sheet.best("snapshot", sides, (2, 2))
    plain.execute("DROP TABLE sorted")
    sheet.add(
        Row.of(
            f"making a snapshot of {ROWS:,} rows, against one scan and sort",
            ours=ours,
            peer=theirs,
            unit="s",
            target=round(1 / 6, 4),
        )
    )


def _scaling(sheet: Sheet, sizes: tuple[int, ...]) -> None:
    """Whether a private query keeps its distance from the plain one as the table grows."""
    for rows in sizes:
        path = events(rows)
        with duckdb.connect() as plain, tempfile.TemporaryDirectory(dir=DATA) as folder:
            plain.read_parquet(str(path)).create_view("events")
            with _opened(path, Path(folder) / "20", 20) as session:
                sides = [_ask(session, QUERIES["Q2"]), _plain(plain, QUERIES["Q2"])]
                ours, theirs = sheet.best(f"Q2 on {rows:,} rows", sides, (ROUNDS, ROUNDS))
                sheet.add(
                    Row.of(
                        f"Q2 on {rows:,} rows, against plain DuckDB",
                        ours=ours,
                        peer=theirs,
                        unit="s",
                        target=None,
                    )
                )


def _fdatasync(folder: Path) -> float:
    """The best of several durable writes on this disk."""
    handle = os.open(folder / "probe", os.O_WRONLY | os.O_CREAT, 0o600)
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
