"""Choosing how to draw: balls for a few, a table for small scales, polynomials for large ones.

All three compute the same function of the same bits, so the choice changes the speed alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidScale, InvalidValue
from discreet.exact import Rational, Real
from discreet.exact.parameters import positive
from discreet.noise import bits
from discreet.noise.curves import Curve
from discreet.noise.magnitude import Magnitude, refine_words
from discreet.noise.polynomial import PolynomialSampler
from discreet.noise.table import LARGEST_SCALE as LARGEST_TABLE
from discreet.noise.table import TableSampler

SMALLEST_SCALE = Fraction(1, 10**6)
LARGEST_SCALE = Fraction(10**15)

_FEW = 256  # below this many draws, making a table costs more than it saves
BLOCK = 1 << 20
"""How many draws a stream holds in memory at a time."""


class Shape(Magnitude, Protocol):
    """A distribution of one of the known shapes, hashable so that its tables are made once."""

    curve: ClassVar[Curve]

    def shift(self) -> Real:
        """What to add to ``scale * curve`` so that rounding it to the nearest gives a magnitude."""
        ...

    def __hash__(self) -> int: ...


class Sampler(Protocol):
    """Something that overwrites an array with independent draws."""

    def fill(self, out: NDArray[np.int64]) -> None: ...


def draw(noise: Shape, n: int) -> NDArray[np.int64]:
    """``n`` independent draws of ``sign * magnitude``."""
    if n < _FEW:
        return refine_words(noise, bits.words(n))
    out = np.empty(n, dtype=np.int64)
    sampler(noise).fill(out)
    return out


def blocks(n: int, block: int) -> Iterator[int]:
    """The sizes of the arrays in which ``n`` draws are streamed."""
    n, block = count(n), count(block)
    if block == 0:
        raise InvalidValue("block = 0: a stream of empty arrays never ends.", hint="block=2**20")
    return (min(block, n - start) for start in range(0, n, block))


@lru_cache(maxsize=64)
def sampler(noise: Shape) -> Sampler:
    """The tables of a distribution. They hold public parameters only."""
    if noise.scale <= LARGEST_TABLE:
        return TableSampler(noise)
    return PolynomialSampler(noise, noise.curve, noise.shift())


def sampling_scale(value: Rational, *, name: str = "scale") -> Fraction:
    """A scale, in steps of the grid, that can be sampled exactly.

    Below 10**-6 the outcome is 0 for every practical purpose; above 10**15 a 64-bit integer
    leaves too little room for the answer. Either way another grid is wanted.
    """
    scale = positive(value, name=name, error=InvalidScale)
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        way = "finer" if scale < SMALLEST_SCALE else "coarser"
        raise InvalidScale(
            f"{name} = {float(Real(scale)):.6g} steps of the grid is outside the range from 1e-6 "
            "to 1e15 in which noise is exact and fits 64 bits.",
            hint=f"use a {way} grid, so that the {name} lies between 1 and 1e9 steps.",
        )
    return scale


def count(n: int) -> int:
    """How many draws are wanted: a whole number, not negative."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
        raise InvalidValue(
            f"n = {n!r} is not a number of draws: it must be a whole number, 0 or more.",
            hint="sample(1000)",
        )
    return int(n)
