"""A query, planned and priced: all that is known before a private row is read."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.events import Event
from discreet.plan.expressions import Value
from discreet.plan.noise import NoisePlan
from discreet.plan.query import Query
from discreet.policy.model import Dataset
from discreet.sql.core import Measurement

_VERSION = 1


@dataclass(frozen=True)
class Request:
    """What will be asked, what it will cost, and how its answer will be recognised."""

    query: Query
    dataset: Dataset
    noise: NoisePlan
    measurement: Measurement
    confidence: Fraction
    snapshot: str
    """The snapshot's id; ``live`` in live mode."""
    once: bool = False
    """Whether another question of the same words is another question all the same."""
    key: str | None = None
    nonce: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def events(self) -> tuple[Event, ...]:
        """What the ledger is charged with."""
        return self.noise.events

    @cached_property
    def sha256(self) -> str:
        """The same for the same measurement with the same noise on the same snapshot.

        How a query was spelled, and what is done with the noisy table afterwards, is not in it.
        The engine's SQL says which whole numbers are measured, the parts and centres how they make
        the primitives, the keys which groups are shown and in which order, the events and scales
        which noise they get. All of it is text of our own making: no form that Python may change.
        """
        noise = self.noise
        facts: dict[str, Any] = {
            "version": _VERSION,
            "dataset": self.dataset.name,
            "snapshot": self.snapshot,
            "sql": self.measurement.sql,
            "parts": self.measurement.parts,
            "centres": [each.centre for each in noise.lowered.primitives],
            "steps": [str(each.step) for each in noise.lowered.primitives],
            "keys": [
                None if key.values is None else [_written(value) for value in key.values]
                for key in self.query.core.keys
            ],
            "events": [event.to_json() for event in self.events],
            "kind": noise.kind,
            "scales": [str(scale) for scale in noise.scales],
            "threshold": noise.selection.threshold if noise.selection else None,
            "epsilon": str(noise.epsilon),
            "delta": str(noise.delta),
        }
        if self.once:
            facts["once"] = self.nonce if self.key is None else f"key {self.key}"
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def _written(value: Value) -> Any:
    """A key as JSON in which no two of them are alike: 1, true, "1" and 1/1 are four."""
    match value:
        case None | bool() | str():
            return value
        case int():
            return {"integer": str(value)}
        case Fraction():
            return {"real": str(value)}
        case datetime():
            return {"timestamp": value.isoformat()}
    return {"date": value.isoformat()}
