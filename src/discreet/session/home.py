"""Where a session keeps what must outlive it: the key, the ledger, the snapshots.

All of it lives in a folder ``.discreet`` beside the policy or the data, readable by its owner
alone. Losing the key or the ledger closes the data set until the curator decides.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from discreet.errors import LedgerClosed

FOLDER = ".discreet"
_KEY_BYTES = 32


class Home:
    """One folder, mode 0700."""

    def __init__(self, beside: Path) -> None:
        self.folder = beside / FOLDER

    @property
    def ledger(self) -> Path:
        """The ledger's file."""
        return self.folder / "ledger.db"

    def snapshot(self, dataset: str) -> Path:
        """The file of a data set's snapshot."""
        safe = "".join(c if c.isalnum() or c in "-_" else f"%{ord(c):06x}" for c in dataset)
        return self.folder / "snapshots" / f"{safe}.duckdb"

    @contextmanager
    def building(self, dataset: str) -> Iterator[None]:
        """One builder of a snapshot at a time, in this process and in others."""
        try:
            import fcntl
        except ImportError:  # elsewhere two of them build one each, and the later one stays
            yield
            return
        path = self.snapshot(dataset).with_suffix(".lock")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def key(self) -> str:
        """The secret that ranks each person's rows, made when it is first needed."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.folder / "key"
        try:
            found = path.read_text().strip()
        except FileNotFoundError:
            found = None
        if found is not None:
            if len(found) != 2 * _KEY_BYTES:
                raise LedgerClosed(
                    "the key of this data set is damaged.",
                    hint=f"put {path} back from a backup, or start a new ledger on purpose.",
                )
            return found
        if self.ledger.exists():
            raise LedgerClosed(
                "the key of this data set is missing, although its ledger is there. With another "
                "key other rows of a person would be kept, and the budget would no longer bound "
                "what is learnt of them.",
                hint=f"put {path} back from a backup, or start a new ledger on purpose.",
            )
        text = secrets.token_hex(_KEY_BYTES)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(text + "\n")
        return text


def fingerprint(key: str) -> str:
    """By which a ledger knows a key again without knowing it."""
    return sha256(f"fingerprint {key}".encode()).hexdigest()[:16]
