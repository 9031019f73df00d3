"""Text: characters are code points, and letters are those of ``plan/letters``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import TooLarge, WrongType
from discreet.plan.expressions import Expression, Meaning
from discreet.plan.intervals import Interval
from discreet.plan.lengths import LONGEST_MADE, longest
from discreet.plan.operations.checks import constant, expect, may_be_null, types
from discreet.plan.operations.table import rule


@rule("lower", "upper", "trim")
def _text(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "a text function")
    types(arguments, ("text", "null"), "a text function", "text")
    return Meaning("text", nullable=may_be_null(arguments))


@rule("length")
def _length(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "LENGTH")
    types(arguments, ("text", "null"), "LENGTH", "text")
    return Meaning("integer", Interval(Fraction(0), None), may_be_null(arguments))


@rule("substring")
def _substring(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 3, "SUBSTRING")
    types(arguments[:1], ("text", "null"), "SUBSTRING", "text")
    for position in arguments[1:]:
        value = constant(position, "a position in SUBSTRING")
        if type(value) is not int or not 0 <= value <= 2**31 - 1:
            raise WrongType("SUBSTRING counts from 1.", hint="SUBSTRING(name, 1, 3)")
    return Meaning("text", nullable=may_be_null(arguments[:1]))


@rule("concat")
def _concat(arguments: Sequence[Expression]) -> Meaning:
    types(arguments, ("text", "null"), "||", "text")
    most = sum(longest(argument) for argument in arguments)
    if most > LONGEST_MADE:
        raise TooLarge(
            f"the text that || puts together could have {most:,} characters; "
            f"{LONGEST_MADE:,} are the most.",
            hint="SUBSTRING(name, 1, 20) || SUBSTRING(street, 1, 20)",
        )
    return Meaning("text", nullable=may_be_null(arguments))


@rule("like")
def _like(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 2, "LIKE")
    types(arguments, ("text", "null"), "LIKE", "text")
    pattern = constant(arguments[1], "the pattern of LIKE")
    if isinstance(pattern, str) and "\\" in pattern:
        raise WrongType("a pattern of LIKE may not hold a backslash.", hint="LIKE 'Card%'")
    return Meaning("boolean", nullable=may_be_null(arguments))
