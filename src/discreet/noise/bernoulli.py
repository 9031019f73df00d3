"""A coin of any exact or computable bias."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidProbability
from discreet.exact import Rational, Real
from discreet.exact import probability as exact_probability
from discreet.noise import bits
from discreet.noise.sampling import BLOCK, blocks, count


@dataclass(frozen=True, eq=False)
class Bernoulli:
    """1 with probability ``p``, else 0: 1 exactly when a uniform real V lies below p.

    The first 64 bits of V decide unless they are the first 64 bits of p themselves; then, once in
    2**64 draws, more are compared.

    >>> Bernoulli("1/3").sample(4).dtype
    dtype('int64')
    >>> coin = Bernoulli(Real(-1).exp())          # any computable number will do
    >>> round(float(coin.mean), 6)
    0.367879
    """

    p: Real

    def __init__(self, p: Rational | Real) -> None:
        exact = p if isinstance(p, Real) else Real(exact_probability(p, name="p"))
        if not 0 <= exact <= 1:
            raise InvalidProbability(
                f"p = {float(exact)} is not a probability: it must lie between 0 and 1.",
                hint='Bernoulli("1/2")',
            )
        object.__setattr__(self, "p", exact)

    def sample(self, n: int) -> NDArray[np.int64]:
        """``n`` independent draws."""
        words = bits.words(count(n))
        first = (self.p * 2**64).floor()
        if first == 2**64:
            return np.ones(n, dtype=np.int64)
        outcomes = (words < np.uint64(first)).astype(np.int64)
        if self.p.exact is None or (self.p.exact * 2**64).denominator > 1:
            for i in np.flatnonzero(words == np.uint64(first)):
                outcomes[i] = self.settle(first, 64)
        return outcomes

    def settle(self, prefix: int, length: int) -> int:
        """The outcome when V starts with ``length`` bits of ``prefix``; draws more if needed."""
        while True:
            first = (self.p * 2**length).floor()
            if prefix != first or self.p == Fraction(first, 2**length):
                return int(prefix < first)
            prefix, length = prefix << 64 | bits.word(), length + 64

    def stream(self, n: int, *, block: int = BLOCK) -> Iterator[NDArray[np.int64]]:
        """``n`` independent draws as arrays of at most ``block``, in constant memory."""
        return (self.sample(size) for size in blocks(n, block))

    def pmf(self, k: int) -> Real:
        """``P(X = k)``, exactly."""
        return {0: 1 - self.p, 1: self.p}.get(k, Real(0))

    def cdf(self, k: int) -> Real:
        """``P(X <= k)``, exactly."""
        return Real(0) if k < 0 else 1 - self.p if k < 1 else Real(1)

    def tail(self, k: int) -> Real:
        """``P(X >= k)``, exactly."""
        return 1 - self.cdf(k - 1)

    def quantile(self, p: Rational) -> int:
        """The smallest k with ``P(X <= k) >= p``."""
        return int(1 - self.p < exact_probability(p, name="p"))

    def interval(self, confidence: Rational) -> tuple[int, int]:
        """The narrowest interval that holds a draw with the given confidence."""
        wanted = exact_probability(confidence, name="confidence")
        if self.p >= wanted and self.p * 2 >= 1:
            return 1, 1
        return (0, 0) if 1 - self.p >= wanted else (0, 1)

    @property
    def mean(self) -> Real:
        """``p``."""
        return self.p

    @property
    def variance(self) -> Real:
        """``p (1 - p)``."""
        return self.p * (1 - self.p)
