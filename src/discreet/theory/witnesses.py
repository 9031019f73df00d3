"""Why a mechanism is not private: the pair and the event that show it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from discreet.exact import Real
from discreet.theory.distributions import Probability, total
from discreet.theory.divergences import Columns, exceeding, excess
from discreet.theory.losses import Infinity


@dataclass(frozen=True, slots=True)
class Witness:
    """Two neighbours and an event: ``P(event | x) > e^epsilon P(event | neighbour) + delta``."""

    x: Hashable
    neighbour: Hashable
    event: frozenset[Hashable]
    probability: Probability
    neighbour_probability: Probability

    def violates(self, epsilon: Real, delta: Probability) -> bool:
        """Whether the two probabilities break the (epsilon, delta) bound, worked out afresh."""
        if isinstance(epsilon, Infinity):
            return self.neighbour_probability == 0 and self.probability > delta
        bound = epsilon.exp() * self.neighbour_probability + delta
        return bound < self.probability


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the claim holds; where it does not, a witness against it."""

    private: bool
    witness: Witness | None = None

    def __bool__(self) -> bool:
        return self.private


def witness_against(
    x: Hashable,
    neighbour: Hashable,
    outputs: Sequence[Hashable],
    columns: Columns,
    *,
    epsilon: Real,
    delta: Probability,
) -> Witness | None:
    """The event that breaks the bound most between two inputs, this way round, if one does.

    At delta = 0 a single output is enough, and the first that serves is given.
    """
    if not excess(columns, epsilon) > delta:
        return None
    places = exceeding(columns, epsilon.exp())
    if delta == 0:
        places = places[:1]
    return Witness(
        x,
        neighbour,
        frozenset(outputs[place] for place in places),
        total([columns[place][0] for place in places]),
        total([columns[place][1] for place in places]),
    )
