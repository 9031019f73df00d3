"""Small scales: the primitive as a table of exact integers, with no floating point at all.

``P(magnitude >= k)`` times 2**63, rounded down, is the integer threshold ``T[k]``. The first 63
bits of V, read as an integer m, settle whether the magnitude reaches k: yes if m < T[k], no if
m > T[k], and only m == T[k] leaves it open. A first look at 15 of those bits finds most outcomes
ready in a table; where a threshold falls among the words that begin with them, the other 48 bits
are drawn and compared; where m equals a threshold (about once in 2**57 draws), balls decide.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.exact import balls
from discreet.noise import bits
from discreet.noise.magnitude import PREFIX_BITS, Magnitude, refine_words

LARGEST_SCALE = 128
"""Beyond this the first look leaves too many draws open, and polynomials are faster."""

_CHUNK = 1 << 15
_OPEN = np.int64(-(2**63))  # marks an entry that the first 16 bits do not settle
_LOOK = 15  # bits of V in the first look; with the sign they index 2**16 entries
_REST = PREFIX_BITS - _LOOK


def thresholds(noise: Magnitude) -> NDArray[np.uint64]:
    """``T[1], T[2], ...`` down to and including the first that is 0."""
    found: list[int] = []
    with balls.precision(PREFIX_BITS + 64):
        while not found or found[-1] > 0:
            found.append(_threshold(noise, len(found) + 1))
    return np.array(found, dtype=np.uint64)


def _threshold(noise: Magnitude, k: int) -> int:
    """One threshold at the current precision, or at a higher one where that leaves it open."""
    working = PREFIX_BITS + 64
    scaled = (noise.tail_ball(k) * 2**PREFIX_BITS).floor().unique_fmpz()
    while scaled is None:
        working *= 2
        with balls.precision(working):
            scaled = (noise.tail_ball(k) * 2**PREFIX_BITS).floor().unique_fmpz()
    return int(scaled)


class TableSampler:
    """Draws from one distribution through its table."""

    def __init__(self, noise: Magnitude) -> None:
        self.noise = noise
        self.ascending = thresholds(noise)[::-1].copy()
        cells = np.arange(2**_LOOK, dtype=np.uint64) << np.uint64(_REST)
        last = cells + np.uint64(2**_REST - 1)
        # How many thresholds lie at or above the cell's first word, and above its last.
        reached = len(self.ascending) - np.searchsorted(self.ascending, cells, side="left")
        certain = len(self.ascending) - np.searchsorted(self.ascending, last, side="right")
        magnitudes = np.where(reached == certain, certain, _OPEN)
        negative = np.where(magnitudes == _OPEN, _OPEN, -magnitudes)
        self.outcomes = np.concatenate([magnitudes, negative])

    def fill(self, out: NDArray[np.int64]) -> None:
        """Overwrite ``out`` with independent draws."""
        for start in range(0, len(out), _CHUNK):
            part = out[start : start + _CHUNK]
            looked = bits.halfwords(len(part))
            self.outcomes.take(looked, out=part, mode="clip")
            unsettled = np.flatnonzero(part == _OPEN)
            if len(unsettled):
                rest = bits.words(len(unsettled)) >> np.uint64(64 - _REST)
                whole = looked[unsettled].astype(np.uint64) << np.uint64(_REST) | rest
                part[unsettled] = self.settle_words(whole)

    def settle_words(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The outcome of whole words: a sign bit, then the first 63 bits of V."""
        prefix = words & np.uint64(2**PREFIX_BITS - 1)
        above = np.searchsorted(self.ascending, prefix, side="right")
        magnitudes = (len(self.ascending) - above).astype(np.int64)
        outcomes = np.where(words >> np.uint64(PREFIX_BITS), -magnitudes, magnitudes)
        equal = np.flatnonzero(self.ascending[np.maximum(above - 1, 0)] == prefix)
        if len(equal):
            outcomes[equal] = refine_words(self.noise, words[equal])
        return outcomes
