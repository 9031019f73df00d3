"""Plan, price, reserve, run, add noise, store, answer: in this order and no other."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from fractions import Fraction
from glob import glob
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from discreet.answer import Answer, Cell, Column, Cost
from discreet.engines.duckdb import TABLE, DuckDB
from discreet.engines.protocol import Progress
from discreet.exact import Rational
from discreet.exact import confidence as exact_confidence
from discreet.exact import delta as exact_delta
from discreet.exact import epsilon as exact_epsilon
from discreet.ledger import Balance, Ledger, Stored
from discreet.plan.expressions import Column as PlanColumn
from discreet.plan.expressions import walk
from discreet.plan.noise import plan_noise
from discreet.plan.primitives import lower
from discreet.plan.schema import Schema
from discreet.policy.model import Dataset, Policy
from discreet.session.home import Home
from discreet.session.measure import Aggregates, collect, public_groups
from discreet.session.postprocess import Output, postprocess
from discreet.session.request import Request
from discreet.session.table import NoisyTable, Released
from discreet.sql.core import measure
from discreet.sql.dialects import DUCKDB
from discreet.sql.queries import read_query
from discreet.sql.snapshot import duckdb_source, snapshot
from discreet.theory.neighbours import Relation


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
        epsilon: Rational,
        delta: Rational | None = None,
        confidence: Rational | None = None,
        key: str | None = None,
    ) -> Answer:
        """The private answer to a query."""
        request = self.plan(text, epsilon=epsilon, delta=delta, confidence=confidence)
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

    def plan(
        self,
        text: str,
        *,
        epsilon: Rational,
        delta: Rational | None = None,
        confidence: Rational | None = None,
    ) -> Request:
        """Read, bound and price a query. No private row is looked at."""
        query = read_query(text, self._schemas)
        dataset = self.policy.datasets[query.core.dataset]
        chosen = dataset.delta_per_query if delta is None else exact_delta(delta)
        if query.core.keys and query.core.keys_are_public:
            public_groups(query.core)  # refuses too many
        noise = plan_noise(
            query.core,
            lower(query.core),
            dataset,
            epsilon=exact_epsilon(epsilon),
            delta=chosen,
        )
        identity = self.prepare(dataset.name)
        return Request(
            query,
            dataset,
            noise,
            measure(query.core, noise.lowered, table=TABLE, rows_per_unit=None, dialect=DUCKDB),
            dataset.confidence if confidence is None else exact_confidence(confidence),
            identity,
        )

    # The seam: exact numbers in, noisy table out ------------------------------------------------

    def aggregate(self, request: Request) -> Aggregates:
        """The exact numbers of every group. Private: they go to ``release`` and nowhere else."""
        table = self._engine(request.dataset).run(request.measurement.sql)
        return collect(table, request.query.core, request.noise.lowered, request.measurement)

    def release(self, request: Request, aggregates: Aggregates) -> NoisyTable:
        """The noisy table of exact numbers: fresh noise each time it is called."""
        shown, noisy = request.noise.release(aggregates.values, groups=aggregates.groups)
        places = np.flatnonzero(shown)
        keys = tuple(tuple(column[i] for i in places) for column in aggregates.keys)
        return NoisyTable(keys, tuple(noisy), len(places))

    # Snapshots ---------------------------------------------------------------------------------

    def prepare(
        self, dataset: str, *, refresh: bool = False, progress: Progress | None = None
    ) -> str:
        """Make the snapshot of a data set if it is missing or outdated; its id."""
        declared = self.policy.datasets[dataset]
        engine = self._engine(declared)
        select = snapshot(
            declared,
            source=duckdb_source(declared.source, self._paths(declared)),
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

    def _paths(self, dataset: Dataset) -> list[str]:
        pattern = self.policy.locate(dataset.source.path or "")
        found = sorted(glob(pattern, recursive=True))  # noqa: PTH207  # it may be absolute
        return found or [pattern]

    # Answers -----------------------------------------------------------------------------------

    def balance(self, dataset: str | None = None) -> Balance:
        """What this analyst has left of a data set's budget."""
        name = dataset or next(iter(self.policy.datasets))
        return self.ledger.balance(name, analyst=self.analyst)

    def _answer(self, request: Request, outputs: list[Output], *, stored: bool) -> Answer:
        noise = request.noise
        left = _least(
            self.ledger.balance(request.dataset.name).remaining,
            self.ledger.balance(request.dataset.name, analyst=self.analyst).remaining,
        )
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


def facts(request: Request) -> dict[str, Any]:
    """What a privacy statement says, from public facts alone."""
    dataset, noise = request.dataset, request.noise
    one = "one unit added or removed"
    if dataset.relation is Relation.CHANGE_ONE:
        one = "one unit's data changed, their number public"
    bounds: dict[str, str] = {}
    for primitive in noise.lowered.primitives:
        if primitive.argument is None or primitive.kind != "sum":
            continue
        both = primitive.argument.meaning.bounds.bounded
        names = {n.name for n in walk(primitive.argument) if isinstance(n, PlanColumn)}
        if both is not None:
            bounds[", ".join(sorted(names)) or "a constant"] = (
                f"{float(both[0]):g} to {float(both[1]):g}"
            )
    kinds = {
        "laplace": "two-sided geometric (discrete Laplace)",
        "gaussian": "Gaussian, rounded to a grid",
    }
    return {
        "unit": "each row" if dataset.unit is None else f"each distinct {dataset.unit}",
        "neighbours": one,
        "rows_per_unit": dataset.rows_per_unit,
        "noise": kinds[noise.kind],
        "bounds": "; ".join(f"{name} {range_}" for name, range_ in bounds.items()),
        "threshold": noise.selection.threshold if noise.selection else None,
    }


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


def _least(one: Mapping[str, Fraction], other: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {name: min(one[name], other[name]) for name in one}
