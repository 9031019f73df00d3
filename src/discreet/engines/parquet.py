"""DuckDB as a fast reader of a snapshot that another engine has written as Parquet files."""

from __future__ import annotations

import threading
from pathlib import Path

import duckdb
import pyarrow as pa

from discreet.engines.duckdb import SETTINGS, TABLE, Statements, failing, locked, quoted


class ParquetReader:
    """Queries on one folder of Parquet files, which is all that can be read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reader: duckdb.DuckDBPyConnection | None = None
        self._statements = Statements()
        self._lock = threading.Lock()

    def run(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query, on a locked connection of its own."""
        with failing(), self._opened().cursor() as cursor:
            return self._statements.ask(cursor, sql, timeout)

    def cancel(self) -> None:
        """Stop every query that is running."""
        self._statements.cancel()

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            if self._reader is not None:
                self._reader.close()
                self._reader = None

    def _opened(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._reader is None:
                reader = duckdb.connect(
                    config={
                        **SETTINGS,
                        # What is too large for memory is private too: it stays beside the files.
                        "temp_directory": str(self._folder.with_name("spilled")),
                    }
                )
                files = quoted(str(self._folder / "*.parquet"))
                view = f"CREATE VIEW {TABLE} AS SELECT * FROM READ_PARQUET({files})"  # noqa: S608
                reader.execute(view)
                reader.execute("SET parquet_metadata_cache = true")  # no file is ever changed
                reader.execute(f"SET allowed_directories = [{quoted(str(self._folder))}]")
                locked(reader)
                self._reader = reader
            return self._reader
