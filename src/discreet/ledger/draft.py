"""A draft: what a transaction has read so far, and what it is about to write.

The rules work on drafts alone, so that they are the same for every store. Between transactions a
store keeps its draft: as long as the head of the chain has not moved, what was read is still true.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Protocol

from discreet.ledger.accounts import Account, DataSet, Place
from discreet.ledger.entries import Entry, Head, body, link


class Reader(Protocol):
    """What a store can look up, inside one transaction."""

    def head(self) -> Head:
        """The last entry."""

    def meta(self) -> dict[str, str]:
        """The ledger's id, and its anchor if it has one."""

    def dataset(self, name: str) -> DataSet | None:
        """A data set, if it was declared."""

    def datasets(self) -> list[DataSet]:
        """All of them."""

    def account(self, place: Place) -> Account | None:
        """An account, if it was opened."""

    def accounts(self) -> list[Account]:
        """All of them."""

    def find(self, marks: Sequence[bytes]) -> dict[bytes, int]:
        """The entries that carry these marks."""

    def entries(self, after: int, limit: int) -> list[Entry]:
        """Entries that follow ``after``, in order."""

    def answer(self, reserved: int) -> bytes | None:
        """The answer kept for a reservation."""


def mark(*words: str) -> bytes:
    """Sixteen bytes by which an entry is found again."""
    return sha256("\0".join(words).encode()).digest()[:16]


class Draft:
    """Reads through to the store, and remembers; writes are kept until the store takes them."""

    def __init__(self, reader: Reader, head: Head) -> None:
        self.reader = reader
        self.head = head
        self.guessing = False
        self._datasets: dict[str, DataSet] = {}
        self._accounts: dict[Place, Account] = {}
        self.clear()

    def clear(self) -> None:
        """Forget what was about to be written: it has been."""
        self.new_entries: list[Entry] = []
        self.new_marks: dict[bytes, int] = {}
        self.new_answers: dict[int, tuple[int, bytes]] = {}
        self.new_datasets: list[DataSet] = []
        self.changed_datasets: list[DataSet] = []
        self.new_accounts: dict[Place, Account] = {}
        self.new_meta: dict[str, str] = {}
        self.changed: dict[Place, Account] = {}

    def dataset(self, name: str) -> DataSet | None:
        known = self._datasets.get(name)
        if known is None:
            known = self.reader.dataset(name)
            if known is not None:
                self._datasets[name] = known
        return known

    def account(self, place: Place) -> Account | None:
        known = self._accounts.get(place)
        if known is None:
            known = self.reader.account(place)
            if known is not None:
                self._accounts[place] = known
        return known

    def accounts(self) -> Iterable[Account]:
        for stored in self.reader.accounts():
            self._accounts.setdefault(stored.place, stored)
        return list(self._accounts.values())

    def find(self, *marks: bytes) -> dict[bytes, int]:
        """The entries that carry these marks; a guess is that the store has none."""
        found = {} if self.guessing else self.reader.find(marks)
        if self.new_marks:
            found |= {each: self.new_marks[each] for each in marks if each in self.new_marks}
        return found

    def entry(self, seq: int) -> Entry | None:
        if self.new_entries and seq >= (first := self.new_entries[0].seq):
            return self.new_entries[seq - first] if seq <= self.head.seq else None
        return next(iter(self.reader.entries(seq - 1, 1)), None)

    def answer(self, reserved: int) -> bytes | None:
        if reserved in self.new_answers:
            return self.new_answers[reserved][1]
        return self.reader.answer(reserved)

    def append(self, at: str, kind: str, text: str) -> int:
        """Write an entry at the end of the chain."""
        seq = self.head.seq + 1
        line = body(seq, at, kind, text)
        self.head = Head(seq, link(self.head.hash, line))
        self.new_entries.append(Entry(seq, self.head.hash, line))
        return seq

    def add_dataset(self, dataset: DataSet) -> None:
        self._datasets[dataset.name] = dataset
        self.new_datasets.append(dataset)

    def change_dataset(self, dataset: DataSet) -> None:
        self._datasets[dataset.name] = dataset
        self.changed_datasets.append(dataset)

    def add_account(self, account: Account) -> None:
        self._accounts[account.place] = account
        self.new_accounts[account.place] = account

    def touch(self, account: Account) -> None:
        """Say that an account has changed."""
        if account.place not in self.new_accounts:
            self.changed[account.place] = account
