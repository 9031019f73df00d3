"""DuckDB, embedded: a snapshot is one file, and every query reads it locked."""

from __future__ import annotations

import contextlib
import os
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

import duckdb
import pyarrow as pa

from discreet.engines.protocol import Kept, Progress
from discreet.engines.unfinished import unfinished
from discreet.engines.words import LOG, failed
from discreet.errors import InvalidInput

TABLE = "snapshot"
Result = TypeVar("Result")
SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
"""Nothing is fetched or loaded that was not asked for."""

_MOST_READERS = 2


class _Reader(NamedTuple):
    """An open snapshot, and by what its file is told from another that takes its place."""

    connection: duckdb.DuckDBPyConnection
    kept: Kept
    stamp: tuple[int, int]


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
        memory: str | None = None,
        threads: int | None = None,
        spill: Path | None = None,
    ) -> None:
        self.path = path
        self._source, self._paths, self._attach = source, tuple(paths), attach
        self._settings = {
            **SETTINGS,
            # What does not fit into memory is private too: it goes where the snapshot is.
            "temp_directory": str(path.parent / "spilled" if spill is None else spill),
        }
        if memory is not None:
            self._settings["memory_limit"] = memory
        if threads is not None:
            self._settings["threads"] = str(threads)
        self._readers: list[_Reader] = []
        self._statements = Statements()
        self._lock = threading.Lock()

    @property
    def place(self) -> str:
        """The snapshot's file."""
        return str(self.path)

    def types(self) -> dict[str, str]:
        """The columns of the source; those of a CSV file are text."""
        with failing(), self._live() as connection:
            columns = connection.sql(f"SELECT * FROM {self._source} LIMIT 0").description  # noqa: S608
        return {str(name): str(kind).lower() for name, kind, *_ in columns}

    # The snapshot ------------------------------------------------------------------------------

    def obstacle(self) -> str | None:
        """None: a folder that cannot be written to is told when a session is opened."""
        return None

    def snapshot(self) -> Kept | None:
        """The snapshot on disk, if there is one; another process may have put it there."""
        with failing():
            try:
                reader = self._newest()
            except duckdb.Error as error:
                LOG.warning("DuckDB: the snapshot is damaged: %s", error)
                return None
        return None if reader is None else reader.kept

    def prepare(
        self, select: str, *, definition: str = "", progress: Progress | None = None
    ) -> str:
        """Run the SELECT that defines a snapshot into a new file; it takes the old one's place.

        ``definition`` is kept beside it, so that a changed one is noticed.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The time at which reading began: when it ended would depend on the rows.
        kept = Kept(uuid.uuid4().hex, definition, datetime.now(UTC))
        old_mask = os.umask(0o077)
        try:
            with failing(), unfinished(self.path) as fresh:
                writer = duckdb.connect(str(fresh), config=self._settings)
                try:
                    self._build(writer, select, progress)
                    writer.execute(
                        "CREATE TABLE identity AS SELECT ? AS id, ? AS definition, ? AS built",
                        [kept.id, kept.definition, kept.built.isoformat()],
                    )
                    writer.execute("CHECKPOINT")
                finally:
                    writer.close()
                fresh.chmod(0o600)
                fresh.replace(self.path)
        finally:
            os.umask(old_mask)
        return kept.id

    def _build(
        self, writer: duckdb.DuckDBPyConnection, select: str, progress: Progress | None
    ) -> None:
        self._reach(writer)
        with _watched(writer, progress):
            made = f"CREATE TABLE {TABLE} AS {select}"
            self._statements.run(writer, lambda: writer.execute(made))
        if self._attach is not None:
            writer.execute("DETACH source")

    def _reach(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Make the source readable."""
        _distrust(connection)
        # A moment with a time zone is that moment in UTC, wherever this machine is.
        connection.execute("SET GLOBAL TimeZone = 'UTC'")
        if self._attach is not None:
            connection.execute(f"ATTACH {quoted(str(self._attach))} AS source (READ_ONLY)")

    # Queries -----------------------------------------------------------------------------------

    def run(
        self, sql: str, *, snapshot: str | None = None, timeout: float | None = None
    ) -> pa.Table:
        """The answer to one query on the snapshot, on a locked connection of its own."""
        with failing():
            reader = self._pinned(snapshot)
            with reader.connection.cursor() as cursor:
                return self._statements.ask(cursor, sql, timeout)

    def run_live(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query on the source itself: a locked database that sees it alone."""
        with failing(), self._live() as connection:
            return self._statements.ask(connection, sql, timeout)

    @contextlib.contextmanager
    def _live(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with duckdb.connect(config=self._settings) as connection:
            self._reach(connection)
            listed = ", ".join(quoted(path) for path in self._paths)
            connection.execute(f"SET allowed_paths = [{listed}]")
            locked(connection)
            yield connection

    def cancel(self) -> None:
        """Stop every query that is running, and the snapshot that is being made."""
        self._statements.cancel()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            while self._readers:
                self._readers.pop().connection.close()

    def _newest(self) -> _Reader | None:
        """The snapshot that is on disk now. The one before it stays open for whoever planned."""
        with self._lock:
            try:
                there = _stamp(self.path)
            except FileNotFoundError:
                return None
            if not self._readers or self._readers[0].stamp != there:
                self._readers.insert(0, self._open())
                for outdated in self._readers[_MOST_READERS:]:
                    outdated.connection.close()
                del self._readers[_MOST_READERS:]
            return self._readers[0]

    def _pinned(self, snapshot: str | None) -> _Reader:
        """The snapshot of an id: what a query was planned for, and no other."""
        with self._lock:
            for reader in self._readers:
                if reader.kept.id == snapshot:
                    return reader
        newest = self._newest()
        if newest is None or snapshot not in (None, newest.kept.id):
            raise OSError(f"the snapshot {snapshot} is no longer there")
        return newest

    def _open(self) -> _Reader:
        # Within a process DuckDB takes files of one name for one file. A snapshot has the name of
        # the one before it, so it is opened under a name of its own, which is then taken away.
        with unfinished(self.path) as alias:
            os.link(self.path, alias)
            stamp = _stamp(alias)
            connection = duckdb.connect(str(alias), read_only=True, config=self._settings)
        locked(connection)
        row = connection.execute("SELECT id, definition, built FROM identity").fetchone()
        name, definition, built = row or ("", "", "1970-01-01T00:00:00+00:00")
        return _Reader(connection, Kept(name, definition, datetime.fromisoformat(built)), stamp)


class Statements:
    """What runs on DuckDB: with a time limit, stopped by others or by the interrupt key."""

    def __init__(self) -> None:
        self._running: set[duckdb.DuckDBPyConnection] = set()
        self._lock = threading.Lock()

    def ask(
        self, connection: duckdb.DuckDBPyConnection, sql: str, timeout: float | None
    ) -> pa.Table:
        """The answer to one query."""
        alarm = threading.Timer(timeout, connection.interrupt) if timeout else None
        try:
            if alarm is not None:
                alarm.start()
            return self.run(connection, lambda: connection.sql(sql).to_arrow_table())
        finally:
            if alarm is not None:
                alarm.cancel()

    def run(self, connection: duckdb.DuckDBPyConnection, statement: Callable[[], Result]) -> Result:
        """What a statement gives."""
        with self._lock:
            self._running.add(connection)
        try:
            return _interruptible(connection, statement)
        finally:
            with self._lock:
                self._running.discard(connection)

    def cancel(self) -> None:
        """Stop everything that is running."""
        with self._lock:
            for connection in self._running:
                connection.interrupt()


@contextlib.contextmanager
def failing() -> Iterator[None]:
    """Whatever DuckDB says goes to the curator's log, and everybody else hears the same words."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError, MemoryError) as error:
        LOG.error("DuckDB: %s", error)  # its stack would hold rows
        raise failed() from None


def _interruptible(
    connection: duckdb.DuckDBPyConnection, statement: Callable[[], Result]
) -> Result:
    """Run a statement so that the interrupt key stops it.

    The key is heard by the main thread alone, and while that one waits for DuckDB's own threads it
    hears nothing. So the statement runs beside it.
    """
    if threading.current_thread() is not threading.main_thread():
        return statement()
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(statement)
        try:
            return running.result()
        except KeyboardInterrupt:
            # A statement that has not quite begun does not notice the first time.
            while not running.done():
                connection.interrupt()
                wait([running], timeout=0.05)
            raise


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def _distrust(connection: duckdb.DuckDBPyConnection) -> None:
    """Do not let the optimizer decide what a cell is.

    A file's statistics leave NaN out, and where they say that all numbers lie between two others
    it concludes that none is NaN: what a person's cell counts as would depend on everybody else.
    And casts that it moves into a reader of CSV drop the row that they fail on.
    """
    connection.execute("SET disabled_optimizers = 'statistics_propagation,type_pushdown'")


def locked(connection: duckdb.DuckDBPyConnection) -> None:
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


def quoted(text: str) -> str:
    """A text in quotes, as DuckDB reads it."""
    return "'" + text.replace("'", "''") + "'"


def tables_of(path: Path) -> list[str]:
    """The tables and views of a DuckDB file, with their schema where that is not ``main``."""
    sql = (
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' "
        "UNION ALL SELECT schema_name, view_name FROM duckdb_views() "
        "WHERE database_name = 'source' AND NOT internal ORDER BY ALL"
    )
    try:
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH {quoted(str(path))} AS source (READ_ONLY)")
            found = connection.execute(sql).fetchall()
    except duckdb.Error:
        raise InvalidInput(
            f"{path} could not be read.", hint="is it there, and is it a DuckDB file?"
        ) from None
    return [name if schema == "main" else f"{schema}.{name}" for schema, name in found]


def schema_of(path: Path, *, table: str | None = None) -> dict[str, str]:
    """Column names and the engine's words for their types; a CSV file's are all text."""
    try:
        with duckdb.connect() as connection:
            if path.suffix in (".duckdb", ".ddb"):
                connection.execute(f"ATTACH {quoted(str(path))} AS source (READ_ONLY)")
                names = (table or "").split(".")
                relation = ".".join(["source", *(f'"{name}"' for name in names)])
            elif path.suffix in (".parquet", ".pq"):
                relation = f"READ_PARQUET({quoted(str(path))})"
            else:
                relation = f"READ_CSV({quoted(str(path))}, all_varchar = true, header = true)"
            columns = connection.sql(f"SELECT * FROM {relation} LIMIT 0").description  # noqa: S608
    except duckdb.Error:
        raise InvalidInput(
            f"{path} could not be read.", hint="is it there, and is it Parquet, CSV or DuckDB?"
        ) from None
    return {str(name): str(kind) for name, kind, *_ in columns}
