"""The parameters of the theory, each read exactly and checked against its one rule."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import (
    InvalidConfidence,
    InvalidDelta,
    InvalidEpsilon,
    InvalidInput,
    InvalidNumber,
    InvalidProbability,
    InvalidSensitivity,
)
from discreet.exact.rational import Rational, rational


def epsilon(value: Rational, *, name: str = "epsilon") -> Fraction:
    """An epsilon: positive and finite.

    >>> epsilon(0.5)
    Fraction(1, 2)
    """
    return positive(value, name=name, error=InvalidEpsilon, example="0.5")


def sensitivity(value: Rational, *, name: str = "sensitivity") -> Fraction:
    """A sensitivity: positive and finite (a constant needs no noise at all)."""
    return positive(value, name=name, error=InvalidSensitivity, example="1")


def delta(value: Rational, *, name: str = "delta") -> Fraction:
    """A delta: strictly between 0 and 1."""
    return _open_unit(value, name, InvalidDelta, "1e-6")


def confidence(value: Rational, *, name: str = "confidence") -> Fraction:
    """A confidence: strictly between 0 and 1."""
    return _open_unit(value, name, InvalidConfidence, "0.95")


def probability(value: Rational, *, name: str = "probability") -> Fraction:
    """A probability: between 0 and 1, both included."""
    number = rational(value, name=name, error=InvalidProbability)
    if not 0 <= number <= 1:
        raise InvalidProbability(
            f"{name} = {value} is not a probability: it must lie between 0 and 1.",
            hint=f'{name}="1/2"',
        )
    return number


def positive(
    value: Rational,
    *,
    name: str,
    error: type[InvalidInput] = InvalidNumber,
    example: str = "1",
) -> Fraction:
    """Any parameter that must be positive and finite."""
    number = rational(value, name=name, error=error)
    if number <= 0:
        raise error(
            f"{name} = {value} is not allowed: it must be greater than 0.",
            hint=f"{name}={example}",
        )
    return number


def _open_unit(value: Rational, name: str, error: type[InvalidInput], example: str) -> Fraction:
    number = rational(value, name=name, error=error)
    if not 0 < number < 1:
        raise error(
            f"{name} = {value} is not allowed: it must lie strictly between 0 and 1.",
            hint=f"{name}={example}",
        )
    return number
