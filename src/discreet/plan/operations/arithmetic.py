"""Arithmetic: whole numbers where they certainly fit, else doubles that stay moderate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.errors import WrongType
from discreet.plan.expressions import LARGEST, Call, Expression, Meaning, Type
from discreet.plan.intervals import Interval, hull
from discreet.plan.operations.checks import (
    common_type,
    constant,
    expect,
    joined,
    may_be_null,
    numbers,
    types,
)
from discreet.plan.operations.table import PREPARED, RULES, Rule, call, rule
from discreet.plan.scale import CLEANED, MODERATE, SAFE, Scale

# Whole numbers up to here are exact as doubles too, so both ways of computing agree.
EXACT = Fraction(2**53)


def _arithmetic(
    words: str,
    bounds: Callable[[Interval, Interval], Interval],
    scale: Callable[[Scale, Scale], Scale],
) -> Rule:
    def rule(arguments: Sequence[Expression]) -> Meaning:
        expect(arguments, 2, words)
        numbers(arguments, words)
        left, right = (argument.meaning for argument in arguments)
        result = _representable(bounds(left.bounds, right.bounds))
        return Meaning(
            _number(arguments, result),
            result,
            may_be_null(arguments),
            scale=scale(left.extent, right.extent),
        )

    return rule


def _representable(bounds: Interval) -> Interval:
    """Bounds that doubles can overflow before they are reached bound nothing."""
    largest = bounds.magnitude
    return Interval() if largest is not None and largest > LARGEST else bounds


def _never_zero(divisor: Meaning) -> bool:
    """Whether a divisor stays so far from 0 that doubles cannot take it for 0 either."""
    both = divisor.bounds.bounded
    return both is not None and (both[0] >= 1 / LARGEST or both[1] <= -1 / LARGEST)


_PASSING = frozenset(
    {"to_real", "negate", "abs", "limit", "flush", "coalesce", "least", "greatest"}
)
"""What returns one of its arguments, or mirrors it."""


def _keeps(node: Expression) -> bool:
    """Whether an engine's doubles keep the bounds, to the doubles next to their ends."""
    if node.meaning.type != "real" or not isinstance(node, Call) or node.operation == "clamp":
        return True
    return node.operation in _PASSING and all(map(_keeps, node.arguments))


def _keeps_sign(node: Expression) -> bool:
    """Whether doubles that ought to lie on one side of 0 do.

    Rounding is monotone, so one operation on what keeps its bounds does not cross 0. Of several,
    each may leave its bounds a little, and where large numbers cancel a little is a lot.
    """
    return _keeps(node) or (isinstance(node, Call) and all(map(_keeps, node.arguments)))


def _number(arguments: Sequence[Expression], bounds: Interval) -> Type:
    """Whole numbers stay whole where they certainly fit; else they are computed as doubles."""
    whole = all(argument.meaning.type in ("integer", "null") for argument in arguments)
    largest = bounds.magnitude
    return "integer" if whole and largest is not None and largest <= EXACT else "real"


RULES["add"] = _arithmetic("+", lambda a, b: a + b, lambda a, b: a + b)
RULES["subtract"] = _arithmetic("-", lambda a, b: a - b, lambda a, b: a + b)
RULES["multiply"] = _arithmetic("*", lambda a, b: a * b, lambda a, b: a * b)


@rule("divide")
def _divide(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 2, "/")
    numbers(arguments, "/")
    top, bottom = (argument.meaning for argument in arguments)
    scale = top.extent / bottom.extent
    if not _never_zero(bottom):
        return Meaning("real", scale=scale)
    bounds = _representable(top.bounds / bottom.bounds)
    nullable = may_be_null(arguments) or not _keeps_sign(arguments[1])
    return Meaning("real", bounds, nullable, scale=scale)


@rule("modulo")
def _modulo(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 2, "%")
    types(arguments, ("integer",), "%", "whole numbers")
    divisor = arguments[1].meaning.bounds.magnitude
    if divisor is None or arguments[0].meaning.bounds.bounded is None:
        raise WrongType("% needs whole numbers with known bounds.", hint="CLAMP(x, 0, 1000) % 7")
    # The remainder takes the sign of the dividend and stays below the divisor.
    low, high = arguments[0].meaning.bounds.bounded
    most = max(divisor - 1, Fraction(0))
    bounds = Interval(-most if low < 0 else Fraction(0), most if high > 0 else Fraction(0))
    never_zero = _never_zero(arguments[1].meaning)
    return Meaning("integer", bounds, may_be_null(arguments) or not never_zero)


@rule("negate")
def _negate(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "-")
    numbers(arguments, "-")
    bounds = -arguments[0].meaning.bounds
    kind, scale = _number(arguments, bounds), arguments[0].meaning.extent
    return Meaning(kind, bounds, may_be_null(arguments), scale=scale)


@rule("abs")
def _abs(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "ABS")
    numbers(arguments, "ABS")
    bounds = abs(arguments[0].meaning.bounds)
    kind, scale = _number(arguments, bounds), arguments[0].meaning.extent
    return Meaning(kind, bounds, may_be_null(arguments), scale=scale)


