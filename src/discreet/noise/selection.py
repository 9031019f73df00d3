"""Choosing one of many with probability proportional to ``count * exp(unit * exponent)``.

The same primitive again: the outcome is the first i whose cumulative weight reaches ``U * total``
for a uniform real U. Cumulative weights are proposed in doubles, by a method of our own whose error
is bounded: exp(-unit * m) for a whole number m is a product of table entries, one for each base-256
digit of m, each entry within one roundoff of the truth; products and sums then add at most one
each. Where U * total comes closer to an edge than that bound, balls decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidValue, OutOfRange
from discreet.exact import Rational, Real, balls
from discreet.exact import confidence as exact_confidence
from discreet.exact.balls import arb
from discreet.exact.parameters import positive
from discreet.noise import bits
from discreet.noise.sampling import BLOCK, blocks, count
from discreet.noise.search import smallest

_DIGIT = 8  # bits of a digit; 2**8 table entries
_LARGEST = 2**61
_NOTHING = arb(2) ** -1100  # far below the smallest double


class Selection:
    """An index i with probability proportional to ``counts[i] * exp(unit * exponents[i])``.

    >>> coin = Selection([0, 1], unit=Fraction(1, 2))
    >>> float(coin.pmf(1)) == float(1 / (1 + Real(Fraction(-1, 2)).exp()))
    True
    >>> coin.sample(3).dtype
    dtype('int64')
    """

    def __init__(
        self, exponents: ArrayLike, *, unit: Rational, counts: ArrayLike | None = None
    ) -> None:
        powers = _integers(exponents, "exponents")
        sizes = np.ones(len(powers), np.int64) if counts is None else _integers(counts, "counts")
        if len(powers) == 0 or len(powers) != len(sizes) or int(sizes.min()) < 0:
            raise InvalidValue(
                "a selection needs at least one candidate, and one count, 0 or more, for each.",
                hint="Selection([3, 5, 1], unit=0.5)",
            )
        if int(sizes.max()) == 0:
            raise InvalidValue("every count is 0: there is nothing to choose.", hint="counts=[1]")
        self.unit = positive(unit, name="unit")
        self.counts = sizes
        # Only differences matter. A candidate that cannot be chosen must not set the reference.
        self.gaps = int(powers[sizes > 0].max()) - powers
        self.gaps[sizes == 0] = 0

    def __repr__(self) -> str:
        return f"Selection(candidates={len(self.gaps)}, unit={self.unit!r})"

    # Draws -------------------------------------------------------------------------------------

    def sample(self, n: int) -> NDArray[np.int64]:
        """``n`` independent indices."""
        return self.settle_words(bits.words(count(n)))

    def stream(self, n: int, *, block: int = BLOCK) -> Iterator[NDArray[np.int64]]:
        """``n`` independent draws as arrays of at most ``block``, in constant memory."""
        return (self.sample(size) for size in blocks(n, block))

    def settle_words(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The index that each word, the first 64 bits of U, leads to."""
        edges, error = self._edges
        target = words.astype(np.float64) * 2.0**-64 * edges[-1]
        index: NDArray[np.int64] = np.searchsorted(edges, target).clip(max=len(edges) - 1)
        below = np.where(index > 0, edges[index - 1], -np.inf)
        doubtful = (target - below <= error) | (edges[index] - target <= error)
        for i in np.flatnonzero(doubtful):
            index[i] = self.refine(int(words[i]), 64)
        return index

    def refine(self, prefix: int, length: int) -> int:
        """The index when the first ``length`` bits of U are ``prefix``, drawing more if needed."""
        while (index := self.settle(prefix, length)) is None:
            prefix, length = prefix << 64 | bits.word(), length + 64
        return index

    def settle(self, prefix: int, length: int) -> int | None:
        """The index, if the first ``length`` bits of U, read as ``prefix``, already decide it."""
        with balls.precision(length + 64 + len(self.gaps).bit_length()):
            sums = self._cumulative()
            unit = sums[-1] / 2**length
            low, high = prefix * unit, (prefix + 1) * unit
            # Sums ascend, so bisect for the first that may reach the target.
            first, last = 0, len(sums) - 1
            while first < last:
                middle = (first + last) // 2
                first, last = (middle + 1, last) if sums[middle] < low else (first, middle)
            # The last edge is the total itself, which U never exceeds.
            inside = first == len(sums) - 1 or high < sums[first]
            above = first == 0 or sums[first - 1] < low
        return first if inside and above else None

    # Probabilities -----------------------------------------------------------------------------

    def pmf(self, i: int) -> Real:
        """``P(X = i)``, exactly."""
        return self._share(i, i + 1)

    def cdf(self, i: int) -> Real:
        """``P(X <= i)``, exactly."""
        return self._share(0, i + 1)

    def tail(self, i: int) -> Real:
        """``P(X >= i)``, exactly."""
        return self._share(i, len(self.gaps))

    def quantile(self, p: Rational) -> int:
        """The smallest i with ``P(X <= i) >= p``."""
        wanted = exact_confidence(p, name="p")
        return smallest(lambda i: self.cdf(i) >= wanted)

    def interval(self, confidence: Rational) -> tuple[int, int]:
        """The narrowest range of indices that holds a draw with the given confidence."""
        wanted = exact_confidence(confidence)
        size = len(self.gaps)
        best, high = (0, size - 1), 0
        for low in range(size):
            # The shortest range from here never ends before the shortest one from the left did.
            while high < size and self._share(low, high + 1) < wanted:
                high += 1
            if high == size:
                break
            best = min(best, (low, high), key=lambda ends: ends[1] - ends[0])
        return best

    @property
    def mean(self) -> Real:
        """The mean index."""
        return self._moment(1)

    @property
    def variance(self) -> Real:
        """The variance of the index."""
        return self._moment(2) - self._moment(1) ** 2

    def _moment(self, power: int) -> Real:
        def rule() -> arb:
            weights = [self._weight(i) for i in range(len(self.gaps))]
            return sum((i**power * w for i, w in enumerate(weights)), arb(0)) / sum(weights, arb(0))

        return Real(rule)

    def _share(self, low: int, high: int) -> Real:
        """``P(low <= X < high)``, as a rational where it is one.

        Powers of e at different rationals are linearly independent over the rationals (Lindemann
        and Weierstrass), so that is where every exponent gives the same share of its own count.
        """
        whole: defaultdict[int, int] = defaultdict(int)
        part: defaultdict[int, int] = defaultdict(int)
        for i, (gap, size) in enumerate(zip(self.gaps.tolist(), self.counts.tolist(), strict=True)):
            if size:
                whole[gap] += size
                part[gap] += size if low <= i < high else 0
        shares = {Fraction(part[gap], whole[gap]) for gap in whole}
        if len(shares) == 1:
            return Real(shares.pop())

        def mass(sizes: dict[int, int]) -> arb:
            return sum((n * self._power(gap) for gap, n in sizes.items()), arb(0))

        return Real(lambda: mass(part) / mass(whole))

    # Weights -----------------------------------------------------------------------------------

    def _power(self, gap: int) -> arb:
        return balls.from_fraction(-self.unit * gap).exp()

    def _weight(self, i: int) -> arb:
        return int(self.counts[i]) * self._power(int(self.gaps[i]))

    def _cumulative(self) -> list[arb]:
        sums: list[arb] = []
        total = arb(0)
        for i in range(len(self.gaps)):
            total = total + self._weight(i)
            sums.append(total)
        return sums

    @cached_property
    def _edges(self) -> tuple[NDArray[np.float64], float]:
        """Cumulative weights in doubles, and a bound on their error and on that of a target.

        In units of 2**-53 of the total: a weight is a product of at most 8 entries (each within 1)
        and a count, hence within 18; a sum of n such is within n + 18; the target takes two
        roundings, the total's own error and the bits of U not drawn, hence is within n + 21. The
        bound is twice the sum of the two, which leaves room for comparing them in doubles.
        """
        weights = self.counts.astype(np.float64)
        for place in range(0, 64, _DIGIT):
            digits = (self.gaps >> place) & (2**_DIGIT - 1)
            if place and not bool(digits.any()):
                continue
            weights *= _powers(self.unit * 2**place)[digits]
        edges = np.cumsum(weights)
        return edges, float(edges[-1]) * (len(edges) + 32) * 2.0**-51


def _powers(unit: Fraction) -> NDArray[np.float64]:
    """``exp(-unit * d)`` for every digit d, each the nearest double or within 2**-63 of it.

    What is smaller than the smallest double becomes 0; a bound relative to the total covers that.
    """
    with balls.precision(128):
        step = balls.from_fraction(-unit)
        powers = [(d * step).exp() for d in range(2**_DIGIT)]
        return np.array([0.0 if p < _NOTHING else float(balls.middle(p, bits=64)) for p in powers])


def _integers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidValue(
            f"{name} must be a list of whole numbers.",
            hint="put the values on a grid first: Grid(step).units(values).",
        )
    if array.size and max(abs(int(array.max())), abs(int(array.min()))) > _LARGEST:
        raise OutOfRange(
            f"{name} must lie within 2**61 of 0.", hint="use a coarser grid for the utilities."
        )
    return array.astype(np.int64)
