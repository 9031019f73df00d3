"""Parts of dates, and dates rounded down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from discreet.errors import WrongType
from discreet.plan.expressions import MOST_KEYS, Expression, Meaning, Value
from discreet.plan.intervals import Interval
from discreet.plan.operations.checks import constant, expect, may_be_null, types
from discreet.plan.operations.table import rule

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


@rule("extract")
def _extract(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 2, "EXTRACT")
    part = constant(arguments[0], "the part to EXTRACT")
    types(arguments[1:], ("date", "timestamp"), "EXTRACT", "dates")
    if part not in PARTS:
        raise WrongType(f"EXTRACT takes one of {', '.join(PARTS)}.", hint="EXTRACT(month FROM day)")
    if part in ("hour", "minute"):
        types(arguments[1:], ("timestamp",), f"EXTRACT({part})", "timestamps")
    low, high = PARTS[str(part)]
    days = _days(arguments[1])
    if part == "year" and days is not None:
        low, high = days[0].year, days[1].year
    return Meaning("integer", Interval.of(low, high), may_be_null(arguments[1:]))


@rule("date_trunc")
def _date_trunc(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 2, "DATE_TRUNC")
    part = constant(arguments[0], "the part of DATE_TRUNC")
    types(arguments[1:], ("date", "timestamp"), "DATE_TRUNC", "dates")
    if part not in TRUNCATIONS:
        raise WrongType(
            f"DATE_TRUNC takes one of {', '.join(TRUNCATIONS)}.", hint="DATE_TRUNC('month', day)"
        )
    meaning = Meaning("date", nullable=may_be_null(arguments[1:]))
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
