"""The one primitive: a random integer is the value of a quantile function at a uniform real.

Every symmetric noise here is ``sign * floor(Q(V))`` for a fair sign, a uniform real ``V`` in (0, 1)
and a decreasing function ``Q`` that can be enclosed in balls. ``V`` is an endless string of bits of
which only a first part is ever drawn: that part says that ``V`` lies between two dyadic numbers,
and as soon as ``Q`` has the same integer part at both, the outcome is settled, whatever the bits
not yet drawn would have been. So the outcome is distributed exactly as written.

This file is the definition, in ball arithmetic and one draw at a time. ``table`` and
``polynomial`` compute the same function of the same bits, vectorized, and fall back here for the
few draws that they cannot certify.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.exact import balls
from discreet.exact.balls import arb
from discreet.noise import bits

# Noise saturates here. Values keep within 2**61 and results are clamped to 2**62, so a saturated
# draw gives the same clamped result as the unbounded one would, and no sum wraps round.
LARGEST_NOISE = 3 * 2**61
LARGEST_RESULT = 2**62

PREFIX_BITS = 63
"""How many bits of V a 64-bit word holds, below its sign bit."""


class Magnitude(Protocol):
    """What the primitive needs to know of a distribution."""

    @property
    def scale(self) -> Fraction: ...

    def quantile_ball(self, v: arb) -> arb:
        """``Q(v)`` at the current precision; the magnitude is its integer part."""
        ...

    def tail_ball(self, k: int) -> arb:
        """``P(magnitude >= k)`` at the current precision, for k >= 1: the inverse of ``Q``."""
        ...


def settle(noise: Magnitude, prefix: int, length: int) -> int | None:
    """The magnitude, if the first ``length`` bits of V, read as ``prefix``, already decide it."""
    if prefix == 0:
        return None  # V may be as close to 0 as one likes, and Q is unbounded there
    extra = noise.scale.numerator.bit_length() - noise.scale.denominator.bit_length()
    with balls.precision(length + 48 + max(extra, 0)):
        unit = Fraction(1, 1 << length)
        # Q decreases, so these two enclose every value it still can take.
        most = noise.quantile_ball(balls.from_fraction(prefix * unit)).floor().unique_fmpz()
        least = noise.quantile_ball(balls.from_fraction((prefix + 1) * unit)).floor().unique_fmpz()
    if most is None or most != least:
        return None
    return min(int(most), LARGEST_NOISE)


def refine(noise: Magnitude, prefix: int, length: int, more: Callable[[], int] = bits.word) -> int:
    """The magnitude, drawing further words of 64 bits until it is settled."""
    while (magnitude := settle(noise, prefix, length)) is None:
        prefix, length = prefix << 64 | more(), length + 64
    return magnitude


def refine_words(noise: Magnitude, words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The signed outcome of each word (sign bit, then the first 63 bits of V), one by one."""
    outcomes = np.empty(len(words), dtype=np.int64)
    for i, word in enumerate(words.tolist()):
        magnitude = refine(noise, word & (2**PREFIX_BITS - 1), PREFIX_BITS)
        outcomes[i] = -magnitude if word >> PREFIX_BITS else magnitude
    return outcomes
