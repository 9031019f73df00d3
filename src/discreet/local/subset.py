"""Subset selection: a set of options of fixed size, with good odds of the true one in it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidValue
from discreet.exact import Real
from discreet.local.bitsets import BitSets
from discreet.local.randomizer import (
    Moments,
    Report,
    Reports,
    domain_size,
    exact_loss,
    informative,
    share_down,
)
from discreet.local.words import FULL, below, coins, indices
from discreet.theory.channels import Channel, few_enough
from discreet.theory.losses import Loss

_CELLS = 1 << 17  # how many bits are simulated at a time


@dataclass(frozen=True, eq=False)
class SubsetSelection(BitSets):
    """Reports ``chosen`` options: the true one among them with probability ``held``.

    The rest of the set is drawn from the other options, every set equally likely.

    Guarantee: epsilon: held / (1 - held) * (size - chosen) / chosen = e^epsilon up to rounding,
    downward.
    Exactness: ``held`` is a whole number of 2**-64ths; sets are drawn by Floyd's algorithm.
    Reference: Ye and Barg (2018); Wang, Huang, Wang, Nie, Xu, Yang, Li and Qiao (2016).

    >>> selection = SubsetSelection(size=4, epsilon="ln 3")
    >>> selection.chosen, selection.shares()
    (1, {'held': Fraction(1, 2)})
    >>> selection.channel().epsilon()
    ln(3)
    """

    kind: ClassVar[str] = "subset"
    size: int
    declared: Real
    chosen: int
    held: int

    def __init__(self, *, size: int, epsilon: Loss, chosen: int | None = None) -> None:
        declared, ratio = exact_loss(epsilon)
        object.__setattr__(self, "size", domain_size(size))
        object.__setattr__(self, "declared", declared)
        if chosen is None:
            # The variance is least at size / (e^epsilon + 1), or next to it.
            near = (self.size / (ratio + 1)).floor()
            tried = {min(max(1, near + step), self.size - 1) for step in (0, 1)}
            chosen = min(sorted(tried), key=lambda many: _spread(self.size, many, ratio))
        if isinstance(chosen, bool) or not 1 <= chosen < self.size:
            raise InvalidValue(
                f"chosen = {chosen!r} is not allowed: it must be from 1 to {self.size - 1}.",
                hint="leave it out, and the best is taken.",
            )
        object.__setattr__(self, "chosen", int(chosen))
        # Rounded down: the true option is held a little less often.
        object.__setattr__(self, "held", share_down(_held(self.size, self.chosen, ratio)))
        informative(self)

    @property
    def ratio(self) -> Fraction:
        """One set that holds the true option against one that does not."""
        return Fraction(self.held * (self.size - self.chosen), (FULL - self.held) * self.chosen)

    def shares(self) -> dict[str, Fraction]:
        """The probability that the set holds the true option."""
        return {"held": Fraction(self.held, FULL)}

    def fitting(self, chosen: int) -> bool:
        """Every report is of the same size."""
        return chosen == self.chosen

    def allowed(self, reports: Reports) -> NDArray[np.bool_]:
        """Rows of 0 and 1 with as many 1 as there must be."""
        good = super().allowed(reports)
        if bool(good.any()):
            good &= np.count_nonzero(reports, axis=1) == self.chosen
        return good

    def perturb(self, value: int, words: Iterator[int]) -> Report:
        """The first word decides whether the true option is held; Floyd's algorithm draws the rest.

        Floyd: to draw ``many`` of ``others``, for each last place in turn draw a number up to it,
        and take that, or where it is already taken the place itself.
        """
        held = next(words) < self.held
        many, others = self.chosen - held, self.size - 1
        taken: set[int] = set()
        for last in range(others - many, others):
            drawn = below(last + 1, words)
            taken.add(last if drawn in taken else drawn)
        options = {other + (other >= value) for other in taken}
        return tuple(sorted(options | {value} if held else options))

    def simulate(self, values: ArrayLike) -> Reports:
        """One row of bits for each value."""
        truth = self.checked_values(values)
        reports = np.zeros((len(truth), self.size), dtype=np.bool_)
        rows = max(1, _CELLS // self.size)
        for start in range(0, len(truth), rows):
            known, part = truth[start : start + rows], reports[start : start + rows]
            held = coins(len(known), self.held)
            for which, many in ((held, self.chosen - 1), (~held, self.chosen)):
                place = np.flatnonzero(which)
                taken = floyd(len(place), self.size - 1, many)
                # The others are numbered without the true option: those above it move up by one.
                row, other = np.nonzero(taken)
                other += other >= known[place[row]]
                part[place[row], other] = True
            part[held, known[held]] = True
        return reports

    def channel(self) -> Channel:
        """Every set of the right size."""
        few_enough(self.size, math.comb(self.size, self.chosen))
        held = Fraction(self.held, FULL)
        with_it = held / math.comb(self.size - 1, self.chosen - 1)
        without = (1 - held) / math.comb(self.size - 1, self.chosen)
        sets = list(combinations(range(self.size), self.chosen))
        rows = [
            [with_it if value in each else without for each in sets] for value in range(self.size)
        ]
        return Channel(rows, outputs=sets)

    def moments(self, value: int, shares: list[Fraction] | None = None) -> Moments:
        """Held, or drawn along with another."""
        del value, shares
        held = Fraction(self.held, FULL)
        return Moments.of_support(held, (self.chosen - held) / (self.size - 1))


def floyd(rows: int, others: int, many: int) -> NDArray[np.bool_]:
    """For each row, ``many`` of ``others``, every set equally likely."""
    taken = np.zeros((rows, others), dtype=np.bool_)
    each = np.arange(rows)
    for last in range(others - many, others):
        drawn = indices(rows, last + 1).view(np.int64)
        again = taken[each, drawn]
        drawn[again] = last
        taken[each, drawn] = True
    return taken


def _held(size: int, chosen: int, ratio: Real) -> Real:
    return (ratio * chosen) / (ratio * chosen + (size - chosen))


def _spread(size: int, chosen: int, ratio: Real) -> float:
    held = float(_held(size, chosen, ratio))
    drawn = (chosen - held) / (size - 1)
    return drawn * (1 - drawn) / (held - drawn) ** 2 if held > drawn else math.inf
