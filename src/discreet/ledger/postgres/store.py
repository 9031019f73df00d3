"""The shared store: a schema in a PostgreSQL database.

The rules are decided here, on what this process has read, and the database accepts the outcome
only if nobody has written in between: the number of the next entry is its primary key. So a charge
of a client that is alone takes one round trip; when another was faster, the client reads again,
with the table of entries locked. Constraints and triggers hold for every client alike.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import psycopg
from psycopg import errors as sql
from psycopg.pq import TransactionStatus

from discreet.errors import (
    DiscreetError,
    LedgerBusy,
    LedgerClosed,
    LedgerCorrupt,
    LedgerExists,
    LedgerFailed,
)
from discreet.ledger.anchor import Anchor
from discreet.ledger.draft import Draft, Reader
from discreet.ledger.entries import EMPTY, FORMAT, Head, fields
from discreet.ledger.postgres.schema import VERSION
from discreet.ledger.postgres.tables import (
    Connection,
    Guess,
    Tables,
    Unread,
    charge,
    migrate,
    prepare,
    write,
)
from discreet.ledger.requests import Reply, Request, Reserve, Settle
from discreet.ledger.store import Store, decide_all, now

SETTINGS = """
    SET search_path = discreet_ledger;
    SET synchronous_commit = on;
    SET client_encoding = 'UTF8';
    SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '60s';
    SET plan_cache_mode = force_generic_plan;
    SET enable_seqscan = off
"""


class PostgresStore(Store):
    """A ledger in the schema ``discreet_ledger`` of a database."""

    def __init__(self, address: str, *, despite_anchor: bool = False) -> None:
        super().__init__()
        self._address = address
        self.name = _public(address)
        self._open: Connection | None = None
        self._opened(despite_anchor=despite_anchor)

    @classmethod
    def create(cls, address: str, *, anchor: str | os.PathLike[str] | None = None) -> PostgresStore:
        """A new ledger, in one transaction."""
        name = _public(address)
        try:
            with connect(address) as connection, connection.transaction():
                migrate(connection)
                if connection.execute("SELECT count(*) FROM entries").fetchone() != (0,):
                    raise LedgerExists(
                        f"{name} already holds a ledger.",
                        hint="open it: discreet ledger status LEDGER",
                    )
                _begin_chain(connection, anchor)
        except psycopg.Error as error:
            raise fault(error, name) from error
        return cls(address)

    @classmethod
    def exists(cls, address: str) -> bool:
        """Whether the database has the tables of a ledger."""
        try:
            with connect(address) as connection:
                return _has_ledger(connection)
        except psycopg.Error as error:
            raise fault(error, _public(address)) from error

    def commit(self, requests: Sequence[Request]) -> list[Reply | DiscreetError]:
        """As every store; after a lost connection once more, for nothing is charged twice."""
        with self._mutex:
            try:
                return self._guess(requests) or super().commit(requests)
            except LedgerFailed as failure:
                lost = isinstance(failure.__cause__, psycopg.OperationalError)
                busy = isinstance(failure, LedgerBusy)
                if (
                    not lost
                    or busy
                    or not all(isinstance(each, Reserve | Settle) for each in requests)
                ):
                    raise
                return super().commit(requests)

    def close(self) -> None:
        with self._mutex:
            self._drop()

    def check(self) -> None:
        """PostgreSQL checks its pages as it reads them, if the cluster has checksums."""

    def after_fork(self) -> None:
        """The connection is the parent's, who would be cut off if we closed it."""
        super().after_fork()
        if self._open is not None:
            _CARRIED.append(self._open)
            self._open = None

    def _guess(self, requests: Sequence[Request]) -> list[Reply | DiscreetError] | None:
        """One new charge in one round trip, if what was read before is still true."""
        draft, connection = self._draft, self._open
        if draft is None or connection is None or connection.closed:
            return None
        if len(requests) != 1 or not isinstance(requests[0], Reserve):
            return None
        before, reader = draft.head, draft.reader
        draft.reader = Guess()
        try:
            replies = decide_all(draft, requests)
        except Unread:
            return None
        finally:
            draft.reader = reader
        if not draft.new_entries:
            return None  # refused by what may be old news: look again
        self._draft = None
        try:
            if not charge(connection, before, draft):
                return None
        except sql.UniqueViolation:
            return None  # another client was faster, or the request is on record
        except psycopg.Error as error:
            raise self._translated(error) from error
        self._draft = draft
        self._written(draft)
        return replies

    @property
    def _connection(self) -> Connection:
        if self._open is None or self._open.closed:
            self._draft = None
            opened = connect(self._address)
            try:
                _require_ledger(opened, self.name)
                prepare(opened)
            except BaseException:
                opened.close()
                raise
            self._open = opened
        return self._open

    def _begin(self) -> Head:
        connection = self._connection
        connection.execute("BEGIN")
        # Waits for charges that are under way, and holds back new ones; readers go on.
        connection.execute("LOCK TABLE entries IN SHARE ROW EXCLUSIVE MODE")
        return Tables(connection).head()

    def _reader(self) -> Reader:
        return Tables(self._connection)

    def _view(self) -> Reader:
        self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return Tables(self._connection)

    def _write(self, draft: Draft) -> None:
        write(self._connection, draft)

    def _finish(self) -> None:
        self._connection.execute("COMMIT")

    def _cancel(self) -> None:
        self._connection.execute("ROLLBACK")

    def _abandon(self) -> None:
        if self._open is not None and not self._open.closed:
            try:
                if self._open.info.transaction_status != TransactionStatus.IDLE:
                    self._open.execute("ROLLBACK")
            except psycopg.Error:
                self._drop()

    def _translated(self, error: BaseException) -> BaseException:
        if not isinstance(error, psycopg.Error):
            return error
        self._abandon()
        self._drop()
        return fault(error, self.name)

    def _drop(self) -> None:
        opened, self._open, self._draft = self._open, None, None
        if opened is not None:
            opened.close()


