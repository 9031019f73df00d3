"""Aggregates over the noisy table, in stages alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.plan.expressions import Call, Expression, Meaning, walk
from discreet.plan.intervals import Interval
from discreet.plan.operations.checks import expect, numbers
from discreet.plan.operations.table import rule


@rule("tally")
def _tally(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "COUNT")
    return Meaning("integer", Interval(Fraction(0), None), nullable=False)


@rule("total", "average")
def _total(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "SUM and AVG")
    numbers(arguments, "SUM and AVG")
    return Meaning("real")


@rule("minimum", "maximum")
def _extremum(arguments: Sequence[Expression]) -> Meaning:
    expect(arguments, 1, "MIN and MAX")
    return Meaning(arguments[0].meaning.type)


STAGE_AGGREGATES = frozenset({"tally", "total", "average", "minimum", "maximum"})
"""Operations that read several rows of the noisy table."""


def has_stage_aggregate(expression: Expression) -> bool:
    """Whether an expression reads several rows of the noisy table."""
    return any(
        isinstance(node, Call) and node.operation in STAGE_AGGREGATES for node in walk(expression)
    )
