"""What a database says when it fails, said so that a curator knows what to do."""

from __future__ import annotations

import errno
import sqlite3

from discreet.errors import LedgerBusy, LedgerCorrupt, LedgerFailed

_NOTHING = "Nothing was answered."


def sqlite_fault(error: sqlite3.Error | OSError, name: str) -> LedgerFailed:
    """The error of ours that a fault of SQLite or of the file system stands for."""
    if isinstance(error, OSError):
        return _by_errno(error, name)
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LedgerBusy(
                f"another process has kept the ledger {name} locked. {_NOTHING}",
                hint="try again with the same key; find the process with `fuser` if it lasts.",
            )
        case sqlite3.SQLITE_FULL:
            return _full(name)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return _read_only(name)
        case sqlite3.SQLITE_CANTOPEN:
            return LedgerFailed(
                f"the ledger {name} cannot be opened. {_NOTHING}",
                hint="check that its folder exists, and that you may write to it.",
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return LedgerCorrupt(
                f"the file {name} is damaged, or is not a ledger. {_NOTHING}",
                hint="bring back a copy that `discreet ledger verify` accepts.",
            )
        case sqlite3.SQLITE_CONSTRAINT:
            return LedgerCorrupt(
                f"a constraint of the ledger {name} refused what was to be written. {_NOTHING}",
                hint=f"discreet ledger verify {name}",
            )
        case _:
            return _input_output(name)


def _by_errno(error: OSError, name: str) -> LedgerFailed:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return _full(name)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return _read_only(name)
        case _:
            return _input_output(name)


def _full(name: str) -> LedgerFailed:
    return LedgerFailed(
        f"there is no room left for the ledger {name}. {_NOTHING}",
        hint="free some space on its disk; what was charged before stays charged.",
    )


def _read_only(name: str) -> LedgerFailed:
    return LedgerFailed(
        f"the ledger {name} cannot be written by this user. {_NOTHING}",
        hint=f"chown and chmod 600 {name}, or run as its owner.",
    )


def _input_output(name: str) -> LedgerFailed:
    return LedgerFailed(
        f"the disk failed while the ledger {name} was being read or written. {_NOTHING}",
        hint="check the disk; retry with the same key, which charges at most once.",
    )
