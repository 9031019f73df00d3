"""What every store has in common: one transaction, from the head it finds to the head it leaves."""

from __future__ import annotations

import os
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from discreet.errors import DiscreetError, LedgerClosed, LedgerCorrupt, LedgerFailed, Refused
from discreet.ledger.anchor import Anchor
from discreet.ledger.draft import Draft, Reader
from discreet.ledger.entries import EMPTY, FORMAT, GENESIS, Head, entries, link
from discreet.ledger.requests import Reopen, Reply, Request
from discreet.ledger.rules import decide

TAIL = 1000
"""How many of the last entries are checked when a ledger is opened; ``verify`` checks all."""


LOOKS = 16
"""After a wrong guess, in how many transactions a store looks before it writes."""


class Mistaken(Exception):
    """A guess was wrong: somebody has written, or a request is on record. Nothing was written."""


class Store(ABC):
    """A durable home for entries, accounts and answers.

    ``commit`` takes any number of requests into one durable transaction. Nothing is replied
    before that transaction is on disk, and an error of the store replies to nobody.
    """

    name: str
    id: str
    """By which a ledger and its anchor know each other."""
    guesses = False

    def __init__(self) -> None:
        self.anchor: Anchor | None = None
        self._mutex = threading.RLock()
        self._draft: Draft | None = None
        self._seen: Head | None = None
        self._looks = 0
        _STORES.add(self)

    def _opened(self, *, despite_anchor: bool) -> None:
        """Look at what was opened before anything is charged to it."""
        try:
            with self.reading() as reader:
                head = reader.head()
                meta = reader.meta()
                self.id = meta.get("ledger", "")
                require_begun(reader, self.id, f"the ledger {self.name}")
                require_tail(reader, head)
                if "anchor" in meta:
                    self.anchor = Anchor(Path(meta["anchor"]), self.id)
                    if not despite_anchor:
                        self.check_history(reader, head)
        except BaseException:
            self.close()
            raise

    def after_fork(self) -> None:
        """In a child: the locks may be held by threads that do not exist here."""
        self._mutex = threading.RLock()
        self._draft = None

    def submit(self, request: Request) -> Reply:
        """Commit one request, alone or with others that are waiting."""
        (reply,) = self.commit([request])
        if isinstance(reply, DiscreetError):
            raise reply
        return reply

    def commit(self, requests: Sequence[Request]) -> list[Reply | DiscreetError]:
        """Commit all requests in one transaction; each has its own reply or refusal.

        Most requests are new, and mostly nobody else has written since. So a store that guesses
        decides on what it remembers and writes, if the head is still the one that it knows; the
        primary key of the marks tells when a request was not new. After a wrong guess it looks
        first, and for a while after.
        """
        with self._mutex:
            if self.guesses and self._looks == 0 and self._draft is not None:
                try:
                    return self._transact(requests, self._draft)
                except Mistaken:
                    self._looks = LOOKS
            self._looks = max(0, self._looks - 1)
            return self._transact(requests)

    def _transact(
        self, requests: Sequence[Request], remembered: Draft | None = None
    ) -> list[Reply | DiscreetError]:
        try:
            draft = remembered or self._current(self._begin(), requests)
            head, draft.guessing = draft.head, remembered is not None
            replies = decide_all(draft, requests)
            if remembered is not None:
                self._write_after(head, draft)
            else:
                self._write_or_cancel(draft)
        except BaseException as error:
            self._draft = None
            known = self._translated(error)
            self._abandon()
            if known is error:
                raise
            raise known from error
        self._written(draft)
        return replies

    def _write_after(self, head: Head, draft: Draft) -> None:
        """Write what a draft has new, in one transaction, if the chain still ends at ``head``."""
        if self._begin() != head:
            raise Mistaken
        self._write_or_cancel(draft)

    def _write_or_cancel(self, draft: Draft) -> None:
        if draft.new_entries:
            self._write(draft)
            self._finish()
        else:
            self._cancel()

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """One consistent view of everything."""
        with self._mutex:
            try:
                yield self._view()
            except Exception as error:
                known = self._translated(error)
                if known is error:
                    raise
                raise known from error
            finally:
                self._abandon()

    def _current(self, head: Head, requests: Sequence[Request] = ()) -> Draft:
        """The draft kept from before, if nobody has written in between; else a new one."""
        draft = self._draft
        if draft is not None and draft.head == head:
            return draft
        if head == EMPTY:
            raise empty(f"the ledger {self.name}")
        reader = self._reader()
        if not any(isinstance(request, Reopen) for request in requests):
            self.check_history(reader, head)
        self._draft = Draft(reader, head)
        return self._draft

    def check_history(self, reader: Reader, head: Head) -> None:
        """Refuse a ledger that is older than this process or the anchor has seen it."""
        if self._seen is not None:
            require_descent(reader, head, self._seen, f"the ledger {self.name}")
        if self.anchor is not None:
            require_descent(reader, head, self.anchor.read(), f"the ledger {self.name}")

    def lost(self, head: Head) -> int:
        """How many entries the anchor knows of and a closed ledger does not."""
        with self.reading() as reader:
            try:
                self.check_history(reader, head)
            except LedgerClosed:
                pass
            else:
                raise Refused(
                    f"the ledger {self.name} is not closed.",
                    hint="`discreet ledger grant` changes a cap.",
                )
        try:
            seen = EMPTY if self.anchor is None else self.anchor.read()
        except LedgerClosed:
            return 0
        return max(0, seen.seq - head.seq)

    def _written(self, draft: Draft) -> None:
        new = draft.new_entries
        self._seen = draft.head
        if "anchor" in draft.new_meta:
            if self.anchor is not None:  # the last that it is told: a copy from before is older
                self.anchor.advance(draft.head)
            self.anchor = Anchor(Path(draft.new_meta["anchor"]), self.id)
        if new:
            draft.clear()
            if self.anchor is not None:
                reopened = new[0].data["kind"] == "reopen"
                self.anchor.advance(draft.head, back=reopened)

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""

    @abstractmethod
    def check(self) -> None:
        """Let the database look at its own pages."""

    @abstractmethod
    def _begin(self) -> Head: ...

    @abstractmethod
    def _reader(self) -> Reader: ...

    @abstractmethod
    def _view(self) -> Reader: ...

    @abstractmethod
    def _write(self, draft: Draft) -> None: ...

    @abstractmethod
    def _finish(self) -> None: ...

    @abstractmethod
    def _cancel(self) -> None: ...

    @abstractmethod
    def _abandon(self) -> None: ...

    @abstractmethod
    def _translated(self, error: BaseException) -> BaseException: ...


