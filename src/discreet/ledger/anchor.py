"""The anchor: the head of the chain, written a second time in another place.

A copy of yesterday's ledger is a valid ledger in which today's budget is unspent. Only something
outside it can tell: a small file, best on another disk, that remembers how far the chain had come.
It is written after each commit and before any reply. It need not be synced: an anchor that lags
behind still lies on the chain, and one ahead of it proves that entries are missing.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import LedgerClosed, LedgerFailed
from discreet.ledger.entries import EMPTY, Head

_WIDTH = 120  # always the same length, so that a new line replaces the old one whole


@dataclass(frozen=True, slots=True)
class Anchor:
    """One line of text: the ledger's id, the number of entries, the hash of the last."""

    path: Path
    ledger: str

    @classmethod
    def create(cls, path: Path, ledger: str) -> Anchor:
        """A new anchor; one that is already there belongs to a ledger that went missing."""
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            raise LedgerClosed(
                f"{path} is already the anchor of a ledger, which is not here.",
                hint="bring that ledger back; if it is lost for good, and the budget that it "
                "counted may be given anew, remove the anchor by hand.",
            ) from None
        except OSError as error:
            raise _unwritable(path, error) from None
        anchor = cls(path, ledger)
        anchor.advance(EMPTY)
        return anchor

    @classmethod
    def take(cls, path: Path, ledger: str) -> Anchor:
        """A new anchor, or the one that this ledger was about to be given before."""
        try:
            return cls.create(path, ledger)
        except LedgerClosed:
            found = cls(path, ledger)
            found.read()
            return found

    def read(self) -> Head:
        """How far the chain had come."""
        try:
            words = self.path.read_text(encoding="ascii").split()
            ledger, seq, digest = words
            head = Head(int(seq), bytes.fromhex(digest))
        except (OSError, ValueError) as error:
            raise LedgerClosed(
                f"the anchor {self.path} cannot be read ({type(error).__name__}), so nobody knows "
                "whether the ledger is the latest one.",
                hint="bring the file back, or decide: discreet ledger reopen LEDGER",
            ) from None
        if ledger != self.ledger:
            raise LedgerClosed(
                f"the anchor {self.path} belongs to another ledger.",
                hint="give each ledger an anchor of its own.",
            )
        return head

    def advance(self, head: Head, *, back: bool = False) -> None:
        """Write the new head down, unless a later one is there (``back``: even so)."""
        line = f"{self.ledger} {head.seq} {head.hash.hex()}".ljust(_WIDTH - 1) + "\n"
        try:
            handle = os.open(self.path, os.O_RDWR | (os.O_CREAT if back else 0), 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                words = os.pread(handle, _WIDTH, 0).split()
                if back or len(words) != 3 or int(words[1]) < head.seq:
                    os.pwrite(handle, line.encode(), 0)
            finally:
                os.close(handle)
        except (OSError, ValueError) as error:
            raise _unwritable(self.path, error) from None


def _unwritable(path: Path, error: Exception) -> LedgerFailed:
    return LedgerFailed(
        f"the anchor {path} cannot be written ({type(error).__name__}); no answer leaves without.",
        hint="make the file writable again; what was charged stays charged, and a retry finds it.",
    )
