"""From an engine's table to the exact whole numbers of every group, in an order that is public."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.errors import TooLarge
from discreet.exact.grid import LARGEST_UNITS
from discreet.plan.expressions import Value
from discreet.plan.primitives import Lowered
from discreet.plan.query import Core
from discreet.sql.core import Measurement

MOST_GROUPS = 1_000_000

# Arrow is only asked for what it holds. To compute with it loads 7 MB more, and to hand it numbers
# of Python's or NumPy's loads pandas, where that is installed: 40 MB, and a while before the first
# answer.


@dataclass(frozen=True)
class Aggregates:
    """Exact and private: the keys of the groups, and a number for each primitive and group."""

    keys: tuple[pa.Array, ...] | tuple[tuple[Value, ...], ...]
    """One column for each key, over the groups."""
    values: list[NDArray[np.int64]]
    groups: int

    def keys_at(self, places: NDArray[np.intp]) -> tuple[tuple[Value, ...], ...]:
        """The keys of some groups."""
        wanted = places.tolist()
        return tuple(
            tuple(whole[place].as_py() for place in wanted)
            if isinstance(whole, pa.Array)
            else tuple(whole[place] for place in wanted)
            for whole in self.keys
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
            around = _around(around, primitive.centre, numbers[count])
        # Saturating moves no two databases further apart; wrapping round would.
        values.append(np.clip(around, -LARGEST_UNITS, LARGEST_UNITS).astype(np.int64))
    if not core.keys:
        return Aggregates((), values, 1)
    columns = [table.column(f"k{index}") for index in range(len(core.keys))]
    if not core.keys_are_public:
        whole = tuple(column.combine_chunks() for column in columns)
        return Aggregates(whole, values, table.num_rows)
    listed = zip(*(column.to_pylist() for column in columns), strict=True)
    found = {key: row for row, key in enumerate(listed)}
    groups = list(public_groups(core))
    spoken = product(*([_spoken(value) for value in key.values or ()] for key in core.keys))
    places = np.array([found.get(group, -1) for group in spoken], dtype=np.intp)
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


def _integers(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of counts or sums, as Python's own integers where 64 bits are too few.

    The sum of nothing is 0.
    """
    whole = column.combine_chunks()
    if len(whole) and whole.type in _WORDS:
        present, numbers = whole.buffers()
        rows = slice(whole.offset, whole.offset + len(whole))
        words = np.frombuffer(numbers, dtype="<i8").reshape(-1, _WORDS[whole.type])[rows]
        if whole.null_count:
            bits = np.frombuffer(present, dtype=np.uint8)
            words = words * np.unpackbits(bits, bitorder="little")[rows, None]
        low, high = words[:, 0], words[:, -1]
        if _WORDS[whole.type] == 1 or np.array_equal(high, low >> 63):
            return low
    return np.array([int(value or 0) for value in whole.to_pylist()], dtype=object)


_WORDS = {pa.int64(): 1, pa.decimal128(38, 0): 2}
"""How many words of 64 bits a number has, the least first."""


def _around(total: NDArray[Any], centre: int, count: NDArray[Any]) -> NDArray[Any]:
    """The sum of ``value - centre``, from the sum of values and their number."""
    largest = max(abs(int(end)) for end in (total.min(initial=0), total.max(initial=0)))
    if largest + abs(centre) * int(count.max(initial=0)) >= 2**63:
        total, count = total.astype(object), count.astype(object)
    return np.asarray(total - centre * count)


def _spoken(value: Value) -> Value | float:
    """A key as the engine returns it: real numbers are doubles there."""
    return float(value) if isinstance(value, Fraction) else value
