"""From an engine's table to the exact whole numbers of every group, in an order that is public."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import TooLarge
from discreet.plan.expressions import Value
from discreet.plan.primitives import Lowered
from discreet.plan.query import Core
from discreet.sql.core import Measurement

MOST_GROUPS = 1_000_000


@dataclass(frozen=True)
class Aggregates:
    """Exact and private: the keys of the groups, and a number for each primitive and group."""

    keys: tuple[pa.ChunkedArray, ...] | tuple[tuple[Value, ...], ...]
    """One column for each key, over the groups."""
    values: list[NDArray[np.int64]]
    groups: int

    def keys_at(self, places: NDArray[np.intp]) -> tuple[tuple[Value, ...], ...]:
        """The keys of some groups."""
        return tuple(
            tuple(column.take(places).to_pylist())
            if isinstance(column, pa.ChunkedArray)
            else tuple(column[place] for place in places)
            for column in self.keys
        )


def collect(table: pa.Table, core: Core, lowered: Lowered, measurement: Measurement) -> Aggregates:
    """What the engine returned, completed: public groups without rows are there with zeros."""
    numbers = {
        index: _integers(table.column(f"m{index}"))
        for parts in measurement.parts
        for index in parts
        if index is not None
    }
    values = []
    for (total, count), primitive in zip(measurement.parts, lowered.primitives, strict=True):
        around = numbers[total]
        if count is not None:
            around = around - primitive.centre * numbers[count]
        values.append(around)
    if not core.keys:
        return Aggregates((), values, 1)
    columns = [table.column(f"k{index}") for index in range(len(core.keys))]
    if not core.keys_are_public:
        return Aggregates(tuple(columns), values, table.num_rows)
    listed = zip(*(column.to_pylist() for column in columns), strict=True)
    found = {key: row for row, key in enumerate(listed)}
    groups = list(public_groups(core))
    places = np.array([found.get(group, -1) for group in groups], dtype=np.intp)
    present = places >= 0
    filled = []
    for each in values:
        full = np.zeros(len(groups), dtype=np.int64)
        full[present] = each[places[present]]
        filled.append(full)
    return Aggregates(tuple(zip(*groups, strict=True)), filled, len(groups))


def public_groups(core: Core) -> Iterable[tuple[Value, ...]]:
    """Every combination of the declared keys, in the order of their declaration."""
    domains = [key.values or () for key in core.keys]
    total = 1
    for domain in domains:
        total *= len(domain)
    if total > MOST_GROUPS:
        raise TooLarge(
            f"the keys have {total:,} combinations, and every one of them would be shown; "
            f"{MOST_GROUPS:,} are the most.",
            hint="group by fewer columns, or by coarser ones, such as DATE_TRUNC('month', day).",
        )
    return product(*domains)


def _integers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """A column of counts or sums; the sum of nothing is 0."""
    whole = column.cast(pa.int64()).fill_null(0)
    return np.asarray(whole.to_numpy(), dtype=np.int64)
