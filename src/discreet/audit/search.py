"""The search for the event that tells two inputs apart best.

Events are made of one part of the samples and chosen by another, so that an event which is only
lucky is not chosen; the audit then measures it on samples that neither part has seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.features import Array, Feature, features

_CELLS = 256
_TAILS = (1e-6, 1e-5, 1e-4, 1e-3)
_DEVIATIONS = 4.0


@dataclass(frozen=True, eq=False)
class Event:
    """A set of outputs: those whose feature falls into some of the cells."""

    feature: Feature
    edges: Array
    """Cell i holds what is at or above edge i - 1 and below edge i."""
    chosen: NDArray[np.bool_]
    swapped: bool
    """Whether it is likelier under the second input."""

    def count(self, outputs: Array) -> int:
        """How many outputs it holds."""
        return int(self.chosen[_cells(self.feature, self.edges, outputs)].sum())

    def __str__(self) -> str:
        """In words."""
        places = np.flatnonzero(self.chosen)
        if len(places) == 0:
            return "nothing"
        breaks = np.flatnonzero(np.diff(places) > 1)
        starts, ends = np.append(0, breaks + 1), np.append(breaks, len(places) - 1)
        spans = [self._span(places[a], places[b]) for a, b in zip(starts, ends, strict=True)]
        told = ", or ".join(spans[:4]) + (
            f", or in one of {len(spans) - 4} more ranges" if len(spans) > 4 else ""
        )
        return f"{self.feature.name} is {told}"

    def _span(self, first: int, last: int) -> str:
        low = None if first == 0 else self.edges[first - 1].item()
        high = None if last == len(self.edges) else self.edges[last].item()
        if low is None:
            return "anything" if high is None else f"below {_number(high)}"
        if high is None:
            return f"at least {_number(low)}"
        if isinstance(low, int) and high == low + 1:
            return f"{_number(low)}"
        return f"from {_number(low)} to below {_number(high)}"


@dataclass(frozen=True)
class Found:
    """What a search came to."""

    event: Event
    features: tuple[str, ...]
    events: int
    """How many were compared."""


def search(one: Array, other: Array, *, delta: float) -> Found:
    """The event with the best ratio of probabilities, allowing for chance."""
    half = len(one) // 2
    looked = features(one[:half], other[:half])
    best: tuple[float, Event] | None = None
    tried = 0
    for feature in looked:
        edges = _edges(feature, one[:half], other[:half])
        learnt = [_histogram(feature, edges, part[:half]) for part in (one, other)]
        judged = [_histogram(feature, edges, part[half:]) for part in (one, other)]
        for swapped in (False, True):
            a, b = (1, 0) if swapped else (0, 1)
            order = _by_ratio(learnt[a], learnt[b])
            for cells, score in _candidates(order, judged[a], judged[b], delta):
                if best is None or score.max() > best[0]:
                    place = int(score.argmax())
                    chosen = np.zeros(len(edges) + 1, dtype=bool)
                    chosen[cells(place)] = True
                    best = (float(score.max()), Event(feature, edges, chosen, swapped))
                tried += len(score)
    assert best is not None  # noqa: S101  # every kind of output has features
    return Found(best[1], tuple(each.name for each in looked), tried)


def _candidates(
    order: NDArray[np.intp], seen: NDArray[np.int64], against: NDArray[np.int64], delta: float
) -> Iterator[tuple[Any, NDArray[np.float64]]]:
    """Single cells, both tails, and unions of the cells whose ratio was largest when learnt."""
    n, m = int(seen.sum()), int(against.sum())
    forward, backward = np.arange(len(order)), np.arange(len(order))[::-1]
    yield (lambda i: [i]), _score(seen, against, n, m, delta)
    for cells in (forward, backward, order):
        a, b = np.cumsum(seen[cells]), np.cumsum(against[cells])
        yield (lambda i, cells=cells: cells[: i + 1]), _score(a, b, n, m, delta)


def _score(
    seen: NDArray[np.int64], against: NDArray[np.int64], n: int, m: int, delta: float
) -> NDArray[np.float64]:
    """Roughly the epsilon that could be shown: Wilson's bounds, four deviations out."""
    low = _wilson(seen, n, -_DEVIATIONS) - delta
    high = _wilson(against, m, _DEVIATIONS)
    return np.log(np.maximum(low, 1e-300)) - np.log(high)


def _wilson(seen: NDArray[np.int64], n: int, z: float) -> NDArray[np.float64]:
    p, square = seen / n, z * z
    middle = p + square / (2 * n)
    reach = z * np.sqrt(p * (1 - p) / n + square / (4 * n * n))
    return np.asarray((middle + reach) / (1 + square / n))


def _by_ratio(seen: NDArray[np.int64], against: NDArray[np.int64]) -> NDArray[np.intp]:
    # Half a sighting more for each: a cell that was hardly seen says hardly anything.
    ratio = (seen + 0.5) / (against + 0.5)
    return np.argsort(-np.where(seen + against < 5, 0, ratio), kind="stable")


def _edges(feature: Feature, one: Array, other: Array) -> Array:
    """Every value that occurs if they are few, and otherwise quantiles, denser in the tails."""
    values = np.sort(np.concatenate([_values(feature, one), _values(feature, other)]))
    distinct = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    if len(distinct) <= 4 * _CELLS:
        return values[distinct]
    inner = np.arange(1, _CELLS) / _CELLS
    shares = np.concatenate([_TAILS, inner, [1 - t for t in _TAILS]])
    found = np.unique(values[(np.sort(shares) * (len(values) - 1)).astype(np.int64)])
    counts = np.diff(np.append(distinct, len(values)))
    # Values that many outputs share are cells of their own.
    often = np.flatnonzero(counts > len(values) // (4 * _CELLS))
    own = np.concatenate(
        [values[distinct[often]], values[distinct[np.minimum(often + 1, len(distinct) - 1)]]]
    )
    return np.unique(np.concatenate([found, own]))


def _values(feature: Feature, outputs: Array) -> Array:
    found = feature.of(outputs)
    return np.nan_to_num(found, nan=np.inf) if found.dtype.kind == "f" else found


def _cells(feature: Feature, edges: Array, outputs: Array) -> NDArray[np.intp]:
    return np.searchsorted(edges, _values(feature, outputs), side="right")


def _histogram(feature: Feature, edges: Array, outputs: Array) -> NDArray[np.int64]:
    return np.bincount(_cells(feature, edges, outputs), minlength=len(edges) + 1)


def _number(value: Any) -> str:
    return f"{value:.17g}" if isinstance(value, float) else str(value)
