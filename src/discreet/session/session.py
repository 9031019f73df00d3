"""Plan, price, reserve, run, add noise, store, answer: in this order and no other."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from glob import glob
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from discreet.accounting.filters import cost
from discreet.answer import Answer, Cell, Column, Cost
from discreet.engines.duckdb import TABLE, DuckDB
from discreet.engines.protocol import Progress
from discreet.errors import InvalidEpsilon, InvalidInput
from discreet.exact import Rational, positive
from discreet.exact import confidence as exact_confidence
from discreet.exact import delta as exact_delta
from discreet.exact import epsilon as exact_epsilon
from discreet.ledger import Balance, Ledger, Stored
from discreet.plan.noise import NoisePlan, plan_noise
from discreet.plan.predict import Target, least_epsilon
from discreet.plan.primitives import Lowered, Recipe, lower
from discreet.plan.query import Query
from discreet.plan.schema import Schema
from discreet.policy.model import Dataset, Policy
from discreet.session.explanation import Explanation, explain, facts
from discreet.session.files import header
from discreet.session.home import Home
from discreet.session.measure import Aggregates, collect, public_groups
from discreet.session.postprocess import Output, bare_aggregates, postprocess
from discreet.session.request import Request
from discreet.session.table import NoisyTable, Released
from discreet.sql.core import measure
from discreet.sql.dialects import DUCKDB
from discreet.sql.queries import read_query
from discreet.sql.snapshot import Header, duckdb_source, snapshot


class Session:
    """Private SQL over the data sets of a policy, for one analyst.

    Answers are charged to the ledger before a row is read; a crash keeps the charge, and nothing is
    ever refunded. The same question asked again returns the same answer, free.
    """

    def __init__(self, policy: Policy, *, ledger: Ledger, home: Home, analyst: str) -> None:
        self.policy = policy
        self.ledger = ledger
        self.home = home
        self.analyst = analyst
        self._schemas = {
            name.lower(): Schema.of(dataset) for name, dataset in policy.datasets.items()
        }
        self._engines: dict[str, DuckDB] = {}
        for dataset in policy.datasets.values():
            ledger.declare(
                dataset.name,
                budget=dataset.budget.total,
                accountant=accountant_of(dataset),
                analysts={name: cap.total for name, cap in dataset.analysts.items()},
                people=dataset.pool_name,
                relation=str(dataset.relation),
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
        """Let go of engines and ledger."""
        for engine in self._engines.values():
            engine.close()
        self.ledger.close()

    # Asking ------------------------------------------------------------------------------------

    def sql(
        self,
        text: str,
        *,
        epsilon: Rational | None = None,
        delta: Rational | None = None,
        within: Rational | None = None,
        confidence: Rational | None = None,
        column: str | None = None,
        simultaneous: bool = False,
        assuming: int | None = None,
        key: str | None = None,
    ) -> Answer:
        """The private answer to a query.

        ``epsilon`` is what it costs. With ``within`` it is the most that it may cost: the cheapest
        epsilon that keeps the error of every count, sum and average (or of one ``column``) within
        the target is found from public facts, and if it is more than that nothing is spent.
        ``simultaneous`` asks for all groups at once; averages need ``assuming`` a group's size.
        ``key`` makes a retry safe.
        """
        request = self.plan(
            text,
            epsilon=epsilon,
            delta=delta,
            within=within,
            confidence=confidence,
            column=column,
            simultaneous=simultaneous,
            assuming=assuming,
        )
        if within is not None:
            _affordable(request.noise.epsilon, epsilon)
        reserved = self.ledger.reserve(
            dataset=request.dataset.name,
            analyst=self.analyst,
            key=key,
            request_sha256=request.sha256,
            events=request.events,
        )
        fresh = not isinstance(reserved, Stored)
        if not isinstance(reserved, Stored):
            released = self.release(request, self.aggregate(request))
            reserved = self.ledger.settle(reserved, released.to_bytes())
        table = NoisyTable.from_bytes(reserved.answer, request.query.core)
        outputs = postprocess(
            Released(table, request.noise), request.query.stages, request.confidence
        )
        return self._answer(request, outputs, stored=not fresh)

    def explain(
        self,
        text: str,
        *,
        epsilon: Rational | None = None,
        delta: Rational | None = None,
        within: Rational | None = None,
        confidence: Rational | None = None,
        column: str | None = None,
        simultaneous: bool = False,
        assuming: int | None = None,
    ) -> Explanation:
        """What a query would cost and how large its error would be. Nothing is spent."""
        request = self.plan(
            text,
            epsilon=epsilon,
            delta=delta,
            within=within,
            confidence=confidence,
            column=column,
            simultaneous=simultaneous,
            assuming=assuming,
        )
        charge = cost(request.events, accountant_of(request.dataset))
        left = self._left(request.dataset.name)
        cells = _groups(request.query) or 1 if simultaneous else 1
        return explain(
            request,
            charge=dict(zip(left, charge, strict=True)),
            left=left,
            cells=cells,
            assuming=assuming,
        )

    def plan(
        self,
        text: str,
        *,
        epsilon: Rational | None = None,
        delta: Rational | None = None,
        within: Rational | None = None,
        confidence: Rational | None = None,
        column: str | None = None,
        simultaneous: bool = False,
        assuming: int | None = None,
    ) -> Request:
        """Read, bound and price a query. No private row is looked at."""
        query = read_query(text, self._schemas)
        dataset = self.policy.datasets[query.core.dataset]
        chosen = dataset.delta_per_query if delta is None else exact_delta(delta)
        wanted = dataset.confidence if confidence is None else exact_confidence(confidence)
        lowered = lower(query.core)

        def noise_at(price: Fraction) -> NoisePlan:
            return plan_noise(query.core, lowered, dataset, epsilon=price, delta=chosen)

        if within is not None:
            target = Target(
                positive(within, name="within"),
                wanted,
                (_groups(query) or 1) if simultaneous else 1,
                assuming,
            )
            price = least_epsilon(noise_at, _targeted(query, lowered, column), target)
        elif epsilon is None:
            raise InvalidEpsilon(
                "the query has no price: neither epsilon nor an error target is given.",
                hint="epsilon=0.5, or within=50 to see which epsilon that error needs.",
            )
        else:
            price = exact_epsilon(epsilon)
        if query.core.keys and query.core.keys_are_public:
            public_groups(query.core)  # refuses too many
        noise = noise_at(price)
        measurement = measure(
            query.core, noise.lowered, table=TABLE, rows_per_unit=None, dialect=DUCKDB
        )
        return Request(query, dataset, noise, measurement, wanted, self.prepare(dataset.name))

    # The seam: exact numbers in, noisy table out ------------------------------------------------

    def aggregate(self, request: Request) -> Aggregates:
        """The exact numbers of every group. Private: they go to ``release`` and nowhere else."""
        table = self._engine(request.dataset).run(request.measurement.sql)
        return collect(table, request.query.core, request.noise.lowered, request.measurement)

    def release(self, request: Request, aggregates: Aggregates) -> NoisyTable:
        """The noisy table of exact numbers: fresh noise each time it is called."""
        shown, noisy = request.noise.release(aggregates.values, groups=aggregates.groups)
        places = np.flatnonzero(shown)
        return NoisyTable(aggregates.keys_at(places), tuple(noisy), len(places))

    # Snapshots ---------------------------------------------------------------------------------

    def prepare(
        self, dataset: str, *, refresh: bool = False, progress: Progress | None = None
    ) -> str:
        """Make the snapshot of a data set if it is missing or outdated; its id."""
        declared = self.policy.datasets[dataset]
        engine = self._engine(declared)
        select = snapshot(
            declared,
            source=self._relation(declared),
            key=self.home.key(),
            dialect=DUCKDB,
        )
        definition = hashlib.sha256(select.encode()).hexdigest()
        existing = engine.snapshot()
        if existing is not None and existing[1] == definition and not refresh:
            return existing[0]
        attach = None
        if declared.source.kind == "duckdb":
            attach = Path(self.policy.locate(declared.source.path or ""))
        return engine.prepare(select, definition=definition, attach=attach, progress=progress)

    def _engine(self, dataset: Dataset) -> DuckDB:
        if dataset.name not in self._engines:
            self._engines[dataset.name] = DuckDB(self.home.snapshot(dataset.name))
        return self._engines[dataset.name]

    def _relation(self, dataset: Dataset) -> str:
        source, pattern = dataset.source, self.policy.locate(dataset.source.path or "")
        found = sorted(glob(pattern, recursive=True))  # noqa: PTH207  # it may be absolute
        paths = found or [pattern]
        headers: dict[str, Header] = {}
        if source.kind == "csv":
            # Without a line of names on top, the columns stand in the order of the policy.
            own = tuple(dataset.columns)
            headers = {path: header(source, path) if source.header else own for path in paths}
        return duckdb_source(source, paths, headers)

    # Answers -----------------------------------------------------------------------------------

    def balance(self, dataset: str | None = None) -> Balance:
        """What this analyst has left of a data set's budget."""
        name = dataset or next(iter(self.policy.datasets))
        return self.ledger.balance(name, analyst=self.analyst)

    def _left(self, dataset: str) -> dict[str, Fraction]:
        """What can still be spent: the smaller of the data set's rest and the analyst's."""
        whole = self.ledger.balance(dataset).remaining
        own = self.ledger.balance(dataset, analyst=self.analyst).remaining
        return {name: min(whole[name], own[name]) for name in whole}

    def _answer(self, request: Request, outputs: list[Output], *, stored: bool) -> Answer:
        noise = request.noise
        left = self._left(request.dataset.name)
        zero = Fraction(0)
        return Answer(
            tuple(_column(output) for output in outputs),
            Cost(zero, zero) if stored else Cost(noise.epsilon, noise.delta),
            left,
            stored,
            request.snapshot,
            request.confidence,
            facts(request),
        )


