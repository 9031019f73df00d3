"""The noisy table: released whole numbers, and what they say about each aggregate."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Sequence
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
from discreet.plan.primitives import Primitive, Recipe
from discreet.plan.query import Core
from discreet.session.replicas import Replicas

_VERSION = 1


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
    """A noisy table with its noise: values, exact intervals and replicas of the aggregates."""

    table: NoisyTable
    noise: NoisePlan

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """How each aggregate is made."""
        return self.noise.lowered.recipes

    @cached_property
    def keys(self) -> dict[str, Vector]:
        """The keys ``k0..`` that the first stage reads."""
        return {f"k{i}": Vector.of(column) for i, column in enumerate(self.table.keys)}

    def vectors(self) -> dict[str, Vector]:
        """The columns that the first stage reads: keys ``k0..`` and aggregates ``a0..``."""
        return self.keys | {
            f"a{i}": self._value(r, self.table.primitives.__getitem__)
            for i, r in enumerate(self.recipes)
        }

    def streams(self) -> tuple[Replicas, ...]:
        """A stream of noise for each primitive, the same whenever the table is the same."""
        stored = self.table.to_bytes()
        return tuple(Replicas(stored, i) for i in range(len(self.table.primitives)))

    def replicas(
        self,
        names: Container[str],
        rows: NDArray[np.intp],
        count: int,
        streams: Sequence[Replicas],
    ) -> dict[str, Vector]:
        """Some aggregates in some rows, many times over, with the noise that comes next.

        They are what the truth may have been, given what was released.
        """
        drawn: dict[int, NDArray[np.float64]] = {}

        def replicated(primitive: int) -> NDArray[np.float64]:
            if primitive not in drawn:
                noise = self.noise.noises[primitive]
                noisy = self.table.primitives[primitive][rows]
                # In place, because the longest answers have replicas by the million.
                fresh = streams[primitive].draw(noise, (count, len(rows)))
                drawn[primitive] = np.subtract(noisy, fresh, out=fresh)
            return drawn[primitive]

        return {
            f"a{i}": self._value(recipe, replicated)
            for i, recipe in enumerate(self.recipes)
            if f"a{i}" in names
        }

    def interval(self, index: int, confidence: Fraction) -> tuple[NDArray[Any], NDArray[Any]]:
        """Where a true count or sum lies in each group, at a confidence for each of them."""
        recipe = self.recipes[index]
        low, high = self.noise.noises[recipe.total].interval(confidence)
        primitive = self.noise.lowered.primitives[recipe.total]
        step = primitive.step
        values = self.table.primitives[recipe.total].astype(np.float64)
        if recipe.over is not None:
            lowest, highest = (_mean(primitive, recipe.over, values - end) for end in (high, low))
            return lowest, highest
        return _scaled(values - high, step), _scaled(values - low, step)

    def _value(self, recipe: Recipe, total: Callable[[int], NDArray[Any]]) -> Vector:
        primitive = self.noise.lowered.primitives[recipe.total]
        steps = total(recipe.total)
        if recipe.over is not None:
            mean = _mean(primitive, recipe.over, steps)
            return Vector(mean, np.ones(steps.shape, dtype=np.bool_))
        if recipe.kind == "value" or recipe.count is None:
            return Vector(_scaled(steps, primitive.step), np.ones(steps.shape, dtype=np.bool_))
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


def _mean(primitive: Primitive, rows: int, steps: NDArray[Any]) -> NDArray[np.float64]:
    """A sum over a public number of rows; no mean leaves the public range of its values."""
    mean = steps / rows + primitive.centre
    return _scaled(mean.clip(primitive.low, primitive.high), primitive.step)


def _scaled(steps: NDArray[Any], step: Fraction) -> NDArray[np.float64]:
    """Whole steps as numbers: each the double next to it, so that 3 steps of 0.1 are 0.3."""
    if step == 1:
        return steps.astype(np.float64, copy=False)
    scaled: NDArray[np.float64] = steps * float(step.numerator)
    scaled /= float(step.denominator)
    return scaled


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
