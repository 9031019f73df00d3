"""DuckDB, embedded: a snapshot is one file, and every query reads it locked."""

from __future__ import annotations

import contextlib
import os
import threading
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa

from discreet.engines.protocol import Kept, Progress
from discreet.engines.words import LOG, failed
from discreet.errors import InvalidInput

TABLE = "snapshot"


class DuckDB:
    """One snapshot in one file, mode 0600, of a source that is files or a table of another file.

    ``source`` is how a query names it. In live mode ``paths`` are all that can be read; ``attach``
    is a DuckDB file that the source's name begins with ``source`` for.
    """

    table = TABLE

    def __init__(
        self,
        path: Path,
        *,
        source: str = "",
        paths: Sequence[str] = (),
        attach: Path | None = None,
        memory_limit: str | None = None,
        threads: int | None = None,
    ) -> None:
        self.path = path
        self._source, self._paths, self._attach = source, tuple(paths), attach
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

    @property
    def place(self) -> str:
        """The snapshot's file."""
        return str(self.path)

    def types(self) -> dict[str, str]:
        """The columns of the source; those of a CSV file are text."""
        with self._failing(), self._live() as connection:
            columns = connection.sql(f"SELECT * FROM {self._source} LIMIT 0").description  # noqa: S608
        return {str(name): str(kind).lower() for name, kind, *_ in columns}

    # The snapshot ------------------------------------------------------------------------------

    def obstacle(self) -> str | None:
        """None: a folder that cannot be written to is told when a session is opened."""
        return None

    def snapshot(self) -> Kept | None:
        """The snapshot on disk, if there is one."""
        if not self.path.exists():
            return None
        with self._failing(), self._connection().cursor() as cursor:
            row = cursor.execute("SELECT id, definition FROM identity").fetchone()
            built = datetime.fromtimestamp(self.path.stat().st_mtime, tz=UTC)
        return None if row is None else Kept(str(row[0]), str(row[1]), built)

    def prepare(
        self, select: str, *, definition: str = "", progress: Progress | None = None
    ) -> str:
        """Run the SELECT that defines a snapshot into a new file; it takes the old one's place.

        ``definition`` is kept beside it, so that a changed one is noticed.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}")
        identity = uuid.uuid4().hex
        old_mask = os.umask(0o077)
        try:
            with self._failing():
                writer = duckdb.connect(str(fresh), config=self._settings)
                try:
                    self._build(writer, select, progress)
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
        self, writer: duckdb.DuckDBPyConnection, select: str, progress: Progress | None
    ) -> None:
        self._reach(writer)
        with _watched(writer, progress):
            writer.execute(f"CREATE TABLE {TABLE} AS {select}")
        if self._attach is not None:
            writer.execute("DETACH source")

    def _reach(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the source readable."""
        _distrust(connection)
        if self._attach is not None:
            connection.execute(f"ATTACH {_quoted(str(self._attach))} AS source (READ_ONLY)")

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

    def run_live(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query on the source itself: a locked database that sees it alone."""
        with self._failing(), self._live() as connection:
            return self._timed(connection, sql, timeout)

    @contextlib.contextmanager
    def _live(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with duckdb.connect(config=self._settings) as connection:
            self._reach(connection)
            listed = ", ".join(_quoted(path) for path in self._paths)
            connection.execute(f"SET allowed_paths = [{listed}]")
            _lock(connection)
            yield connection

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
            LOG.error("DuckDB: %s", error)  # its stack would hold rows
            raise failed() from None


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
