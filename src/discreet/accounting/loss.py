"""What is promised: a budget before, a loss after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.outward import shown_up
from discreet.errors import InvalidDelta
from discreet.events import Event
from discreet.exact import Rational, float_up, rational
from discreet.exact.parameters import epsilon as exact_epsilon
from discreet.theory.neighbours import Relation

LEAST, MOST = Fraction(1, 10**12), 4_000_000
"""Between these lies what a ledger can count in 64 bits, of whatever an accountant sums."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be lost in all: (epsilon, delta).

    >>> Budget(0.5, 1e-6).epsilon
    Fraction(1, 2)
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Rational, delta: Rational = 0) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "delta", small_delta(delta))


@dataclass(frozen=True, slots=True)
class Loss:
    """A proved bound on what was lost: (epsilon, delta), for whom, and by which theorem.

    The numbers are exact or rounded up. ``certified`` is false where they came through floating
    point that nobody has bounded (see ``pld``).
    """

    epsilon: Fraction
    delta: Fraction
    relation: Relation
    accountant: str
    theorem: str
    certified: bool = True

    def as_event(self) -> Event:
        """The loss as one ``declared`` event, to be composed with others.

        An event has an epsilon above 0, so a loss of epsilon 0 is written as 1e-12.
        """
        return Event(
            "declared",
            {"epsilon": self.epsilon or Fraction(1, 10**12), "delta": self.delta},
            1,
            self.relation,
        )

    def to_json(self) -> Mapping[str, object]:
        """Plain JSON data; the floats are rounded up, the rationals are exact."""
        return {
            "epsilon": float_up(self.epsilon),
            "delta": float_up(self.delta),
            "exact": {"epsilon": str(self.epsilon), "delta": str(self.delta)},
            "relation": str(self.relation),
            "accountant": self.accountant,
            "theorem": self.theorem,
            "certified": self.certified,
        }

    def __str__(self) -> str:
        epsilon, delta = shown_up(self.epsilon), shown_up(self.delta, digits=3)
        return f"epsilon {epsilon}, delta {delta} ({self.accountant}, {self.relation})"


def small_delta(value: Rational, *, name: str = "delta") -> Fraction:
    """A delta that may be 0: a pure guarantee has none."""
    number = rational(value, name=name, error=InvalidDelta)
    if not 0 <= number < 1:
        raise InvalidDelta(
            f"{name} = {value} is not allowed: it must lie in [0, 1).", hint=f"{name}=1e-6"
        )
    return number
