"""The embedded store: one SQLite file that any number of processes may share.

Every charge is one transaction under WAL with ``synchronous = FULL``: it is on disk when it is
acknowledged, and a crash leaves either all of it or nothing. ``BEGIN IMMEDIATE`` takes the write
lock before anything is read, so that no two processes decide on the same balance.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

from discreet.errors import LedgerClosed, LedgerCorrupt, LedgerExists, LedgerFailed
from discreet.ledger.anchor import Anchor
from discreet.ledger.draft import Draft, Reader
from discreet.ledger.entries import EMPTY, FORMAT, Head, fields
from discreet.ledger.group import GroupCommit
from discreet.ledger.requests import Reply, Request, Reserve, Settle
from discreet.ledger.sqlite.checkpoints import Checkpoints
from discreet.ledger.sqlite.faults import sqlite_fault
from discreet.ledger.sqlite.lone import charge, is_lone
from discreet.ledger.sqlite.tables import Tables, build, migrate, write
from discreet.ledger.store import Mistaken, Store, now

BUSY_SECONDS = 10.0

PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA fullfsync = ON",  # macOS: a plain fsync does not reach the platter
    "PRAGMA checkpoint_fullfsync = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    # Enough for the inner pages of a long ledger and the dirty ones of a large batch. SQLite walks
    # through all of it at each commit, so that a larger cache makes a charge slower, not faster.
    "PRAGMA cache_size = -4096",
    # Marks fall on random pages, and copying them back pays off in groups; but a log that is begun
    # again is written over, which syncs faster than one that grows. This is also the most that a
    # commit may have to copy itself, if the thread that does so is late.
    "PRAGMA wal_autocheckpoint = 2000",
)

Connect = Callable[[Path], sqlite3.Connection]


def connect(path: Path) -> sqlite3.Connection:
    """A connection that begins no transaction by itself."""
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        isolation_level=None,
        timeout=BUSY_SECONDS,
        check_same_thread=False,
        cached_statements=64,
    )


class SQLiteStore(Store):
    """A ledger in a file, mode 0600."""

    guesses = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        despite_anchor: bool = False,
        connect: Connect = connect,
    ) -> None:
        super().__init__()
        self.path = Path(path)
        self.name = str(path)
        self._connect = connect
        self._open: sqlite3.Connection | None = None
        self._group = GroupCommit(self.path, self.commit)
        self._checkpoints = Checkpoints(self._another)
        _require_private(self.path)
        self._opened(despite_anchor=despite_anchor)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        anchor: str | os.PathLike[str] | None = None,
        connect: Connect = connect,
    ) -> SQLiteStore:
        """A new ledger: built beside its place and then put there whole."""
        place = Path(path)
        if place.exists():
            raise LedgerExists(
                f"{place} is already there.",
                hint=f"open it: discreet ledger status {place}",
            )
        ledger = secrets.token_hex(16)
        making = place.with_name(f".{place.name}.{ledger}")
        try:
            os.close(os.open(making, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            connection = connect(making)
            _configure(connection)
            build(connection)
            held = Path(anchor).absolute() if anchor is not None else None
            head = _begin_chain(connection, ledger, held)
            connection.close()
            if held is not None:
                Anchor.create(held, ledger).advance(head)
            _sync(making)
            os.link(making, place)
            _sync(place.absolute().parent)
        except FileExistsError:
            raise LedgerExists(f"{place} is already there.") from None
        except (OSError, sqlite3.Error) as error:
            raise sqlite_fault(error, str(place)) from error
        finally:
            making.unlink(missing_ok=True)
        return cls(place, connect=connect)

    def submit(self, request: Request) -> Reply:
        """Charges and answers may travel with those of other processes; the rest goes alone."""
        if isinstance(request, Reserve | Settle):
            return self._group.submit(request)
        return super().submit(request)

    def close(self) -> None:
        self._group.close()
        self._checkpoints.close()
        with self._mutex:
            self._drop()

    def check(self) -> None:
        with self.reading():
            problems = [row[0] for row in self._connection.execute("PRAGMA integrity_check(10)")]
            if problems != ["ok"]:
                raise LedgerCorrupt(
                    f"the file {self.name} is damaged: {problems[0]}.",
                    hint="bring back a copy that `discreet ledger verify` accepts.",
                )

    def after_fork(self) -> None:
        """SQLite must not be carried across a fork, not even to be closed."""
        super().after_fork()
        self._group.forget()
        self._checkpoints.forget()
        if self._open is not None:
            _CARRIED.append(self._open)
            self._open = None

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            if not self.path.exists():
                raise missing(self.name)
            self._open = self._another()
        return self._open

    def _another(self) -> sqlite3.Connection:
        opened = self._connect(self.path)
        try:
            _configure(opened)
            migrate(opened, f"the file {self.name}")
        except BaseException:
            opened.close()
            raise
        return opened

    def _begin(self) -> Head:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        return _head(connection)

    def _reader(self) -> Reader:
        return Tables(self._connection)

    def _view(self) -> Reader:
        self._connection.execute("BEGIN")
        return Tables(self._connection)

    def _write(self, draft: Draft) -> None:
        try:
            write(self._connection, draft)
        except sqlite3.IntegrityError:
            if draft.guessing:
                raise Mistaken from None
            raise

    def _write_after(self, head: Head, draft: Draft) -> None:
        if not is_lone(draft):
            super()._write_after(head, draft)
            return
        try:
            charge(self._connection, head, draft)
        except sqlite3.IntegrityError:
            raise Mistaken from None

    def _finish(self) -> None:
        self._connection.execute("COMMIT")

    def _written(self, draft: Draft) -> None:
        self._checkpoints.wrote(len(draft.new_entries))
        super()._written(draft)

    def _cancel(self) -> None:
        self._connection.execute("ROLLBACK")

    def _abandon(self) -> None:
        if self._open is not None and self._open.in_transaction:
            try:
                self._open.execute("ROLLBACK")
            except sqlite3.Error:
                self._drop()

    def _translated(self, error: BaseException) -> BaseException:
        if not isinstance(error, sqlite3.Error | OSError):
            return error
        self._abandon()
        self._drop()  # whatever it was, the next request starts from the file
        return sqlite_fault(error, self.name)

    def _drop(self) -> None:
        opened, self._open, self._draft = self._open, None, None
        if opened is not None:
            try:
                opened.close()
            except sqlite3.Error:
                _CARRIED.append(opened)


_CARRIED: list[sqlite3.Connection] = []  # kept alive, because closing them could do harm


def missing(name: str) -> LedgerClosed:
    """The error of a ledger that is not where it should be."""
    return LedgerClosed(
        f"there is no ledger at {name}. If there was one, its budget is not free again.",
        hint=f"bring it back, or begin one: discreet ledger init {name}",
    )


def _configure(connection: sqlite3.Connection) -> None:
    for pragma in PRAGMAS:
        connection.execute(pragma).fetchall()
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    level = connection.execute("PRAGMA synchronous").fetchone()[0]
    if (mode, level) != ("wal", 2):
        raise LedgerFailed(
            f"the file system does not support a durable ledger here (journal {mode}).",
            hint="put the ledger on a local disk, not on a network share.",
        )


def _begin_chain(connection: sqlite3.Connection, ledger: str, anchor: Path | None) -> Head:
    connection.execute("BEGIN IMMEDIATE")
    meta = {"ledger": ledger} | ({} if anchor is None else {"anchor": str(anchor)})
    connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    draft = Draft(Tables(connection), EMPTY)
    draft.append(now(), "begin", fields(format=FORMAT, ledger=ledger))
    write(connection, draft)
    connection.execute("COMMIT")
    return draft.head


def _head(connection: sqlite3.Connection) -> Head:
    return Tables(connection).head()


def _require_private(path: Path) -> None:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        raise missing(str(path)) from None
    except OSError as error:
        raise sqlite_fault(error, str(path)) from None
    if mode & 0o077:
        raise LedgerFailed(
            f"{path} can be reached by others (mode {mode:04o}); a ledger is its owner's alone.",
            hint=f"chmod 600 {path}",
        )


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
