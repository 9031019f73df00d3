"""What every local randomizer is: a channel from one person's value to one report.

A randomizer knows a value only by its number, 0 to ``size`` - 1; a survey gives the numbers their
names. Any two values are neighbours, so ``epsilon`` needs no relation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidEpsilon, InvalidValue
from discreet.exact import Real
from discreet.local.words import FULL, fresh
from discreet.theory.channels import Channel
from discreet.theory.losses import INFINITY, Loss, ln, loss

Report: TypeAlias = int | tuple[int, ...]
"""One report: a number, or (local hashing) a function and a bucket, or (unary encoding and subset
selection) the numbers of the bits that are set."""

Reports: TypeAlias = NDArray[Any]
"""Many reports: one row each. Sets of bits are rows of 0 and 1."""

LARGEST_SIZE = 2**31 - 2


class Randomizer(ABC):
    """One person's randomizer.

    ``declared`` is the epsilon promised; ``ratio`` is e^epsilon as the stored probabilities really
    give it, at most as much; ``perturb`` makes a report of a value and some random words.
    """

    kind: ClassVar[str]
    size: int
    declared: Real

    @property
    @abstractmethod
    def ratio(self) -> Fraction:
        """How many times likelier one value can make a report than another, exactly."""

    @property
    def epsilon(self) -> Real:
        """The true loss, ``ln(ratio)``: at most the one declared."""
        return ln(self.ratio)

    @abstractmethod
    def shares(self) -> dict[str, Fraction]:
        """The probabilities that a survey stores, exactly."""

    @abstractmethod
    def perturb(self, value: int, words: Iterator[int]) -> Report:
        """The report that these words make of the value: what a device computes."""

    @abstractmethod
    def simulate(self, values: ArrayLike) -> Reports:
        """One report for each value, as many devices would make them."""

    @abstractmethod
    def channel(self) -> Channel:
        """Every probability of every report, for domains small enough to list."""

    # Receiving reports -------------------------------------------------------------------------

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many counters hold all that an estimate needs."""

    @abstractmethod
    def tally(self, reports: Reports, weights: NDArray[np.int64] | None = None) -> list[int]:
        """What the reports add to the counters; ``weights`` says how often each one came."""

    @abstractmethod
    def allowed(self, reports: Reports) -> NDArray[np.bool_]:
        """Which of the reports this randomizer could have made."""

    @abstractmethod
    def read(self, written: object) -> Report | None:
        """A report as JSON has it, or None where this randomizer could not have made it."""

    @abstractmethod
    def write(self, report: Report) -> object:
        """A report as JSON has it."""

    def row(self, report: Report) -> Report:
        """A single report as a row of an array of reports."""
        return report

    def unrow(self, row: Any) -> Report:
        """A row of an array of reports as a single report."""
        return tuple(row.tolist()) if isinstance(row, np.ndarray) else int(row)

    # For everybody -----------------------------------------------------------------------------

    def respond(self, value: int) -> Report:
        """One person's report, from fresh random words."""
        return self.perturb(self.checked(value), fresh())

    def checked(self, value: int) -> int:
        """The value, if it is the number of one."""
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise InvalidValue(
                "an answer must be the number of an option.", hint=f"0 to {self.size - 1}."
            )
        if not 0 <= value < self.size:
            raise InvalidValue(
                f"the answer is not one of the {self.size} options.", hint=f"0 to {self.size - 1}."
            )
        return int(value)

    def checked_values(self, values: ArrayLike) -> NDArray[np.int64]:
        """Many values, if each is the number of one."""
        array = np.asarray(values)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iub"):
            raise InvalidValue(
                "answers must be a list of whole numbers, one for each person.",
                hint=f"give the number of each answer, 0 to {self.size - 1}.",
            )
        if array.size and not 0 <= int(array.min()) <= int(array.max()) < self.size:
            raise InvalidValue(
                f"some answers are not among the {self.size} options.",
                hint=f"give the number of each answer, 0 to {self.size - 1}.",
            )
        return array.astype(np.int64, copy=False)


@dataclass(frozen=True)
class Moments:
    """How a value's score, summed over reports, depends on the share f of people who have it.

    Each report scores -1, 0 or 1 for each value. Its mean is ``offset + slope * f``, its mean
    square ``square + square_slope * f``. For a score of 0 or 1 the two are the same.
    """

    offset: Fraction
    slope: Fraction
    square: Fraction
    square_slope: Fraction

    @classmethod
    def of_support(cls, holder: Fraction, other: Fraction) -> Moments:
        """The score is 1 with one probability for those who have the value, another for others."""
        return cls(other, holder - other, other, holder - other)


class FrequencyRandomizer(Randomizer):
    """A randomizer of one answer among ``size``, from whose reports frequencies are estimated."""

    @abstractmethod
    def scores(self, counters: list[int]) -> list[int]:
        """The sum of the scores of each value over all reports."""

    @abstractmethod
    def moments(self, value: int, shares: list[Fraction] | None = None) -> Moments:
        """The moments of one value's score.

        Where they depend on more than the value's own share, ``shares`` gives everybody's; without
        it everybody is taken to have the value's neighbours as often as any other.
        """

    def plug_in(self, counters: list[int], n: int) -> list[Moments]:
        """The moments of every value's score, unknown shares replaced by their estimates."""
        del counters, n
        return [self.moments(0)] * self.size


def exact_loss(epsilon: Loss) -> tuple[Real, Real]:
    """The epsilon declared, positive and finite, and e^epsilon."""
    declared = loss(epsilon)
    if declared is INFINITY or declared.sign() <= 0:
        raise InvalidEpsilon(
            f"epsilon = {epsilon} is not allowed: it must be greater than 0 and finite.",
            hint='epsilon=1, or epsilon="ln 3" for two fair coins.',
        )
    return declared, declared.exp()


def share_up(part: Real) -> int:
    """The least number of 2**-64ths that is at least ``part``."""
    return -(part * -FULL).floor()


def share_down(part: Real) -> int:
    """The largest number of 2**-64ths that is at most ``part``."""
    return (part * FULL).floor()


def domain_size(size: int) -> int:
    """How many options there are: a whole number from 2."""
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 2:
        raise InvalidValue(
            f"size = {size!r} is not a number of options: it must be a whole number, 2 or more.",
            hint="size=2 for a yes-or-no question.",
        )
    if size > LARGEST_SIZE:
        raise InvalidValue(
            f"size = {size:,} is more than {LARGEST_SIZE:,} options.",
            hint="use PrefixTree, which finds the frequent ones among any number.",
        )
    return int(size)


def informative(randomizer: Randomizer) -> None:
    """Refuse probabilities rounded so far that reports no longer tell the values apart."""
    if randomizer.ratio <= 1:
        raise InvalidEpsilon(
            f"epsilon = {float(randomizer.declared):.3g} is too small: in steps of 2**-64 every "
            "answer would be equally likely, and nothing could be learnt.",
            hint="epsilon=0.01 is small enough for any purpose.",
        )


def whole(written: object, limit: int) -> int | None:
    """A whole number from 0 up to the limit, exclusive, as JSON has it; else None."""
    if isinstance(written, bool) or not isinstance(written, int) or not 0 <= written < limit:
        return None
    return written
