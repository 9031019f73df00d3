"""Channels given as floats: every probability is a ball, every answer an enclosure.

Exponentials and logarithms are taken of single numbers, in balls; the passes over the matrix rest
on arithmetic that IEEE 754 rounds correctly (see ``float_curves``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidNumber, InvalidProbability, InvalidValue, TooLarge, Undecided
from discreet.exact import Rational, Real, float_down, float_up, probability, rational
from discreet.theory.float_curves import Curves, Floats, Thresholds, margin, quotients
from discreet.theory.losses import Loss, loss

MOST_CELLS = 100_000_000
# Pairs are gone through in blocks of about this many cells, so that memory stays small.
_BLOCK = 1 << 21
# Beyond this epsilon the ratio leaves the floats; delta is bounded by its value here.
_LARGEST_EPSILON = 690


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A number known to lie from ``low`` to ``high``."""

    low: float
    high: float

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high


@dataclass(frozen=True, slots=True)
class BallVerdict:
    """Whether the claim holds; where it does not, the pair of rows and the outputs that show it."""

    private: bool
    pair: tuple[int, int] | None = None
    event: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return self.private


class BallChannel:
    """A finite mechanism as a matrix of floats, each within a relative ``tolerance`` of the truth.

    A float p stands for any probability from ``p (1 - tolerance)`` to ``p (1 + tolerance)``; 0 is
    0. Rows and columns go by number. ``neighbours`` is a list of pairs of row numbers, each
    counting both ways; None means consecutive rows, as for counts 0, 1, 2...

    >>> coins = BallChannel(np.array([[0.75, 0.25], [0.25, 0.75]]), tolerance=1e-12)
    >>> 1.0986122886681098 in coins.epsilon(), coins.epsilon().high < 1.0986122887
    (True, True)
    """

    __slots__ = ("matrix", "tolerance")

    def __init__(self, matrix: ArrayLike, *, tolerance: Rational = 1e-12) -> None:
        self.tolerance = rational(tolerance, name="tolerance")
        if not 0 <= self.tolerance < Fraction(1, 2):
            raise InvalidNumber(
                f"tolerance = {tolerance} is not allowed: it must lie in [0, 1/2).",
                hint="tolerance=1e-12",
            )
        given = np.asarray(matrix)
        if given.ndim != 2 or given.size == 0:
            raise InvalidProbability(
                f"a channel is a matrix with at least one cell, not an array of shape "
                f"{given.shape}.",
                hint="BallChannel(np.array([[0.75, 0.25], [0.25, 0.75]]))",
            )
        if given.size > MOST_CELLS:
            raise TooLarge(
                f"the matrix has {given.size:,} cells; more than {MOST_CELLS:,} take too long.",
                hint="ask about some rows at a time: the largest answer is the answer.",
            )
        array = np.array(given, dtype=np.float64)
        if not bool(np.isfinite(array).all()) or bool((array < 0).any()):
            raise InvalidProbability(
                "a probability is negative, NaN or infinite.",
                hint="every entry must lie between 0 and 1, and each row must sum to 1.",
            )
        # The sum of the floats may be off by the tolerance and by its own rounding.
        allowed = float_up(self.tolerance / (1 - self.tolerance)) + margin(array.shape[1])
        off = np.abs(array.sum(axis=1) - 1) > allowed
        if bool(off.any()):
            place = int(np.argmax(off))
            raise InvalidProbability(
                f"the row of input number {place} sums to {array[place].sum():.17g}, "
                f"further from 1 than the tolerance {float(self.tolerance):g} allows.",
                hint="divide each row by its sum, or state a larger tolerance.",
            )
        array.flags.writeable = False
        self.matrix = array

    def epsilon(self, neighbours: Iterable[tuple[int, int]] | None = None) -> Enclosure:
        """The least epsilon for which it is epsilon-private."""
        worst = Fraction(1)
        for p, q in self._blocks(self._pairs(neighbours)):
            for here, there in ((p, q), (q, p)):
                ratio = quotients(here, there)
                largest = float(ratio.max(initial=1.0))
                if largest < np.inf:
                    worst = max(worst, Fraction(largest))
                elif bool(((here > 0) & (there == 0)).any()):
                    return Enclosure(np.inf, np.inf)
                else:
                    # The quotient alone is too large for a float.
                    beyond = ratio == np.inf
                    cells = zip(here[beyond].tolist(), there[beyond].tolist(), strict=True)
                    worst = max(worst, *(Fraction(a) / Fraction(b) for a, b in cells))
        unit = Fraction(1, 2**53)
        low = max(Fraction(1), worst * (1 - unit) / self._spread)
        high = worst * (1 + unit) * self._spread
        return Enclosure(Real(low).log().float_down(), Real(high).log().float_up())

    def delta(
        self, epsilons: Sequence[Loss], neighbours: Iterable[tuple[int, int]] | None = None
    ) -> list[Enclosure]:
        """The least delta at each of several epsilons.

        >>> at_zero, at_two = BallChannel([[0.75, 0.25], [0.25, 0.75]]).delta([0, 2])
        >>> 0.5 in at_zero, at_two
        (True, Enclosure(low=0.0, high=0.0))
        """
        levels = [loss(epsilon) for epsilon in epsilons]
        low, high = np.zeros(len(levels)), np.zeros(len(levels))
        for _, below, above in self._excesses(self._pairs(neighbours), levels):
            np.maximum(low, below.max(axis=0, initial=0.0), out=low)
            np.maximum(high, above.max(axis=0, initial=0.0), out=high)
        return [
            Enclosure(min(a, 1.0), min(b, 1.0))
            for a, b in zip(low.tolist(), high.tolist(), strict=True)
        ]

    def is_private(
        self,
        epsilon: Loss,
        delta: Rational = 0,
        neighbours: Iterable[tuple[int, int]] | None = None,
    ) -> BallVerdict:
        """Whether every matrix within the tolerance is (epsilon, delta)-private, or none is."""
        level, allowed = loss(epsilon), probability(delta, name="delta")
        bound, decided = float_up(allowed), True
        for pairs, below, above in self._excesses(self._pairs(neighbours), [level]):
            if bool((below > bound).any()):
                x, y = pairs[int(np.argmax(below))].tolist()
                ratio = quotients(self.matrix[[x]], self.matrix[[y]])[0]
                event = np.nonzero(ratio >= self._thresholds([level]).up)[0]
                return BallVerdict(private=False, pair=(x, y), event=frozenset(event.tolist()))
            decided = decided and bool((above <= float_down(allowed)).all())
        if decided:
            return BallVerdict(private=True)
        raise Undecided(
            f"whether delta stays within {float(allowed):g} depends on what the floats leave open.",
            hint="state a smaller tolerance if the floats are better than that, or give the "
            "probabilities as fractions to Channel.",
        )

    @property
    def _spread(self) -> Fraction:
        """How far a ratio of two balls may be from the ratio of their midpoints."""
        return (1 + self.tolerance) / (1 - self.tolerance)

    def _excesses(
        self, pairs: NDArray[np.intp], levels: Sequence[Real]
    ) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
        """Ordered pairs of rows, and enclosures of their divergences at each epsilon.

        The largest over all matrices within the tolerance is ``1 + tolerance`` times that of the
        midpoints at a ratio smaller by the spread; and so downward.
        """
        curves = Curves(self._thresholds(levels))
        shrink, grow = float_down(1 - self.tolerance), float_up(1 + self.tolerance)
        start = 0
        for p, q in self._blocks(pairs):
            block = pairs[start : start + len(p)]
            start += len(p)
            ways = (block, block[:, ::-1])
            for way, (low, high) in zip(ways, curves.bounds(p, q), strict=True):
                yield (
                    way,
                    np.nextafter(low * shrink, 0.0),
                    np.where(high > 0, np.nextafter(high * grow, np.inf), 0.0),
                )

    def _thresholds(self, levels: Sequence[Real]) -> Thresholds:
        beyond = [level > _LARGEST_EPSILON for level in levels]
        ratios = [
            (Real(_LARGEST_EPSILON) if far else level).exp()
            for level, far in zip(levels, beyond, strict=True)
        ]
        return Thresholds(
            down=np.array([float_down(ratio.lower(80) / self._spread) for ratio in ratios]),
            up=np.array([float_up(ratio.upper(80) * self._spread) for ratio in ratios]),
            beyond=np.array(beyond, dtype=np.bool_),
        )

    def _pairs(self, neighbours: Iterable[tuple[int, int]] | None) -> NDArray[np.intp]:
        many = len(self.matrix)
        if neighbours is None:
            return np.stack([np.arange(many - 1), np.arange(1, many)], axis=1)
        pairs = np.asarray(list(neighbours), dtype=np.intp).reshape(-1, 2)
        if pairs.size and not (int(pairs.min()) >= 0 and int(pairs.max()) < many):
            raise InvalidValue(
                f"a pair of neighbours names a row that is not among the {many}.",
                hint=f"rows are numbered from 0 to {many - 1}.",
            )
        return pairs

    def _blocks(self, pairs: NDArray[np.intp]) -> Iterator[tuple[Floats, Floats]]:
        step = max(1, _BLOCK // self.matrix.shape[1])
        for start in range(0, len(pairs), step):
            block = pairs[start : start + step]
            yield self.matrix[block[:, 0]], self.matrix[block[:, 1]]
