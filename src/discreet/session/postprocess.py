"""The stages above the noisy table: free, and with intervals that survive them.

Stages run on the noisy table to decide which rows remain, in which groups and order. Where an
output is more than a bare column, they run once more on replicas of the table, for the same rows:
the spread of the replicas is the interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.plan.evaluate import Grouping, Vector, evaluate
from discreet.plan.expressions import Column, Expression, Type, columns_of
from discreet.plan.primitives import Recipe
from discreet.plan.query import Stage
from discreet.session.simulation import Step, simulate
from discreet.session.table import Released


@dataclass(frozen=True)
class Output:
    """One column of an answer; keys have no interval."""

    name: str
    type: Type
    values: Vector
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """Where the outputs of the last stage come from."""

    origin: Mapping[str, str | None]
    """The key ``k0..`` or aggregate ``a0..`` that an output is, if it is that and nothing else."""
    noisy: Mapping[str, bool]
    """Whether an output was made from any aggregate."""


def trace(stages: tuple[Stage, ...]) -> Trace:
    """Follow every output of the last stage down to the noisy table."""
    origin: dict[str, str | None] = {}
    noisy: dict[str, bool] = {}
    for place, stage in enumerate(stages):
        bare = stage.groups is None
        below, was = (lambda name: name, _is_aggregate) if place == 0 else (origin.get, noisy.get)
        origin, noisy = (
            {
                n: below(e.name) if bare and isinstance(e, Column) else None
                for n, e in stage.columns
            },
            {n: any(was(c) for c in columns_of(e)) for n, e in stage.columns},
        )
    return Trace(origin, noisy)


def _is_aggregate(name: str) -> bool:
    return name.startswith("a")


def bare_aggregates(stages: tuple[Stage, ...]) -> dict[str, int]:
    """The outputs that are one aggregate and nothing else, with its number."""
    origin = trace(stages).origin
    return {name: int(at[1:]) for name, at in origin.items() if at and _is_aggregate(at)}


def simulated(stages: tuple[Stage, ...], recipes: Sequence[Recipe]) -> list[str]:
    """The numbers whose intervals take replicas: those that are no bare count or sum."""
    traced = trace(stages)
    bare = bare_aggregates(stages)
    return [
        name
        for name, value in stages[-1].columns
        if traced.noisy[name]
        and is_number(value)
        and (name not in bare or recipes[bare[name]].kind == "average")
    ]


def postprocess(
    released: Released, stages: tuple[Stage, ...], confidence: Fraction
) -> list[Output]:
    """The columns of the answer."""
    columns, steps = run(released, stages)
    rows = np.arange(released.table.groups)
    for step in steps:
        rows = rows[step.kept]
        if step.grouping is not None:
            rows = rows[step.grouping.first] if len(rows) else rows
        rows = rows[step.chosen] if len(rows) else rows
    bare, found = bare_aggregates(stages), simulated(stages, released.recipes)
    spread = simulate(released, stages, steps, found, confidence) if found else {}
    outputs: list[Output] = []
    for name, value in stages[-1].columns:
        low = high = None
        if name in spread:
            low, high = spread[name]
        elif name in bare:
            # It is a count or a sum all the way down, and its own interval is exact.
            low, high = (end[rows] for end in released.interval(bare[name], confidence))
        outputs.append(Output(name, value.meaning.type, columns[name], low, high))
    return outputs


def run(released: Released, stages: tuple[Stage, ...]) -> tuple[Mapping[str, Vector], list[Step]]:
    """The columns that the stages make of the noisy table, and what each did to the rows."""
    columns: Mapping[str, Vector] = released.vectors()
    steps: list[Step] = []
    for stage in stages:
        step, columns = _run(stage, columns)
        steps.append(step)
    return columns, steps


def _run(stage: Stage, columns: Mapping[str, Vector]) -> tuple[Step, dict[str, Vector]]:
    rows = next((vector.rows for vector in columns.values()), 1)
    kept = _where(stage.where, columns, None, rows)
    inner = {name: vector.take(kept) for name, vector in columns.items()}
    grouping = None
    count = len(kept)
    if stage.groups is not None:
        keys = [evaluate(key, inner) for key in stage.groups]
        grouping = Grouping.by(keys, count) if keys else Grouping.everything(count)
        count = len(grouping.starts)
    chosen = _where(stage.having, inner, grouping, count)
    outputs = {name: evaluate(value, inner, grouping) for name, value in stage.columns}
    if stage.distinct:
        chosen = _distinct(list(outputs.values()), chosen)
    if stage.order:
        terms = [evaluate(term.expression, inner, grouping) for term in stage.order]
        chosen = _sorted(chosen, terms, stage)
    start = stage.offset or 0
    end = None if stage.limit is None else start + stage.limit
    chosen = chosen[start:end]
    step = Step(kept, grouping, chosen)
    return step, {name: vector.take(chosen) for name, vector in outputs.items()}


def _where(
    condition: Expression | None,
    columns: Mapping[str, Vector],
    grouping: Grouping | None,
    rows: int,
) -> NDArray[np.intp]:
    if condition is None:
        return np.arange(rows)
    held = evaluate(condition, columns, grouping)
    return np.flatnonzero(held.valid & held.data.astype(np.bool_))


def _distinct(outputs: list[Vector], chosen: NDArray[np.intp]) -> NDArray[np.intp]:
    seen: set[tuple[Any, ...]] = set()
    first: list[int] = []
    for row in chosen.tolist():
        key = tuple(v.data[row] if v.valid[row] else None for v in outputs)
        if key not in seen:
            seen.add(key)
            first.append(row)
    return np.array(first, dtype=np.intp)


def _sorted(chosen: NDArray[np.intp], terms: list[Vector], stage: Stage) -> NDArray[np.intp]:
    rows = chosen.tolist()
    # Sorting by the last term first leaves ties in the order of the earlier ones.
    for term, order in reversed(list(zip(terms, stage.order, strict=True))):
        present = [row for row in rows if term.valid[row]]
        missing = [row for row in rows if not term.valid[row]]
        present.sort(key=lambda row: term.data[row], reverse=order.descending)
        rows = missing + present if order.nulls_first else present + missing
    return np.array(rows, dtype=np.intp)


def is_number(value: Expression) -> bool:
    """Whether an output can have an interval."""
    return value.meaning.type in ("integer", "real")
