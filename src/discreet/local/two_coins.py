"""Randomized response as it is told: two fair coins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.exact import Real
from discreet.local.kary import Histogram
from discreet.local.randomizer import Moments, Report, Reports
from discreet.noise import bits
from discreet.theory.channels import Channel
from discreet.theory.losses import Log

YES, NO = 0, 1

_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class TwoCoins(Histogram):
    """Toss a coin: on tails tell the truth; on heads toss again, and say yes on heads, no on tails.

    Of n people of whom a fraction p would truly say yes, n/4 + np/2 do so on average: p is
    estimated by 2(#yes/n - 1/4). Nobody who says yes has admitted anything: a quarter of all
    answers are a yes that a coin gave.

    Guarantee: ln 3, exactly: yes is said with probability 3/4 or 1/4.
    Exactness: two random bits make one report.
    Reference: Warner (1965), in the form with two coins.

    >>> TwoCoins().epsilon
    ln(3)
    >>> TwoCoins().perturb(YES, iter([0b00]))  # heads, then tails: no
    1
    """

    kind: ClassVar[str] = "two_coins"
    size: int = field(init=False, default=2)
    declared: Real = field(init=False, default_factory=lambda: Log(3))

    @property
    def ratio(self) -> Fraction:
        """Three quarters against one."""
        return Fraction(3)

    def shares(self) -> dict[str, Fraction]:
        """Both coins are fair."""
        return {"tails": Fraction(1, 2)}

    def perturb(self, value: int, words: Iterator[int]) -> Report:
        """The last bit of a word is the first coin (1 for tails), the bit before it the second."""
        word = next(words)
        tails, second_heads = word & 1, word >> 1 & 1
        if tails:
            return value
        return YES if second_heads else NO

    def simulate(self, values: ArrayLike) -> Reports:
        """One report for each value, as small integers: two random bits each."""
        array = np.asarray(values)
        small = array if array.dtype == np.uint8 else self.checked_values(array).astype(np.uint8)
        reports = np.empty(len(small), dtype=np.uint8)
        for start in range(0, len(small), _BLOCK):
            known = small[start : start + _BLOCK]
            if array.dtype == np.uint8:
                self.checked_values(known)
            tails = _fair(len(known))
            answer = reports[start : start + _BLOCK]
            # The second coin, and where the first showed tails the truth instead.
            np.bitwise_xor(second := _fair(len(known)), known, out=answer)
            answer &= tails
            answer ^= second
        return reports

    def channel(self) -> Channel:
        """Every toss of the two coins, counted."""
        rows = []
        for value in (YES, NO):
            said = [self.perturb(value, iter([word])) for word in range(4)]
            rows.append([Fraction(said.count(answer), 4) for answer in (YES, NO)])
        return Channel(rows)

    @property
    def cells(self) -> int:
        """One for yes and one for no."""
        return 2

    def scores(self, counters: list[int]) -> list[int]:
        """How often each was said."""
        return counters

    def moments(self, value: int, shares: list[Fraction] | None = None) -> Moments:
        """Three quarters and one."""
        del value, shares
        return Moments.of_support(Fraction(3, 4), Fraction(1, 4))


def _fair(size: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.unpackbits(bits.random_bytes(-(-size // 8)), count=size)