_CARRIED: list[Connection] = []


def connect(address: str) -> Connection:
    """A connection on which every commit is durable."""
    connection = psycopg.connect(address, autocommit=True, connect_timeout=10)
    connection.execute(SETTINGS)
    if connection.execute("SHOW fsync").fetchone() != ("on",):
        connection.close()
        raise LedgerFailed(
            "the PostgreSQL server runs with fsync = off, and would forget charges.",
            hint="set fsync = on in postgresql.conf.",
        )
    return connection


def fault(error: psycopg.Error, name: str) -> LedgerFailed:
    """The error of ours that one of PostgreSQL stands for; its own text may hold too much."""
    match error:
        case sql.LockNotAvailable() | sql.QueryCanceled() | sql.DeadlockDetected():
            return LedgerBusy(
                f"another client has kept the ledger {name} locked. Nothing was answered.",
                hint="try again with the same key.",
            )
        case sql.DiskFull():
            what, hint = "has no room left", "free some space on the server's disk."
        case sql.ReadOnlySqlTransaction() | sql.InsufficientPrivilege():
            what, hint = "cannot be written by this role", "GRANT it the schema discreet_ledger."
        case sql.DataCorrupted() | sql.IndexCorrupted() | sql.IntegrityError():
            return LedgerCorrupt(
                f"the ledger {name} is damaged, or refuses what was to be written "
                f"({error.sqlstate}). Nothing was answered.",
                hint="discreet ledger verify LEDGER",
            )
        case sql.RaiseException():
            return LedgerCorrupt(f"the ledger {name} refuses to be changed. Nothing was answered.")
        case _:
            what = f"cannot be reached or has failed ({error.sqlstate or 'no connection'})"
            hint = "check the server; retry with the same key, which charges at most once."
    return LedgerFailed(f"the ledger {name} {what}. Nothing was answered.", hint=hint)


def _require_ledger(connection: Connection, name: str) -> None:
    if not _has_ledger(connection):
        raise LedgerClosed(
            f"there is no ledger in {name}. If there was one, its budget is not free again.",
            hint="bring it back, or begin one: discreet ledger init LEDGER",
        )
    if connection.execute("SELECT number FROM version").fetchone() != (VERSION,):
        with connection.transaction():
            migrate(connection)


def _has_ledger(connection: Connection) -> bool:
    found = "SELECT to_regclass('discreet_ledger.entries') IS NOT NULL"
    return bool(connection.execute(found).fetchone() == (True,))


def _begin_chain(connection: Connection, anchor: str | os.PathLike[str] | None) -> None:
    ledger = secrets.token_hex(16)
    connection.execute("INSERT INTO meta VALUES ('ledger', %s)", (ledger,))
    draft = Draft(Tables(connection), EMPTY)
    draft.append(now(), "begin", fields(format=FORMAT, ledger=ledger))
    write(connection, draft)
    if anchor is not None:
        held = Path(anchor).absolute()
        connection.execute("INSERT INTO meta VALUES ('anchor', %s)", (str(held),))
        Anchor.create(held, ledger).advance(draft.head)


def _public(address: str) -> str:
    """The address without user, password and options, however oddly they are written."""
    kind, _, rest = address.partition("://")
    return f"{kind}://{rest.partition('?')[0].rpartition('@')[2]}"
