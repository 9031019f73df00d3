"""A small ward, opened as anybody would open it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from discreet.session.session import Session

EXACT = 10**5
"""An epsilon at which noise is 0 but for a chance below e**-50 for each number."""

ROWS: list[dict[str, Any]] = [
    {"who": 1, "ward": "north", "age": 30, "cost": 10.0, "urgent": True},
    {"who": 1, "ward": "south", "age": 30, "cost": 20.5, "urgent": False},
    {"who": 2, "ward": "north", "age": None, "cost": 30.0, "urgent": True},
    {"who": 3, "ward": None, "age": 90, "cost": None, "urgent": None},
    {"who": 4, "ward": "elsewhere", "age": 50, "cost": 99999.0, "urgent": False},
    {"who": None, "ward": "north", "age": 10, "cost": 1.0, "urgent": True},
]
_TYPES = {
    "who": pa.int64(),
    "ward": pa.string(),
    "age": pa.int64(),
    "cost": pa.float64(),
    "urgent": pa.bool_(),
}


def select(sql: str, path: Path) -> None:
    """The rows of a SELECT as a Parquet file."""
    duckdb.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")


def write(folder: Path, rows: list[dict[str, Any]] | None = None, name: str = "visits") -> Path:
    """The rows as a Parquet file."""
    path = folder / f"{name}.parquet"
    chosen = ROWS if rows is None else rows
    columns = {c: pa.array([row[c] for row in chosen], kind) for c, kind in _TYPES.items()}
    pq.write_table(pa.table(columns), path)
    return path


def ward(folder: Path, rows: list[dict[str, Any]] | None = None, **settings: Any) -> Session:
    """A session over them, with a budget that does not matter."""
    path = write(folder, rows)
    return discreet.open(
        path,
        **(
            {
                "unit": "who",
                "rows_per_unit": 2,
                "bounds": {"age": (0, 110), "cost": (0, 100)},
                "grids": {"cost": 0.5},
                "keys": {"ward": ["north", "south", "west"]},
                "epsilon": 4 * 10**6,
                "delta": 1e-3,
                "delta_per_query": 1e-9,
            }
            | settings
        ),
    )
