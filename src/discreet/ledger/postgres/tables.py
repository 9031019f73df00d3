"""Reading and writing the tables, inside a transaction that somebody else has begun."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from discreet.errors import LedgerFailed
from discreet.ledger.accounts import Account, DataSet, Place
from discreet.ledger.draft import Draft
from discreet.ledger.entries import EMPTY, Entry, Head
from discreet.ledger.postgres.schema import MIGRATIONS, VERSION

Connection = psycopg.Connection[Any]

_ACCOUNT = "kind, name, analyst, cap, cap_delta, spent, spent_delta, epsilon, delta, revoked"

CHARGE = """
    WITH entry AS (
        INSERT INTO entries
        SELECT %(seq)s::bigint, %(hash)s::bytea, %(body)s::text
        WHERE EXISTS (SELECT FROM entries WHERE seq = %(seq)s - 1 AND hash = %(before)s::bytea)
        RETURNING seq
    ), marked AS (
        INSERT INTO marks
        SELECT mark, entry.seq FROM entry, (VALUES (%(mark)s::bytea), (%(other)s)) AS new (mark)
        WHERE mark IS NOT NULL
    ), charged AS (
        UPDATE accounts
        SET spent = new.spent, spent_delta = new.spent_delta
        FROM entry, (VALUES
            ('people', %(people)s::text, '', %(people_spent)s::bigint, %(people_delta)s::bigint),
            ('analyst', %(dataset)s, %(analyst)s::text, %(spent)s, %(delta)s)
        ) AS new (kind, name, analyst, spent, spent_delta)
        WHERE (accounts.kind, accounts.name, accounts.analyst) = (new.kind, new.name, new.analyst)
    )
    SELECT count(*) FROM entry
"""
"""One charge in one statement; it writes nothing unless the entry before it is the one expected.

Each part waits for the entry, so that two clients never hold what the other needs.
"""


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
        query = "SELECT name, people, relation, accountant FROM datasets WHERE name = %s"
        row = self._execute(query, (name,)).fetchone()
        return None if row is None else DataSet(*row)

    def datasets(self) -> list[DataSet]:
        query = "SELECT name, people, relation, accountant FROM datasets ORDER BY name"
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


def charge(connection: Connection, before: Head, draft: Draft) -> bool:
    """Write the one charge of a draft, if the head is still ``before``."""
    (entry,) = draft.new_entries
    first, *rest = draft.new_marks
    people, own = sorted(draft.changed.values(), key=lambda account: account.place.analyst)
    row = connection.execute(
        CHARGE,
        {
            "seq": entry.seq,
            "hash": entry.hash,
            "body": entry.body,
            "before": before.hash,
            "mark": first,
            "other": rest[0] if rest else None,
            "people": people.place.name,
            "people_spent": people.spent[0],
            "people_delta": people.spent[1],
            "dataset": own.place.name,
            "analyst": own.place.analyst,
            "spent": own.spent[0],
            "delta": own.spent[1],
        },
        prepare=True,
    ).fetchone()
    return row == (1,)


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
                "INSERT INTO datasets VALUES (%s, %s, %s, %s)",
                [
                    (each.name, each.people, each.relation, each.accountant)
                    for each in draft.new_datasets
                ],
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
