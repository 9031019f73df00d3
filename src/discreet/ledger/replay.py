"""Replay: read the whole chain again, and hold everything else in the ledger against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from discreet.errors import LedgerCorrupt
from discreet.ledger.accounts import Account, DataSet, Place
from discreet.ledger.draft import Reader, mark
from discreet.ledger.entries import EMPTY, Entry, Head, compact, link
from discreet.ledger.store import broken, empty

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Verified:
    """What a sound ledger holds."""

    entries: int
    head: str
    charges: int
    answers: int
    pending: int

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "entries": self.entries,
            "head": self.head,
            "charges": self.charges,
            "answers": self.answers,
            "pending": self.pending,
        }


def verify(reader: Reader) -> Verified:
    """Refuse a ledger in which any entry, balance, mark or answer is not what was written."""
    book = Book()
    head = EMPTY
    for entry in chain(reader):
        head = Head(entry.seq, entry.hash)
        book.read(entry, reader)
        if entry.seq % PAGE == 0:
            book.look(reader)
    book.look(reader)
    if head == EMPTY:
        raise empty("the ledger")
    if head != reader.head():
        raise broken(head.seq + 1, "is missing")
    book.compare(reader)
    return Verified(
        entries=head.seq,
        head=head.hash.hex(),
        charges=book.kinds["reserve"] + book.kinds["share"],
        answers=book.kinds["settle"],
        pending=len(book.pending),
    )


def chain(reader: Reader) -> Iterator[Entry]:
    """All entries in order, each link checked."""
    head = EMPTY
    while page := reader.entries(head.seq, PAGE):
        for entry in page:
            if entry.seq != head.seq + 1:
                raise broken(head.seq + 1, "is missing")
            data = entry.data
            if entry.hash != link(head.hash, entry.body) or data["seq"] != entry.seq:
                raise broken(entry.seq, "is not what was written")
            if (data["kind"] == "begin") != (entry.seq == 1):
                raise broken(entry.seq, "does not stand where a ledger begins")
            head = Head(entry.seq, entry.hash)
            yield entry


class Book:
    """The accounts as the entries alone tell them."""

    def __init__(self) -> None:
        self.datasets: dict[str, DataSet] = {}
        self.accounts: dict[Place, Account] = {}
        self.pending: dict[int, dict[str, Any]] = {}
        self.kinds: Counter[str] = Counter()
        self.marks: dict[bytes, tuple[int, str]] = {}

    def read(self, entry: Entry, reader: Reader) -> None:
        """Do what one entry says, and check what it left behind."""
        data = entry.data
        self.kinds[data["kind"]] += 1
        match data["kind"]:
            case "begin" | "anchor":
                pass
            case "declare":
                self._declare(data)
            case "reserve":
                self._charge(entry, self._place(data, data["analyst"]), data)
                self._charge(entry, self._place(data, None), data)
                self.pending[entry.seq] = data
                self._marked(entry, "release", data["dataset"], data["request"])
            case "share":
                self._charge(entry, self._place(data, data["analyst"]), data)
                names = (data["dataset"], data["analyst"], data["request"])
                self._marked(entry, "share", *names)
            case "repeat":
                pass
            case "settle":
                self._settle(entry, data, reader)
            case "basis":
                self._rest(data["dataset"], compact(data["basis"]))
            case "grant" | "revoke":
                self._change(data)
            case "reopen":
                for account in self.accounts.values():
                    account.cap = account.spent
            case _:
                raise broken(entry.seq, "is of a kind that nobody wrote")
        if data["kind"] in {"reserve", "share", "repeat"} and data["key"] is not None:
            names = (data["dataset"], data["analyst"], data["key"])
            self._marked(entry, "key", *names)

    def look(self, reader: Reader) -> None:
        """Refuse marks that do not lead back to the entries read since the last look."""
        found = reader.find(tuple(self.marks))
        for each, (seq, what) in self.marks.items():
            if found.get(each) != seq:
                raise _lost(seq, what)
        self.marks = {}

    def compare(self, reader: Reader) -> None:
        """Refuse tables that say anything else than the entries."""
        kept = {account.place: account for account in reader.accounts()}
        for place in {*kept, *self.accounts}:
            if kept.get(place) != self.accounts.get(place):
                raise _changed(f"the balance of {place} is not the sum of its entries")
        if {each.name: each for each in reader.datasets()} != self.datasets:
            raise _changed("the data sets are not those that were declared")
        for reserved in self.pending:
            if reader.answer(reserved) is not None:
                raise _changed(f"the answer of entry {reserved} was never settled")

    def _place(self, data: dict[str, Any], analyst: str | None) -> Place:
        if analyst is None:
            return self.datasets[data["dataset"]].place
        return Place("analyst", data["dataset"], analyst)

    def _declare(self, data: dict[str, Any]) -> None:
        words = (data["dataset"], data["people"], data["relation"], data["accountant"])
        terms = DataSet(*words, basis=compact(data["basis"]) if "basis" in data else "")
        self.datasets[terms.name] = terms
        self.accounts.setdefault(terms.place, _account(terms.place, data["cap"]))
        for name, cap in data["analysts"].items():
            place = Place("analyst", terms.name, name)
            self.accounts[place] = _account(place, cap)

    def _rest(self, dataset: str, basis: str) -> None:
        self.datasets[dataset] = replace(self.datasets[dataset], basis=basis)

    def _change(self, data: dict[str, Any]) -> None:
        place = self._place(data, data["analyst"])
        if data["kind"] == "revoke":
            self.accounts[place].revoked = True
            return
        if "basis" in data:
            self._rest(data["dataset"], "")
        before = self.accounts.get(place)
        self.accounts[place] = _account(place, data["cap"])
        if before is not None:
            self.accounts[place].spent = before.spent

    def _charge(self, entry: Entry, place: Place, data: dict[str, Any]) -> None:
        account = self.accounts[place]
        cost = (data["cost"][0], data["cost"][1])
        if min(cost) < 0 or not account.covers(cost):
            raise broken(entry.seq, f"spends more than the cap of {place}")
        account.spend(cost)

    def _settle(self, entry: Entry, data: dict[str, Any], reader: Reader) -> None:
        answer = reader.answer(data["reserved"])
        if self.pending.pop(data["reserved"], None) is None:
            raise broken(entry.seq, "settles a reservation that is not open")
        if answer is None or sha256(answer).hexdigest() != data["answer"]:
            raise _changed(f"the answer that entry {entry.seq} settled is not the one kept")

    def _marked(self, entry: Entry, *words: str) -> None:
        wanted = mark(*words)
        if wanted in self.marks:
            raise _lost(entry.seq, words[0])
        self.marks[wanted] = entry.seq, words[0]


def _account(place: Place, cap: dict[str, Any]) -> Account:
    units = (cap["units"][0], cap["units"][1])
    return Account(place, units, (0, 0), cap["epsilon"], cap["delta"])


def _lost(seq: int, what: str) -> LedgerCorrupt:
    return _changed(f"the {what} of entry {seq} cannot be found by its mark")


def _changed(what: str) -> LedgerCorrupt:
    return LedgerCorrupt(
        f"the ledger does not agree with its own entries: {what}.",
        hint="keep the file as evidence, and bring back a copy that `discreet ledger verify` "
        "accepts.",
    )
