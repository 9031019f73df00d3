"""DuckDB, embedded: a snapshot is one file, and every query reads it locked."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from discreet.engines.protocol import Progress
from discreet.errors import EngineFailed, InvalidInput

LOG = logging.getLogger("discreet.curator")
"""Where engines' own words go. They may quote private cells, so nobody hears them by default: the
curator adds a handler of their own."""
LOG.addHandler(logging.NullHandler())
LOG.propagate = False

TABLE = "snapshot"


class DuckDB:
    """One snapshot in one file, mode 0600."""

    def __init__(
        self, path: Path, *, memory_limit: str | None = None, threads: int | None = None
    ) -> None:
        self.path = path
        self._settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        if memory_limit is not None:
            self._settings["memory_limit"] = memory_limit
        if threads is not None:
            self._settings["threads"] = str(threads)
        self._reader: duckdb.DuckDBPyConnection | None = None
        self._running: set[duckdb.DuckDBPyConnection] = set()
        self._lock = threading.Lock()

    # The snapshot ------------------------------------------------------------------------------

    def snapshot(self) -> tuple[str, str] | None:
        """The id and the definition of the snapshot on disk, if there is one."""
        if not self.path.exists():
            return None
        with self._failing(), self._connection().cursor() as cursor:
            row = cursor.execute("SELECT id, definition FROM identity").fetchone()
        return None if row is None else (str(row[0]), str(row[1]))

    def prepare(
        self,
        select: str,
        *,
        definition: str = "",
        attach: Path | None = None,
        progress: Progress | None = None,
    ) -> str:
        """Run the SELECT that defines a snapshot into a new file; it takes the old one's place.

        ``definition`` is kept beside it, so that a changed one is noticed. ``attach`` is a DuckDB
        file that the SELECT reads as ``source``.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}")
        identity = uuid.uuid4().hex
        old_mask = os.umask(0o077)
        try:
            with self._failing():
                writer = duckdb.connect(str(fresh), config=self._settings)
                try:
                    self._build(writer, select, attach, progress)
                    writer.execute(
                        "CREATE TABLE identity AS SELECT ? AS id, ? AS definition",
                        [identity, definition],
                    )
                    writer.execute("CHECKPOINT")
                finally:
                    writer.close()
            fresh.chmod(0o600)
            self.close()
            fresh.replace(self.path)
        finally:
            os.umask(old_mask)
            for leftover in (fresh, fresh.with_name(fresh.name + ".wal")):
                leftover.unlink(missing_ok=True)
        return identity

    def _build(
        self,
        writer: duckdb.DuckDBPyConnection,
        select: str,
        attach: Path | None,
        progress: Progress | None,
    ) -> None:
        _distrust(writer)
        if attach is not None:
            writer.execute(f"ATTACH {_quoted(str(attach))} AS source (READ_ONLY)")
        with _watched(writer, progress):
            writer.execute(f"CREATE TABLE {TABLE} AS {select}")
        if attach is not None:
            writer.execute("DETACH source")

    # Queries -----------------------------------------------------------------------------------

    def run(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query on the snapshot, on a locked connection of its own."""
        with self._failing(), self._connection().cursor() as cursor:
            return self._timed(cursor, sql, timeout)

    def _timed(
        self, connection: duckdb.DuckDBPyConnection, sql: str, timeout: float | None
    ) -> pa.Table:
        with self._lock:
            self._running.add(connection)
        alarm = threading.Timer(timeout, connection.interrupt) if timeout else None
        try:
            if alarm is not None:
                alarm.start()
            return connection.sql(sql).to_arrow_table()
        finally:
            if alarm is not None:
                alarm.cancel()
            with self._lock:
                self._running.discard(connection)

    def run_live(
        self,
        sql: str,
        *,
        paths: list[str],
        attach: Path | None = None,
        timeout: float | None = None,
    ) -> pa.Table:
        """The answer to one query on the source itself: a locked database that sees it alone."""
        with self._failing(), duckdb.connect(config=self._settings) as connection:
            _distrust(connection)
            if attach is not None:
                connection.execute(f"ATTACH {_quoted(str(attach))} AS source (READ_ONLY)")
            listed = ", ".join(_quoted(path) for path in paths)
            connection.execute(f"SET allowed_paths = [{listed}]")
            _lock(connection)
            return self._timed(connection, sql, timeout)

    def cancel(self) -> None:
        """Stop every query that is running."""
        with self._lock:
            for cursor in self._running:
                cursor.interrupt()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._reader is not None:
                self._reader.close()
                self._reader = None

    def _connection(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._reader is None:
                reader = duckdb.connect(str(self.path), read_only=True, config=self._settings)
                _lock(reader)
                self._reader = reader
            return self._reader

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except (duckdb.Error, pa.ArrowException, OSError, MemoryError) as error:
            LOG.error("DuckDB: %s", error)  # noqa: TRY400  # the stack would hold rows
            raise failed() from None


def failed() -> EngineFailed:
    """The one thing that anybody is told when an engine fails."""
    return EngineFailed(
        "the engine could not answer this query; if it was charged, it stays charged.",
        hint="ask again with the same key; if it fails again, the curator's log says why.",
    )


def _distrust(connection: duckdb.DuckDBPyConnection) -> None:
    """Do not let the optimizer decide what a cell is.

    A file's statistics leave NaN out, and where they say that all numbers lie between two others
    it concludes that none is NaN: what a person's cell counts as would depend on everybody else.
    And casts that it moves into a reader of CSV drop the row that they fail on.
    """
    connection.execute("SET disabled_optimizers = 'statistics_propagation,type_pushdown'")


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Nothing but the tables that are there can be read from here on, and this cannot be undone."""
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


@contextlib.contextmanager
def _watched(connection: duckdb.DuckDBPyConnection, progress: Progress | None) -> Iterator[None]:
    """Report how far a statement is, from a thread beside it."""
    if progress is None:
        yield
        return
    # DuckDB only measures what it would print, so it is told to measure and not to print.
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            percent = connection.query_progress()
            if percent >= 0:
                progress(min(percent / 100, 1.0))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
    progress(1.0)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def schema_of(path: Path, *, table: str | None = None) -> dict[str, str]:
    """Column names and the engine's words for their types; a CSV file's are all text."""
    try:
        with duckdb.connect() as connection:
            if path.suffix in (".duckdb", ".ddb"):
                connection.execute(f"ATTACH {_quoted(str(path))} AS source (READ_ONLY)")
                names = (table or "").split(".")
                relation = ".".join(["source", *(f'"{name}"' for name in names)])
            elif path.suffix in (".parquet", ".pq"):
                relation = f"READ_PARQUET({_quoted(str(path))})"
            else:
                relation = f"READ_CSV({_quoted(str(path))}, all_varchar = true, header = true)"
            columns = connection.sql(f"SELECT * FROM {relation} LIMIT 0").description  # noqa: S608
    except duckdb.Error:
        raise InvalidInput(
            f"{path} could not be read.", hint="is it there, and is it Parquet, CSV or DuckDB?"
        ) from None
    return {str(name): str(kind) for name, kind, *_ in columns}
