"""A worker that asks one query and says how much memory its process has held at most.

Both sides load what they need and nothing else; each process is asked once.
"""

import re
from collections.abc import Callable
from pathlib import Path

from bench.peers.worker import serve


def private(path: str, query: str) -> Callable[[], object]:
    """A query on a snapshot that another process has made."""
    import discreet
    from bench.terms import TERMS

    def work() -> object:
        with discreet.open(path, **TERMS) as session:
            session.sql(query, epsilon=1)
        return _peak()

    return work


def plain(path: str, query: str) -> Callable[[], object]:
    """The same, plainly, on the Parquet file."""
    import duckdb

    def work() -> object:
        with duckdb.connect() as connection:
            connection.read_parquet(path).create_view("events")
            connection.execute(query).fetchall()
        return _peak()

    return work


def _peak() -> dict[str, float]:
    # Not what getrusage says: a child is told its parent's peak if that was higher.
    status = Path("/proc/self/status").read_text()
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return {"peak_megabytes": int(kilobytes) / 1024}


if __name__ == "__main__":
    serve({"private": private, "plain": plain})
