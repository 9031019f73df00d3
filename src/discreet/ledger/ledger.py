"""The ledger as the rest of the program sees it: names and numbers checked, events priced."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from discreet.accounting.loss import Budget
from discreet.accounting.measures import measure
from discreet.errors import InvalidInput, TooLarge, UnknownAccount
from discreet.events import Event
from discreet.ledger.accounts import DataSet, Place
from discreet.ledger.anchor import Anchor
from discreet.ledger.balance import Balance, balance_of
from discreet.ledger.draft import mark
from discreet.ledger.entries import Entry, compact
from discreet.ledger.given import basis_of, cap_of, digest_of, name_of, priced
from discreet.ledger.replay import Verified, verify
from discreet.ledger.requests import (
    Anchoring,
    Answered,
    Declare,
    Done,
    Grant,
    Reopen,
    Reserve,
    Reserved,
    Revoke,
    Settle,
)
from discreet.ledger.store import Store, require_descent
from discreet.ledger.units import amounts
from discreet.theory.neighbours import relation as as_relation

LARGEST_ANSWER = 256 * 2**20
PAGE = 1000


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge that is on disk: compute now, then ``settle``."""

    dataset: str
    analyst: str
    key: str | None
    request_sha256: str
    seq: int
    shared: bool = False
    """Whether it was another analyst's already, so that this one's own cap alone was charged."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer that is on disk, the same bytes for everyone who asks."""

    seq: int
    answer: bytes
    shared: bool = False
    """Whether the analyst's own cap was charged for it just now: another one had bought it."""


