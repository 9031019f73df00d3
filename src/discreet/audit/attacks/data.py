"""The data that attacks are played on: two worlds that differ in one person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.audit.sql import Pair, pair
from discreet.session import Session, open_session
from discreet.session.terms import Terms

PEOPLE = 100
ROWS = 1_000_000


def table(people: int, *, last_is_ill: bool = False, name: str = "ann") -> pa.Table:
    """One row for each person."""
    last = people - 1
    return pa.table(
        {
            "person": pa.array(np.arange(people)),
            "name": pa.array(["ann"] * last + [name]),
            "age": pa.array([30 + i % 40 for i in range(last)] + [47]),
            "weight": pa.array([60 + i % 30 for i in range(last)] + [91]),
            "ill": pa.array([i % 3 == 0 for i in range(last)] + [last_is_ill]),
        }
    )


def with_canary() -> pa.Table:
    """Everybody, and someone with a million rows."""
    canary = pa.table(
        {
            "person": pa.array(np.full(ROWS, 10**6)),
            "name": pa.array(np.full(ROWS, "canary")),
            "age": pa.array(np.full(ROWS, 40)),
            "weight": pa.array(np.arange(ROWS) % 200),
            "ill": pa.array(np.zeros(ROWS, dtype=bool)),
        }
    )
    return pa.concat_tables([table(PEOPLE), canary])


@contextmanager
def opened(
    rows: pa.Table,
    *,
    relation: str = "add_remove",
    bounds: Mapping[str, Sequence[Any]] | None = None,
) -> Iterator[tuple[Session, Path]]:
    """A session over these rows, in a folder that is thrown away."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        pq.write_table(rows, path)
        with open_session(
            path,
            unit="person",
            rows_per_unit=1,
            epsilon=10_000,
            delta="1/2",
            people=1,  # nothing is promised of these rows in all, only by each answer
            bounds={"weight": (0, 200_000)} if bounds is None else bounds,
            relation=relation,
        ) as session:
            yield session, path


@contextmanager
def neighbours(
    one: pa.Table,
    other: pa.Table,
    query: str,
    *,
    relation: str = "add_remove",
    bounds: Mapping[str, Sequence[Any]] | None = None,
    **terms: Unpack[Terms],
) -> Iterator[Pair]:
    """A query on both, at epsilon 1 if nothing else is said, ready to be released many times."""
    asked: Terms = {"epsilon": 1, **terms}
    with opened(one, relation=relation, bounds=bounds) as (session, path):
        yield pair(session, lambda: pq.write_table(other, path), query, **asked)
