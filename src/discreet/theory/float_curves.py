"""The hockey-stick divergences of many pairs of rows of floats, at many epsilons, enclosed.

One division and one sort per pair order the outputs by their ratio; running sums then answer any
number of epsilons, both ways round. Only additions, multiplications, divisions and comparisons of
floats are relied on, which IEEE 754 rounds correctly. With u = 2**-53 and k outputs:

* ``fl(p/q)`` is monotone, so for a float c the outputs with ``fl(p/q) >= c`` are all those with
  ``p/q >= c`` and perhaps some that fall short by a factor 1 - u, which take at most u c q away;
* any set of outputs at all gives a lower bound;
* a running sum of k floats, none negative, is within k u / (1 - k u) of the true one.

``margin(k)`` is twice what these need together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def margin(outputs: int) -> float:
    """The relative error that sums over ``outputs`` floats stay within, with room to spare."""
    return 2 * (outputs + 8) * 2.0**-53


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


def excesses(p: Floats, q: Floats, at: Thresholds) -> Iterator[tuple[Floats, Floats]]:
    """Bounds (low, high) of the divergences, pairs by epsilons: of p from q, then of q from p."""
    ratio = quotients(p, q)
    order = np.argsort(ratio, axis=1)
    ratio = np.take_along_axis(ratio, order, axis=1)
    tops, bottoms = np.take_along_axis(p, order, axis=1), np.take_along_axis(q, order, axis=1)
    # p/q >= c is q's side of the cut p/q <= 1/c, where 1/c must be rounded up, and is included.
    inverse = np.nextafter(np.nextafter(1 / at.down, np.inf), np.inf)
    cuts = np.concatenate([at.down, at.up, inverse, 1 / at.up])
    below = np.stack([np.searchsorted(row, cuts) for row in ratio])
    down, up, inverse_down, inverse_up = np.split(below, 4, axis=1)
    outputs = p.shape[1]
    ours = _Event(_running(tops[:, ::-1]), _running(bottoms[:, ::-1]))
    yield _bounds(ours, outputs - down, outputs - up, at, p, q)
    theirs = _Event(_running(bottoms), _running(tops))
    yield _bounds(theirs, inverse_down, inverse_up, at, q, p)


@dataclass(frozen=True, slots=True)
class _Event:
    """The probabilities of the outputs with the largest ratios: of none, of one, of two..."""

    here: Floats
    there: Floats

    def weigh(self, sizes: NDArray[np.intp], cuts: Floats) -> tuple[Floats, Floats]:
        """For each pair and cut: what the event has here, and the cut's multiple of it there."""
        here = np.take_along_axis(self.here, sizes, axis=1)
        there = np.take_along_axis(self.there, sizes, axis=1)
        return here, there * cuts


def _bounds(
    event: _Event,
    most: NDArray[np.intp],
    least: NDArray[np.intp],
    at: Thresholds,
    p: Floats,
    q: Floats,
) -> tuple[Floats, Floats]:
    slack = margin(p.shape[1])
    here, there = event.weigh(most, at.down)
    high = here - there + slack * (here + there)
    here, there = event.weigh(least, at.up)
    low = here - there - slack * (here + there)
    if bool(at.beyond.any()):
        # Outputs that only one side gives count in full at every epsilon.
        only = np.where(q == 0, p, 0.0).sum(axis=1) * (1 - slack)
        low[:, at.beyond] = only[:, np.newaxis]
    return np.maximum(low, 0.0), np.maximum(high, 0.0)


def _running(values: Floats) -> Floats:
    sums = np.zeros((values.shape[0], values.shape[1] + 1))
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums
