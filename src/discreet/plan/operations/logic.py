"""Comparison, logic, and choices among values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from discreet.errors import WrongType
from discreet.plan.expressions import MOST_KEYS, Expression, Meaning, Value
from discreet.plan.intervals import hull
from discreet.plan.operations.checks import (
    common_type,
    constant,
    expect,
    joined,
    may_be_null,
    types,
)
from discreet.plan.operations.table import rule


@rule("equal", "differs", "less", "less_equal", "greater", "greater_equal")
def _compare(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 2, "a comparison")
    common_type(arguments, "a comparison")
    return Meaning("boolean", nullable=may_be_null(arguments))


@rule("in")
def _in(arguments: Sequence[Expression]) -> Meaning:
    if len(arguments) < 2:
        raise WrongType("IN needs at least one value.", hint="ward IN ('north', 'south')")
    common_type(arguments, "IN")
    for argument in arguments[1:]:
        constant(argument, "each value of IN")
    return Meaning("boolean", nullable=may_be_null(arguments))


@rule("and", "or")
def _logic(arguments: Sequence[Expression]) -> Meaning:
    types(arguments, ("boolean", "null"), "AND and OR", "conditions")
    return Meaning("boolean", nullable=may_be_null(arguments))


@rule("not")
def _not(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "NOT")
    types(arguments, ("boolean", "null"), "NOT", "conditions")
    return Meaning("boolean", nullable=may_be_null(arguments))


@rule("is_null")
def _is_null(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "IS NULL")
    return Meaning("boolean", nullable=False)


@rule("case")
def _case(arguments: Sequence[Expression]) -> Meaning:
    """Condition, value, condition, value, ..., and at last the value when none holds."""
    *pairs, default = arguments
    types(pairs[0::2], ("boolean", "null"), "CASE WHEN", "conditions")
    return _one_of([*pairs[1::2], default], "CASE")


@rule("coalesce")
def _coalesce(arguments: Sequence[Expression]) -> Meaning:
    meaning = _one_of(arguments, "COALESCE")
    nullable = all(argument.meaning.nullable for argument in arguments)
    domain = meaning.domain
    if domain is not None and not nullable:
        domain = tuple(value for value in domain if value is not None)
    return replace(meaning, nullable=nullable, domain=domain)


@rule("nullif")
def _nullif(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 2, "NULLIF")
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
    return Meaning(
        kind,
        hull(value.meaning.bounds for value in present),
        may_be_null(values),
        domain,
        joined(present) if present else None,
    )
