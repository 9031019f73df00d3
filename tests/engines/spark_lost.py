"""Ask a Spark whose processes are killed meanwhile: `python -m tests.engines.spark_lost FOLDER`.

It has executors of its own on this machine, runs in a process of its own, and what became of each
question is printed as JSON.
"""

import contextlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext

import discreet
from discreet.errors import EngineFailed
from discreet.session import Session

POLICY = """
[dataset.visits]
source.kind = "spark"
source.path = "visits.parquet"
source.master = "local-cluster[2,1,1024]"
source.settings = ["spark.sql.shuffle.partitions=2"]
mode = "live"
unit = "person"
rows_per_unit = 3
columns.person = { type = "integer" }
columns.ward = { type = "integer", keys = [0, 1, 2, 3, 4, 5, 6, 7] }
budget.epsilon = 100
analysts.ann.epsilon = 100
"""
QUERY = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
ROWS = 1_000_000


def processes_of(parent: int) -> list[int]:
    """The processes that another one has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def driver() -> int:
    """Spark's own process."""
    context = SparkContext._active_spark_context
    return int(context._gateway.proc.pid)  # type: ignore[union-attr]


def busy() -> bool:
    """Whether a task is running."""
    tracker = SparkContext._active_spark_context.statusTracker()  # type: ignore[union-attr]
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return any(stage is not None and stage.numActiveTasks > 0 for stage in stages)


class Killer:
    """Kills one process of Spark while a question is asked, and says whether it has."""

    def __init__(self, kind: str) -> None:
        self.kind, self.killed, self._done = kind, False, threading.Event()
        self._thread = threading.Thread(target=self._kill)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _kill(self) -> None:
        while not self._done.wait(0.02):
            with contextlib.suppress(Exception):  # not everything is there from the beginning
                spark = driver()
                if busy():
                    victim = spark if self.kind == "driver" else processes_of(spark)[0]
                    os.kill(victim, signal.SIGKILL)
                    self.killed = True
                    return


def ask(session: Session, key: str) -> dict[str, Any]:
    """What became of a question."""
    before = session.balance().remaining["epsilon"]
    try:
        answer = session.sql(QUERY, epsilon=1, key=key)
    except EngineFailed as error:
        told: dict[str, Any] = {"failed": str(error)}
    else:
        told = {"stored": answer.stored, "counts": [row["n"]["value"] for row in answer.rows()]}
    return told | {"charged": float(before - session.balance().remaining["epsilon"])}


def main(folder: Path) -> None:
    """Ask while something is killed, and then again, and again."""
    draws = np.random.default_rng(7)
    people = draws.integers(0, ROWS // 4, ROWS)
    table = pa.table({"person": people, "ward": people % 8})
    pq.write_table(table, folder / "visits.parquet", row_group_size=ROWS // 8)
    (folder / "policy.toml").write_text(POLICY)
    found: dict[str, Any] = {}
    with discreet.open(folder / "policy.toml") as session:
        for kind in ("executor", "driver"):
            with Killer(kind) as killer:
                first = ask(session, kind)
            again = [ask(session, kind), ask(session, kind)]
            found[kind] = {"killed": killer.killed, "first": first, "again": again}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
