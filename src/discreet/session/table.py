"""The noisy table: released whole numbers, and what they say about each aggregate."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.plan.evaluate import Vector
from discreet.plan.expressions import Value
from discreet.plan.noise import NoisePlan
from discreet.plan.primitives import Recipe
from discreet.plan.query import Core
from discreet.session.replicas import Replicas

_VERSION = 1
_REPLICAS = 1000
_FEWEST = 200
_MOST_CELLS = 200_000


@dataclass(frozen=True)
class NoisyTable:
    """What was released: keys, and one noisy whole number per primitive and group."""

    keys: tuple[tuple[Value, ...], ...]
    """One tuple for each key column, over the groups."""
    primitives: tuple[NDArray[np.int64], ...]
    groups: int

    def to_bytes(self) -> bytes:
        """As it is stored with its charge."""
        return json.dumps(
            {
                "version": _VERSION,
                "groups": self.groups,
                "keys": [[_plain(value) for value in column] for column in self.keys],
                "primitives": [values.tolist() for values in self.primitives],
            },
            separators=(",", ":"),
            ensure_ascii=False,
        ).encode()

    @staticmethod
    def from_bytes(stored: bytes, core: Core) -> NoisyTable:
        """Read what ``to_bytes`` wrote for the same core."""
        data = json.loads(stored)
        keys = tuple(
            tuple(_typed(value, key.expression.meaning.type) for value in column)
            for key, column in zip(core.keys, data["keys"], strict=True)
        )
        primitives = tuple(np.array(values, dtype=np.int64) for values in data["primitives"])
        return NoisyTable(keys, primitives, data["groups"])


@dataclass(frozen=True)
class Released:
    """A noisy table with its noise: values, intervals and replicas of the aggregates."""

    table: NoisyTable
    noise: NoisePlan
    draws: int | None = None
    """How many replicas; left out, as many as are quickly drawn for so many groups."""

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """How each aggregate is made."""
        return self.noise.lowered.recipes

    def vectors(self) -> dict[str, Vector]:
        """The columns that the first stage reads: keys ``k0..`` and aggregates ``a0..``."""
        keys = {f"k{i}": Vector.of(column) for i, column in enumerate(self.table.keys)}
        return keys | {
            f"a{i}": self._value(r, self.table.primitives.__getitem__)
            for i, r in enumerate(self.recipes)
        }

    @cached_property
    def _stored(self) -> bytes:
        return self.table.to_bytes()

    def _replicated(self, primitive: int) -> NDArray[np.float64]:
        """A primitive many times over; each has a stream of its own, so that none is drawn idly."""
        quick = max(_FEWEST, min(_REPLICAS, _MOST_CELLS // max(self.table.groups, 1)))
        count = quick if self.draws is None else self.draws
        stream = Replicas(self._stored, primitive)
        drawn = stream.draw(self.noise.noises[primitive], (count, self.table.groups))
        return np.subtract(self.table.primitives[primitive], drawn, out=drawn)

    def replica(self, index: int) -> Vector:
        """An aggregate many times over: what the truth may have been, given what was released."""
        return self._value(self.recipes[index], self._replicated)

    def replicas(self) -> dict[str, Vector]:
        """The columns that the first stage reads, many times over."""
        keys = {f"k{i}": Vector.of(column) for i, column in enumerate(self.table.keys)}
        return keys | {f"a{i}": self.replica(i) for i in range(len(self.recipes))}

    def interval(self, index: int, confidence: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
        """Where the true aggregate lies in each group, at a confidence for each of them."""
        recipe = self.recipes[index]
        if recipe.kind == "average":
            return spread(self.replica(index), confidence)
        low, high = self.noise.noises[recipe.total].interval(confidence)
        step = float(self.noise.lowered.primitives[recipe.total].step)
        values = self.table.primitives[recipe.total].astype(np.float64)
        return (values - high) * step, (values - low) * step

    def _value(self, recipe: Recipe, total: Callable[[int], NDArray[Any]]) -> Vector:
        primitive = self.noise.lowered.primitives[recipe.total]
        steps = total(recipe.total).astype(np.float64, copy=False)
        if recipe.kind == "value" or recipe.count is None:
            return Vector(steps * float(primitive.step), np.ones(steps.shape, dtype=np.bool_))
        count = total(recipe.count).astype(np.float64, copy=False)
        # A count that is not positive says nothing of an average.
        usable = count > 0
        mean = np.where(usable, count, 1.0)
        np.divide(steps, mean, out=mean)
        mean += primitive.centre
        # No average leaves the public range of its values, whatever the noise did to it.
        mean.clip(primitive.low, primitive.high, out=mean)
        mean *= float(primitive.step)
        return Vector(mean, usable)


def spread(replicas: Vector, confidence: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
    """The middle of the replicas, cell by cell; those without a value count as both extremes."""
    count = replicas.data.shape[0]
    outside = float(1 - confidence) / 2
    first = max(int(np.floor(outside * (count + 1))) - 1, 0)
    last = min(int(np.ceil((1 - outside) * (count + 1))) - 1, count - 1)
    return _ranked(replicas, first, -np.inf), _ranked(replicas, last, np.inf)


def _ranked(replicas: Vector, rank: int, missing: float) -> NDArray[Any]:
    """The replica of a rank, cell by cell."""
    data: NDArray[Any] = np.where(replicas.valid, replicas.data, missing)
    data.partition(rank, axis=0)
    ranked: NDArray[Any] = data[rank].copy()
    return ranked


def _plain(value: Value) -> Any:
    if isinstance(value, date | datetime):
        return value.isoformat()
    return float(value) if isinstance(value, Fraction) else value


def _typed(value: Any, kind: str) -> Value:
    if value is None:
        return None
    if kind == "date":
        return date.fromisoformat(value)
    if kind == "timestamp":
        return datetime.fromisoformat(value)
    return value  # type: ignore[no-any-return]