_STORES: weakref.WeakSet[Store] = weakref.WeakSet()


def _after_fork() -> None:
    for store in list(_STORES):
        store.after_fork()


os.register_at_fork(after_in_child=_after_fork)


def decide_all(draft: Draft, requests: Sequence[Request]) -> list[Reply | DiscreetError]:
    """Each request's reply, or the reason for which it was refused."""
    at = now()
    return [_decided(draft, request, at) for request in requests]


def _decided(draft: Draft, request: Request, at: str) -> Reply | DiscreetError:
    try:
        return decide(draft, request, at)
    except DiscreetError as refusal:
        if not draft.guessing:
            return refusal
    draft.guessing = False  # what a new request is refused, one on record may have: look
    try:
        return _decided(draft, request, at)
    finally:
        draft.guessing = True


def require_descent(reader: Reader, head: Head, seen: Head, what: str) -> None:
    """Refuse unless ``seen`` is on the chain that ends at ``head``."""
    if seen.seq == 0:
        return
    found = reader.entries(seen.seq - 1, 1)
    if head.seq >= seen.seq and found and found[0].hash == seen.hash:
        return
    lost = "its history is another one"
    if head.seq < seen.seq:
        missing = seen.seq - head.seq
        lost = f"{entries(missing)} {'is' if missing == 1 else 'are'} missing at its end"
    raise LedgerClosed(
        f"{what} is not the one last seen: {lost}, so more has been spent than it knows. "
        "It looks like a restored backup.",
        hint="bring the latest ledger back, or decide to go on with this one: "
        "discreet ledger reopen LEDGER (every cap falls to what is spent, then grant anew).",
    )


def require_begun(reader: Reader, ledger: str, what: str) -> None:
    """Refuse a ledger without its first entry: it was emptied, and nobody knows what was spent."""
    first = next(iter(reader.entries(0, 1)), None)
    if first is None:
        raise empty(what)
    if first.seq != 1 or first.hash != link(GENESIS, first.body):
        raise broken(1, "is missing" if first.seq != 1 else "is not what was written")
    data = first.data
    if (data["kind"], data.get("ledger")) != ("begin", ledger):
        raise broken(1, "does not begin this ledger")
    if data["format"] != FORMAT:
        raise LedgerFailed(
            f"{what} is of format {data['format']}, and this program knows format {FORMAT}.",
            hint="use the newer release of discreet that wrote it.",
        )


def require_tail(reader: Reader, head: Head) -> None:
    """Refuse a ledger whose last entries do not hang together."""
    after = max(0, head.seq - TAIL - 1)
    previous = GENESIS
    for index, entry in enumerate(reader.entries(after, TAIL + 1)):
        if entry.seq != after + 1 + index:
            raise broken(after + 1 + index, "is missing")
        if (index > 0 or after == 0) and entry.hash != link(previous, entry.body):
            raise broken(entry.seq, "is not what was written")
        previous = entry.hash


def empty(what: str) -> LedgerCorrupt:
    """The error of a ledger in which not even the first entry is left."""
    return LedgerCorrupt(
        f"{what} is empty: not even the entry is there with which every ledger begins. Whatever "
        "was spent is still spent.",
        hint="bring back a copy that `discreet ledger verify` accepts.",
    )


def broken(seq: int, what: str) -> LedgerCorrupt:
    """The error of a chain that does not hold."""
    return LedgerCorrupt(
        f"the chain of the ledger is broken: entry {seq} {what}.",
        hint="keep the file as evidence, and bring back a copy that `discreet ledger verify` "
        "accepts.",
    )


def now() -> str:
    """The time of an entry: UTC, to the microsecond."""
    second, microsecond = divmod(time.time_ns() // 1000, 1_000_000)
    return f"{_spelt(second)}.{microsecond:06d}Z"


@lru_cache(maxsize=1)
def _spelt(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
