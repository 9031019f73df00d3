"""k-ary randomized response: the truth, or with some probability any of the other answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.exact import Real
from discreet.local.randomizer import (
    FrequencyRandomizer,
    Moments,
    Report,
    Reports,
    domain_size,
    exact_loss,
    informative,
    share_up,
    whole,
)
from discreet.local.words import BLOCK, FULL
from discreet.noise import bits
from discreet.theory.channels import Channel, few_enough
from discreet.theory.losses import Loss


class Histogram(FrequencyRandomizer):
    """A randomizer whose reports are whole numbers below ``cells``: counted, they say it all."""

    def tally(self, reports: Reports, weights: NDArray[np.int64] | None = None) -> list[int]:
        """How often each number came."""
        return histogram(reports, weights, self.cells)

    def allowed(self, reports: Reports) -> NDArray[np.bool_]:
        """Numbers below ``cells``."""
        return within(reports, self.cells)

    def read(self, written: object) -> Report | None:
        """A whole number below ``cells``."""
        return whole(written, self.cells)

    def write(self, report: Report) -> object:
        """The number itself."""
        return report


def histogram(numbers: Reports, weights: NDArray[np.int64] | None, cells: int) -> list[int]:
    """How often each whole number below ``cells`` occurs."""
    if weights is None:
        if cells == 2:
            ones = int(np.count_nonzero(numbers))
            return [len(numbers) - ones, ones]
        # By blocks, since counting makes a copy in 64 bits.
        counts = np.zeros(cells, dtype=np.int64)
        for start in range(0, len(numbers), BLOCK):
            counts += np.bincount(numbers[start : start + BLOCK], minlength=cells)
        totals: list[int] = counts.tolist()
        return totals
    totals = [0] * cells
    for number, weight in zip(numbers.tolist(), weights.tolist(), strict=True):
        totals[number] += weight
    return totals


def within(numbers: Reports, limit: int) -> NDArray[np.bool_]:
    """Which of the numbers are whole, from 0 up to the limit, exclusive."""
    if numbers.ndim != 1 or numbers.dtype.kind not in "iub":
        return np.zeros(len(numbers), dtype=np.bool_)
    if limit == 2 and numbers.dtype.itemsize == 1:
        return numbers.view(np.uint8) < np.uint8(2)
    fits: NDArray[np.bool_] = (numbers >= 0) & (numbers < limit)
    return fits


def lie_share(ratio: Real, size: int) -> int:
    """What each untrue answer gets of 2**64: at least ``2**64 / (e^epsilon + size - 1)``.

    Rounded up, which makes the truth less likely and each lie more, so the loss is at most epsilon.
    """
    return share_up(1 / (ratio + (size - 1)))


def turn(value: int, size: int, lie: int, word: int) -> int:
    """k-ary response from one word: word // lie is the number of a lie, or too large for one."""
    other = word // lie
    return value if other >= size - 1 else other + (other >= value)


def turn_all(
    values: NDArray[np.uint64], size: int, lie: int, words: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """``turn`` for many."""
    others = words // np.uint64(lie)
    untrue = others < np.uint64(size - 1)
    others += others >= values
    return np.where(untrue, others, values)


@dataclass(frozen=True, eq=False)
class KaryResponse(Histogram):
    """Reports the true one of ``size`` answers, or with equal odds each of the others.

    Guarantee: epsilon; truth / lie = e^epsilon up to rounding in the 64th bit, downward.
    Exactness: probabilities are whole numbers of 2**-64ths; one word makes one report.
    Reference: Warner (1965) for two answers; Kairouz, Bonawitz and Ramage (2016), k-RR.

    >>> response = KaryResponse(size=4, epsilon="ln 5")
    >>> response.shares()
    {'lie': Fraction(1, 8)}
    >>> response.epsilon
    ln(5)
    >>> response.respond(2) in range(4)
    True
    """

    kind: ClassVar[str] = "kary"
    size: int
    declared: Real
    lie: int

    def __init__(self, *, size: int, epsilon: Loss) -> None:
        declared, ratio = exact_loss(epsilon)
        object.__setattr__(self, "size", domain_size(size))
        object.__setattr__(self, "declared", declared)
        object.__setattr__(self, "lie", lie_share(ratio, self.size))
        informative(self)

    @property
    def ratio(self) -> Fraction:
        """Truth over lie."""
        return Fraction(FULL - (self.size - 1) * self.lie, self.lie)

    def shares(self) -> dict[str, Fraction]:
        """The probability of each untrue answer."""
        return {"lie": Fraction(self.lie, FULL)}

    def perturb(self, value: int, words: Iterator[int]) -> Report:
        """One word decides."""
        return turn(value, self.size, self.lie, next(words))

    def simulate(self, values: ArrayLike) -> Reports:
        """One report for each value."""
        truth = self.checked_values(values)
        reports = np.empty(len(truth), dtype=np.int64)
        for start in range(0, len(truth), BLOCK):
            part = slice(start, start + BLOCK)
            known = truth[part].view(np.uint64)
            reports[part] = turn_all(known, self.size, self.lie, bits.words(len(known))).view(
                np.int64
            )
        return reports

    def channel(self) -> Channel:
        """Truth on the diagonal, lies elsewhere."""
        few_enough(self.size, self.size)
        lie = Fraction(self.lie, FULL)
        truth = 1 - (self.size - 1) * lie
        return Channel(
            [[truth if x == y else lie for y in range(self.size)] for x in range(self.size)]
        )

    @property
    def cells(self) -> int:
        """One for each answer."""
        return self.size

    def scores(self, counters: list[int]) -> list[int]:
        """How often each answer was reported."""
        return counters

    def moments(self, value: int, shares: list[Fraction] | None = None) -> Moments:
        """Reported truly or falsely."""
        del value, shares
        lie = Fraction(self.lie, FULL)
        return Moments.of_support(1 - (self.size - 1) * lie, lie)
