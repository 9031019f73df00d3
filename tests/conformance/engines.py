"""The three engines behind one face: the same rows, cleaned and ranked by the same policy."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

import duckdb
import psycopg

from discreet.policy.model import Dataset
from discreet.sql.dialects import DUCKDB, POSTGRES, SPARK, Dialect
from discreet.sql.emit import identifier
from discreet.sql.snapshot import snapshot
from tests.session.generator import Rows, Setting

KEY = "a key that is 'secret' \\ ${x}"
FOREVER = {"date": 2**31 - 1, "timestamp": 2**63 - 1}
"""What DuckDB and Parquet hold for infinity, which other engines write in words."""

_SQL_TYPES = {
    "integer": "bigint",
    "real": "double precision",
    "text": "text",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
}


class Engine(Protocol):
    """Something that holds a table and answers SQL of its own dialect."""

    dialect: Dialect

    def load(self, dataset: Dataset, setting: Setting, rows: Rows, path: Path, into: str) -> None:
        """Make a snapshot of rows that also lie in a Parquet file."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The answer to a query, as Python's own values."""

    def close(self) -> None:
        """Let go of it."""


def plain(value: Any) -> Any:
    """A value as every engine's driver would return it."""
    if isinstance(value, uuid.UUID):
        return value.hex
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else value
    return value


class InDuckDB:
    dialect = DUCKDB

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("SET disabled_optimizers = 'statistics_propagation,type_pushdown'")

    def load(self, dataset: Dataset, setting: Setting, rows: Rows, path: Path, into: str) -> None:
        select = snapshot(dataset, source=f"READ_PARQUET('{path}')", key=KEY, dialect=self.dialect)
        self.connection.execute(f"CREATE OR REPLACE TABLE {into} AS {select}")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        found = self.connection.sql(sql).fetchall()
        return [tuple(plain(value) for value in row) for row in found]

    def close(self) -> None:
        self.connection.close()


class InPostgres:
    dialect = POSTGRES

    def __init__(self, address: str) -> None:
        self.connection = psycopg.connect(address, autocommit=True)

    def load(self, dataset: Dataset, setting: Setting, rows: Rows, path: Path, into: str) -> None:
        words = {name: _SQL_TYPES[kind] for name, kind in setting.types.items()}
        self.table(words, [[self._cell(row, n, setting) for n in words] for row in rows])
        self.snapshot(dataset, into)

    def table(self, words: dict[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """A table ``source`` with columns of these types."""
        columns = ", ".join(f"{identifier(name, POSTGRES)} {word}" for name, word in words.items())
        places = ", ".join("%s" for _ in words)
        with self.connection.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS source")
            cursor.execute(f"CREATE TABLE source ({columns})")
            cursor.executemany(f"INSERT INTO source VALUES ({places})", rows)

    def types(self) -> dict[str, str]:
        """The columns of ``source``, in PostgreSQL's words."""
        found = self.connection.execute(
            "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
            "WHERE attrelid = 'source'::regclass AND attnum > 0"
        ).fetchall()
        return {str(name): str(word) for name, word in found}

    def snapshot(self, dataset: Dataset, into: str) -> None:
        """Make the snapshot of ``source``."""
        select = snapshot(
            dataset, source="source", key=KEY, dialect=self.dialect, types=self.types()
        )
        self.connection.execute(f"DROP TABLE IF EXISTS {into}")
        self.connection.execute(f"CREATE TABLE {into} AS {select}")

    def _cell(self, row: dict[str, Any], name: str, setting: Setting) -> Any:
        kind, cell = setting.types[name], row[name]
        if kind not in FOREVER or cell is None:
            return cell
        if abs(cell) >= FOREVER[kind]:
            return "infinity" if cell > 0 else "-infinity"
        # An interval of so many microseconds would be a double.
        days, rest = (cell, 0) if kind == "date" else divmod(cell, 86_400_000_000)
        found = self.connection.execute(
            "SELECT (%s * interval '1 day' + %s * interval '1 microsecond' + "
            f"timestamp '1970-01-01')::{kind}::text",
            [days, rest],
        )
        return found.fetchone()[0]  # type: ignore[index]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        found = self.connection.execute(sql).fetchall()
        return [tuple(plain(value) for value in row) for row in found]

    def close(self) -> None:
        self.connection.close()


class InSpark:
    dialect = SPARK

    def __init__(self) -> None:
        from pyspark.sql import SparkSession

        self.session = SparkSession.builder.getOrCreate()

    def load(self, dataset: Dataset, setting: Setting, rows: Rows, path: Path, into: str) -> None:
        self.source(path)
        self.snapshot(dataset, into)

    def source(self, path: Path) -> None:
        """The view ``source`` of a Parquet file."""
        self.session.read.parquet(str(path)).createOrReplaceTempView("source")

    def types(self) -> dict[str, str]:
        """The columns of ``source``, in Spark's words."""
        schema = self.session.table("source").schema
        return {field.name: field.dataType.simpleString() for field in schema.fields}

    def snapshot(self, dataset: Dataset, into: str) -> None:
        """Make the snapshot of ``source``."""
        select = snapshot(
            dataset, source="source", key=KEY, dialect=self.dialect, types=self.types()
        )
        made = self.session.sql(select).coalesce(1).cache()
        made.createOrReplaceTempView(into)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        found = self.session.sql(sql).collect()
        return [tuple(plain(value) for value in row) for row in found]

    def close(self) -> None:
        self.session.catalog.clearCache()
