"""A ledger that cannot be cheated: charge durably, then compute, then store, then reply.

``create`` and ``open_ledger`` take the path of a file (SQLite, nothing to start) or the address of
a PostgreSQL database (``postgresql://...``). Both keep the same entries by the same rules.
"""

from __future__ import annotations

import os
from pathlib import Path

from discreet.ledger.balance import Balance
from discreet.ledger.entries import Entry
from discreet.ledger.ledger import Ledger, Reservation, Stored
from discreet.ledger.replay import Verified

__all__ = [
    "Balance",
    "Entry",
    "Ledger",
    "Reservation",
    "Stored",
    "Verified",
    "create",
    "exists",
    "open_ledger",
]


Place = str | os.PathLike[str]


def create(place: Place, *, anchor: str | os.PathLike[str] | None = None) -> Ledger:
    """Begin a ledger where there is none.

    ``anchor`` is a second place, best on another disk, that remembers how far the ledger has come,
    so that an old copy is noticed when it is put back.
    """
    if _is_postgres(place):
        from discreet.ledger.postgres import PostgresStore

        return Ledger(PostgresStore.create(str(place), anchor=anchor))
    from discreet.ledger.sqlite import SQLiteStore

    return Ledger(SQLiteStore.create(place, anchor=anchor))


def exists(place: Place) -> bool:
    """Whether there is a ledger, sound or not."""
    if _is_postgres(place):
        from discreet.ledger.postgres import PostgresStore

        return PostgresStore.exists(str(place))
    return Path(place).exists()


def open_ledger(place: Place, *, despite_anchor: bool = False) -> Ledger:
    """Open a ledger that is there; a missing, damaged or outdated one is refused.

    ``despite_anchor`` opens an outdated one, so that the curator can ``reopen`` it.
    """
    if _is_postgres(place):
        from discreet.ledger.postgres import PostgresStore

        return Ledger(PostgresStore(str(place), despite_anchor=despite_anchor))
    from discreet.ledger.sqlite import SQLiteStore

    return Ledger(SQLiteStore(place, despite_anchor=despite_anchor))


def _is_postgres(place: Place) -> bool:
    return isinstance(place, str) and place.startswith(("postgresql://", "postgres://"))
