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
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

DATA = Path(__file__).parent / ".data"
CATEGORIES = 10_000
ROWS_PER_PERSON = 20
PIECE = 20_000_000


def events(rows: int) -> Path:
    """The Parquet file with so many rows, made if it is not there."""
    path = DATA / f"events-{rows}.parquet"
    if path.exists():
        return path
    DATA.mkdir(exist_ok=True)
    fresh = path.with_suffix(".part")
    first = _some(min(rows, PIECE), seed=20)
    with pq.ParquetWriter(fresh, first.schema, compression="zstd") as file:
        file.write_table(first)
        # Longer tables are made of pieces, each of people of its own, so that memory suffices.
        for start in range(PIECE, rows, PIECE):
            piece = _some(min(rows - start, PIECE), seed=20 + start)
            others = pc.add(piece["user_id"], start // ROWS_PER_PERSON)
            file.write_table(piece.set_column(0, "user_id", others))
    fresh.replace(path)
    return path


def _some(rows: int, *, seed: int) -> pa.Table:
    draws = np.random.default_rng(seed)
    people = max(rows // ROWS_PER_PERSON, 1)

    def by_power_law(count: int, size: int, exponent: float, shift: int = 0) -> NDArray[np.int64]:
        weights = (np.arange(1, size + 1) + shift) ** -exponent
        edges = np.cumsum(weights) / weights.sum()
        return np.searchsorted(edges, draws.random(count)).astype(np.int64)

    owner = np.concatenate([np.arange(people), by_power_law(rows - people, people, 0.8, shift=10)])
    owner = draws.permutation(people)[owner]
    draws.shuffle(owner)
    return pa.table(
        {
            "user_id": owner,
            "region": draws.integers(0, 50, rows).astype(np.int32),
            "day": draws.integers(0, 365, rows).astype(np.int32),
            "category": by_power_law(rows, CATEGORIES, 1.1).astype(np.int32),
            "amount": np.clip(np.exp(draws.normal(3.0, 1.0, rows)), 0, 500),
        }
    )


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


def csv(rows: int) -> Path:
    """The events as text."""
    return _derived(f"events-{rows}", f"SELECT * {_of(rows)}", kind="csv")


def _of(rows: int) -> str:
    return f"FROM read_parquet('{events(rows)}')"


def _derived(name: str, select: str, *, kind: str = "parquet") -> Path:
    path = DATA / f"{name}.{kind}"
    if not path.exists():
        fresh = path.with_suffix(".part")
        duckdb.execute(f"COPY ({select}) TO '{fresh}' (FORMAT {kind})")
        fresh.replace(path)
    return path