def _to_whole(words: str, function: Callable[[Fraction], int]) -> Rule:
    def rule(arguments: Sequence[Expression]) -> Meaning:
        expect(arguments, 1, words)
        numbers(arguments, words)
        bounds = arguments[0].meaning.bounds.map(function)
        whole = bounds.magnitude is not None and bounds.magnitude <= EXACT
        scale = arguments[0].meaning.extent.whole()
        return Meaning("integer" if whole else "real", bounds, may_be_null(arguments), scale=scale)

    return rule


def half_up(value: Fraction) -> int:
    """The nearest whole number, halves going up."""
    return math.floor(value + Fraction(1, 2))


RULES["floor"] = _to_whole("FLOOR", math.floor)
RULES["ceil"] = _to_whole("CEIL", math.ceil)
RULES["round"] = _to_whole("ROUND", half_up)


@rule("sqrt")
def _sqrt(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "SQRT")
    numbers(arguments, "SQRT")
    inner = arguments[0].meaning.bounds
    low = Fraction(0) if inner.low is None else Fraction(math.isqrt(max(math.floor(inner.low), 0)))
    high = None if inner.high is None else Fraction(math.isqrt(max(math.ceil(inner.high), 0)) + 1)
    negative = inner.low is None or inner.low < 0 or not _keeps_sign(arguments[0])
    scale = arguments[0].meaning.extent.root()
    return Meaning("real", Interval(low, high), may_be_null(arguments) or negative, scale=scale)


@rule("clamp")
def _clamp(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 3, "CLAMP")
    numbers(arguments, "CLAMP")
    low, high = (constant(bound, "a bound of CLAMP") for bound in arguments[1:])
    if low is None or high is None or low > high:  # type: ignore[operator]
        raise WrongType("CLAMP needs a lower and an upper bound.", hint="CLAMP(x, 0, 100)")
    bounds = arguments[0].meaning.bounds.clamp(Fraction(low), Fraction(high))  # type: ignore[arg-type]
    whole = arguments[0].meaning.type != "real"
    largest = max(abs(Fraction(bound)) for bound in (low, high))  # type: ignore[arg-type]
    return Meaning(
        _number(arguments, bounds) if whole else "real",
        bounds,
        arguments[0].meaning.nullable,
        scale=joined(arguments).within(largest),
    )


@rule("least", "greatest")
def _extreme(arguments: Sequence[Expression]) -> Meaning:
    numbers(arguments, "LEAST and GREATEST")
    # A missing argument is passed over, so the hull is all that can be promised.
    bounds = hull(argument.meaning.bounds for argument in arguments)
    return Meaning(
        common_type(arguments, "LEAST and GREATEST"),
        bounds,
        all(argument.meaning.nullable for argument in arguments),
        scale=joined(arguments),
    )


# Doubles that stay moderate --------------------------------------------------------------------


@rule("limit")
def _limit(arguments: Sequence[Expression]) -> Meaning:
    """NULL where a magnitude is beyond ``LARGEST``."""
    expect(arguments, 1, "a limit")
    numbers(arguments, "a limit")
    meaning = arguments[0].meaning
    scale = Scale(meaning.extent.finest, min(meaning.extent.largest, MODERATE))
    return Meaning("real", meaning.bounds, scale=scale)


@rule("flush")
def _flush(arguments: Sequence[Expression]) -> Meaning:
    """0 where a magnitude is below ``1 / LARGEST``."""
    expect(arguments, 1, "a flush")
    numbers(arguments, "a flush")
    meaning = arguments[0].meaning
    low, high = meaning.bounds.low, meaning.bounds.high
    bounds = Interval(
        Fraction(0) if low is not None and 0 < low < 1 / LARGEST else low,
        Fraction(0) if high is not None and -1 / LARGEST < high < 0 else high,
    )
    scale = Scale(max(meaning.extent.finest, CLEANED.finest), meaning.extent.largest)
    return Meaning("real", bounds, meaning.nullable, scale=scale)


def limited(argument: Expression) -> Expression:
    """An operand that cannot be too large."""
    return call("limit", argument) if argument.meaning.extent.largest > MODERATE else argument


def flushed(argument: Expression) -> Expression:
    """An operand that cannot be too small."""
    fine = argument.meaning.extent.finest >= CLEANED.finest
    return argument if fine else call("flush", argument)


def _prepared(
    scale: Callable[[Scale, Scale], Scale],
) -> Callable[[Sequence[Expression]], Sequence[Expression]]:
    def prepare(arguments: Sequence[Expression]) -> Sequence[Expression]:
        kinds = {argument.meaning.type for argument in arguments}
        if len(arguments) != 2 or not kinds <= {"integer", "real"}:
            return arguments  # the rule will say what is wrong with them
        result = scale(*(argument.meaning.extent for argument in arguments))
        if result.largest > SAFE or result.finest < -SAFE:
            return [flushed(limited(argument)) for argument in arguments]
        return arguments

    return prepare


PREPARED["add"] = PREPARED["subtract"] = _prepared(lambda a, b: Scale(0, (a + b).largest))
PREPARED["multiply"] = _prepared(lambda a, b: a * b)
# A quotient may have fine digits as long as it is not too small itself.
PREPARED["divide"] = _prepared(lambda a, b: Scale(a.finest - b.largest, a.largest - b.finest))
