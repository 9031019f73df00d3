"""A table of events like those that shops and hospitals keep: skewed, and the same every time.

One person for every twenty rows, with very unequal numbers of rows; 50 regions, 365 days, 10,000
categories by a power law, amounts between 0 and 500.

Errors are measured on two more: one of whole amounts, and of that one the part in which nobody goes
over a bound, so that bounding leaves nothing out, in no system, and all that is off is the noise.
"""

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

DATA = Path(__file__).parent / ".data"
CATEGORIES = 10_000


def events(rows: int) -> Path:
    """The Parquet file with so many rows, made if it is not there."""
    path = DATA / f"events-{rows}.parquet"
    if path.exists():
        return path
    DATA.mkdir(exist_ok=True)
    draws = np.random.default_rng(20)
    people = max(rows // 20, 1)

    def by_power_law(count: int, size: int, exponent: float, shift: int = 0) -> NDArray[np.int64]:
        weights = (np.arange(1, size + 1) + shift) ** -exponent
        edges = np.cumsum(weights) / weights.sum()
        return np.searchsorted(edges, draws.random(count)).astype(np.int64)

    owner = np.concatenate([np.arange(people), by_power_law(rows - people, people, 0.8, shift=10)])
    owner = draws.permutation(people)[owner]
    draws.shuffle(owner)
    table = pa.table(
        {
            "user_id": owner,
            "region": draws.integers(0, 50, rows).astype(np.int32),
            "day": draws.integers(0, 365, rows).astype(np.int32),
            "category": by_power_law(rows, CATEGORIES, 1.1).astype(np.int32),
            "amount": np.clip(np.exp(draws.normal(3.0, 1.0, rows)), 0, 500),
        }
    )
    fresh = path.with_suffix(".part")
    pq.write_table(table, fresh, compression="zstd")
    fresh.replace(path)
    return path


def whole(rows: int) -> Path:
    """The same events with whole amounts, which no system has to round."""
    return _derived(f"whole-{rows}", f"SELECT * REPLACE (round(amount) AS amount) {_of(rows)}")


def bounded(rows: int) -> Path:
    """Those that leave everybody with at most 10 rows, 2 in a region and 2 in a category."""
    order = "ORDER BY day, region, category, amount"
    few = " AND ".join(
        f"row_number() OVER (PARTITION BY user_id, {column} {order}) <= 2"
        for column in ("region", "category")
    )
    kept = f"row_number() OVER (PARTITION BY user_id {order}) <= 10"
    some = f"SELECT * REPLACE (round(amount) AS amount) {_of(rows)} QUALIFY {few}"
    return _derived(f"bounded-{rows}", f"FROM ({some}) QUALIFY {kept}")


def _of(rows: int) -> str:
    return f"FROM read_parquet('{events(rows)}')"


def _derived(name: str, select: str) -> Path:
    path = DATA / f"{name}.parquet"
    if not path.exists():
        fresh = path.with_suffix(".part")
        duckdb.execute(f"COPY ({select}) TO '{fresh}' (FORMAT parquet, COMPRESSION zstd)")
        fresh.replace(path)
    return path
