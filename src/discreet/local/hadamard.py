"""Hadamard response: k-ary response among half blocks of a Hadamard matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidValue
from discreet.exact import Real
from discreet.local.kary import Histogram, lie_share, turn, turn_all
from discreet.local.randomizer import Moments, Report, Reports, domain_size, exact_loss, informative
from discreet.local.words import BLOCK, FULL
from discreet.noise import bits
from discreet.theory.channels import Channel, few_enough
from discreet.theory.losses import Loss

_LARGEST_BLOCKS = 2**16


@dataclass(frozen=True, eq=False)
class HadamardResponse(Histogram):
    """Reports a column of a matrix in which each value has a row of +1 and -1, by odds.

    There are ``blocks`` blocks of ``width`` columns; the row of a value is a row of a Hadamard
    matrix inside the value's own block (+1 on half of the block's columns) and 0 elsewhere. The
    columns with +1 are e^epsilon times likelier than any other. One block serves small epsilons;
    the default has the least variance. Reports are small, and receiving them is fast at any size.

    Guarantee: epsilon: k-ary response among 2 * blocks half blocks, then a uniform column in it.
    Exactness: probabilities are whole numbers of 2**-64ths; two words make one report.
    Reference: Acharya, Sun and Zhang (2019).

    >>> response = HadamardResponse(size=5, epsilon="ln 3")
    >>> response.blocks, response.width, response.shares()
    (1, 8, {'lie': Fraction(1, 4)})
    >>> response.channel().epsilon()
    ln(3)
    """

    kind: ClassVar[str] = "hadamard"
    size: int
    declared: Real
    blocks: int
    width: int
    lie: int

    def __init__(self, *, size: int, epsilon: Loss, blocks: int | None = None) -> None:
        declared, ratio = exact_loss(epsilon)
        size = domain_size(size)
        if blocks is None:
            # The summed variance is proportional to t^2/blocks + 4 blocks, with t = e^epsilon - 1.
            excess = min(float(ratio) - 1, 4.0 * _LARGEST_BLOCKS)
            powers = [1 << power for power in range(_LARGEST_BLOCKS.bit_length())]
            few = [many for many in powers if many == 1 or many < size]
            blocks = min(few, key=lambda many: excess**2 / many + 4 * many)
        if isinstance(blocks, bool) or blocks < 1 or blocks & (blocks - 1) or blocks > 2 * size:
            raise InvalidValue(
                f"blocks = {blocks!r} is not a power of two that suits {size} options.",
                hint="leave it out, and the best is taken.",
            )
        # Each block has one row for each of its values, and the constant row, which says nothing.
        width = 1 << (-(-size // blocks)).bit_length()
        for name, number in (
            ("size", size),
            ("declared", declared),
            ("blocks", blocks),
            ("width", width),
            ("lie", lie_share(ratio, 2 * blocks)),
        ):
            object.__setattr__(self, name, number)
        informative(self)

    @property
    def ratio(self) -> Fraction:
        """A column with +1 against any other."""
        return Fraction(FULL - (2 * self.blocks - 1) * self.lie, self.lie)

    def shares(self) -> dict[str, Fraction]:
        """The probability of each half block but the true one."""
        return {"lie": Fraction(self.lie, FULL)}

    def perturb(self, value: int, words: Iterator[int]) -> Report:
        """One word for the half block, one for the column within it."""
        block, row = value % self.blocks, value // self.blocks + 1
        half = turn(2 * block, 2 * self.blocks, self.lie, next(words))
        column = next(words) & (self.width - 1)
        if (column & row).bit_count() & 1 != half & 1:
            # Flipping one bit of the row pairs each column with one of the other half.
            column ^= row & -row
        return (half >> 1) * self.width + column

    def simulate(self, values: ArrayLike) -> Reports:
        """One report for each value."""
        truth = self.checked_values(values)
        reports = np.empty(len(truth), dtype=np.int64)
        many, one = np.uint64(self.blocks), np.uint64(1)
        for start in range(0, len(truth), BLOCK):
            known = truth[start : start + BLOCK].view(np.uint64)
            row = known // many
            halves = (known - row * many) << one
            row += one
            half = turn_all(halves, 2 * self.blocks, self.lie, bits.words(len(known)))
            column = bits.words(len(known)) & np.uint64(self.width - 1)
            wrong = (np.bitwise_count(column & row) ^ half) & one
            column ^= wrong * (row & (~row + one))
            reports[start : start + BLOCK] = (half >> one) * np.uint64(self.width) + column
        return reports

    def channel(self) -> Channel:
        """Every column of every block."""
        few_enough(self.size, self.cells)
        half = self.width // 2
        other = Fraction(self.lie, FULL * half)
        own = Fraction(FULL - (2 * self.blocks - 1) * self.lie, FULL * half)
        rows = []
        for value in range(self.size):
            block, row = value % self.blocks, value // self.blocks + 1
            positive = {
                block * self.width + column
                for column in range(self.width)
                if (column & row).bit_count() % 2 == 0
            }
            rows.append([own if y in positive else other for y in range(self.cells)])
        return Channel(rows)

    @property
    def cells(self) -> int:
        """One for each column."""
        return self.blocks * self.width

    def scores(self, counters: list[int]) -> list[int]:
        """Columns with +1 less columns with -1, for every value, by the fast transform."""
        sums = np.array(counters, dtype=np.int64).reshape(self.blocks, self.width)
        transformed = walsh_hadamard(sums)
        values = np.arange(self.size)
        scores: list[int] = transformed[values % self.blocks, values // self.blocks + 1].tolist()
        return scores

    def moments(self, value: int, shares: list[Fraction] | None = None) -> Moments:
        """+1 or -1 within the own block, which is likelier for the values of that block."""
        if shares is None:
            in_block = Fraction(1, self.blocks)
        else:
            in_block = sum(shares[value % self.blocks :: self.blocks], Fraction(0))
        return self._moments(in_block)

    def plug_in(self, counters: list[int], n: int) -> list[Moments]:
        """Block by block: the share of a block is estimated from the reports that fall in it."""
        lie = Fraction(self.lie, FULL)
        own = 1 - (2 * self.blocks - 1) * lie
        blocks = []
        for block in range(self.blocks):
            seen = sum(counters[block * self.width : (block + 1) * self.width])
            share = (Fraction(seen, n) - 2 * lie) / (own - lie)
            blocks.append(self._moments(min(max(share, Fraction(0)), Fraction(1))))
        return [blocks[value % self.blocks] for value in range(self.size)]

    def _moments(self, in_block: Fraction) -> Moments:
        lie = Fraction(self.lie, FULL)
        own = 1 - (2 * self.blocks - 1) * lie
        square = in_block * (own + lie) + (1 - in_block) * 2 * lie
        return Moments(Fraction(0), own - lie, square, Fraction(0))


def walsh_hadamard(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each row times the Hadamard matrix of its width, a power of two.

    >>> walsh_hadamard(np.array([[1, 2]])).tolist()
    [[3, -1]]
    """
    rows, width = sums.shape
    step = 1
    while step < width:
        pairs = sums.reshape(rows, width // (2 * step), 2, step)
        left, right = pairs[:, :, 0], pairs[:, :, 1]
        sums = np.stack((left + right, left - right), axis=2).reshape(rows, width)
        step *= 2
    return sums
