"""Casts that cannot fail."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.errors import WrongType
from discreet.plan.expressions import Column, Expression, Meaning, walk
from discreet.plan.intervals import Interval
from discreet.plan.operations.arithmetic import EXACT, half_up
from discreet.plan.operations.checks import expect, may_be_null, types
from discreet.plan.operations.table import rule


@rule("to_real")
def _to_real(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "CAST AS DOUBLE")
    types(arguments, ("integer", "real", "boolean", "null"), "CAST AS DOUBLE", "numbers")
    scale = arguments[0].meaning.extent
    return Meaning("real", _cast_bounds(arguments[0]), may_be_null(arguments), scale=scale)


@rule("to_integer")
def _to_integer(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "CAST AS INTEGER")
    types(arguments, ("integer", "real", "boolean", "null"), "CAST AS INTEGER", "numbers")
    bounds = _cast_bounds(arguments[0]).map(half_up)
    fits = bounds.magnitude is not None and bounds.magnitude <= EXACT
    if not fits and not _released(arguments[0]):
        raise WrongType(
            "CAST AS INTEGER could overflow: nothing bounds the number.",
            hint="CAST(CLAMP(x, 0, 1000) AS INTEGER)",
        )
    return Meaning("integer", bounds, may_be_null(arguments))


@rule("to_text")
def _to_text(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "CAST AS VARCHAR")
    types(arguments, ("integer", "text", "boolean", "date", "null"), "CAST AS VARCHAR", "values")
    return Meaning("text", nullable=may_be_null(arguments))


@rule("to_date")
def _to_date(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "CAST AS DATE")
    types(arguments, ("date", "timestamp", "null"), "CAST AS DATE", "timestamps")
    return Meaning("date", arguments[0].meaning.bounds, may_be_null(arguments))


def _released(argument: Expression) -> bool:
    """Whether it is read off the noisy table, where Python's own whole numbers hold anything."""
    columns = [node for node in walk(argument) if isinstance(node, Column)]
    return bool(columns) and all(column.released for column in columns)


def _cast_bounds(argument: Expression) -> Interval:
    if argument.meaning.type == "boolean":
        return Interval.of(0, 1)
    return argument.meaning.bounds
