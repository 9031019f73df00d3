"""Large scales: the primitive by piecewise polynomials with a proved error bound.

The signed outcome is ``rint(y)`` with ``y = +-(scale * q(V) + shift)``. Twelve bits of a word, the
sign among them, pick a cell; on each cell a Taylor polynomial in the other 52 bits proposes y. A
bound ``error`` on everything that may separate the proposal from the truth is computed in ball
arithmetic when the table is made:

* the Taylor remainder, at most |q^(d+1)| h^(d+1) / (d+1)! at any point left of the cell;
* the rounding of coefficients and of Horner's rule in IEEE doubles (plus and times only);
* the bits of V not yet drawn, which move y by at most |q'| scale 2**-63.

If the proposal is farther than ``error`` from the nearest half-integer, no real number within the
bound rounds elsewhere, so the outcome is settled. Otherwise balls decide, from the same bits and
more. The proof is in docs/explanation/exact-noise.md.

Near V = 0 the curve is steep. A word whose V lies below 2**-5 goes on to a table of its own, in
which V is 2**5 times finer, and so on; below 2**-20 balls take over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Real, balls
from discreet.exact.balls import arb
from discreet.noise import bits
from discreet.noise.curves import Curve
from discreet.noise.magnitude import PREFIX_BITS, Magnitude, refine_words

_CHUNK = 1 << 15
_CELL_BITS = 11  # cells of V per level, as a power of two; one bit more with the sign
_CELLS = 1 << _CELL_BITS
_STEEP = 64  # the cells nearest to 0 that are left to the next level
_ZOOM = _CELL_BITS - (_STEEP - 1).bit_length()  # by how many bits the next level is finer
_LEVELS = 4
_OFFSET_BITS = PREFIX_BITS - _CELL_BITS
_HALF = 1 << (_OFFSET_BITS - 1)
_FIXED = 96  # fractional bits of the centres, as exact integers
_GOAL = 2.0**-18  # a Taylor remainder not worth lowering: it would open 8 draws in a million
_WITHOUT_BASE = 2**26  # up to here doubles hold the centres well enough


@dataclass(frozen=True)
class _Unit:
    """The Taylor polynomials of a curve of unit scale on the cells of one level."""

    centres: list[int]  # q at each cell's centre, times 2**_FIXED, rounded down
    coefficients: list[NDArray[np.float64]]  # orders 1 .. degree, for offsets in [-1, 1]
    remainder: NDArray[np.float64]  # an upper bound of the Taylor remainder
    slope: NDArray[np.float64]  # an upper bound of |q'| on the cell


@lru_cache(maxsize=64)
def _unit(curve: Curve, level: int, degree: int) -> _Unit:
    half = arb(2) ** -(_CELL_BITS + 1 + _ZOOM * level)
    centres: list[int] = []
    columns: list[list[float]] = [[] for _ in range(degree)]
    remainder: list[float] = []
    slope: list[float] = []
    with balls.precision(_FIXED + 32):
        powers = [half**order for order in range(degree + 2)]
        # The derivatives shrink as V grows, so on a cell none exceeds its value at the centre of
        # the cell before.
        before = curve.taylor((2 * _STEEP - 1) * half, degree + 1)
        for cell in range(_STEEP, _CELLS):
            series = curve.taylor((2 * cell + 1) * half, degree + 1)
            centre = balls.middle(series[0], bits=_FIXED + 8)
            centres.append(math.floor(balls.lower(centre) * 2**_FIXED))
            for column, term, power in zip(columns, series[1:-1], powers[1:-1], strict=True):
                column.append(float(balls.middle(term * power, bits=64)))
            remainder.append(_above(before[-1] * powers[-1]))
            slope.append(_above(before[1]))
            before = series
    return _Unit(
        centres=centres,
        coefficients=[np.array(column) for column in columns],
        remainder=np.array(remainder),
        slope=np.array(slope),
    )


def _above(ball: arb) -> float:
    """A float at or above the absolute value of everything in the ball."""
    return math.nextafter(float(ball.abs_upper()), math.inf)


def _degree(curve: Curve, scale: Fraction) -> int:
    """The lowest degree whose remainder is small enough at the steepest cell of the first level."""
    centre, half = Fraction(_STEEP, _CELLS), Fraction(1, 2 * _CELLS)
    with balls.precision(64):
        series = curve.taylor(balls.from_fraction(centre), 16)
        for degree in range(2, 15):
            term = abs(series[degree + 1]) * balls.from_fraction(scale * half ** (degree + 1))
            if term < _GOAL:
                break
    return degree


class _Level:
    """One level's table for one scale: coefficients, and how far they can be trusted."""

    def __init__(self, curve: Curve, scale: Fraction, shift: Real, level: int) -> None:
        degree = _degree(curve, scale)
        unit = _unit(curve, level, degree)
        factor = float(scale)
        centres = self._centres(unit, scale, shift)
        whole = [(centre + (1 << (_FIXED - 1))) >> _FIXED for centre in centres]
        if scale <= _WITHOUT_BASE:
            base = None
            constant = np.array([centre / 2**_FIXED for centre in centres])
        else:
            base = np.array(whole, dtype=np.int64)
            constant = np.array(
                [(c - (w << _FIXED)) / 2**_FIXED for c, w in zip(centres, whole, strict=True)]
            )
        rows = [constant, *(column * factor for column in unit.coefficients)]
        size = np.sum(np.abs(rows), axis=0)
        # In units of roundoff of the size: Horner's rule is within 2 * degree, the coefficients
        # within 4. The 4 that are left cover what the centres lack, and the factor 1 + 2**-20 and
        # the 2**-50 cover the roundings made here.
        error = (
            factor * unit.remainder
            + (2 * degree + 8) * 2.0**-53 * size
            + factor * unit.slope * 2.0**-PREFIX_BITS
        ) * (1 + 2.0**-20)
        trusted = 0.5 - error - 2.0**-50
        # A steep cell proposes exactly 1/2, which is never certain.
        self.rows = [_signed(row, -1, 0 if order else 0.5) for order, row in enumerate(rows)]
        if base is None:
            self.base = None
            self.trusted: NDArray[np.float64] | float = float(trusted.min())
        else:
            self.base = _signed(base, -1, 0)
            self.trusted = _signed(trusted, 1, 0)

    @staticmethod
    def _centres(unit: _Unit, scale: Fraction, shift: Real) -> list[int]:
        """``scale * q + shift`` at each centre, times 2**_FIXED, within 1.1 scale + 2 units."""
        lift = (shift * 2**_FIXED).floor()
        top, bottom = scale.numerator, scale.denominator
        return [top * centre // bottom + lift for centre in unit.centres]

    def propose(
        self, words: NDArray[np.uint64], out: NDArray[np.int64], scratch: _Scratch
    ) -> NDArray[np.intp]:
        """Write proposals into ``out``; return the places of those that are not certain."""
        n = len(words)
        cell, offset = scratch.cell[:n], scratch.offset[:n]
        t, y, c = scratch.t[:n], scratch.y[:n], scratch.c[:n]
        np.right_shift(words, np.uint64(_OFFSET_BITS), out=cell.view(np.uint64))
        np.bitwise_and(words, np.uint64(2 * _HALF - 1), out=offset.view(np.uint64))
        np.subtract(offset, _HALF, out=offset)
        np.multiply(offset, 1.0 / _HALF, out=t)
        self.rows[-1].take(cell, out=y, mode="clip")
        for row in reversed(self.rows[:-1]):
            np.multiply(y, t, out=y)
            row.take(cell, out=c, mode="clip")
            np.add(y, c, out=y)
        np.rint(y, out=c)
        np.copyto(out, c, casting="unsafe")
        np.subtract(y, c, out=y)
        np.abs(y, out=y)
        if self.base is None:
            return np.flatnonzero(np.greater_equal(y, self.trusted, out=scratch.open[:n]))
        out += self.base.take(cell, out=offset, mode="clip")
        limit = np.asarray(self.trusted).take(cell, out=c, mode="clip")
        return np.flatnonzero(np.greater_equal(y, limit, out=scratch.open[:n]))


class _Scratch:
    """Room for one chunk, so that the inner loop allocates nothing."""

    def __init__(self, size: int) -> None:
        self.cell = np.empty(size, dtype=np.int64)
        self.offset = np.empty(size, dtype=np.int64)
        self.t, self.y, self.c = (np.empty(size) for _ in range(3))
        self.open = np.empty(size, dtype=np.bool_)


class PolynomialSampler:
    """Draws from one distribution through its tables."""

    def __init__(self, noise: Magnitude, curve: Curve, shift: Real) -> None:
        self.noise = noise
        self.levels = [_Level(curve, noise.scale, shift, level) for level in range(_LEVELS)]

    def fill(self, out: NDArray[np.int64]) -> None:
        """Overwrite ``out`` with independent draws."""
        scratch = _Scratch(min(_CHUNK, len(out)))
        places: list[NDArray[np.intp]] = []
        left: list[NDArray[np.uint64]] = []
        for start in range(0, len(out), _CHUNK):
            part = out[start : start + _CHUNK]
            words = bits.words(len(part))
            unsettled = self.levels[0].propose(words, part, scratch)
            places.append(unsettled + start)
            left.append(words[unsettled])
        out[np.concatenate(places)] = self._descend(np.concatenate(left), 0)

    def settle_words(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The outcome of whole words: a sign bit, then the first 63 bits of V."""
        outcomes = np.empty(len(words), dtype=np.int64)
        unsettled = self.levels[0].propose(words, outcomes, _Scratch(len(words)))
        outcomes[unsettled] = self._descend(words[unsettled], 0)
        return outcomes

    def _descend(self, words: NDArray[np.uint64], level: int) -> NDArray[np.int64]:
        """Settle what the given level left open: steep words one level on, the rest by balls."""
        outcomes = np.empty(len(words), dtype=np.int64)
        steep = _steep(words, level)
        doubtful = np.flatnonzero(~steep)
        outcomes[doubtful] = refine_words(self.noise, words[doubtful])
        steep_at = np.flatnonzero(steep)
        steep_words = words[steep_at]
        if level + 1 == _LEVELS:
            outcomes[steep_at] = refine_words(self.noise, steep_words)
        elif len(steep_at):
            found = np.empty(len(steep_at), dtype=np.int64)
            zoomed = _zoom(steep_words, level + 1)
            unsettled = self.levels[level + 1].propose(zoomed, found, _Scratch(len(found)))
            found[unsettled] = self._descend(steep_words[unsettled], level + 1)
            outcomes[steep_at] = found
        return outcomes


def _zoom(words: NDArray[np.uint64], level: int) -> NDArray[np.uint64]:
    """The words with V multiplied by 2**(_ZOOM * level); the bits shifted in stand for 0."""
    sign = words & np.uint64(1 << PREFIX_BITS)
    return sign | ((words << np.uint64(_ZOOM * level)) & np.uint64(2**PREFIX_BITS - 1))


def _steep(words: NDArray[np.uint64], level: int) -> NDArray[np.bool_]:
    cell = (_zoom(words, level) & np.uint64(2**PREFIX_BITS - 1)) >> np.uint64(_OFFSET_BITS)
    return cell < np.uint64(_STEEP)


def _signed(row: NDArray[Any], sign: float, steep: float) -> NDArray[Any]:
    """A row for both signs, with a value for the steep cells, which certify nothing."""
    lead = np.full(_STEEP, steep, dtype=row.dtype)
    return np.concatenate([lead, row, lead, (row * sign).astype(row.dtype)])
