"""Our own collector on a large file, in a process of its own so that its peak of memory is its."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.peers.worker import serve
from bench.streaming import peak_megabytes
from discreet.local import Survey, Tally, TwoCoins, arrow

BATCH = 1 << 16
SURVEY = Survey("Have you ever ...?", randomizer=TwoCoins())


def collect(count: int, rounds: int = 1) -> Callable[[], object]:
    """Simulate so many reports into an Arrow file, outside the clock; count them from it."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "reports.arrow"
    schema = pa.schema([pa.field("report", pa.uint8())], arrow.schema(SURVEY, ids=False).metadata)
    people = (np.arange(BATCH) % 10 > 2).astype(np.uint8)
    with pa.ipc.new_file(str(path), schema) as writer:
        for start in range(0, count, BATCH):
            rows = SURVEY.randomizer.simulate(people[: min(BATCH, count - start)])
            writer.write_batch(pa.record_batch([pa.array(rows)], schema=schema))
    before = peak_megabytes()

    def work() -> dict[str, float]:
        start = time.process_time()
        for _ in range(rounds):
            tally = Tally(SURVEY)
            with arrow.batches(path, form="arrow") as batches:
                for batch in batches:
                    tally.add_batch(batch)
            if tally.n != count:
                raise AssertionError(f"{tally.n} reports were counted of {count}")
        spent = time.process_time() - start
        folder.cleanup()
        state = len(str(tally.to_json()))
        grown = peak_megabytes() - before
        return {"grown_megabytes": grown, "state_bytes": float(state), "processor": spent}

    return work


if __name__ == "__main__":
    serve({"collect": collect})
