"""Unary encoding: one bit for each option, each bit randomized by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.exact import Real
from discreet.local.bitsets import BitSets
from discreet.local.randomizer import (
    Moments,
    Report,
    Reports,
    domain_size,
    exact_loss,
    informative,
    share_up,
)
from discreet.local.words import FULL, coins
from discreet.theory.channels import Channel, few_enough
from discreet.theory.losses import Loss

_COINS = 1 << 17  # how many are simulated at a time


@dataclass(frozen=True, eq=False)
class UnaryEncoding(BitSets):
    """Sets the bit of the true option with probability ``kept``, every other one with ``false``.

    Optimized (the default): kept = 1/2, false = 1/(e^epsilon + 1), which has the least variance for
    rare options. Symmetric: every bit is flipped with the same probability 1/(e^(epsilon/2) + 1).

    Guarantee: epsilon: two options differ in two bits, and
    kept (1 - false) / (false (1 - kept)) = e^epsilon up to rounding, downward.
    Exactness: probabilities are whole numbers of 2**-64ths; one word for each bit.
    Reference: Erlingsson, Pihur and Korolova (2014); Wang, Blocki, Li and Jha (2017), OUE.

    >>> encoding = UnaryEncoding(size=3, epsilon="ln 3")
    >>> encoding.shares()
    {'kept': Fraction(1, 2), 'false': Fraction(1, 4)}
    >>> encoding.channel().epsilon()
    ln(3)
    """

    kind: ClassVar[str] = "unary"
    size: int
    declared: Real
    kept: int
    false: int

    def __init__(self, *, size: int, epsilon: Loss, symmetric: bool = False) -> None:
        declared, ratio = exact_loss(epsilon)
        object.__setattr__(self, "size", domain_size(size))
        object.__setattr__(self, "declared", declared)
        odds = ratio if not symmetric else (declared / 2).exp()
        # Rounded up: a larger share of false bits, and so a smaller ratio.
        false = share_up(1 / (odds + 1))
        object.__setattr__(self, "false", false)
        object.__setattr__(self, "kept", FULL - false if symmetric else FULL // 2)
        informative(self)

    @property
    def symmetric(self) -> bool:
        """Whether all bits are flipped with the same probability."""
        return self.kept + self.false == FULL

    @property
    def ratio(self) -> Fraction:
        """The true bit of one option kept and that of the other one not set."""
        return Fraction(self.kept * (FULL - self.false), self.false * (FULL - self.kept))

    def shares(self) -> dict[str, Fraction]:
        """The probability that a true bit is set, and that a false one is."""
        return {"kept": Fraction(self.kept, FULL), "false": Fraction(self.false, FULL)}

    def perturb(self, value: int, words: Iterator[int]) -> Report:
        """A word for each bit in turn; the bit is set when the word lies below its share."""
        return tuple(
            option
            for option in range(self.size)
            if next(words) < (self.kept if option == value else self.false)
        )

    def simulate(self, values: ArrayLike) -> Reports:
        """One row of bits for each value."""
        truth = self.checked_values(values)
        reports = np.empty((len(truth), self.size), dtype=np.bool_)
        rows = max(1, _COINS // self.size)
        for start in range(0, len(truth), rows):
            part = reports[start : start + rows]
            known = truth[start : start + rows]
            part[...] = coins(part.size, self.false).reshape(part.shape)
            part[np.arange(len(known)), known] = coins(len(known), self.kept)
        return reports

    def flips(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Which bits a symmetric encoding flips, in reports of the given shape."""
        return coins(math.prod(shape), self.false).reshape(shape)

    def channel(self) -> Channel:
        """Every set of bits."""
        few_enough(self.size, 2 ** min(self.size, 64))
        kept, false = Fraction(self.kept, FULL), Fraction(self.false, FULL)
        patterns = list(product((0, 1), repeat=self.size))
        rows = []
        for value in range(self.size):
            row = []
            for pattern in patterns:
                chance = Fraction(1)
                for option, bit in enumerate(pattern):
                    share = kept if option == value else false
                    chance *= share if bit else 1 - share
                row.append(chance)
            rows.append(row)
        outputs = [tuple(i for i, bit in enumerate(pattern) if bit) for pattern in patterns]
        return Channel(rows, outputs=outputs)

    def moments(self, value: int, shares: list[Fraction] | None = None) -> Moments:
        """Set truly or falsely."""
        del value, shares
        return Moments.of_support(Fraction(self.kept, FULL), Fraction(self.false, FULL))
