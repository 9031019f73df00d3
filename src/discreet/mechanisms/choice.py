"""What the mechanisms that choose one of several candidates have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidValue
from discreet.events import Event
from discreet.exact import Grid, Rational, Real, fraction_up
from discreet.exact import confidence as exact_confidence
from discreet.exact import epsilon as exact_epsilon
from discreet.exact import sensitivity as exact_sensitivity
from discreet.mechanisms.additive import Error
from discreet.mechanisms.values import unmasked, whole
from discreet.noise.search import smallest
from discreet.theory.neighbours import Relation
from discreet.theory.neighbours import relation as exact_relation


@dataclass(frozen=True)
class Choice(ABC):
    """Releases one candidate, preferring those of high utility; never the utility itself.

    ``sensitivity`` is the most that one unit can change the utility of any one candidate.
    ``monotone=True`` asserts that a unit moves all utilities in the same direction (as counts do
    under add/remove), which halves the noise. A unit that is changed leaves some candidates and
    joins others, so under change-one the assertion is refused.
    """

    mechanism: ClassVar[str]

    epsilon: Fraction
    sensitivity: Fraction
    grid: Fraction
    monotone: bool
    relation: Relation

    def __init__(
        self,
        *,
        sensitivity: Rational,
        epsilon: Rational,
        grid: Rational = 1,
        monotone: bool = False,
        relation: str = "add_remove",
    ) -> None:
        step = Grid(grid).step
        widened = fraction_up(exact_sensitivity(sensitivity), step=step)
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "sensitivity", widened)
        object.__setattr__(self, "grid", step)
        object.__setattr__(self, "relation", exact_relation(relation))
        object.__setattr__(self, "monotone", one_way(monotone=monotone, relation=self.relation))

    @property
    def unit(self) -> Fraction:
        """The exponent per step of utility: epsilon / (2 sensitivity), or twice that."""
        return self.epsilon * self.grid / self.sensitivity / (1 if self.monotone else 2)

    @property
    def event(self) -> Event:
        """The release, as accountants read it."""
        return Event(self.mechanism, {"epsilon": self.epsilon}, self.sensitivity, self.relation)

    def release(self, utilities: ArrayLike, *, candidates: Sequence[Any] | None = None) -> Any:
        """The index of the chosen candidate, or the candidate itself where a list is given."""
        units = Grid(self.grid).exact_units(unmasked(utilities))
        if units.ndim != 1 or units.size == 0:
            raise InvalidValue(
                "utilities must be a list with one number for each candidate.",
                hint="release([3, 5, 1])",
            )
        if candidates is not None and not isinstance(candidates, Sequence):
            raise InvalidValue(
                f"candidates are {type(candidates).__name__}, which has no order that is fixed.",
                hint='candidates=["red", "green", "blue"]',
            )
        if candidates is not None and len(candidates) != units.size:
            raise InvalidValue(
                f"{units.size} utilities were given for {len(candidates)} candidates.",
                hint="give one utility for each candidate, in the same order.",
            )
        index = self._choose(units)
        return index if candidates is None else candidates[index]

    @abstractmethod
    def _choose(self, units: NDArray[np.int64]) -> int:
        """The index of the choice among utilities counted in steps of the grid."""

    @abstractmethod
    def _miss(self, steps: int, candidates: int) -> Real:
        """A bound on P(the choice is at least ``steps`` worse than the best), for any utilities."""

    def error(self, confidence: Rational = "0.95", *, candidates: int) -> Error:
        """How far below the best the choice may be, whatever the utilities are."""
        wanted = exact_confidence(confidence)
        candidates = whole(candidates, name="candidates")
        steps = smallest(lambda t: self._miss(t + 1, candidates) <= 1 - wanted)
        textbook = Real(candidates / (1 - wanted)).log() * (self.grid / self.unit)
        return Error(
            exact=steps * self.grid,
            textbook=textbook.float_up(),
            confidence=wanted,
            coordinates=1,
        )


def one_way(*, monotone: bool, relation: Relation) -> bool:
    """The assertion that a unit moves all answers in one direction, where it can be true.

    >>> one_way(monotone=True, relation=Relation.ADD_REMOVE)
    True
    """
    if not isinstance(monotone, bool):
        raise InvalidValue(
            f"monotone = {monotone!r} is neither True nor False.", hint="monotone=False"
        )
    if monotone and relation is not Relation.ADD_REMOVE:
        raise InvalidValue(
            f"monotone = True does not go with relation = {str(relation)!r}: a unit that is "
            "changed may raise one answer and lower another.",
            hint='monotone=False, or relation="add_remove".',
        )
    return monotone
