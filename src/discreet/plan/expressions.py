"""Expressions over the columns of one row: small frozen trees, typed and bounded when made.

A tree is made by ``column``, ``literal`` and ``call`` alone. Each node knows its type, the interval
it cannot leave, whether it can be NULL, and, where it takes few values that are public, which.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import Literal as OneOf
from typing import TypeAlias

from discreet.plan.intervals import Interval
from discreet.plan.scale import ANY, MODERATE, WHOLE, Scale

Type: TypeAlias = OneOf["integer", "real", "text", "boolean", "date", "timestamp", "null"]
Value: TypeAlias = int | Fraction | str | bool | date | datetime | None

MOST_KEYS = 1000
"""How many values an expression may take for them to be listed without having been declared."""

LARGEST_SIZE = 5000
"""How many operations and columns an expression may be written with."""

HIGHEST = 150
"""How deep operations may be nested."""

LARGEST = Fraction(2**MODERATE)
"""Constants beyond this, about 1e120, are refused; bounds beyond it are no bounds."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is known of an expression before any row is read."""

    type: Type
    bounds: Interval = field(default_factory=Interval)
    nullable: bool = True
    domain: tuple[Value, ...] | None = None
    """Every value it can take, NULL included where it can be NULL; None if they are not public."""
    scale: Scale | None = None
    """What is known of its doubles."""

    @property
    def extent(self) -> Scale:
        """How fine and how large its numbers can be, as an engine computes them.

        The bounds of a real hold for real numbers: doubles may leave them by as much as cancels
        in between ((1e99 + 1) - 1e99 is not 1), so only what was kept of them counts.
        """
        if self.type == "real":
            return self.scale or ANY
        magnitude = self.bounds.magnitude
        return WHOLE if magnitude is None else WHOLE.within(magnitude)


@dataclass(frozen=True, slots=True)
class Column:
    """A column by name; ``step`` is set where the engine stores whole multiples of it."""

    name: str
    meaning: Meaning
    step: Fraction | None = None
    released: bool = False
    """Whether it is a column of the noisy table, which no row can make fail any more."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: Value
    meaning: Meaning


@dataclass(frozen=True, slots=True)
class Call:
    """An operation on other expressions; made by ``operations.call``, which knows the rules."""

    operation: str
    arguments: tuple[Expression, ...]
    meaning: Meaning
    size: int = field(default=1, compare=False, repr=False)
    """How many operations and columns it is written with, each as often as it is written."""
    height: int = field(default=1, compare=False, repr=False)


Expression: TypeAlias = Column | Literal | Call


def literal(value: Value) -> Literal:
    """A constant, with all that is known of it.

    >>> literal(5).meaning.bounds
    Interval(5, 5)
    """
    kind = type_of(value)
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        number = Fraction(value)
        known = Meaning(
            kind,
            Interval.point(number),
            nullable=False,
            domain=(value,),
            scale=Scale.of(number),
        )
        return Literal(value, known)
    return Literal(value, Meaning(kind, nullable=value is None, domain=(value,)))


def type_of(value: Value) -> Type:
    """The type of a constant."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, Fraction):
        return "real"
    if isinstance(value, str):
        return "text"
    return "timestamp" if isinstance(value, datetime) else "date"


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything in it."""
    yield expression
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from walk(argument)


def size_of(expression: Expression) -> int:
    """How many operations and columns it is written with; constants weigh nothing."""
    if isinstance(expression, Call):
        return expression.size
    return 1 if isinstance(expression, Column) else 0


def columns_of(expression: Expression) -> set[str]:
    """The names of the columns that an expression reads."""
    return {node.name for node in walk(expression) if isinstance(node, Column)}
