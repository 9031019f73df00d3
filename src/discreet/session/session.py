"""Plan, price, reserve, run, add noise, store, answer: in this order and no other."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction
from types import TracebackType
from typing import Any, Self, Unpack

import numpy as np

from discreet.accounting.filters import cost
from discreet.answer import Answer, Cell, Column, Cost
from discreet.engines.protocol import Progress
from discreet.errors import InvalidInput, InvalidQuery
from discreet.ledger import Balance, Ledger, Stored
from discreet.plan.query import Query
from discreet.plan.schema import Schema
from discreet.policy.model import EACH_ROW, Dataset, Policy
from discreet.session.bar import Bar
from discreet.session.data import Data, Snapshot
from discreet.session.diagnosis import over_the_cap, unfit_cells
from discreet.session.explanation import Explanation, explain, facts
from discreet.session.home import Home, fingerprint
from discreet.session.measure import Aggregates, collect, public_groups
from discreet.session.offer import offering
from discreet.session.postprocess import Output, postprocess, simulated
from discreet.session.request import Request
from discreet.session.simulation import require_reachable
from discreet.session.steady import steady
from discreet.session.table import NoisyTable, Released
from discreet.session.terms import (
    Terms,
    confidence_of,
    noise_on,
    number_of_groups,
    require_affordable,
    require_known,
    wanted,
)
from discreet.sql.core import measure
from discreet.sql.queries import read_query


class Session:
    """Private SQL over the data sets of a policy, for one analyst.

    Answers are charged to the ledger before a row is read; a crash keeps the charge, and nothing is
    ever refunded. The same question asked again returns the same answer, free; to another analyst
    it costs what it costs, of their own cap alone.
    """

    def __init__(self, policy: Policy, *, ledger: Ledger, home: Home, analyst: str) -> None:
        self.policy = policy
        self.ledger = ledger
        self.analyst = analyst
        self._key = home.key()
        self._closed = False
        self.progress: Progress | None = None
        """Told how far a snapshot is, when one is made; left None, a bar is drawn for people."""
        self._schemas = {
            name.lower(): Schema.of(dataset) for name, dataset in policy.datasets.items()
        }
        self._data = {
            name: Data(policy, dataset, home) for name, dataset in policy.datasets.items()
        }
        for dataset in policy.datasets.values():
            ledger.declare(
                dataset.name,
                budget=dataset.budget.total,
                accountant=accountant_of(dataset),
                analysts={name: cap.total for name, cap in dataset.analysts.items()},
                people=dataset.pool_name,
                relation=str(dataset.relation),
                basis={"unit": dataset.unit or EACH_ROW, "key": fingerprint(self._key)},
            )

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
        """Let go of engines and ledger; nothing is answered or charged from then on."""
        self._closed = True
        for data in self._data.values():
            data.close()
        self.ledger.close()

    # Asking ------------------------------------------------------------------------------------

    def sql(self, text: str, *, key: str | None = None, **terms: Unpack[Terms]) -> Answer:
        """The private answer to a query, for ``epsilon`` or ``within`` an error.

        With ``within`` the cheapest epsilon that keeps the error of every number (or of one
        ``column``) within the target is found from public facts; ``epsilon`` is then the most that
        may be spent, and if more is needed nothing is. ``simultaneous`` asks for all groups at
        once; averages and ratios need ``assuming`` a group's size. ``key`` makes a retry safe.
        """
        return self._ask(self._read(text), key, terms)

    def diagnose(
        self, dataset: str | None = None, *, key: str | None = None, **terms: Unpack[Terms]
    ) -> Answer:
        """How many people have more rows than are kept: private, and charged like any query."""
        return self._ask(over_the_cap(self._dataset(dataset)), key, terms)

    def diagnose_cells(
        self, dataset: str | None = None, *, key: str | None = None, **terms: Unpack[Terms]
    ) -> Answer:
        """How many cells are NULL or none of the keys, by column: private, and charged too."""
        return self._ask(unfit_cells(self._dataset(dataset)), key, terms)

    def explain(self, text: str, **terms: Unpack[Terms]) -> Explanation:
        """What a query would cost and how large its error would be. Nothing is spent."""
        request = self._plan(self._read(text), None, terms, shown=True)
        left = self.left(request.dataset.name)
        charge = cost(request.events, accountant_of(request.dataset))
        return explain(
            request,
            charge=dict(zip(left, charge, strict=True)),
            left=left,
            wanted=wanted(terms, request.query, request.dataset),
        )

    def plan(self, text: str, *, key: str | None = None, **terms: Unpack[Terms]) -> Request:
        """Read, bound and price a query. No private row is looked at."""
        return self._plan(self._read(text), key, terms)

    def _read(self, text: str) -> Query:
        if not isinstance(text, str):
            raise InvalidQuery(
                f"a query is text, and this is of type {type(text).__name__}.",
                hint='"SELECT COUNT(*) FROM visits"',
            )
        return read_query(text, self._schemas)

    def _plan(self, query: Query, key: str | None, terms: Terms, *, shown: bool = False) -> Request:
        """``shown`` is for reading: its SQL never held the key, which decides what is kept."""
        self._require_open()
        require_known(terms)
        dataset = self.policy.datasets[query.core.dataset]
        if query.core.keys and query.core.keys_are_public:
            public_groups(query.core)  # refuses too many
        noise = noise_on(terms, query, dataset)
        confidence = confidence_of(terms, dataset)
        found = simulated(query.stages, noise.lowered.recipes)
        require_reachable(confidence, found, groups=number_of_groups(query))
        data = self._data[dataset.name]
        measurement = measure(
            query.core,
            noise.lowered,
            table=data.shown if shown else data.table,
            dialect=data.dialect,
            bounding=noise.bounding,
            key=None if shown else self._key,
        )
        return Request(
            query,
            dataset,
            noise,
            measurement,
            confidence,
            "" if shown else self.prepare(dataset.name),
            # Live rows may have changed since: only a key makes two questions the same.
            once=data.live,
            key=key,
        )

    def _ask(self, query: Query, key: str | None, terms: Terms) -> Answer:
        request = self._plan(query, key, terms)
        require_affordable(terms, request.noise.epsilon)
        bought = self._retried(request)
        dataset = request.dataset
        with offering(
            terms,
            query,
            dataset,
            accountant=accountant_of(dataset),
            left=lambda: self.left(dataset.name),
        ):
            reserved = self.ledger.reserve(
                dataset=dataset.name,
                analyst=self.analyst,
                key=key,
                request_sha256=bought.sha256,
                events=request.events,
            )
        stored, shared = isinstance(reserved, Stored), reserved.shared
        if isinstance(reserved, Stored):
            request = bought
        else:
            with steady(dataset.tick) if dataset.tick else nullcontext():
                released = self.release(request, self.aggregate(request))
            reserved = self.ledger.settle(reserved, released.to_bytes())
        table = NoisyTable.from_bytes(reserved.answer, query.core)
        outputs = postprocess(Released(table, request.noise), query.stages, request.confidence)
        return self._answer(request, outputs, stored=stored, shared=shared)

    def _retried(self, request: Request) -> Request:
        """The request that its key stands for, if that is this question of an earlier snapshot.

        What was bought before a snapshot was made anew is still the retry's. If the answer never
        came, it is taken from the rows of now: the charge is for one release, whichever it is.
        """
        data = self._data[request.dataset.name]
        if request.key is None or not (earlier := data.earlier()):
            return request
        first = self.ledger.keyed(request.dataset.name, analyst=self.analyst, key=request.key)
        if first in (None, request.sha256):
            return request
        then = (replace(request, snapshot=each) for each in earlier)
        return next((each for each in then if each.sha256 == first), request)

    # The seam: exact numbers in, noisy table out ------------------------------------------------

    def aggregate(self, request: Request) -> Aggregates:
        """The exact numbers of every group. Private: they go to ``release`` and nowhere else."""
        table = self._data[request.dataset.name].run(
            request.measurement.sql, snapshot=request.snapshot
        )
        return collect(table, request.query.core, request.noise.lowered, request.measurement)

    def release(self, request: Request, aggregates: Aggregates) -> NoisyTable:
        """The noisy table of exact numbers: fresh noise each time it is called."""
        with steady():
            shown, noisy = request.noise.release(aggregates.values, groups=aggregates.groups)
        places = np.flatnonzero(shown)
        return NoisyTable(aggregates.keys_at(places), tuple(noisy), len(places))

    # Snapshots and budgets ---------------------------------------------------------------------

    def prepare(
        self,
        dataset: str | None = None,
        *,
        refresh: bool = False,
        progress: Progress | None = None,
    ) -> str:
        """Make the snapshot of a data set if it is missing or outdated; its id.

        A refreshed snapshot spends from the same budget: it is about the same people.
        """
        data = self._data[self._dataset(dataset).name]
        with Bar(f"building the snapshot of {data.dataset.name}") as bar:
            return data.prepare(refresh=refresh, progress=progress or self.progress or bar)

    def snapshot(self, dataset: str | None = None) -> Snapshot | None:
        """The snapshot of a data set, if there is one."""
        return self._data[self._dataset(dataset).name].snapshot()

    def obstacle(self, dataset: str | None = None) -> str | None:
        """Why a data set has no snapshot although its policy wants one, for the curator."""
        return self._data[self._dataset(dataset).name].obstacle()

    def cancel(self) -> None:
        """Stop every query that is running; its charge is kept."""
        for data in self._data.values():
            data.cancel()

    def balance(self, dataset: str | None = None) -> Balance:
        """What this analyst may spend of a data set's budget, and has spent."""
        return self.ledger.balance(self._dataset(dataset).name, analyst=self.analyst)

    def left(self, dataset: str | None = None) -> dict[str, Fraction]:
        """What can still be spent: the smaller of the data set's rest and the analyst's."""
        name = self._dataset(dataset).name
        whole = self.ledger.balance(name).remaining
        own = self.ledger.balance(name, analyst=self.analyst).remaining
        return {component: min(whole[component], own[component]) for component in whole}

    def _dataset(self, name: str | None) -> Dataset:
        self._require_open()
        datasets = self.policy.datasets
        if name is None:
            return next(iter(datasets.values()))
        if name in datasets:
            return datasets[name]
        there = list(datasets)
        close = get_close_matches(str(name), there, n=1, cutoff=0.4) or there[:1]
        raise InvalidInput(
            f"there is no data set {name!r}: there are {', '.join(there)}.", hint=f'"{close[0]}"'
        )

    def _require_open(self) -> None:
        if self._closed:
            raise InvalidInput(
                "this session is closed, so nothing is answered and nothing charged.",
                hint='discreet.open("policy.toml") opens another.',
            )

    def _answer(
        self, request: Request, outputs: list[Output], *, stored: bool, shared: bool
    ) -> Answer:
        noise = request.noise
        zero = Fraction(0)
        return Answer(
            tuple(_column(output) for output in outputs),
            Cost(zero, zero) if stored and not shared else Cost(noise.epsilon, noise.delta),
            self.left(request.dataset.name),
            stored,
            request.snapshot,
            request.confidence,
            facts(request),
            shared,
            request.dataset.name,
        )


def accountant_of(dataset: Dataset) -> str:
    """The ledger's accountant: where deltas are summed, Gaussians are charged the query's own."""
    name = dataset.budget.accountant
    if name == "approximate" and dataset.delta_per_query is not None:
        return f"approximate:{dataset.delta_per_query}"
    return name


def _column(output: Output) -> Column:
    values: list[Cell] = []
    for value, valid in zip(output.values.data.tolist(), output.values.valid.tolist(), strict=True):
        if not valid:
            values.append(None)
        elif output.type == "integer" and isinstance(value, float):
            values.append(int(value))
        else:
            values.append(value)
    if output.low is None or output.high is None:
        return Column(output.name, output.type, tuple(values))
    return Column(
        output.name, output.type, tuple(values), _finite(output.low), _finite(output.high)
    )


def _finite(bounds: Any) -> tuple[float | None, ...]:
    return tuple(value if math.isfinite(value) else None for value in bounds.tolist())
