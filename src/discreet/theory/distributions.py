"""Finite distributions: probabilities as rationals, or as reals where they must be."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.errors import InvalidProbability
from discreet.exact import Rational, Real, rational

Probability: TypeAlias = Fraction | Real
"""A rational, or a Real that is known to be positive."""

Distribution: TypeAlias = tuple[Probability, ...]

# A sum of reals cannot be shown to be 1, only not to differ from it by more than this.
_SUM_BITS = 256


def distribution(values: Sequence[Rational | Real], *, name: str = "the row") -> Distribution:
    """Read probabilities that sum to 1.

    A float is the decimal it shows. Reals are enclosed to 256 bits, and refused if their sum is
    then seen to differ from 1.

    >>> distribution([0.1, 0.2, "0.7"])
    (Fraction(1, 10), Fraction(1, 5), Fraction(7, 10))
    """
    if isinstance(values, np.ndarray):
        raise InvalidProbability(
            f"{name} is a NumPy array, whose floats are only near the probabilities meant.",
            hint="BallChannel(matrix, tolerance=1e-12) takes floats as balls; for the decimals "
            "they show, pass array.tolist().",
        )
    read = tuple(_probability(value, name) for value in values)
    total = Real.sum_of(read)
    off = (
        total.exact != 1 if total.exact is not None else not total.enclosure(_SUM_BITS).contains(1)
    )
    if off:
        raise InvalidProbability(
            f"{name} sums to {float(total):.6g}, not to 1.",
            hint='write thirds as "1/3"; a row is the distribution of the output for one input.',
        )
    return read


def is_rational(values: Distribution) -> bool:
    """Whether every probability is a rational."""
    return all(isinstance(value, Fraction) for value in values)


def total(values: Sequence[Probability]) -> Probability:
    """The probability of an event: a sum, rational where it can be."""
    return simplest(Real.sum_of(values))


def simplest(value: Real) -> Probability:
    """The rational itself where there is one."""
    return value if value.exact is None else value.exact


def _probability(value: Rational | Real, name: str) -> Probability:
    number = (
        simplest(value)
        if isinstance(value, Real)
        else rational(value, name="a probability", error=InvalidProbability)
    )
    if number < 0:
        raise InvalidProbability(
            f"{name} has a negative probability.",
            hint="every entry must lie between 0 and 1, and each row must sum to 1.",
        )
    return number
