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
_LEDGER_ID = "ledger.id"


class Home:
    """One folder, mode 0700."""

    def __init__(self, beside: Path) -> None:
        self.folder = beside / FOLDER

    @property
    def ledger(self) -> Path:
        """The ledger's file, unless the policy names another place."""
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
            _write(path, json.dumps(fresh | known, indent=1))

    def _known(self) -> dict[str, str]:
        path = self.folder / "people.json"
        found: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def require_new(self, ledger: str) -> None:
        """Refuse to begin a ledger where there was one: whatever else is kept here shows it."""
        if any((self.folder / name).exists() for name in ("key", "people.json", _LEDGER_ID)):
            raise LedgerClosed(
                "the ledger of this data set is missing: nobody knows what was spent.",
                hint=f"put {ledger} back from a backup, or let the policy name the place where it "
                f"is; or, to begin a new budget on purpose, move {self.folder} away.",
            )

    def require_same(self, ledger: str) -> None:
        """Refuse another ledger, by its id, than the one that was charged before."""
        path = self.folder / _LEDGER_ID
        if path.exists() and path.read_text().strip() != ledger:
            raise LedgerClosed(
                "this is another ledger than the one that these data were charged to, and knows "
                "nothing of what was spent there.",
                hint="bring back the one before, or let the policy name its place; or, to begin a "
                f"new budget on purpose, move {self.folder} away.",
            )

    def remember_ledger(self, ledger: str) -> None:
        """Remember by its id which ledger is charged."""
        path = self.folder / _LEDGER_ID
        if not path.exists():
            _write(path, ledger)

    def key(self, *, fresh: bool = False) -> str:
        """The secret that ranks each person's rows; made only where a ``fresh`` one does no harm.

        With another key other rows of a person would be kept, and the budget would no longer bound
        what is learnt of them.
        """
        path = self.folder / "key"
        try:
            found = path.read_text().strip()
        except FileNotFoundError:
            found = None
        if found is None and fresh:
            found = secrets.token_hex(_KEY_BYTES)
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(path, found)
        if found is None:
            raise LedgerClosed(
                "the key of this data set is missing, although its ledger is there. With another "
                "key other rows of a person would be kept, and the budget would no longer bound "
                "what is learnt of them.",
                hint=f"put {path} back: from a backup, or from another machine that shares the "
                "ledger; or, if it is lost and the curator accepts another: discreet ledger grant "
                "LEDGER NAME --epsilon E --new-basis, for each data set.",
            )
        if len(found) != 2 * _KEY_BYTES:
            raise LedgerClosed(
                "the key of this data set is damaged.", hint=f"put {path} back from a backup."
            )
        return found


def _write(path: Path, text: str) -> None:
    """A file that its owner alone can read, there whole or not at all."""
    written = path.with_name(path.name + ".new")
    written.unlink(missing_ok=True)
    handle = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    written.replace(path)


def fingerprint(text: str) -> str:
    """By which a text is known again without being known."""
    return sha256(f"fingerprint {text}".encode()).hexdigest()[:16]
