"""DuckDB as a fast reader of a snapshot that another engine has written as Parquet files."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import duckdb
import pyarrow as pa

from discreet.engines.duckdb import TABLE, _lock, _quoted
from discreet.engines.words import LOG, failed


class ParquetReader:
    """Queries on one folder of Parquet files, which is all that can be read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reader: duckdb.DuckDBPyConnection | None = None
        self._running: set[duckdb.DuckDBPyConnection] = set()
        self._lock = threading.Lock()

    def run(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query, on a locked connection of its own."""
        try:
            with self._opened().cursor() as cursor:
                return self._timed(cursor, sql, timeout)
        except (duckdb.Error, pa.ArrowException, OSError, MemoryError) as error:
            LOG.error("DuckDB: %s", error)  # its stack would hold rows
            raise failed() from None

    def cancel(self) -> None:
        """Stop every query that is running."""
        with self._lock:
            for cursor in self._running:
                cursor.interrupt()

    def close(self) -> None:
        """Let go of the files."""
        with self._lock:
            if self._reader is not None:
                self._reader.close()
                self._reader = None

    def _timed(
        self, cursor: duckdb.DuckDBPyConnection, sql: str, timeout: float | None
    ) -> pa.Table:
        with contextlib.ExitStack() as stack:
            with self._lock:
                self._running.add(cursor)
            stack.callback(self._running.discard, cursor)
            if timeout:
                alarm = threading.Timer(timeout, cursor.interrupt)
                alarm.start()
                stack.callback(alarm.cancel)
            return cursor.sql(sql).to_arrow_table()

    def _opened(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._reader is None:
                reader = duckdb.connect(
                    config={
                        "autoinstall_known_extensions": "false",
                        "autoload_known_extensions": "false",
                        # What is too large for memory is private too: it stays beside the files.
                        "temp_directory": str(self._folder.with_name("spilled")),
                    }
                )
                files = _quoted(str(self._folder / "*.parquet"))
                view = f"CREATE VIEW {TABLE} AS SELECT * FROM READ_PARQUET({files})"  # noqa: S608
                reader.execute(view)
                reader.execute("SET parquet_metadata_cache = true")  # no file is ever changed
                reader.execute(f"SET allowed_directories = [{_quoted(str(self._folder))}]")
                _lock(reader)
                self._reader = reader
            return self._reader
