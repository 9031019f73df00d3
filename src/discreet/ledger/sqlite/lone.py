"""A lone charge, the commonest thing that a ledger does, as one statement.

Begin, look, three writes and commit are six calls into SQLite for what one can say at once: the
view ``charges`` passes a row on to the tables, and aborts unless the chain still ends where the
charge was decided. Nothing is allowed here that the six would not allow.
"""

from __future__ import annotations

import sqlite3

from discreet.ledger.draft import Draft
from discreet.ledger.entries import Head

_CHARGE = "INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def is_lone(draft: Draft) -> bool:
    """Whether a draft has one new reservation and nothing else.

    Of all entries only reservations leave marks and change two accounts.
    """
    return len(draft.new_entries) == 1 and bool(draft.new_marks) and len(draft.changed) == 2


def charge(connection: sqlite3.Connection, head: Head, draft: Draft) -> None:
    """Write it, durably; an integrity error if the chain does not end at ``head`` any more."""
    (entry,) = draft.new_entries
    release, *key = draft.new_marks
    accounts = {account.place.kind: account for account in draft.changed.values()}
    people, own = accounts["people"], accounts["analyst"]
    connection.execute(
        _CHARGE,
        (
            *entry,
            head.hash,
            release,
            key[0] if key else None,
            people.place.name,
            *people.spent,
            *own.place[1:],
            *own.spent,
        ),
    )
