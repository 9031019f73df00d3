"""A ledger in a file, with nothing to start."""

from discreet.ledger.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore"]
