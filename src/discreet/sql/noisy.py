"""A SELECT over the noisy table: post-processing, one stage of it."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from discreet.errors import InvalidQuery, UnknownName
from discreet.plan.expressions import Column, Expression, Literal, literal
from discreet.plan.operations import STAGE_AGGREGATES, call, has_stage_aggregate
from discreet.plan.query import Query
from discreet.sql.clauses import (
    Noisy,
    above_parts,
    aliased,
    clause,
    finished_stage,
    has_aggregate,
    is_aggregate,
    outputs,
)
from discreet.sql.expressions import read
from discreet.sql.syntax import excerpt, only, unsupported

_STAGE_AGGREGATES: dict[type[exp.Expression], str] = {
    exp.Sum: "total",
    exp.Avg: "average",
    exp.Min: "minimum",
    exp.Max: "maximum",
    exp.Count: "tally",
}


def over_noisy(node: exp.Select, noisy: Noisy) -> Noisy:
    """What a SELECT makes of a noisy table: another one, for free."""

    def resolve(inner: exp.Expression) -> Expression | None:
        if is_aggregate(inner):
            return _stage_aggregate(inner, lambda child: read(child, resolve))
        if not isinstance(inner, exp.Column):
            return None
        only(inner, "this", "table")
        known = noisy.columns.get(inner.name.lower())
        if known is None or (inner.table and inner.table.lower() != noisy.alias):
            raise UnknownName(
                f"there is no column {excerpt(inner)} in the inner query.",
                hint=f"its columns are: {', '.join(sorted(noisy.columns))}.",
            )
        return known

    columns: list[tuple[str, Expression]] = []
    for item in node.expressions:
        if isinstance(item, exp.Star):
            only(item)
            columns += list(noisy.columns.items())
            continue
        inner, name = aliased(item)
        columns.append((name, read(inner, resolve)))
    results = {name.lower(): value for name, value in columns}

    def named(term: exp.Expression) -> Expression:
        if isinstance(term, exp.Column) and not term.table and term.name.lower() in results:
            return results[term.name.lower()]
        return read(term, resolve)

    group = node.args.get("group")
    groups: tuple[Expression, ...] | None = None
    if group is not None:
        only(group, "expressions")
        items = [aliased(item) for item in node.expressions if not isinstance(item, exp.Star)]
        groups = tuple(
            _plain_group(
                read(_by_place(term, items), resolve)
                if isinstance(term, exp.Literal)
                else named(term),
                term,
            )
            for term in group.expressions
        )
    elif any(has_aggregate(part) for part in above_parts(node)):
        groups = ()
    distinct = node.args.get("distinct")
    if distinct is not None:
        only(distinct)
    stage = finished_stage(
        node,
        columns,
        named,
        where=clause(node, "where", lambda c: _plain_group(read(c, resolve), c)),
        groups=groups,
        having=clause(node, "having", named),
        distinct=distinct is not None,
    )
    if groups is not None:
        for value in (*(value for _, value in columns), *(term.expression for term in stage.order)):
            _check_grouped(value, groups)
        if stage.having is not None:
            _check_grouped(stage.having, groups)
    query = Query(noisy.query.core, (*noisy.query.stages, stage))
    return Noisy(query, outputs(stage), noisy.alias)


def _by_place(term: exp.Literal, items: list[tuple[exp.Expression, str]]) -> exp.Expression:
    place = str(term.this)
    if term.args.get("is_string") or not place.isdecimal() or not 1 <= int(place) <= len(items):
        raise InvalidQuery(
            f"GROUP BY {excerpt(term)}: there are {len(items)} columns.", hint="GROUP BY 1"
        )
    return items[int(place) - 1][0]


def _plain_group(expression: Expression, node: exp.Expression) -> Expression:
    if has_stage_aggregate(expression):
        raise InvalidQuery(
            f"{excerpt(node)}: an aggregate cannot stand in WHERE or GROUP BY.",
            hint="HAVING, or an outer SELECT.",
        )
    return expression


def _check_grouped(expression: Expression, groups: tuple[Expression, ...]) -> None:
    """What stands beside aggregates is grouped: else it would be some row's, nobody knows which."""
    if expression in groups or isinstance(expression, Literal):
        return
    if isinstance(expression, Column):
        raise InvalidQuery(
            f"{expression.name} is neither grouped nor aggregated.",
            hint=f"GROUP BY {expression.name}, or MAX({expression.name}).",
        )
    if expression.operation not in STAGE_AGGREGATES:
        for argument in expression.arguments:
            _check_grouped(argument, groups)


def _stage_aggregate(
    node: exp.Expression, inner: Callable[[exp.Expression], Expression]
) -> Expression:
    name = _STAGE_AGGREGATES.get(type(node))
    if name is None:
        raise unsupported(node, "COUNT, SUM, AVG, MIN or MAX over the inner query")
    only(node, "this")
    if isinstance(node.this, exp.Star) or (node.this is None and name == "tally"):
        if node.this is not None:
            only(node.this)
        if name != "tally":
            raise unsupported(node, "COUNT(*)")
        return call("tally", literal(1))
    argument = inner(node.this)
    if has_stage_aggregate(argument):
        raise InvalidQuery(
            f"{excerpt(node)} aggregates an aggregate of the same SELECT.",
            hint="put the inner one into a subquery.",
        )
    return call(name, argument)
