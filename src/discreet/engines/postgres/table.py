"""From a query of PostgreSQL to a table of Arrow."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pyarrow as pa
from psycopg import sql

from discreet.engines.postgres.connection import Connection

_TYPES: dict[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int2": pa.int64(),
    "int4": pa.int64(),
    "int8": pa.int64(),
    # Sums; one that is as long as this could only come from numbers that no grid has.
    "numeric": pa.decimal128(38, 0),
    "float4": pa.float64(),
    "float8": pa.float64(),
    "text": pa.string(),
    "varchar": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}

_BATCH = 10_000


def fetch(connection: Connection, query: str, *, before: Callable[[], None]) -> pa.Table:
    """The rows of a query. ``before`` is called when all is ready to run it."""
    before()
    # In binary the driver reads a row at once, in C; COPY would be a call for each row.
    answer = connection.execute(sql.SQL(query), binary=True)  # the plan's words, not an analyst's
    schema = pa.schema((each.name, _type(each.type_code)) for each in answer.description or ())
    batches = []
    # By batches, so that no more than one is ever there as objects.
    while rows := answer.fetchmany(_BATCH):
        columns = zip(*rows, strict=True)
        arrays = [pa.array(c, kind) for c, kind in zip(columns, schema.types, strict=True)]
        batches.append(pa.record_batch(arrays, schema=schema))
    return pa.Table.from_batches(batches, schema=schema)


def packed(connection: Connection, query: str) -> sql.Composed:
    """The columns of a query in the order in which a row of them is shortest.

    PostgreSQL leaves gaps before long numbers, and finds what stands behind a text by reading it.
    """
    shape = connection.execute(sql.SQL("SELECT * FROM ({}) AS made LIMIT 0").format(sql.SQL(query)))
    widths = {each.name: each.internal_size or 0 for each in shape.description or ()}
    names = sorted(widths, key=lambda name: -widths[name])
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _type(code: int) -> pa.DataType:
    known = psycopg.adapters.types.get(code)
    if known is None or known.name not in _TYPES:
        raise psycopg.NotSupportedError("a query has a column of a type that none should have")
    return _TYPES[known.name]