def accountant_of(dataset: Dataset) -> str:
    """The ledger's accountant: where deltas are summed, Gaussians are charged the query's own."""
    name = dataset.budget.accountant
    if name == "approximate" and dataset.delta_per_query is not None:
        return f"approximate:{dataset.delta_per_query}"
    return name


def _affordable(needed: Fraction, most: Rational | None) -> None:
    if most is None or needed > exact_epsilon(most):
        limit = "no limit was given" if most is None else f"the limit is {most}"
        raise InvalidEpsilon(
            f"this error needs epsilon = {float(needed):g}, and {limit}. Nothing was spent.",
            hint=f"epsilon={float(needed):g} spends it.",
        )


def _groups(query: Query) -> int | None:
    """How many groups will be shown, where that is public."""
    if not query.core.keys_are_public:
        return None
    return math.prod(len(key.values or ()) for key in query.core.keys)


def _targeted(query: Query, lowered: Lowered, column: str | None) -> list[Recipe]:
    bare = bare_aggregates(query.stages)
    if column is None:
        return [lowered.recipes[index] for index in bare.values()]
    if column not in bare:
        raise InvalidInput(
            f"column = {column!r} is not a count, sum or average by itself.",
            hint=f"one of: {', '.join(bare) or 'none in this query'}.",
        )
    return [lowered.recipes[bare[column]]]


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
