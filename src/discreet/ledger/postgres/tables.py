"""Reading and writing the tables, inside a transaction that somebody else has begun."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult

from discreet.errors import LedgerFailed
from discreet.ledger.accounts import Account, DataSet, Place
from discreet.ledger.draft import Draft
from discreet.ledger.entries import EMPTY, Entry, Head
from discreet.ledger.postgres.schema import MIGRATIONS, VERSION

Connection = psycopg.Connection[Any]

_ACCOUNT = "kind, name, analyst, cap, cap_delta, spent, spent_delta, epsilon, delta, revoked"

CHARGE = b"""
    WITH entry AS (
        INSERT INTO entries
        SELECT $1::bigint, $2::bytea, $3::text
        WHERE EXISTS (SELECT FROM entries WHERE seq = $1 - 1 AND hash = $4::bytea)
        RETURNING seq
    ), marked AS (
        INSERT INTO marks
        SELECT mark, entry.seq FROM entry, (VALUES ($5::bytea), ($6)) AS new (mark)
        WHERE mark IS NOT NULL
    ), charged AS (
        UPDATE accounts
        SET spent = new.spent, spent_delta = new.spent_delta
        FROM entry, (VALUES
            ('people', $7::text, '', $8::bigint, $9::bigint),
            ('analyst', $10, $11::text, $12, $13)
        ) AS new (kind, name, analyst, spent, spent_delta)
        WHERE (accounts.kind, accounts.name, accounts.analyst) = (new.kind, new.name, new.analyst)
    )
    SELECT seq FROM entry
"""
"""One charge in one statement; it writes nothing unless the entry before it is the one expected.

