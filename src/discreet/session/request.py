"""A query, planned and priced: all that is known before a private row is read."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.events import Event
from discreet.plan.noise import NoisePlan
from discreet.plan.query import Query
from discreet.policy.model import Dataset
from discreet.sql.core import Measurement


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
        """
        noise = self.noise
        facts: dict[str, Any] = {
            "dataset": self.dataset.name,
            "snapshot": self.snapshot,
            "sql": self.measurement.sql,
            "keys": [repr(key.values) for key in self.query.core.keys],
            "primitives": [repr(p) for p in noise.lowered.primitives],
            "kind": noise.kind,
            "scales": [str(scale) for scale in noise.scales],
            "threshold": noise.selection.threshold if noise.selection else None,
            "epsilon": str(noise.epsilon),
            "delta": str(noise.delta),
            "relation": str(noise.relation),
        }
        if self.once:
            facts["once"] = self.nonce if self.key is None else f"key {self.key}"
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
