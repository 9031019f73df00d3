"""One bit for a bounded number: yes with a probability that grows from bound to bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.exact import Real
from discreet.local.kary import histogram, within
from discreet.local.numbers import NumberRandomizer
from discreet.local.randomizer import (
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


@dataclass(frozen=True, eq=False)
class OneBit(NumberRandomizer):
    """Says 1 with probability ``least + point * step``, else 0: Duchi's randomizer, on a grid.

    At the lower bound 1 has the probability 1/(e^epsilon + 1), at the upper e^epsilon times as
    much. The best choice for small epsilons, and the smallest report there is.

    Guarantee: epsilon, reached between the two bounds.
    Exactness: probabilities are whole numbers of 2**-64ths and exactly a line; one word.
    Reference: Duchi, Jordan and Wainwright (2018), section 3.2, for one dimension.

    >>> bit = OneBit(size=3, epsilon="ln 3")
    >>> bit.shares()
    {'least': Fraction(1, 4), 'step': Fraction(1, 4)}
    >>> bit.channel().epsilon()
    ln(3)
    """

    kind: ClassVar[str] = "one_bit"
    size: int
    declared: Real
    least: int
    step: int

    def __init__(self, *, size: int, epsilon: Loss) -> None:
        declared, ratio = exact_loss(epsilon)
        size = domain_size(size)
        # Rounded up, and further up until the rest is a whole number of equal steps.
        least = share_up(1 / (ratio + 1))
        step = (FULL - 2 * least) // (size - 1)
        step -= step * (size - 1) % 2
        least = (FULL - step * (size - 1)) // 2
        for name, number in (
            ("size", size),
            ("declared", declared),
            ("least", least),
            ("step", step),
        ):
            object.__setattr__(self, name, number)
        informative(self)

    @property
    def ratio(self) -> Fraction:
        """The upper bound's odds of 1 against the lower bound's."""
        return Fraction(FULL - self.least, self.least)

    def shares(self) -> dict[str, Fraction]:
        """The probability of 1 at the lower bound, and by how much it grows at each point."""
        return {"least": Fraction(self.least, FULL), "step": Fraction(self.step, FULL)}

    def perturb(self, value: int, words: Iterator[int]) -> Report:
        """1 when the word lies below the point's share."""
        return int(next(words) < self.least + value * self.step)

    def simulate(self, values: ArrayLike) -> Reports:
        """One report for each point."""
        points = self.checked_values(values)
        reports = np.empty(len(points), dtype=np.uint8)
        for start in range(0, len(points), BLOCK):
            known = points[start : start + BLOCK].view(np.uint64)
            share = np.uint64(self.least) + known * np.uint64(self.step)
            reports[start : start + BLOCK] = bits.words(len(known)) < share
        return reports

    def channel(self) -> Channel:
        """Each point's odds of 0 and 1."""
        few_enough(self.size, 2)
        ones = [Fraction(self.least + point * self.step, FULL) for point in range(self.size)]
        return Channel([[1 - one, one] for one in ones])

    @property
    def cells(self) -> int:
        """One for 0 and one for 1."""
        return 2

    def tally(self, reports: Reports, weights: NDArray[np.int64] | None = None) -> list[int]:
        """How often each came."""
        return histogram(reports, weights, 2)

    def allowed(self, reports: Reports) -> NDArray[np.bool_]:
        """0 or 1."""
        return within(reports, 2)

    def read(self, written: object) -> Report | None:
        """0 or 1."""
        return whole(written, 2)

    def write(self, report: Report) -> object:
        """0 or 1."""
        return report

    @property
    def offset(self) -> Fraction:
        """The probability of 1 at the lower bound."""
        return Fraction(self.least, FULL)

    @property
    def slope(self) -> Fraction:
        """By how much it grows."""
        return Fraction(self.step, FULL)

    def variance(self, point: int) -> Fraction:
        """That of a coin."""
        one = self.offset + point * self.slope
        return one * (1 - one)

    def sums(self, counters: list[int]) -> tuple[int, int]:
        """0 and 1 are their own squares."""
        return counters[1], counters[1]
