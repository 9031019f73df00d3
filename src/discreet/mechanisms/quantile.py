"""Quantiles by the exponential mechanism over a public grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidValue, OutOfRange
from discreet.events import Event
from discreet.exact import Grid, Rational, Real, float_down, float_up, rational
from discreet.exact import confidence as exact_confidence
from discreet.exact import epsilon as exact_epsilon
from discreet.exact.grid import LARGEST_UNITS
from discreet.mechanisms.additive import Error
from discreet.mechanisms.values import unmasked, whole
from discreet.noise.selection import Selection
from discreet.noise.uniform import below
from discreet.theory.neighbours import Relation
from discreet.theory.neighbours import relation as exact_relation

# What can overflow is refused before any value is seen, so that no refusal tells of the data: with
# these limits all counts and utilities of up to 2**40 values fit.
_MOST_STEPS = 2**60
_LARGEST_DENOMINATOR = 2**20


@dataclass(frozen=True)
class Quantile:
    """Releases a grid point whose rank among the values is close to the q-quantile's.

    A point v has utility -abs((1-q) #{x < v} - q #{x > v}): 0 at the quantile, falling with the
    distance in rank. Values are clamped into the public bounds and put on the grid first. Points
    between two neighbouring values share one utility, so they are chosen among together.

    Guarantee: (epsilon, 0)-differential privacy.
    Sensitivity: with K rows per unit, K max(q, 1-q) when units are added or removed, K when one is
    changed; it does not grow with the bounds.
    Exactness: the probabilities of all grid points are as written, to the last bit.
    Reference: Smith (2011); the utility of ranks as in McSherry (2009).

    >>> median = Quantile(bounds=(0, 120), epsilon=50)
    >>> median.release([20, 30, 30, 30, 90])
    30
    """

    q: Fraction
    lower: Fraction
    upper: Fraction
    grid: Fraction
    epsilon: Fraction
    rows_per_unit: int
    relation: Relation

    def __init__(
        self,
        q: Rational = "1/2",
        *,
        bounds: tuple[Rational, Rational],
        epsilon: Rational,
        grid: Rational = 1,
        rows_per_unit: int = 1,
        relation: str = "add_remove",
    ) -> None:
        step = Grid(grid).step
        low, high = _bounds(bounds, step)
        share = exact_confidence(q, name="q")
        if share.denominator > _LARGEST_DENOMINATOR:
            raise OutOfRange(
                f"q = {q} has a denominator above 2**20, too fine for exact utilities.",
                hint='q="0.25"',
            )
        object.__setattr__(self, "q", share)
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)
        object.__setattr__(self, "grid", step)
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "rows_per_unit", whole(rows_per_unit, name="rows_per_unit"))
        object.__setattr__(self, "relation", exact_relation(relation))

    @property
    def sensitivity(self) -> Fraction:
        """The most that one unit changes the utility of any point."""
        per_row = max(self.q, 1 - self.q) if self.relation is Relation.ADD_REMOVE else Fraction(1)
        return self.rows_per_unit * per_row

    @property
    def event(self) -> Event:
        """The release, as accountants read it."""
        return Event("quantile", {"epsilon": self.epsilon}, self.sensitivity, self.relation)

    def release(self, values: ArrayLike) -> Any:
        """A grid point: a whole number where the grid is whole, else a float."""
        starts, sizes, below_, above = self._intervals(self._clamped(values))
        # Utilities in whole multiples of 1/d, d the denominator of q.
        d, p = self.q.denominator, self.q.numerator
        utilities = -np.abs((d - p) * below_ - p * above)
        unit = self.epsilon / (2 * self.sensitivity * d)
        chosen = int(Selection(utilities, unit=unit, counts=sizes).sample(1)[0])
        point = (int(starts[chosen]) + below(int(sizes[chosen]))) * self.grid
        return int(point) if self.grid.denominator == 1 else float(point)

    def error(self, confidence: Rational = "0.95") -> Error:
        """How much less utility, in ranks, the release may have than the best point of the grid.

        The bound counts every grid point as a competitor, so it holds for all values.
        """
        beta = 1 - exact_confidence(confidence)
        points = (self.upper - self.lower) / self.grid + 1
        textbook = Real(points / beta).log() * (2 * self.sensitivity / self.epsilon)
        # Worst when all other points lie equally far below: (n-1) x / (1 + (n-1) x) = beta.
        others = max(points - 1, Fraction(1))
        exact = Real(others * (1 - beta) / beta).log() * (2 * self.sensitivity / self.epsilon)
        return Error(
            exact=max(exact.upper(), Fraction(0)),
            textbook=textbook.float_up(),
            confidence=1 - beta,
            coordinates=1,
        )

    def _clamped(self, values: ArrayLike) -> NDArray[np.int64]:
        # Clamped before they are rounded: a value too large for the grid is no reason to refuse,
        # which would tell that somebody has it. The bounds of floats lie a little outside.
        array = unmasked(values).ravel()
        if array.dtype.kind == "f":
            array = array.astype(np.float64).clip(float_down(self.lower), float_up(self.upper))
        else:
            most = min(LARGEST_UNITS, ceil(self.upper))
            least = max(-LARGEST_UNITS, floor(self.lower))
            if array.dtype.kind == "u":
                array = np.minimum(array, np.uint64(LARGEST_UNITS))
            array = array.astype(np.int64).clip(least, most)
        units = Grid(self.grid).units(array)
        return np.sort(units.clip(int(self.lower / self.grid), int(self.upper / self.grid)))

    def _intervals(
        self, ordered: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Runs of grid points of one utility: first point, how many, values below and above."""
        low, high = int(self.lower / self.grid), int(self.upper / self.grid)
        points, first = np.unique(ordered, return_index=True)
        after = np.append(first[1:], len(ordered))  # values at or below each distinct one
        # Alternate: the gap before each distinct value, the value, and at last the gap after all.
        starts = np.empty(2 * len(points) + 1, dtype=np.int64)
        starts[0], starts[1::2], starts[2::2] = low, points, points + 1
        ends = np.append(starts[1:], high + 1)
        below_ = np.zeros(len(starts), dtype=np.int64)
        below_[1::2], below_[2::2] = first, after
        above = np.full(len(starts), len(ordered), dtype=np.int64)
        above[1::2] = above[2::2] = len(ordered) - after
        return starts, ends - starts, below_, above


def _bounds(given: tuple[Rational, Rational], step: Fraction) -> tuple[Fraction, Fraction]:
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != 2:
        raise InvalidValue(
            f"bounds = {given!r} must be two numbers, low first.", hint="bounds=(0, 120)"
        )
    low, high = (rational(bound, name="bounds") for bound in given)
    if low > high or low % step or high % step:
        raise InvalidValue(
            f"bounds = ({low}, {high}) must be two multiples of the grid {step}, low first.",
            hint="bounds=(0, 120), grid=1",
        )
    if max(abs(low), abs(high)) >= _MOST_STEPS * step:
        raise OutOfRange(
            f"bounds = ({low}, {high}) reach 2**60 or more steps of the grid {step} from 0.",
            hint="use a coarser grid, or closer bounds.",
        )
    return low, high
