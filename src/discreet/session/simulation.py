"""Intervals by simulation: the stages run again on replicas of the rows that are shown.

The higher the confidence, the more replicas it takes for some of them to lie beyond both ends of an
interval. They are drawn for a block of rows at a time, and few enough at once, so that an answer of
a million groups takes no more memory than one of ten thousand.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidConfidence
from discreet.plan.evaluate import Grouping, evaluate
from discreet.plan.expressions import columns_of
from discreet.plan.query import Stage
from discreet.session.replicas import Replicas
from discreet.session.table import Released

_FEW, _MANY = 10, 50
"""How many replicas lie beyond the ends of an interval: at least, and where they cost nothing."""
_QUICK = 200_000
"""How many numbers cost nothing."""
_CELLS = 2**20
"""How many replicas of numbers there are at once: 8 MB for each column."""
_LEAST_BEYOND, _MOST = Fraction(1, 10**6), 2 * 10**9
"""What may at least be left to chance, and how many replicas of numbers are drawn at most."""

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Step:
    """What a stage did to the rows, so that it can be done to replicas too."""

    kept: NDArray[np.intp]
    grouping: Grouping | None
    chosen: NDArray[np.intp]


def require_reachable(confidence: Fraction, names: Sequence[str], *, groups: int | None) -> None:
    """Refuse a confidence that would take too many replicas; ``groups`` is None where unknown."""
    beyond = max(_LEAST_BEYOND, Fraction(_FEW * (groups or 1), _MOST))
    if names and 1 - confidence < beyond:
        most = float(1 - beyond)
        where = f" in {groups:,} groups" if groups and groups > 1 else ""
        raise InvalidConfidence(
            f"the interval of {names[0]} is found by simulation, which reaches a confidence of "
            f"{most}{where} and no more.",
            hint=f"confidence={most}, or counts and sums alone: their intervals are exact at any "
            "confidence.",
        )


def draws(confidence: Fraction, rows: int) -> int:
    """How many replicas of so many rows an interval needs.

    >>> draws(Fraction(95, 100), 1), draws(Fraction(95, 100), 10**6), draws(Fraction(999, 1000), 1)
    (1000, 200, 50000)
    """
    beyond = min(1 - confidence, Fraction(1, 20))
    return max(math.ceil(_FEW / beyond), min(math.ceil(_MANY / beyond), _QUICK // max(rows, 1)))


def simulate(
    released: Released,
    stages: tuple[Stage, ...],
    steps: Sequence[Step],
    names: Sequence[str],
    confidence: Fraction,
) -> dict[str, Ends]:
    """Where the truth of each cell of some outputs lies."""
    rows = len(steps[-1].chosen)
    shown = np.arange(rows)
    origin, _ = _below(steps, shown)
    # In the order of the table, so that no interval depends on how the answer is sorted.
    if len(origin) == rows:
        shown = np.argsort(origin)
    count = draws(confidence, len(origin))
    width = max(_CELLS // (count * len(names)), 1)
    streams = released.streams()
    found = {name: (np.empty(rows), np.empty(rows)) for name in names}
    for start in range(0, rows, width):
        block = shown[start : start + width]
        drawn = replicate(released, stages, steps, names, block, count, streams)
        for name, (low, high) in found.items():
            low[block], high[block] = _spread(drawn[name], confidence)
    return found


def replicate(
    released: Released,
    stages: tuple[Stage, ...],
    steps: Sequence[Step],
    names: Sequence[str],
    block: NDArray[np.intp],
    count: int,
    streams: Sequence[Replicas],
) -> dict[str, NDArray[np.float64]]:
    """Some outputs in some rows of the answer, many times over; NaN where there is no number."""
    rows, groupings = _below(steps, block)
    used, wanted = _used(stages, names)
    keys = {name: vector.take(rows) for name, vector in released.keys.items() if name in used}
    found = {name: np.empty((count, len(block))) for name in names}
    at_once = max(_CELLS // max(len(rows), 1), 1)
    for start in range(0, count, at_once):
        some = slice(start, min(start + at_once, count))
        columns = keys | released.replicas(used, rows, some.stop - start, streams)
        for stage, grouping, outputs in zip(stages, groupings, wanted, strict=True):
            columns = {
                name: evaluate(value, columns, grouping)
                for name, value in stage.columns
                if name in outputs
            }
        for name in names:
            np.copyto(found[name][some], columns[name].data)
            np.copyto(found[name][some], np.nan, where=~columns[name].valid)
    return found


def _below(
    steps: Sequence[Step], block: NDArray[np.intp]
) -> tuple[NDArray[np.intp], list[Grouping | None]]:
    """The rows of the noisy table that some rows of the answer are made of, and how they group."""
    groupings: list[Grouping | None] = []
    for step in reversed(steps):
        block = step.chosen[block]
        grouping = step.grouping
        if grouping is not None:
            sizes = np.diff(grouping.starts, append=len(grouping.order))[block]
            starts = np.cumsum(sizes) - sizes
            shift = np.repeat(grouping.starts[block] - starts, sizes)
            block = grouping.order[np.arange(len(shift)) + shift]
            grouping = Grouping(np.arange(len(shift)), starts)
        groupings.append(grouping)
        block = step.kept[block]
    return block, groupings[::-1]


def _used(stages: tuple[Stage, ...], names: Collection[str]) -> tuple[set[str], list[set[str]]]:
    """Of the noisy table, and of each stage, the columns that some outputs are made of."""
    wanted = [set(names)]
    for stage in reversed(stages):
        above = wanted[-1]
        wanted.append({c for n, value in stage.columns if n in above for c in columns_of(value)})
    return wanted[-1], wanted[-2::-1]


def _spread(drawn: NDArray[np.float64], confidence: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
    """The middle of the replicas, cell by cell; those without a value count as both extremes.

    The replicas are sorted in place.
    """
    count = drawn.shape[0]
    outside = (1 - confidence) / 2
    first = max(math.floor(outside * (count + 1)) - 1, 0)
    last = min(math.ceil((1 - outside) * (count + 1)) - 1, count - 1)
    holes = np.isnan(drawn).any(axis=0)
    least = drawn[:, holes]
    least[np.isnan(least)] = -np.inf
    least.partition(first, axis=0)
    drawn.partition((first, last), axis=0)  # NaN comes after all numbers
    low, high = drawn[first].copy(), drawn[last].copy()
    low[holes] = least[first]
    high[np.isnan(high)] = np.inf
    return low, high
