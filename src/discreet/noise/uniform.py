"""Whole numbers below n, all equally likely."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidValue
from discreet.exact import Rational
from discreet.exact import confidence as exact_confidence
from discreet.noise import bits
from discreet.noise.sampling import BLOCK, blocks, count

LARGEST = 2**63


@dataclass(frozen=True)
class UniformBelow:
    """0, 1, ..., n - 1, each with probability 1/n.

    Words at or above the largest multiple of n that fits 64 bits are thrown away, so no remainder
    is favoured.

    >>> die = UniformBelow(6)
    >>> bool((die.sample(100) < 6).all())
    True
    >>> die.variance
    Fraction(35, 12)
    """

    n: int

    def __init__(self, n: int) -> None:
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= LARGEST:
            raise InvalidValue(
                f"n = {n!r} is not a number of outcomes: it must be from 1 to 2**63.",
                hint="UniformBelow(6)",
            )
        object.__setattr__(self, "n", int(n))

    def sample(self, n: int) -> NDArray[np.int64]:
        """``n`` independent draws."""
        words = bits.words(count(n))
        fair = 2**64 - 2**64 % self.n
        if fair < 2**64:
            unfair = np.flatnonzero(words >= np.uint64(fair))
            while len(unfair):
                words[unfair] = bits.words(len(unfair))
                unfair = unfair[words[unfair] >= np.uint64(fair)]
        return (words % np.uint64(self.n)).astype(np.int64)

    def stream(self, n: int, *, block: int = BLOCK) -> Iterator[NDArray[np.int64]]:
        """``n`` independent draws as arrays of at most ``block``, in constant memory."""
        return (self.sample(size) for size in blocks(n, block))

    def pmf(self, k: int) -> Fraction:
        """``P(X = k)``."""
        return Fraction(1, self.n) if 0 <= k < self.n else Fraction(0)

    def cdf(self, k: int) -> Fraction:
        """``P(X <= k)``."""
        return Fraction(min(max(k + 1, 0), self.n), self.n)

    def tail(self, k: int) -> Fraction:
        """``P(X >= k)``."""
        return 1 - self.cdf(k - 1)

    def quantile(self, p: Rational) -> int:
        """The smallest k with ``P(X <= k) >= p``."""
        return int(-(-exact_confidence(p, name="p") * self.n // 1)) - 1

    def interval(self, confidence: Rational) -> tuple[int, int]:
        """A narrowest interval that holds a draw with the given confidence: it starts at 0."""
        return 0, self.quantile(confidence)

    @property
    def mean(self) -> Fraction:
        """``(n - 1) / 2``."""
        return Fraction(self.n - 1, 2)

    @property
    def variance(self) -> Fraction:
        """``(n^2 - 1) / 12``."""
        return Fraction(self.n**2 - 1, 12)


def below(n: int) -> int:
    """One whole number below n, all equally likely.

    Unlike ``UniformBelow`` it has no upper limit: it draws as many bits as n has.
    """
    if n < 1:
        raise InvalidValue(f"n = {n}: no whole number lies below it.", hint="below(6)")
    length = n.bit_length()
    while True:
        value = 0
        for _ in range(-(-length // 64)):
            value = value << 64 | bits.word()
        value >>= -length % 64
        if value < n:
            return value
