"""What every SELECT has: sources, conditions, names, order and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp

from discreet.errors import InvalidQuery
from discreet.plan.expressions import Column, Expression, Meaning
from discreet.plan.operations import call
from discreet.plan.query import Order, Query, Stage
from discreet.plan.schema import Schema
from discreet.sql.syntax import excerpt, only, unsupported
from discreet.sql.syntax import name as written


@dataclass(frozen=True)
class Rows:
    """Private rows under names of their own: a table, or a SELECT that only picks and renames."""

    schema: Schema
    columns: Mapping[str, Expression]
    where: Expression | None
    alias: str


@dataclass(frozen=True)
class Noisy:
    """A table that was released: its columns by name, and the query that makes it."""

    query: Query
    columns: Mapping[str, Column]
    alias: str


Source = Rows | Noisy


def finished_stage(
    node: exp.Select,
    columns: list[tuple[str, Expression]],
    read_term: Callable[[exp.Expression], Expression],
    *,
    where: Expression | None,
    groups: tuple[Expression, ...] | None = None,
    having: Expression | None = None,
    distinct: bool = False,
) -> Stage:
    """A stage with its order and limits read."""
    order: list[Order] = []
    if (clause := node.args.get("order")) is not None:
        only(clause, "expressions")
        for term in clause.expressions:
            only(term, "this", "desc", "nulls_first")
            order.append(
                Order(
                    _ordered(term.this, columns, read_term),
                    bool(term.args.get("desc")),
                    bool(term.args.get("nulls_first")),
                )
            )
    return Stage(
        _unique(columns),
        where,
        groups,
        having,
        distinct,
        tuple(order),
        _whole(node, "limit"),
        _whole(node, "offset"),
    )


def _ordered(
    term: exp.Expression,
    columns: list[tuple[str, Expression]],
    read_term: Callable[[exp.Expression], Expression],
) -> Expression:
    if isinstance(term, exp.Literal) and not term.args.get("is_string"):
        place = str(term.this)
        if not place.isdecimal() or not 1 <= int(place) <= len(columns):
            raise InvalidQuery(f"ORDER BY {place}: no such column.", hint="ORDER BY 1")
        return columns[int(place) - 1][1]
    for name, value in columns:
        if isinstance(term, exp.Column) and not term.table and term.name.lower() == name.lower():
            return value
    return read_term(term)


def _whole(node: exp.Select, name: str) -> int | None:
    clause = node.args.get(name)
    if clause is None:
        return None
    only(clause, "expression")
    value = clause.expression
    if (
        not isinstance(value, exp.Literal)
        or value.args.get("is_string")
        or not str(value.this).isdecimal()
    ):
        raise unsupported(clause, f"{name.upper()} 10")
    return int(str(value.this))


def clause(
    node: exp.Select, name: str, reader: Callable[[exp.Expression], Expression]
) -> Expression | None:
    """The condition of WHERE or HAVING, if there is one."""
    clause = node.args.get(name)
    if clause is None:
        return None
    only(clause, "this")
    # AND-ing checks that it is a condition.
    return call("and", reader(clause.this))


def conjunction(left: Expression | None, right: Expression | None) -> Expression | None:
    """Both conditions, where there are two."""
    if left is None or right is None:
        return left or right
    return call("and", left, right)


def aliased(item: exp.Expression) -> tuple[exp.Expression, str]:
    """An item of the SELECT list and the name of its column."""
    if isinstance(item, exp.Alias):
        only(item, "this", "alias")
        return item.this, item.alias
    if isinstance(item, exp.Star):
        raise unsupported(item, "name the columns you want")
    return item, item.name if isinstance(item, exp.Column) else excerpt(item)


def _unique(columns: list[tuple[str, Expression]]) -> tuple[tuple[str, Expression], ...]:
    """Two columns of one name get a number each, so that none is lost."""
    seen: set[str] = set()
    result: list[tuple[str, Expression]] = []
    for name, value in columns:
        free, times = name, 1
        while free.lower() in seen:
            times += 1
            free = f"{name}_{times}"
        seen.add(free.lower())
        result.append((free, value))
    return tuple(result)


def outputs(stage: Stage) -> dict[str, Column]:
    """The columns that a stage shows to the one above it."""
    return {
        name.lower(): Column(name, Meaning(value.meaning.type, nullable=True), released=True)
        for name, value in stage.columns
    }


def above_parts(node: exp.Select) -> list[exp.Expression]:
    """The parts of a SELECT that may hold aggregates."""
    parts = list(node.expressions)
    for name in ("having", "order"):
        if (clause := node.args.get(name)) is not None:
            parts.append(clause)
    return parts


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a node is an aggregate itself."""
    return isinstance(node, exp.AggFunc) and not isinstance(node, exp.Coalesce)


def has_aggregate(node: exp.Expression) -> bool:
    """Whether an aggregate stands anywhere in a node."""
    return any(is_aggregate(inner) for inner in node.walk())


def meant(name: str, what: str, known: list[str]) -> str:
    """All names there are, and first the one that was probably meant."""
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    listed = f"the {what}s are: {', '.join(map(written, known)) or 'none'}."
    return f"{written(close[0])}; {listed}" if close else listed
