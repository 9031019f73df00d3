"""From aggregates to the few sums and counts that are really measured, each asked once.

COUNT(x) counts the rows in which x is not NULL. AVG(x) is a sum divided by COUNT(x); its sum is
taken around the middle of the range, which halves what one row can add. Where SUM(x) is asked as
well, AVG(x) shares it instead. A mean is an average over a number of rows that is public: there the
sum alone is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf
from typing import TypeAlias

from discreet.exact import Grid
from discreet.plan.expressions import Call, Column, Expression
from discreet.plan.operations import call, flushed
from discreet.plan.query import Aggregate, Core

Measured: TypeAlias = OneOf["rows", "units", "sum"]

# Expressions that are not plain columns are put on a grid of about this many steps.
_STEPS = 2**20


@dataclass(frozen=True, slots=True)
class Primitive:
    """One exact whole number per group: a count, or a sum of whole steps around a centre.

    Rows in which the argument is NULL are neither counted nor added.
    """

    kind: Measured
    argument: Expression | None
    where: Expression | None
    step: Fraction = Fraction(1)
    centre: int = 0
    low: int = 1
    high: int = 1
    """The least and the most that one row adds, in steps, before the centre is taken off."""

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the most that one row adds, in steps."""
        return self.low - self.centre, self.high - self.centre


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an aggregate is made from primitives (by index)."""

    kind: OneOf["value", "average"]
    total: int
    count: int | None = None
    over: int | None = None
    """Of a mean: the public number of rows that its sum is divided by."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The primitives of a core, and for each of its aggregates how to make it from them."""

    primitives: tuple[Primitive, ...]
    recipes: tuple[Recipe, ...]


def lower(core: Core) -> Lowered:
    """List what must be measured. Equal things are measured once."""
    found: list[Primitive] = []

    def index(primitive: Primitive) -> int:
        if primitive not in found:
            found.append(primitive)
        return found.index(primitive)

    summed = {
        (aggregate.argument, aggregate.where)
        for aggregate in core.aggregates
        if aggregate.kind == "sum"
    }
    recipes = []
    for aggregate in core.aggregates:
        if aggregate.kind == "avg":
            shared = (aggregate.argument, aggregate.where) in summed
            total = index(_sum(aggregate, centred=not shared))
            recipes.append(Recipe("average", total, index(_count(aggregate))))
        elif aggregate.kind == "mean":
            shared = (aggregate.argument, aggregate.where) in summed
            total = index(_sum(aggregate, centred=not shared))
            recipes.append(Recipe("value", total, over=aggregate.over))
        elif aggregate.kind == "sum":
            recipes.append(Recipe("value", index(_sum(aggregate, centred=False))))
        elif aggregate.kind == "count_units":
            recipes.append(Recipe("value", index(Primitive("units", None, aggregate.where))))
        else:
            recipes.append(Recipe("value", index(_count(aggregate))))
    return Lowered(tuple(found), tuple(recipes))


def _count(aggregate: Aggregate) -> Primitive:
    argument = aggregate.argument
    if argument is not None and not argument.meaning.nullable:
        argument = None  # it is never missing, so its rows are all rows
    return Primitive("rows", argument, aggregate.where)


def _sum(aggregate: Aggregate, *, centred: bool) -> Primitive:
    argument = aggregate.argument
    assert argument is not None  # noqa: S101  # a sum without an argument does not parse
    if argument.meaning.type == "boolean":
        argument = call("to_integer", argument)
    elif argument.meaning.type == "real":
        argument = flushed(argument)  # it is divided by the step
    both = argument.meaning.bounds.bounded
    assert both is not None  # noqa: S101  # Aggregate refuses unbounded sums
    step = step_of(argument)
    grid = Grid(step)
    low, high = grid.unit_of(both[0]), grid.unit_of(both[1])
    return Primitive(
        "sum", argument, aggregate.where, step, (low + high) // 2 if centred else 0, low, high
    )


def step_of(argument: Expression) -> Fraction:
    """The grid of a sum: a column's own, 1 for whole numbers, else a fine power of two."""
    if isinstance(argument, Column) and argument.step is not None:
        return argument.step
    if argument.meaning.type == "integer":
        return Fraction(1)
    if isinstance(argument, Call) and argument.operation in ("clamp", "coalesce", "case", "negate"):
        # What only picks or mirrors values of one column keeps that column's grid.
        inner = {step_of(a) for a in argument.arguments if isinstance(a, Column) and a.step}
        constants = [a.meaning.bounds.bounded for a in argument.arguments]
        if len(inner) == 1 and all(
            both is None or all(bound % next(iter(inner)) == 0 for bound in both)
            for both in constants
        ):
            return inner.pop()
    both = argument.meaning.bounds.bounded
    assert both is not None  # noqa: S101
    width = max(both[1] - both[0], abs(both[0]), abs(both[1]), Fraction(1, 2**20))
    exponent = width.numerator.bit_length() - width.denominator.bit_length()
    return Fraction(2) ** exponent / _STEPS