class Ledger:
    """Budgets that survive crashes, and the answers that were bought with them.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from discreet.ledger import create
    >>> ledger = create(Path(mkdtemp()) / "ledger.db")
    >>> ledger.declare("visits", budget=Budget(1), accountant="pure", analysts={"ann": Budget(1)})
    >>> count = Event("geometric", {"scale": 2}, 1)
    >>> first = ledger.reserve(
    ...     dataset="visits", analyst="ann", key="a", request_sha256="00" * 32, events=[count]
    ... )
    >>> ledger.settle(first, b"41").answer
    b'41'
    >>> ledger.reserve(
    ...     dataset="visits", analyst="ann", key="a", request_sha256="00" * 32, events=[count]
    ... ).answer
    b'41'
    >>> ledger.balance("visits").spent
    {'epsilon': Fraction(1, 2)}
    >>> ledger.close()
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._terms: dict[str, DataSet] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    def declare(
        self,
        dataset: str,
        *,
        budget: Budget,
        accountant: str,
        analysts: Mapping[str, Budget],
        people: str | None = None,
        relation: str = "add_remove",
        basis: Mapping[str, str] | None = None,
        asking: str | None = None,
    ) -> None:
        """Open a data set with its accountant and caps; later, make sure they are unchanged.

        Data sets over the same ``people`` share one cap. What differs from the ledger is refused
        until it is granted; accountant, relation and people are fixed for good. ``basis`` names
        what else the guarantee rests on, such as whose rows are counted as one person's: it is
        fixed by the first who states it, and holds until ``grant(..., new_basis=True)``.
        ``asking`` names the analyst whose session it is: what others may spend is then no reason
        to refuse.
        """
        chosen = measure(accountant)
        caps = {name_of(name, "analyst"): cap_of(chosen, each) for name, each in analysts.items()}
        self._state(
            Declare(
                name_of(dataset, "dataset"),
                name_of(dataset if people is None else people, "people"),
                str(as_relation(relation)),
                chosen.name,
                cap_of(chosen, budget),
                caps,
                basis_of(basis),
                asking,
            )
        )

    def reserve(
        self,
        *,
        dataset: str,
        analyst: str,
        key: str | None,
        request_sha256: str | bytes,
        events: Iterable[Event],
    ) -> Reservation | Stored:
        """Charge the events durably, or return what this request has already bought.

        The same request is free to the analyst who has it, is charged once to another analyst's
        own cap, and never to the data set again. ``key`` makes a retry safe and stands for one
        request for ever; ``None`` leaves the request itself to do so.
        """
        terms = self._fixed(dataset)
        price, text = priced(tuple(events), terms.accountant, terms.relation)
        request = digest_of(request_sha256)
        who = name_of(analyst, "analyst")
        if key is not None:
            name_of(key, "key")
        reply = self.store.submit(Reserve(dataset, who, key, request, price, text))
        if isinstance(reply, Answered):
            return Stored(reply.seq, reply.answer, reply.shared)
        assert isinstance(reply, Reserved)  # noqa: S101
        return Reservation(dataset, analyst, key, request, reply.seq, reply.shared)

    def keyed(self, dataset: str, *, analyst: str, key: str) -> str | None:
        """The digest of the request that a key of the analyst's stands for, if it stands for one.

        Nothing is charged: a retry whose digest has changed since, by a new snapshot, finds what
        it has already bought.
        """
        named = mark("key", self._fixed(dataset).name, name_of(analyst, "analyst"), key)
        with self.store.reading() as reader:
            seq = reader.find([named]).get(named)
            entry = None if seq is None else next(iter(reader.entries(seq - 1, 1)), None)
        return None if entry is None else str(entry.data["request"])

    def settle(self, reservation: Reservation, answer: bytes) -> Stored:
        """Keep the answer, durably; if there is one already, that one counts and is returned."""
        if len(answer) > LARGEST_ANSWER:
            raise TooLarge(
                f"an answer of {len(answer):,} bytes is more than a ledger keeps.",
                hint="ask for fewer groups; the most is 256 MiB.",
            )
        reply = self.store.submit(
            Settle(reservation.seq, reservation.request_sha256, bytes(answer))
        )
        assert isinstance(reply, Answered)  # noqa: S101
        return Stored(reply.seq, reply.answer)

    def grant(
        self,
        dataset: str,
        budget: Budget,
        *,
        analyst: str | None = None,
        new_basis: bool = False,
    ) -> None:
        """Set the cap of the data set, or of one analyst on it; never below what is spent.

        ``new_basis`` accepts that the data set goes on with another one, which the next
        ``declare`` states.
        """
        chosen = measure(self._fixed(dataset).accountant)
        if analyst is not None:
            name_of(analyst, "analyst")
            if new_basis:
                raise InvalidInput(
                    "the basis is the data set's, not one analyst's.", hint="leave analyst out."
                )
        self.store.submit(Grant(dataset, analyst, cap_of(chosen, budget), new_basis))

    def revoke(self, dataset: str, *, analyst: str | None = None) -> None:
        """Close the budget of the data set, or of one analyst on it, until it is granted anew."""
        self.store.submit(Revoke(name_of(dataset, "dataset"), analyst))

    def balance(self, dataset: str, *, analyst: str | None = None) -> Balance:
        """What is spent and left: of the data set, or of one analyst on it."""
        terms = self._fixed(dataset)
        place = terms.place if analyst is None else Place("analyst", dataset, analyst)
        with self.store.reading() as reader:
            account = reader.account(place)
        if account is None:
            raise UnknownAccount(
                f"the ledger has no budget for {place}.",
                hint=f"discreet ledger grant LEDGER {dataset} --analyst NAME --epsilon E",
            )
        return balance_of(account, terms)

    def balances(self) -> list[Balance]:
        """All accounts: each data set with its analysts below it."""
        with self.store.reading() as reader:
            datasets = reader.datasets()
            accounts = {account.place: account for account in reader.accounts()}
        found = []
        for terms in datasets:
            found.append(balance_of(accounts[terms.place], terms))
            found += [
                balance_of(account, terms)
                for place, account in accounts.items()
                if place.kind == "analyst" and place.name == terms.name
            ]
        return found

    def history(self, dataset: str | None = None, *, analyst: str | None = None) -> Iterator[Entry]:
        """The entries in order, or those of one data set or analyst."""
        if dataset is None and analyst is None:
            yield from self._entries()
            return
        mine: set[int] = set()
        for entry in self._entries():
            data = entry.data
            settled = data.get("reserved") in mine and data["kind"] == "settle"
            about = dataset in (None, data.get("dataset")) and "dataset" in data
            if settled or (about and analyst in (None, data.get("analyst"))):
                mine.add(int(data.get("reserved", entry.seq)))
                yield entry

    def charged(self, entry: Entry) -> dict[str, Fraction]:
        """What an entry took of the budgets, in the accountant's terms; empty if nothing."""
        data = entry.data
        if "cost" not in data:
            return {}
        cost, delta = data["cost"]
        return amounts((cost, delta), measure(self._fixed(data["dataset"]).accountant))

    def events(self, dataset: str) -> list[Event]:
        """Every event that the data set was charged for, in order."""
        self._fixed(dataset)
        return [
            Event.from_json(event)
            for entry in self.history(dataset)
            if (data := entry.data)["kind"] == "reserve"
            for event in data["events"]
        ]

    def verify(self) -> Verified:
        """Check every page, every link of the chain, and every balance against its entries."""
        self.store.check()
        with self.store.reading() as reader:
            self.store.check_history(reader, reader.head())
            return verify(reader)

    def export(self, file: TextIO, *, answers: bool = False) -> int:
        """Write the chain as JSON lines that any program can check; returns how many."""
        count = 0
        for entry in self._entries():
            line: dict[str, object] = {
                "seq": entry.seq,
                "hash": entry.hash.hex(),
                "body": entry.body,
            }
            if answers and (data := entry.data)["kind"] == "settle":
                with self.store.reading() as reader:
                    line["answer"] = (reader.answer(data["reserved"]) or b"").hex()
            file.write(compact(line) + "\n")
            count += 1
        return count

    def reopen(self) -> int:
        """The curator's decision to go on with a ledger that is older than its anchor.

        Every cap falls to what this ledger knows to be spent; ``grant`` what may be spent from
        here on. Returns how many entries are known to be lost.
        """
        with self.store.reading() as reader:
            head = reader.head()
        lost = self.store.lost(head)
        reply = self.store.submit(Reopen(lost))
        assert isinstance(reply, Done)  # noqa: S101
        return lost

    @property
    def id(self) -> str:
        """What the ledger was named when it was begun: no other has this name."""
        return self.store.id

    def based(self) -> set[str]:
        """The names of the data sets that have a basis, and of the people they are about."""
        with self.store.reading() as reader:
            found = reader.datasets()
        return {name for each in found if each.basis for name in (each.name, each.people)}

    @property
    def anchor(self) -> Path | None:
        """The file that remembers how far the ledger has come, if it has one."""
        return None if self.store.anchor is None else self.store.anchor.path

    def set_anchor(self, path: str | os.PathLike[str]) -> None:
        """Give the ledger an anchor, or another one; the file must be new.

        Processes that have the ledger open take it up when they open it again.
        """
        held = Path(path).absolute()
        if self.anchor == held:
            return
        seen = Anchor.take(held, self.id).read()
        with self.store.reading() as reader:
            require_descent(reader, reader.head(), seen, f"the ledger {self.store.name}")
        self.store.submit(Anchoring(str(held)))

    def _entries(self) -> Iterator[Entry]:
        after = 0
        while True:
            with self.store.reading() as reader:
                page = reader.entries(after, PAGE)
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1].seq

    def _state(self, request: Declare) -> None:
        """What a policy states, to be opened or found unchanged."""
        self.store.submit(request)

    def _fixed(self, dataset: str) -> DataSet:
        """Accountant, relation and people of a data set, which never change."""
        terms = self._terms.get(dataset)
        if terms is None:
            name_of(dataset, "dataset")
            with self.store.reading() as reader:
                terms = reader.dataset(dataset)
            if terms is None:
                raise UnknownAccount(
                    f"the ledger has no data set {dataset!r}.",
                    hint="the curator opens it: discreet ledger init LEDGER --dataset NAME "
                    "--epsilon E",
                )
            self._terms[dataset] = terms
        return terms
