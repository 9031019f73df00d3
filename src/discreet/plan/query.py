"""A private query: what is asked of the rows, and what is done with the noisy table afterwards.

The *core* reads private rows: keys, conditions, aggregates. The *stages* above it read the noisy
table alone; they are post-processing and cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from discreet.errors import UnboundedSensitivity, WrongType
from discreet.plan.expressions import Expression, Value

Kind: TypeAlias = OneOf["count_rows", "count", "count_units", "sum", "avg", "mean"]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of the core; ``where`` is its own FILTER."""

    kind: Kind
    argument: Expression | None = None
    where: Expression | None = None
    text: str = ""
    """How the analyst wrote it, for messages."""
    over: int | None = None
    """Of a mean: the public number of rows, by which its sum is divided."""

    def __post_init__(self) -> None:
        if self.kind not in ("sum", "avg", "mean") or self.argument is None:
            return
        meaning = self.argument.meaning
        if meaning.type not in ("integer", "real", "boolean"):
            raise WrongType(
                f"{self.text}: a sum needs numbers, and this is {meaning.type}.",
                hint="COUNT(*) counts rows of any type.",
            )
        if meaning.type != "boolean" and meaning.bounds.bounded is None:
            inner = self.text[self.text.find("(") + 1 : -1] or "x"
            raise UnboundedSensitivity(
                f"{self.text} cannot be answered: nothing bounds what one person adds to it, so "
                "its sensitivity is infinite and no noise would hide them.",
                hint=f"{self.kind.upper()}(CLAMP({inner}, 0, 100)) with a range that is public, or "
                "bounds in the policy.",
            )


@dataclass(frozen=True, slots=True)
class Key:
    """One grouping expression; ``values`` are its public values, or None if they are private."""

    expression: Expression
    values: tuple[Value, ...] | None
    name: str


@dataclass(frozen=True, slots=True)
class Core:
    """What is asked of the private rows."""

    dataset: str
    where: Expression | None
    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]

    @property
    def keys_are_public(self) -> bool:
        """Whether every group is known beforehand."""
        return all(key.values is not None for key in self.keys)


@dataclass(frozen=True, slots=True)
class Order:
    """One term of ORDER BY."""

    expression: Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Stage:
    """One SELECT over the noisy table, or over the stage before it.

    The first stage reads columns named ``k0, k1, ...`` (keys) and ``a0, a1, ...`` (aggregates).
    """

    columns: tuple[tuple[str, Expression], ...]
    where: Expression | None = None
    groups: tuple[Expression, ...] | None = None
    having: Expression | None = None
    distinct: bool = False
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A core and the stages above it, the innermost first."""

    core: Core
    stages: tuple[Stage, ...]
