"""A ledger as one analyst's session uses it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from discreet.errors import DiscreetError, PolicyDiffers
from discreet.events import Event
from discreet.ledger.accounts import DataSet
from discreet.ledger.draft import Draft
from discreet.ledger.ledger import Ledger, Reservation, Stored
from discreet.ledger.requests import Declare
from discreet.ledger.store import Store
from discreet.ledger.terms import require_unchanged


class AskedLedger(Ledger):
    """Refuses where policy and ledger differ: only who is concerned, and when it is asked about.

    A session states all data sets of its policy at once. One that differs is refused when it is
    used, so that a cap which the curator has still to grant closes nothing else. They are compared
    anew for each charge: a session goes on once the difference is granted, and what is granted
    beyond its policy is not for it to spend.
    """

    def __init__(self, store: Store, *, analyst: str, known_as: str) -> None:
        super().__init__(store)
        self.analyst = analyst
        self.known_as = known_as
        self._stated: dict[str, Declare] = {}
        self._differing: set[str] = set()

    def reserve(
        self,
        *,
        dataset: str,
        analyst: str,
        key: str | None,
        request_sha256: str | bytes,
        events: Iterable[Event],
    ) -> Reservation | Stored:
        """As every ledger, unless the policy states something else than the ledger holds."""
        with known_as(self.known_as):
            self._require_unchanged(dataset)
            return super().reserve(
                dataset=dataset,
                analyst=analyst,
                key=key,
                request_sha256=request_sha256,
                events=events,
            )

    def require_one(self, datasets: Iterable[str]) -> None:
        """Refuse if every one of these differs: then there is nothing to ask."""
        mine = list(datasets)
        if all(name in self._differing for name in mine):
            for name in mine:
                self._fixed(name)

    def _state(self, request: Declare) -> None:
        mine = self._stated[request.dataset] = replace(request, asking=self.analyst)
        try:
            super()._state(mine)
        except PolicyDiffers:
            self._differing.add(request.dataset)

    def _require_unchanged(self, dataset: str) -> None:
        known, stated = self._fixed(dataset), self._stated.get(dataset)
        if stated is None:
            raise PolicyDiffers(f"the policy states nothing about {dataset!r}.")
        with self.store.reading() as reader:
            draft = Draft(reader, reader.head())
            known = draft.dataset(dataset) or known
            require_unchanged(draft, known, stated.terms, stated)
        if stated.basis and not known.basis:
            raise PolicyDiffers(
                f"the curator has accepted another basis for {dataset!r} than this session has.",
                hint="open the session again.",
            )

    def _fixed(self, dataset: str) -> DataSet:
        if dataset in self._differing:
            with known_as(self.known_as):
                super()._state(self._stated[dataset])
            self._differing.remove(dataset)
        return super()._fixed(dataset)


@contextmanager
def known_as(place: str) -> Iterator[None]:
    """Let hints name the ledger as whoever reads them does.

    >>> from discreet.errors import LedgerClosed
    >>> with known_as("env:LEDGER_DSN"):
    ...     raise LedgerClosed("it is old.", hint="discreet ledger reopen LEDGER")
    Traceback (most recent call last):
    discreet.errors.LedgerClosed: it is old.
    <BLANKLINE>
    Hint: discreet ledger reopen env:LEDGER_DSN
    """
    try:
        yield
    except DiscreetError as error:
        if error.hint is not None:
            error.hint = re.sub(r"\bLEDGER\b", lambda _: place, error.hint)
            error.args = (f"{error.message}\n\nHint: {error.hint}",)
        raise
