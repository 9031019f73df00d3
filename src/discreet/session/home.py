"""Where a session keeps what must outlive it: the key, the ledger, the snapshots.

All of it lives in a folder ``.discreet`` beside the policy or the data, readable by its owner
alone. Losing the key or the ledger closes the data set until the curator decides.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from discreet.errors import LedgerClosed, PolicyDiffers

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

    def outlived(self, dataset: str, snapshot: str) -> None:
        """Remember the id of a snapshot that another one takes the place of."""
        self._ids(dataset).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(os.open(self._ids(dataset), flags, 0o600), "a") as file:
            file.write(f"{snapshot}\n")

    def earlier(self, dataset: str) -> list[str]:
        """The ids of the snapshots that were there before, the last first."""
        try:
            return self._ids(dataset).read_text().split()[::-1]
        except FileNotFoundError:
            return []

    def _ids(self, dataset: str) -> Path:
        return self.snapshot(dataset).with_suffix(".earlier")

    @contextmanager
    def opening(self) -> Iterator[None]:
        """One process at a time finds the key and the ledger, or makes them."""
        with self._alone("opening"):
            yield

    @contextmanager
    def building(self, dataset: str) -> Iterator[None]:
        """One builder of a snapshot at a time, in this process and in others."""
        with self._alone(f"snapshots/{self.snapshot(dataset).stem}"):
            yield

    @contextmanager
    def _alone(self, what: str) -> Iterator[None]:
        try:
            import fcntl
        except ImportError:  # elsewhere both do it, and the later one stays
            yield
            return
        path = self.folder / f"{what}.lock"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def check_people(self, sources: Iterable[tuple[str, str]]) -> None:
        """Refuse a source that held the rows of another group of people before.

        A budget belongs to people. Under another name the same rows would have a second one.
        """
        known = self._known()
        for source, people in sources:
            before = known.setdefault(fingerprint(source), people)
            if before != people:
                raise PolicyDiffers(
                    f"these rows are about the people of {before!r}, who have a budget already; "
                    f"as {people!r} they would have a second one.",
                    hint=f'name the data set {before!r}, or say pool = "{before}" under it: both '
                    "then spend from one budget.",
                )

    def remember(self, sources: Iterable[tuple[str, str]]) -> None:
        """Remember whose rows each source holds."""
        path = self.folder / "people.json"
        fresh = {fingerprint(source): people for source, people in sources}
        with self._alone("people"):
            known = self._known()
            if fresh.items() <= known.items():
                return
            written = path.with_suffix(".new")
            written.unlink(missing_ok=True)
            _write(written, json.dumps(fresh | known, indent=1))
            written.replace(path)

    def _known(self) -> dict[str, str]:
        path = self.folder / "people.json"
        found: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def check_ledger(self) -> None:
        """Refuse to begin a new ledger where there was one."""
        if (self.folder / "people.json").exists() and not self.ledger.exists():
            raise LedgerClosed(
                "the ledger of this data set is missing: nobody knows what was spent.",
                hint=f"put {self.ledger} back from a backup; or, to begin a new budget on purpose, "
                f"move {self.folder} away.",
            )

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
        _write(path, text)
        return text


def _write(path: Path, text: str) -> None:
    """A new file that its owner alone can read."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text + "\n")


def fingerprint(text: str) -> str:
    """By which a text is known again without being known."""
    return sha256(f"fingerprint {text}".encode()).hexdigest()[:16]
