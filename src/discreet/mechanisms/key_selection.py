"""Key selection: which groups may be shown at all, when the keys themselves are private."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidValue
from discreet.events import Event
from discreet.exact import Rational, Real
from discreet.exact import confidence as exact_confidence
from discreet.exact import delta as exact_delta
from discreet.exact import epsilon as exact_epsilon
from discreet.exact.grid import in_range
from discreet.mechanisms.additive import Error
from discreet.mechanisms.values import unmasked, whole
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.magnitude import LARGEST_RESULT
from discreet.noise.search import smallest
from discreet.noise.symmetric import Symmetric
from discreet.theory.neighbours import Relation
from discreet.theory.neighbours import relation as exact_relation

Key = TypeVar("Key", bound=Hashable)


class Thresholded(ABC):
    """Shows the keys whose counts, with noise added, reach a threshold.

    A subclass says which noise, and what delta a threshold has.
    """

    delta: Fraction
    rows_per_unit: int
    keys_per_unit: int | None
    relation: Relation
    threshold: int

    @property
    @abstractmethod
    def noise(self) -> Symmetric:
        """The noise added to each count."""

    @abstractmethod
    def delta_at(self, threshold: int) -> Real:
        """The delta of a threshold, or a bound on it."""

    def spreads(self) -> list[tuple[int, int]]:
        """The ways to spread a unit's rows that can be the worst: (keys, rows in each)."""
        if self.keys_per_unit is not None:
            return [(self.keys_per_unit, self.rows_per_unit)]
        return [(1, self.rows_per_unit), (self.rows_per_unit, 1)]

    def _bound(
        self, delta: Rational, rows_per_unit: int, keys_per_unit: int | None, relation: str
    ) -> None:
        """Take what bounds a unit, and from it, the delta and the noise the threshold."""
        if keys_per_unit is not None:
            keys_per_unit = whole(keys_per_unit, name="keys_per_unit")
        object.__setattr__(self, "delta", exact_delta(delta))
        object.__setattr__(self, "rows_per_unit", whole(rows_per_unit, name="rows_per_unit"))
        object.__setattr__(self, "keys_per_unit", keys_per_unit)
        object.__setattr__(self, "relation", exact_relation(relation))
        # A threshold of at least one row more than a unit owns keeps the sums in the noise's tail.
        least = smallest(lambda t: self.delta_at(t) <= self.delta, start=self.rows_per_unit + 1)
        object.__setattr__(self, "threshold", least)

    def release(self, counts: Mapping[Key, int]) -> dict[Key, int]:
        """The keys whose noisy counts reach the threshold, with those counts.

        A key of no rows is the same as no key. The largest noisy counts come first: the order in
        which the counts were given may tell of the rows behind them, and is not kept.
        """
        if not isinstance(counts, Mapping):
            raise InvalidValue(
                f"counts are {type(counts).__name__}, not a mapping from keys to counts.",
                hint='{"a": 12, "b": 3}, or release_array([12, 3]) without keys.',
            )
        keys = list(counts)
        shown_, noisy = self.release_array(list(counts.values()))
        largest_first = sorted(np.flatnonzero(shown_), key=lambda i: (-noisy[i], repr(keys[i])))
        return {keys[i]: int(noisy[i]) for i in largest_first}

    def release_array(self, counts: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """For many keys at once: which are shown, and the noisy counts (0 where they are not)."""
        numbers = unmasked(counts)
        if numbers.size and (numbers.dtype.kind not in "iu" or int(numbers.min()) < 0):
            raise InvalidValue("counts must be whole numbers, 0 or more.", hint='{"a": 12, "b": 3}')
        units = in_range(numbers)
        noisy = self.noise.sample(units.size).reshape(units.shape)
        noisy += units
        shown_ = (noisy >= self.threshold) & (units > 0)
        return shown_, np.where(shown_, noisy.clip(max=LARGEST_RESULT), 0)

    def error(self, confidence: Rational = "0.95", *, coordinates: int = 1) -> Error:
        """The error of the counts that are shown, before the selection of the large ones."""
        wanted = exact_confidence(confidence)
        coordinates = whole(coordinates, name="coordinates")
        return Error(
            exact=Fraction(self.noise.within(wanted, draws=coordinates)),
            textbook=(Real(coordinates / (1 - wanted)).log() * self.noise.scale).float_up(),
            confidence=wanted,
            coordinates=coordinates,
        )

    def shown_from(self, confidence: Rational = "0.95") -> int:
        """The count from which a key is shown with the given confidence."""
        wanted = exact_confidence(confidence)
        return smallest(lambda c: 1 - self.noise.cdf(self.threshold - c - 1) >= wanted, start=1)


@dataclass(frozen=True)
class KeySelection(Thresholded):
    """Shows the keys whose counts, with geometric noise added, reach a threshold.

    A unit owns at most ``rows_per_unit`` rows, spread over keys as it likes; or, where
    ``keys_per_unit`` is given, at most so many keys with ``rows_per_unit`` rows in each.

    Guarantee: (epsilon, delta)-differential privacy of the keys shown and their noisy counts.
    Sensitivity: l1: all rows of a unit (twice that where a unit is changed).
    Exactness: ``delta`` is summed exactly over the worst way in which a unit can spread its rows
    over keys that nobody else has. The chance that a key of c rows stays hidden is log-concave in
    c, so the worst is one of two: all rows in one key, or one row in each of as many keys.
    Reference: Korolova, Kenthapadi, Mishra and Ntoulas (2009), for one row; the sum over spreads is
    derived in docs/explanation/key-selection.md.

    >>> selection = KeySelection(epsilon=1, delta=1e-9, rows_per_unit=20)
    >>> selection.threshold
    463
    >>> selection.release({"common": 10_000, "rare": 1}).keys()
    dict_keys(['common'])
    """

    epsilon: Fraction
    delta: Fraction
    rows_per_unit: int
    keys_per_unit: int | None
    relation: Relation
    threshold: int

    def __init__(
        self,
        *,
        epsilon: Rational,
        delta: Rational,
        rows_per_unit: int = 1,
        keys_per_unit: int | None = None,
        relation: str = "add_remove",
    ) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        self._bound(delta, rows_per_unit, keys_per_unit, relation)

    @property
    def sensitivity(self) -> Fraction:
        """The most that one unit changes all counts together."""
        rows = self.rows_per_unit * (self.keys_per_unit or 1)
        return Fraction(rows if self.relation is Relation.ADD_REMOVE else 2 * rows)

    @property
    def noise(self) -> TwoSidedGeometric:
        """The noise added to each count."""
        return TwoSidedGeometric(self.sensitivity / self.epsilon)

    @property
    def event(self) -> Event:
        """The release, as accountants read it."""
        return Event(
            "key_selection",
            {"epsilon": self.epsilon, "delta": self.delta},
            self.sensitivity,
            self.relation,
        )

    def delta_at(self, threshold: int) -> Real:
        """The exact delta of a threshold: the chance that a unit's own keys are shown.

        Where a unit is changed, keys may vanish as others appear. What the vanishing ones add is
        made up for by the row that the unit has elsewhere, unless the threshold is very low; then
        their share, the chance that as many keys of no rows would be shown, bounds it.
        """
        worst = Real.max_of(*(shown(self.noise, threshold, *spread) for spread in self.spreads()))
        if self.relation is Relation.ADD_REMOVE:
            return worst
        keys = max(keys for keys, _ in self.spreads())
        vanishing = shown(self.noise, threshold, keys, 0)
        one_row = -Real(-1 / self.noise.scale).expm1()
        return worst if vanishing <= one_row else worst + vanishing


def shown(noise: Symmetric, threshold: int, keys: int, rows: int) -> Real:
    """The chance that any of so many keys, of so many rows each, reaches the threshold."""
    one = 1 - noise.cdf(threshold - rows - 1)
    return 1 - (1 - one) ** keys
