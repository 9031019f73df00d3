"""The hockey-stick divergences of many pairs of rows of floats, at many epsilons, enclosed.

Each output is put between the thresholds that its ratio lies between, once for all epsilons and
both ways round; sums of what lies on one side of a threshold then bound the divergence there. Only
additions, multiplications, divisions and comparisons of floats are relied on, which IEEE 754 rounds
correctly. With u = 2**-53, k outputs and j thresholds:

* ``fl(p/q)`` is monotone, so for a float c the outputs with ``fl(p/q) >= c`` are all those with
  ``p/q >= c`` and perhaps some that fall short by a factor 1 - u, which take at most u c q away;
* any set of outputs at all gives a lower bound;
* a sum of k + j floats, none negative, is within (k + j) u / (1 - (k + j) u) of the true one.

``margin(k + j)`` is twice what these need together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

# A float's sign, exponent and first 8 bits after the point say nearly where it lies.
_SHIFT = 44
# With more thresholds than this in one slot of the guide table, plain bisection is faster.
_CROWDED = 8


def margin(terms: int) -> float:
    """The relative error that sums of ``terms`` floats stay within, with room to spare."""
    return 2 * (terms + 8) * 2.0**-53


def quotients(p: Floats, q: Floats) -> Floats:
    """p/q, infinite where only q is 0, and 0 where both are."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        ratio = p / q
    ratio[np.isnan(ratio)] = 0.0
    return ratio


@dataclass(frozen=True, slots=True)
class Thresholds:
    """For each epsilon a float at or below the ratio that counts, and one at or above it."""

    down: Floats
    up: Floats
    beyond: NDArray[np.bool_]
    """Where the ratio is too large for a float: ``down`` serves, ``up`` is not to be used."""


class Curves:
    """Bounds on the divergences of pairs of rows, at every threshold."""

    def __init__(self, at: Thresholds) -> None:
        self.at = at
        # q/p >= c where p/q <= 1/c, which must be rounded up, and is included by one step more.
        inverse = np.nextafter(np.nextafter(1 / at.down, np.inf), np.inf)
        groups = (at.down, at.up, inverse, 1 / at.up)
        self._cuts, places = np.unique(np.concatenate(groups), return_inverse=True)
        self._places: list[Places] = np.split(places.ravel(), 4)
        self._guide()

    def bounds(self, p: Floats, q: Floats) -> Iterator[tuple[Floats, Floats]]:
        """(low, high), pairs by epsilons: of the divergence of p from q, then of q from p."""
        slots = len(self._cuts) + 1
        pairs, outputs = p.shape
        where = self._slots(quotients(p, q))
        where += np.arange(0, pairs * slots, slots)[:, np.newaxis]

        def gather(side: Floats) -> Floats:
            sums = np.bincount(where.ravel(), weights=side.ravel(), minlength=pairs * slots)
            return sums.astype(np.float64, copy=False).reshape(pairs, slots)

        ours, theirs = gather(p), gather(q)
        slack = margin(outputs + slots)
        down, up, inverse_down, inverse_up = self._places
        # At or above the cut number j: everything in the slots after it.
        above = _from_the_right(ours), _from_the_right(theirs)
        yield self._enclose(above, down + 1, up + 1, slack, only=(p, q))
        # Below the cut number j: everything in the slots up to it.
        below = np.cumsum(theirs, axis=1), np.cumsum(ours, axis=1)
        yield self._enclose(below, inverse_down, inverse_up, slack, only=(q, p))

    def _enclose(
        self,
        sums: tuple[Floats, Floats],
        most: Places,
        least: Places,
        slack: float,
        *,
        only: tuple[Floats, Floats],
    ) -> tuple[Floats, Floats]:
        here, there = sums[0][:, most], sums[1][:, most] * self.at.down
        high = here - there + slack * (here + there)
        here, there = sums[0][:, least], sums[1][:, least] * self.at.up
        low = here - there - slack * (here + there)
        if bool(self.at.beyond.any()):
            # Outputs that only one side gives count in full at every epsilon.
            certain = np.where(only[1] == 0, only[0], 0.0).sum(axis=1) * (1 - slack)
            low[:, self.at.beyond] = certain[:, np.newaxis]
        return np.maximum(low, 0.0), np.maximum(high, 0.0)

    def _guide(self) -> None:
        """For each value of a float's leading bits, how many cuts lie at or below its slot."""
        keys = self._cuts.view(np.int64) >> _SHIFT
        self._first, self._last = int(keys[0]) - 1, int(keys[-1]) + 1
        starts = (np.arange(self._first, self._last + 2) << _SHIFT).view(np.float64)
        counts = np.searchsorted(self._cuts, starts, side="right")
        self._table = counts[:-1]
        self._steps = int(np.diff(counts).max())
        # Nothing is at or above NaN, so counting stops at the last cut.
        self._ladder = np.append(self._cuts, np.nan)

    def _slots(self, ratio: Floats) -> Places:
        """How many cuts each ratio is at or above."""
        if self._steps > _CROWDED:
            return np.searchsorted(self._cuts, ratio, side="right")
        keys = ratio.view(np.int64) >> _SHIFT
        np.clip(keys, self._first, self._last, out=keys)
        slots: Places = self._table[keys - self._first]
        for _ in range(self._steps):
            slots += ratio >= self._ladder[slots]
        return slots


def _from_the_right(values: Floats) -> Floats:
    sums: Floats = np.cumsum(values[:, ::-1], axis=1)[:, ::-1]
    return sums
