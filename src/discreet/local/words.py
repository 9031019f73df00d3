"""Words of 64 random bits, and what is decided with them.

Every probability of a randomizer is a whole number of 2**-64ths, so that whole words decide every
choice and a report is a plain function of its words: the same function here and in the client
that runs in a browser. Devices take words one by one; simulations take them by the million.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.noise import bits

FULL = 1 << 64
"""How many words there are."""

BLOCK = 1 << 14
"""How many reports are simulated at a time: as much as stays in the processor's cache."""


def fresh() -> Iterator[int]:
    """Random words without end.

    >>> 0 <= next(fresh()) < FULL
    True
    """
    while True:
        yield from bits.words(16).tolist()


def below(n: int, words: Iterator[int]) -> int:
    """A whole number below n, all equally likely: words that would favour some are thrown away.

    >>> below(10, iter([FULL - 1, 27]))
    7
    """
    fair = FULL - FULL % n
    while (word := next(words)) >= fair:
        pass
    return word % n


def coins(size: int, share: int) -> NDArray[np.bool_]:
    """Independent coins that come up with probability ``share`` in 2**64.

    The first 16 bits of a word decide, but for one word in 65,536: only those are drawn further.
    """
    if share >= FULL:
        return np.ones(size, dtype=np.bool_)
    top, rest = divmod(share, 1 << 48)
    first = bits.halfwords(size)
    up = first < np.uint16(top)
    if rest:
        ties = np.flatnonzero(first == np.uint16(top))
        up[ties] = (bits.words(len(ties)) >> np.uint64(16)) < np.uint64(rest)
    return up


def indices(size: int, n: int) -> NDArray[np.uint64]:
    """Independent whole numbers below n, all equally likely."""
    words = bits.words(size)
    if n & (n - 1) == 0:
        return words & np.uint64(n - 1)
    fair = np.uint64(FULL - FULL % n)
    unfair = np.flatnonzero(words >= fair)
    while len(unfair):
        words[unfair] = bits.words(len(unfair))
        unfair = unfair[words[unfair] >= fair]
    # NumPy divides by one number far faster than it takes remainders.
    divisor = np.uint64(n)
    quotient = words // divisor
    quotient *= divisor
    words -= quotient
    return words
