"""Every report that a randomizer can make of a value, found by trying every random word.

With words of a few bits instead of 64, all of them can be tried: the same code, the same rounding,
exact probabilities. Words that are thrown away leave some mass undecided, which is bounded.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest

from discreet.local import (
    duchi,
    hadamard,
    hashing,
    kary,
    memoized,
    piecewise,
    randomizer,
    stored,
    subset,
    unary,
    words,
)

MODULES = (
    words,
    randomizer,
    kary,
    unary,
    subset,
    hashing,
    hadamard,
    duchi,
    piecewise,
    memoized,
    stored,
)


class TapeEnded(Exception):
    """The randomizer asks for one more word than it was given."""


class Tape(Iterator[int]):
    def __init__(self, given: tuple[int, ...]) -> None:
        self.left = list(reversed(given))

    def __next__(self) -> int:
        if not self.left:
            raise TapeEnded
        return self.left.pop()


@contextmanager
def words_of(bits: int) -> Iterator[int]:
    """Within, words have so many bits: randomizers must be made within, too."""
    with pytest.MonkeyPatch.context() as patch:
        for module in MODULES:
            patch.setattr(module, "FULL", 1 << bits)
        yield 1 << bits


def enumerate_reports(
    one: randomizer.Randomizer, value: int, *, full: int, depth: int
) -> tuple[dict[object, Fraction], Fraction]:
    """The probability of each report, and what is undecided after ``depth`` words."""
    found: dict[object, Fraction] = {}
    undecided = Fraction(0)
    open_tapes: list[tuple[int, ...]] = [()]
    while open_tapes:
        tape = open_tapes.pop()
        given = Tape(tape)
        try:
            report = one.perturb(value, given)
        except TapeEnded:
            if len(tape) == depth:
                undecided += Fraction(1, full**depth)
            else:
                open_tapes += [(*tape, word) for word in range(full)]
            continue
        assert not given.left
        found[report] = found.get(report, Fraction(0)) + Fraction(1, full ** len(tape))
    return found, undecided
