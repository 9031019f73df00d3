"""Choosing one of many with probability proportional to ``count * exp(unit * exponent)``.

The same primitive again: the outcome is the first i whose cumulative weight reaches ``U * total``
for a uniform real U. Cumulative weights are proposed in doubles, by a method of our own whose error
is bounded: exp(-unit * m) for a whole number m is a product of table entries, one for each base-256
digit of m, each entry within one unit in the last place; products and sums then add at most one
roundoff each. Where U * total comes closer to an edge than that bound, balls decide.
"""

from __future__ import annotations

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

_DIGIT = 8  # bits of a digit; 2**8 table entries
_LARGEST = 2**61


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
        below = np.where(index > 0, edges[index - 1], -1.0)
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
        if not 0 <= i < len(self.gaps):
            return Real(0)
        return Real(lambda: self._weight(i) / self._cumulative()[-1])

    def cdf(self, i: int) -> Real:
        """``P(X <= i)``, exactly."""
        if i < 0 or i >= len(self.gaps) - 1:
            return Real(int(i >= 0))

        def rule() -> arb:
            sums = self._cumulative()
            return sums[i] / sums[-1]

        return Real(rule)

    def tail(self, i: int) -> Real:
        """``P(X >= i)``, exactly."""
        return 1 - self.cdf(i - 1)

    def quantile(self, p: Rational) -> int:
        """The smallest i with ``P(X <= i) >= p``."""
        wanted = exact_confidence(p, name="p")
        return next(i for i in range(len(self.gaps)) if self.cdf(i) >= wanted)

    def interval(self, confidence: Rational) -> tuple[int, int]:
        """The narrowest range of indices that holds a draw with the given confidence."""
        wanted = exact_confidence(confidence)
        size = len(self.gaps)
        for width in range(size):
            for low in range(size - width):
                if self.cdf(low + width) - self.cdf(low - 1) >= wanted:
                    return low, low + width
        return 0, size - 1

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

    # Weights -----------------------------------------------------------------------------------

    def _weight(self, i: int) -> arb:
        exponent = balls.from_fraction(-self.unit * int(self.gaps[i]))
        return int(self.counts[i]) * exponent.exp()

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

        A weight is a product of at most 8 entries (each within 2**-52 of the truth) and a count,
        hence within 20 * 2**-53; a sum of n such adds n * 2**-53 of the total; the target takes
        two roundings, the total's own error and the bits of U not drawn. The bound is twice that.
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
    """``exp(-unit * d)`` for every digit d, each within one unit in the last place.

    What is smaller than the smallest double becomes 0; a bound relative to the total covers that.
    """
    with balls.precision(128):
        step = balls.from_fraction(-unit)
        return np.array([float((d * step).exp()) for d in range(2**_DIGIT)])


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
