"""The operations that an expression may use, each with its rule for types, bounds and NULLs.

Nothing outside this table exists. Every operation is total: where SQL engines would raise (a
division by zero, a cast that fails, an overflow) it gives NULL or is computed in doubles, so that
no row can make a query fail. How an engine computes it is written in ``sql/emit``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import TooLarge, UnknownName, WrongType
from discreet.plan.expressions import (
    HIGHEST,
    LARGEST,
    LARGEST_SIZE,
    MOST_KEYS,
    Call,
    Expression,
    Literal,
    Meaning,
    Type,
    Value,
    size_of,
    walk,
)
from discreet.plan.intervals import Interval, hull

Rule: TypeAlias = Callable[[Sequence[Expression]], Meaning]

# Whole numbers up to here are exact as doubles too, so both ways of computing agree.
_EXACT = Fraction(2**53)

_RULES: dict[str, Rule] = {}


def call(operation: str, *arguments: Expression) -> Call:
    """Apply an operation, or say why it cannot be.

    >>> from discreet.plan.expressions import literal
    >>> call("add", literal(2), literal(3)).meaning.bounds
    Interval(5, 5)
    """
    rule = _RULES.get(operation)
    if rule is None:
        raise UnknownName(
            f"{operation.upper()} is not a function that is known here.",
            hint="the functions that can be used are listed in docs/reference/sql.md.",
        )
    size = 1 + sum(size_of(argument) for argument in arguments)
    height = 1 + max((a.height for a in arguments if isinstance(a, Call)), default=0)
    if size > LARGEST_SIZE or height > HIGHEST:
        # Names of subqueries stand for whole expressions: a short text can mean a huge one.
        raise TooLarge(
            f"an expression of the query has more than {LARGEST_SIZE:,} parts, or more than "
            f"{HIGHEST} inside each other, once the names of its subqueries are written out.",
            hint="simplify it.",
        )
    return Call(operation, arguments, with_domain(rule(arguments)), size, height)


def names() -> list[str]:
    """Every operation, in alphabetical order."""
    return sorted(_RULES)


def with_domain(meaning: Meaning) -> Meaning:
    """Few values in a known range are public keys, whether or not anybody listed them."""
    both = meaning.bounds.bounded
    if meaning.domain is not None or meaning.type not in ("integer", "boolean"):
        return meaning
    values: list[Value]
    if meaning.type == "boolean":
        values = [False, True]
    elif both is not None and both[1] - both[0] < MOST_KEYS:
        values = list(range(math.ceil(both[0]), math.floor(both[1]) + 1))
    else:
        return meaning
    return replace(meaning, domain=(*values, None) if meaning.nullable else tuple(values))


def _rule(*operations: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        for operation in operations:
            _RULES[operation] = rule
        return rule

    return register


# Checks ----------------------------------------------------------------------------------------


def _expect(arguments: Sequence[Expression], count: int, words: str) -> None:
    if len(arguments) != count:
        raise WrongType(f"{words} takes {count} argument(s), not {len(arguments)}.")


def _numbers(arguments: Sequence[Expression], words: str) -> None:
    _types(arguments, ("integer", "real", "null"), words, "numbers")


def _types(
    arguments: Sequence[Expression], allowed: tuple[Type, ...], words: str, kind: str
) -> None:
    for argument in arguments:
        if argument.meaning.type not in allowed:
            raise WrongType(
                f"{words} works on {kind}, and this is {argument.meaning.type}.",
                hint=f"give it {kind}, or CAST where that cannot fail.",
            )


def _nullable(arguments: Sequence[Expression]) -> bool:
    return any(argument.meaning.nullable for argument in arguments)


def _constant(argument: Expression, words: str) -> Value:
    if not isinstance(argument, Literal):
        raise WrongType(f"{words} must be a constant.", hint="write the value itself there.")
    return argument.value


def common_type(arguments: Sequence[Expression], words: str) -> Type:
    """The one type of several expressions: whole numbers widen to reals, NULL fits anything."""
    kinds = {argument.meaning.type for argument in arguments} - {"null"}
    if kinds <= {"integer", "real"} and kinds:
        return "real" if "real" in kinds else "integer"
    if kinds == {"date", "timestamp"}:
        return "timestamp"
    if len(kinds) > 1:
        raise WrongType(
            f"{words} needs values of one type, not {' and '.join(sorted(kinds))}.",
            hint="CAST one of them where that cannot fail.",
        )
    return kinds.pop() if kinds else "null"


# Arithmetic ------------------------------------------------------------------------------------


def _arithmetic(words: str, bounds: Callable[[Interval, Interval], Interval]) -> Rule:
    def rule(arguments: Sequence[Expression]) -> Meaning:
        _expect(arguments, 2, words)
        _numbers(arguments, words)
        left, right = arguments
        result = _representable(bounds(left.meaning.bounds, right.meaning.bounds))
        # Doubles that nothing bounds may overflow, and what is not finite becomes NULL.
        nullable = _nullable(arguments) or result.bounded is None
        return Meaning(_number(arguments, result), result, nullable)

    return rule


def _representable(bounds: Interval) -> Interval:
    """Bounds that doubles can overflow before they are reached bound nothing."""
    largest = bounds.magnitude
    return Interval() if largest is not None and largest > LARGEST else bounds


def _never_zero(divisor: Meaning) -> bool:
    """Whether a divisor stays so far from 0 that doubles cannot take it for 0 either."""
    both = divisor.bounds.bounded
    return both is not None and (both[0] >= 1 / LARGEST or both[1] <= -1 / LARGEST)


def _number(arguments: Sequence[Expression], bounds: Interval) -> Type:
    """Whole numbers stay whole where they certainly fit; else they are computed as doubles."""
    whole = all(argument.meaning.type in ("integer", "null") for argument in arguments)
    largest = bounds.magnitude
    return "integer" if whole and largest is not None and largest <= _EXACT else "real"


_RULES["add"] = _arithmetic("+", lambda a, b: a + b)
_RULES["subtract"] = _arithmetic("-", lambda a, b: a - b)
_RULES["multiply"] = _arithmetic("*", lambda a, b: a * b)


@_rule("divide")
def _divide(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 2, "/")
    _numbers(arguments, "/")
    top, bottom = (argument.meaning for argument in arguments)
    if not _never_zero(bottom):
        return Meaning("real")
    bounds = _representable(top.bounds / bottom.bounds)
    return Meaning("real", bounds, _nullable(arguments) or bounds.bounded is None)


@_rule("modulo")
def _modulo(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 2, "%")
    _types(arguments, ("integer",), "%", "whole numbers")
    divisor = arguments[1].meaning.bounds.magnitude
    if divisor is None or arguments[0].meaning.bounds.bounded is None:
        raise WrongType("% needs whole numbers with known bounds.", hint="CLAMP(x, 0, 1000) % 7")
    # The remainder takes the sign of the dividend and stays below the divisor.
    low, high = arguments[0].meaning.bounds.bounded
    most = max(divisor - 1, Fraction(0))
    bounds = Interval(-most if low < 0 else Fraction(0), most if high > 0 else Fraction(0))
    never_zero = _never_zero(arguments[1].meaning)
    return Meaning("integer", bounds, _nullable(arguments) or not never_zero)


@_rule("negate")
def _negate(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "-")
    _numbers(arguments, "-")
    bounds = -arguments[0].meaning.bounds
    return Meaning(_number(arguments, bounds), bounds, _nullable(arguments))


@_rule("abs")
def _abs(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "ABS")
    _numbers(arguments, "ABS")
    bounds = abs(arguments[0].meaning.bounds)
    return Meaning(_number(arguments, bounds), bounds, _nullable(arguments))


def _to_whole(words: str, function: Callable[[Fraction], int]) -> Rule:
    def rule(arguments: Sequence[Expression]) -> Meaning:
        _expect(arguments, 1, words)
        _numbers(arguments, words)
        bounds = arguments[0].meaning.bounds.map(function)
        whole = bounds.magnitude is not None and bounds.magnitude <= _EXACT
        return Meaning("integer" if whole else "real", bounds, _nullable(arguments))

    return rule


def half_up(value: Fraction) -> int:
    """The nearest whole number, halves going up."""
    return math.floor(value + Fraction(1, 2))


_RULES["floor"] = _to_whole("FLOOR", math.floor)
_RULES["ceil"] = _to_whole("CEIL", math.ceil)
_RULES["round"] = _to_whole("ROUND", half_up)


@_rule("sqrt")
def _sqrt(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "SQRT")
    _numbers(arguments, "SQRT")
    inner = arguments[0].meaning.bounds
    low = Fraction(0) if inner.low is None else Fraction(math.isqrt(max(math.floor(inner.low), 0)))
    high = None if inner.high is None else Fraction(math.isqrt(max(math.ceil(inner.high), 0)) + 1)
    negative = inner.low is None or inner.low < 0
    return Meaning("real", Interval(low, high), _nullable(arguments) or negative)


@_rule("clamp")
def _clamp(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 3, "CLAMP")
    _numbers(arguments, "CLAMP")
    low, high = (_constant(bound, "a bound of CLAMP") for bound in arguments[1:])
    if low is None or high is None or low > high:  # type: ignore[operator]
        raise WrongType("CLAMP needs a lower and an upper bound.", hint="CLAMP(x, 0, 100)")
    bounds = arguments[0].meaning.bounds.clamp(Fraction(low), Fraction(high))  # type: ignore[arg-type]
    whole = arguments[0].meaning.type != "real"
    return Meaning(
        _number(arguments, bounds) if whole else "real", bounds, arguments[0].meaning.nullable
    )


@_rule("least", "greatest")
def _extreme(arguments: Sequence[Expression]) -> Meaning:
    _numbers(arguments, "LEAST and GREATEST")
    # A missing argument is passed over, so the hull is all that can be promised.
    bounds = hull(argument.meaning.bounds for argument in arguments)
    return Meaning(
        common_type(arguments, "LEAST and GREATEST"),
        bounds,
        all(argument.meaning.nullable for argument in arguments),
    )


# Comparison and logic --------------------------------------------------------------------------


@_rule("equal", "differs", "less", "less_equal", "greater", "greater_equal")
def _compare(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 2, "a comparison")
    common_type(arguments, "a comparison")
    return Meaning("boolean", nullable=_nullable(arguments))


@_rule("in")
def _in(arguments: Sequence[Expression]) -> Meaning:
    if len(arguments) < 2:
        raise WrongType("IN needs at least one value.", hint="ward IN ('north', 'south')")
    common_type(arguments, "IN")
    for argument in arguments[1:]:
        _constant(argument, "each value of IN")
    return Meaning("boolean", nullable=_nullable(arguments))


@_rule("and", "or")
def _logic(arguments: Sequence[Expression]) -> Meaning:
    _types(arguments, ("boolean", "null"), "AND and OR", "conditions")
    return Meaning("boolean", nullable=_nullable(arguments))


@_rule("not")
def _not(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "NOT")
    _types(arguments, ("boolean", "null"), "NOT", "conditions")
    return Meaning("boolean", nullable=_nullable(arguments))


@_rule("is_null")
def _is_null(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "IS NULL")
    return Meaning("boolean", nullable=False)


# Choices ---------------------------------------------------------------------------------------


@_rule("case")
def _case(arguments: Sequence[Expression]) -> Meaning:
    """Condition, value, condition, value, ..., and at last the value when none holds."""
    *pairs, default = arguments
    _types(pairs[0::2], ("boolean", "null"), "CASE WHEN", "conditions")
    return _one_of([*pairs[1::2], default], "CASE")


@_rule("coalesce")
def _coalesce(arguments: Sequence[Expression]) -> Meaning:
    meaning = _one_of(arguments, "COALESCE")
    nullable = all(argument.meaning.nullable for argument in arguments)
    domain = meaning.domain
    if domain is not None and not nullable:
        domain = tuple(value for value in domain if value is not None)
    return replace(meaning, nullable=nullable, domain=domain)


@_rule("nullif")
def _nullif(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 2, "NULLIF")
    common_type(arguments, "NULLIF")
    return replace(arguments[0].meaning, nullable=True, domain=None)


def _one_of(values: Sequence[Expression], words: str) -> Meaning:
    kind = common_type(values, words)
    present = [value for value in values if value.meaning.type != "null"]
    domains = [value.meaning.domain for value in values]
    domain: tuple[Value, ...] | None = None
    if None not in domains:
        domain = tuple(dict.fromkeys(v for values_ in domains for v in values_ or ()))
        if len(domain) > MOST_KEYS:
            domain = None
    return Meaning(kind, hull(value.meaning.bounds for value in present), _nullable(values), domain)


# Text ------------------------------------------------------------------------------------------


@_rule("lower", "upper", "trim")
def _text(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "a text function")
    _types(arguments, ("text", "null"), "a text function", "text")
    return Meaning("text", nullable=_nullable(arguments))


@_rule("length")
def _length(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "LENGTH")
    _types(arguments, ("text", "null"), "LENGTH", "text")
    return Meaning("integer", Interval(Fraction(0), None), _nullable(arguments))


@_rule("substring")
def _substring(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 3, "SUBSTRING")
    _types(arguments[:1], ("text", "null"), "SUBSTRING", "text")
    for position in arguments[1:]:
        value = _constant(position, "a position in SUBSTRING")
        if type(value) is not int or not 0 <= value <= 2**31 - 1:
            raise WrongType("SUBSTRING counts from 1.", hint="SUBSTRING(name, 1, 3)")
    return Meaning("text", nullable=_nullable(arguments[:1]))


@_rule("concat")
def _concat(arguments: Sequence[Expression]) -> Meaning:
    _types(arguments, ("text", "null"), "||", "text")
    return Meaning("text", nullable=_nullable(arguments))


@_rule("like")
def _like(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 2, "LIKE")
    _types(arguments, ("text", "null"), "LIKE", "text")
    pattern = _constant(arguments[1], "the pattern of LIKE")
    if isinstance(pattern, str) and "\\" in pattern:
        raise WrongType("a pattern of LIKE may not hold a backslash.", hint="LIKE 'Card%'")
    return Meaning("boolean", nullable=_nullable(arguments))


# Dates -----------------------------------------------------------------------------------------

PARTS: dict[str, tuple[int, int]] = {
    "year": (1, 9999),
    "quarter": (1, 4),
    "month": (1, 12),
    "day": (1, 31),
    "isodow": (1, 7),
    "hour": (0, 23),
    "minute": (0, 59),
}
"""The parts of a date that can be extracted, with their ranges."""

TRUNCATIONS = ("year", "quarter", "month", "week", "day")
"""What a date can be rounded down to."""


@_rule("extract")
def _extract(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 2, "EXTRACT")
    part = _constant(arguments[0], "the part to EXTRACT")
    _types(arguments[1:], ("date", "timestamp"), "EXTRACT", "dates")
    if part not in PARTS:
        raise WrongType(f"EXTRACT takes one of {', '.join(PARTS)}.", hint="EXTRACT(month FROM day)")
    if part in ("hour", "minute"):
        _types(arguments[1:], ("timestamp",), f"EXTRACT({part})", "timestamps")
    low, high = PARTS[str(part)]
    days = _days(arguments[1])
    if part == "year" and days is not None:
        low, high = days[0].year, days[1].year
    return Meaning("integer", Interval.of(low, high), _nullable(arguments[1:]))


@_rule("date_trunc")
def _date_trunc(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 2, "DATE_TRUNC")
    part = _constant(arguments[0], "the part of DATE_TRUNC")
    _types(arguments[1:], ("date", "timestamp"), "DATE_TRUNC", "dates")
    if part not in TRUNCATIONS:
        raise WrongType(
            f"DATE_TRUNC takes one of {', '.join(TRUNCATIONS)}.", hint="DATE_TRUNC('month', day)"
        )
    meaning = Meaning("date", nullable=_nullable(arguments[1:]))
    days = _days(arguments[1])
    if days is None:
        return meaning
    starts: list[Value] = []
    day: date | None = truncate(days[0], str(part))
    while day is not None and day <= days[1]:
        starts.append(day)
        if len(starts) > MOST_KEYS:
            return meaning
        day = _next(day, str(part))
    return replace(meaning, domain=(*starts, None) if meaning.nullable else tuple(starts))


def truncate(day: date, part: str) -> date:
    """The first day of the year, quarter, month, week (Monday) or day that holds a day."""
    if part == "week":
        return day - timedelta(days=day.weekday())
    month = {"year": 1, "quarter": 3 * ((day.month - 1) // 3) + 1}.get(part, day.month)
    return date(day.year, month, day.day if part == "day" else 1)


def _next(start: date, part: str) -> date | None:
    """The start of the next part, or None where the calendar ends."""
    try:
        if part in ("day", "week"):
            return start + timedelta(days=1 if part == "day" else 7)
        months = {"year": 12, "quarter": 3, "month": 1}[part]
        year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
        return date(year, month + 1, 1)
    except (ValueError, OverflowError):
        return None


def _days(argument: Expression) -> tuple[date, date] | None:
    """The first and last day a date can be, where its bounds are declared (as day numbers)."""
    both = argument.meaning.bounds.bounded
    if both is None:
        return None
    return date.fromordinal(int(both[0])), date.fromordinal(int(both[1]))


# Casts that cannot fail ------------------------------------------------------------------------


@_rule("to_real")
def _to_real(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "CAST AS DOUBLE")
    _types(arguments, ("integer", "real", "boolean", "null"), "CAST AS DOUBLE", "numbers")
    return Meaning("real", _cast_bounds(arguments[0]), _nullable(arguments))


@_rule("to_integer")
def _to_integer(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "CAST AS INTEGER")
    _types(arguments, ("integer", "real", "boolean", "null"), "CAST AS INTEGER", "numbers")
    bounds = _cast_bounds(arguments[0]).map(half_up)
    if bounds.magnitude is None or bounds.magnitude > _EXACT:
        raise WrongType(
            "CAST AS INTEGER could overflow: nothing bounds the number.",
            hint="CAST(CLAMP(x, 0, 1000) AS INTEGER)",
        )
    return Meaning("integer", bounds, _nullable(arguments))


@_rule("to_text")
def _to_text(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "CAST AS VARCHAR")
    _types(arguments, ("integer", "text", "boolean", "date", "null"), "CAST AS VARCHAR", "values")
    return Meaning("text", nullable=_nullable(arguments))


@_rule("to_date")
def _to_date(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "CAST AS DATE")
    _types(arguments, ("date", "timestamp", "null"), "CAST AS DATE", "timestamps")
    return Meaning("date", arguments[0].meaning.bounds, _nullable(arguments))


def _cast_bounds(argument: Expression) -> Interval:
    if argument.meaning.type == "boolean":
        return Interval.of(0, 1)
    return argument.meaning.bounds


# Aggregates over the noisy table, in stages alone ------------------------------------------------


@_rule("tally")
def _tally(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "COUNT")
    return Meaning("integer", Interval(Fraction(0), None), nullable=False)


@_rule("total", "average")
def _total(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "SUM and AVG")
    _numbers(arguments, "SUM and AVG")
    return Meaning("real")


@_rule("minimum", "maximum")
def _extremum(arguments: Sequence[Expression]) -> Meaning:
    _expect(arguments, 1, "MIN and MAX")
    return Meaning(arguments[0].meaning.type)


STAGE_AGGREGATES = frozenset({"tally", "total", "average", "minimum", "maximum"})
"""Operations that read several rows of the noisy table."""


def has_stage_aggregate(expression: Expression) -> bool:
    """Whether an expression reads several rows of the noisy table."""
    return any(
        isinstance(node, Call) and node.operation in STAGE_AGGREGATES for node in walk(expression)
    )
