"""Reading and writing the tables, inside a transaction that somebody else has begun."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from discreet.errors import LedgerFailed
from discreet.ledger.accounts import Account, DataSet, Place
from discreet.ledger.draft import Draft
from discreet.ledger.entries import EMPTY, Entry, Head
from discreet.ledger.sqlite.schema import APPLICATION_ID, MIGRATIONS, VERSION
from discreet.ledger.store import empty

MOST_MARKS = 500
"""How many marks are looked up by one statement; SQLite has a limit, which varies."""


class Tables:
    """What a draft reads."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def head(self) -> Head:
        row = self._execute("SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
        return EMPTY if row is None else Head(*row)

    def meta(self) -> dict[str, str]:
        return dict(self._execute("SELECT name, value FROM meta").fetchall())

    def dataset(self, name: str) -> DataSet | None:
        query = "SELECT name, people, relation, accountant, basis FROM datasets WHERE name = ?"
        row = self._execute(query, (name,)).fetchone()
        return None if row is None else DataSet(*row)

    def datasets(self) -> list[DataSet]:
        query = "SELECT name, people, relation, accountant, basis FROM datasets ORDER BY name"
        return [DataSet(*row) for row in self._execute(query).fetchall()]

    def account(self, place: Place) -> Account | None:
        query = f"SELECT {_ACCOUNT} FROM accounts WHERE kind = ? AND name = ? AND analyst = ?"  # noqa: S608
        row = self._execute(query, place).fetchone()
        return None if row is None else _account(row)

    def accounts(self) -> list[Account]:
        query = f"SELECT {_ACCOUNT} FROM accounts ORDER BY name, kind DESC, analyst"  # noqa: S608
        return [_account(row) for row in self._execute(query).fetchall()]

    def find(self, marks: Sequence[bytes]) -> dict[bytes, int]:
        found: dict[bytes, int] = {}
        for start in range(0, len(marks), MOST_MARKS):
            some = marks[start : start + MOST_MARKS]
            places = ",".join("?" * len(some))
            query = f"SELECT mark, seq FROM marks WHERE mark IN ({places})"  # noqa: S608
            found.update(self._execute(query, some).fetchall())
        return found

    def entries(self, after: int, limit: int) -> list[Entry]:
        query = "SELECT seq, hash, body FROM entries WHERE seq > ? ORDER BY seq LIMIT ?"
        return [Entry(*row) for row in self._execute(query, (after, limit)).fetchall()]

    def answer(self, reserved: int) -> bytes | None:
        query = "SELECT answer FROM answers WHERE reserved = ?"
        row = self._execute(query, (reserved,)).fetchone()
        return None if row is None else bytes(row[0])


_ACCOUNT = "kind, name, analyst, cap, cap_delta, spent, spent_delta, epsilon, delta, revoked"


def _account(row: Sequence[object]) -> Account:
    """A row of the table of accounts."""
    kind, name, analyst, cap, cap_delta, spent, spent_delta, epsilon, delta, revoked = row
    return Account(
        Place(kind, name, analyst),  # type: ignore[arg-type]
        (cap, cap_delta),  # type: ignore[arg-type]
        (spent, spent_delta),  # type: ignore[arg-type]
        str(epsilon),
        str(delta),
        bool(revoked),
    )


def _row(account: Account) -> tuple[object, ...]:
    """An account as a row of its table."""
    return (
        *account.place,
        *account.cap,
        *account.spent,
        account.epsilon,
        account.delta,
        int(account.revoked),
    )


def write(connection: sqlite3.Connection, draft: Draft) -> None:
    """Put everything that is new in a draft into the tables."""
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", draft.new_entries)
    if draft.new_marks:
        connection.executemany("INSERT INTO marks VALUES (?, ?)", draft.new_marks.items())
    if draft.changed:
        connection.executemany(
            "UPDATE accounts SET cap = ?, cap_delta = ?, spent = ?, spent_delta = ?, epsilon = ?, "
            "delta = ?, revoked = ? WHERE kind = ? AND name = ? AND analyst = ?",
            [(*_row(each)[3:], *each.place) for each in draft.changed.values()],
        )
    if draft.new_answers:
        connection.executemany(
            "INSERT INTO answers VALUES (?, ?, ?)",
            [(reserved, *answer) for reserved, answer in draft.new_answers.items()],
        )
    if draft.new_datasets:
        connection.executemany(
            "INSERT INTO datasets VALUES (?, ?, ?, ?, ?)",
            [
                (each.name, each.people, each.relation, each.accountant, each.basis)
                for each in draft.new_datasets
            ],
        )
    if draft.changed_datasets:
        connection.executemany(
            "UPDATE datasets SET basis = ? WHERE name = ?",
            [(each.basis, each.name) for each in draft.changed_datasets],
        )
    if draft.new_meta:
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            draft.new_meta.items(),
        )
    if draft.new_accounts:
        connection.executemany(
            "INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_row(each) for each in draft.new_accounts.values()],
        )


def build(connection: sqlite3.Connection) -> None:
    """Make the tables in a file that was empty a moment ago, and is nobody's yet."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    migrate(connection, "a new ledger")


def migrate(connection: sqlite3.Connection, what: str) -> None:
    """Bring a file up to date; one from the future, of another kind or empty is refused."""
    version = _version(connection, what)
    while version < VERSION:
        connection.execute("BEGIN IMMEDIATE")
        version = _version(connection, what)  # another process may have been faster
        if version < VERSION:
            for statement in _statements(MIGRATIONS[version]):
                connection.execute(statement)
            version += 1
            connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, what: str) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if application != APPLICATION_ID:
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0:
            raise empty(what)
        raise LedgerFailed(f"{what} is a database, but not a ledger.", hint="check the path.")
    if version > VERSION:
        raise LedgerFailed(
            f"{what} has version {version}, and this program knows versions up to {VERSION}.",
            hint="use the newer release of discreet that wrote it.",
        )
    return version


def _statements(script: str) -> list[str]:
    statements, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