Each part waits for the entry, so that two clients never hold what the other needs.
"""

_BINARY = (0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0)  # bytes travel as they are, the rest as text


class Tables:
    """What a draft reads."""

    def __init__(self, connection: Connection) -> None:
        self._execute = connection.execute

    def head(self) -> Head:
        row = self._execute("SELECT seq, hash FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
        return EMPTY if row is None else Head(*row)

    def meta(self) -> dict[str, str]:
        return dict(self._execute("SELECT name, value FROM meta").fetchall())

    def dataset(self, name: str) -> DataSet | None:
        query = "SELECT name, people, relation, accountant, basis FROM datasets WHERE name = %s"
        row = self._execute(query, (name,)).fetchone()
        return None if row is None else DataSet(*row)

    def datasets(self) -> list[DataSet]:
        query = "SELECT name, people, relation, accountant, basis FROM datasets ORDER BY name"
        return [DataSet(*row) for row in self._execute(query)]

    def account(self, place: Place) -> Account | None:
        query = f"SELECT {_ACCOUNT} FROM accounts WHERE (kind, name, analyst) = (%s, %s, %s)"  # noqa: S608
        row = self._execute(query, tuple(place)).fetchone()
        return None if row is None else _account(row)

    def accounts(self) -> list[Account]:
        query = f"SELECT {_ACCOUNT} FROM accounts ORDER BY name, kind DESC, analyst"  # noqa: S608
        return [_account(row) for row in self._execute(query)]

    def find(self, marks: Sequence[bytes]) -> dict[bytes, int]:
        query = "SELECT mark, seq FROM marks WHERE mark = ANY(%s)"
        return {bytes(mark): seq for mark, seq in self._execute(query, (list(marks),))}

    def entries(self, after: int, limit: int) -> list[Entry]:
        query = "SELECT seq, hash, body FROM entries WHERE seq > %s ORDER BY seq LIMIT %s"
        return [Entry(*row) for row in self._execute(query, (after, limit))]

    def answer(self, reserved: int) -> bytes | None:
        query = "SELECT answer FROM answers WHERE reserved = %s"
        row = self._execute(query, (reserved,)).fetchone()
        return None if row is None else bytes(row[0])


class Unread(Exception):
    """A guess needs something that was not read before."""


class Guess(Tables):
    """Reads nothing: what a draft does not know is new, or the guess is off."""

    def __init__(self) -> None:
        pass

    def dataset(self, name: str) -> DataSet | None:
        raise Unread(name)

    def account(self, place: Place) -> Account | None:
        raise Unread(place)

    def find(self, marks: Sequence[bytes]) -> dict[bytes, int]:  # noqa: ARG002
        return {}


def prepare(connection: Connection) -> None:
    """Let the server plan a charge once for the whole connection."""
    _checked(connection.pgconn.prepare(b"charge", CHARGE), connection)


def charge(connection: Connection, before: Head, draft: Draft) -> bool:
    """Write the one charge of a draft, if the head is still ``before``.

    Asked of libpq itself: a cursor would take as long as all the rest that happens on this side.
    """
    (entry,) = draft.new_entries
    first, *rest = draft.new_marks
    people, own = sorted(draft.changed.values(), key=lambda account: account.place.analyst)
    words: tuple[bytes | str | int | None, ...] = (
        entry.seq,
        entry.hash,
        entry.body,
        before.hash,
        first,
        rest[0] if rest else None,
        people.place.name,
        *people.spent,
        own.place.name,
        own.place.analyst,
        *own.spent,
    )
    sent = [each if each is None or type(each) is bytes else str(each).encode() for each in words]
    result = connection.pgconn.exec_prepared(b"charge", sent, _BINARY)  # type: ignore[arg-type]
    return _checked(result, connection).ntuples == 1


def _checked(result: PGresult, connection: Connection) -> PGresult:
    if result.status in {ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK}:
        return result
    if connection.pgconn.status != ConnStatus.OK:
        raise psycopg.OperationalError("the connection is lost")
    raise psycopg.errors.error_from_result(result)


def write(connection: Connection, draft: Draft) -> None:
    """Put everything that is new in a draft into the tables."""
    with connection.cursor() as cursor:
        for query, rows in (
            (
                "INSERT INTO entries VALUES (%s, %s, %s)",
                [(entry.seq, entry.hash, entry.body) for entry in draft.new_entries],
            ),
            ("INSERT INTO marks VALUES (%s, %s)", list(draft.new_marks.items())),
            (
                """UPDATE accounts SET cap = %s, cap_delta = %s, spent = %s, spent_delta = %s,
                epsilon = %s, delta = %s, revoked = %s
                WHERE (kind, name, analyst) = (%s, %s, %s)""",
                [(*_row(each)[3:], *each.place) for each in draft.changed.values()],
            ),
            (
                "INSERT INTO answers VALUES (%s, %s, %s)",
                [(reserved, *answer) for reserved, answer in draft.new_answers.items()],
            ),
            (
                "INSERT INTO datasets VALUES (%s, %s, %s, %s, %s)",
                [
                    (each.name, each.people, each.relation, each.accountant, each.basis)
                    for each in draft.new_datasets
                ],
            ),
            (
                "UPDATE datasets SET basis = %s WHERE name = %s",
                [(each.basis, each.name) for each in draft.changed_datasets],
            ),
            (
                """INSERT INTO meta VALUES (%s, %s)
                ON CONFLICT (name) DO UPDATE SET value = excluded.value""",
                list(draft.new_meta.items()),
            ),
            (
                "INSERT INTO accounts VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                [_row(each) for each in draft.new_accounts.values()],
            ),
        ):
            if rows:
                cursor.executemany(query, rows)


def migrate(connection: Connection) -> None:
    """Bring the schema up to date, inside a transaction; one from the future is refused."""
    # Data definition of two clients at once would collide even with IF NOT EXISTS.
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('discreet_ledger'))")
    connection.execute("CREATE SCHEMA IF NOT EXISTS discreet_ledger")
    connection.execute("CREATE TABLE IF NOT EXISTS version (number int NOT NULL)")
    row = connection.execute("SELECT number FROM version").fetchone()
    version = 0 if row is None else int(row[0])
    if version > VERSION:
        raise LedgerFailed(
            f"the ledger has version {version}, and this program knows versions up to {VERSION}.",
            hint="use the newer release of discreet that wrote it.",
        )
    if version == VERSION:
        return
    for script in MIGRATIONS[version:]:
        connection.execute(script)
    connection.execute("DELETE FROM version")
    connection.execute("INSERT INTO version VALUES (%s)", (VERSION,))


def _account(row: Sequence[Any]) -> Account:
    place = Place(row[0], row[1], row[2])
    return Account(place, (row[3], row[4]), (row[5], row[6]), row[7], row[8], row[9])


def _row(account: Account) -> tuple[object, ...]:
    words = (account.epsilon, account.delta, account.revoked)
    return *account.place, *account.cap, *account.spent, *words
