"""A SELECT over private rows: it only picks and renames, or it is a private aggregation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from discreet.errors import InvalidQuery, UnknownName, Unsupported
from discreet.plan.expressions import Column, Expression, Literal, Meaning
from discreet.plan.query import Aggregate, Core, Key, Kind, Query
from discreet.sql.clauses import (
    Noisy,
    Rows,
    Source,
    above_parts,
    aliased,
    clause,
    conjunction,
    finished_stage,
    has_aggregate,
    is_aggregate,
    meant,
    outputs,
)
from discreet.sql.examples import example
from discreet.sql.expressions import read
from discreet.sql.syntax import excerpt, only, unsupported

_AGGREGATES: dict[type[exp.Expression], Kind] = {exp.Sum: "sum", exp.Avg: "avg"}


def over_rows(node: exp.Select, rows: Rows) -> Source:
    """What a SELECT makes of private rows: other private rows, or a noisy table."""
    where = conjunction(rows.where, clause(node, "where", lambda c: _row(c, rows)))
    aggregated = any(has_aggregate(part) for part in above_parts(node))
    if not aggregated and node.args.get("group") is None and node.args.get("distinct") is None:
        return _projection(node, rows, where)
    return _aggregation(node, rows, where)


def _projection(node: exp.Select, rows: Rows, where: Expression | None) -> Rows:
    for name in ("having", "order", "limit", "offset"):
        if node.args.get(name) is not None:
            raise Unsupported(
                f"{name.upper()} over single rows is not allowed: which rows it keeps depends on "
                "everybody else's.",
                hint=f"aggregate first: {example(rows.schema)}",
            )
    columns: dict[str, Expression] = {}
    for item in node.expressions:
        if isinstance(item, exp.Star):
            only(item)
            columns.update(rows.columns)
            continue
        inner, name = aliased(item)
        columns[name.lower()] = _row(inner, rows)
    return Rows(rows.schema, columns, where, rows.alias)


def _aggregation(node: exp.Select, rows: Rows, where: Expression | None) -> Noisy:
    items = [aliased(item) for item in node.expressions]
    keys = _keys(node, items, rows)
    core = _Core(rows, keys, filtered=where is not None)
    columns = [(name, core.above(inner)) for inner, name in items]
    having = clause(node, "having", lambda c: core.above(c, {n.lower(): e for n, e in columns}))
    stage = finished_stage(
        node,
        columns,
        lambda term: core.above(term, {name.lower(): value for name, value in columns}),
        where=having,
    )
    query = Query(Core(rows.schema.dataset, where, tuple(keys), tuple(core.aggregates)), (stage,))
    return Noisy(query, outputs(stage), rows.alias)


def _keys(node: exp.Select, items: list[tuple[exp.Expression, str]], rows: Rows) -> list[Key]:
    group, distinct = node.args.get("group"), node.args.get("distinct")
    plain = [(inner, name) for inner, name in items if not has_aggregate(inner)]
    chosen: list[tuple[exp.Expression, str]] = []
    if distinct is not None:
        only(distinct)
        if group is not None or len(plain) != len(items):
            raise unsupported(node, "leave DISTINCT out: groups are distinct already")
        chosen = plain
    elif group is not None:
        only(group, "expressions", "all")
        if group.args.get("all"):
            chosen = plain
        for term in group.expressions:
            chosen.append(_grouping(term, items, rows))
    keys: list[Key] = []
    for inner, name in chosen:
        expression = _row(inner, rows)
        if isinstance(expression, Literal):
            raise InvalidQuery(f"GROUP BY {excerpt(inner)} is a constant.", hint="leave it out.")
        if all(key.expression != expression for key in keys):
            keys.append(Key(expression, expression.meaning.domain, name))
    return keys


def _grouping(
    term: exp.Expression, items: list[tuple[exp.Expression, str]], rows: Rows
) -> tuple[exp.Expression, str]:
    """What one term of GROUP BY means: a position, the name of a column or result, or itself."""
    if isinstance(term, exp.Literal) and not term.args.get("is_string"):
        place = str(term.this)
        if not place.isdecimal() or not 1 <= int(place) <= len(items):
            raise InvalidQuery(
                f"GROUP BY {place}: there are {len(items)} columns.", hint="GROUP BY 1"
            )
        return items[int(place) - 1]
    if isinstance(term, exp.Column) and not term.table and term.name.lower() not in rows.columns:
        for inner, name in items:
            if name.lower() == term.name.lower() and not has_aggregate(inner):
                return inner, name
    return term, term.name if isinstance(term, exp.Column) else excerpt(term)


class _Core:
    """The scope above the private aggregation: keys and aggregates are all that can be seen."""

    def __init__(self, rows: Rows, keys: list[Key], *, filtered: bool) -> None:
        self.rows = rows
        self.keys = keys
        self.filtered = filtered
        self.aggregates: list[Aggregate] = []

    def above(
        self, node: exp.Expression, results: Mapping[str, Expression] | None = None
    ) -> Expression:
        """An expression over keys ``k0..`` and aggregates ``a0..``; ``results`` by their names."""

        def resolve(inner: exp.Expression) -> Expression | None:
            if isinstance(inner, exp.Filter) or is_aggregate(inner):
                return self._aggregate(inner)
            if has_aggregate(inner):
                return None
            if results and isinstance(inner, exp.Column) and not inner.table:
                known = results.get(inner.name.lower())
                if known is not None and inner.name.lower() not in self.rows.columns:
                    return known
            return self._key(inner)

        return read(node, resolve)

    def _key(self, node: exp.Expression) -> Expression | None:
        if isinstance(node, exp.Literal | exp.Null | exp.Boolean):
            return None
        try:
            expression = _row(node, self.rows)
        except UnknownName:
            if isinstance(node, exp.Column):
                raise
            return None  # its parts may be names of results
        for index, key in enumerate(self.keys):
            if key.expression == expression:
                meaning = expression.meaning
                return Column(f"k{index}", Meaning(meaning.type, nullable=True), released=True)
        if isinstance(node, exp.Column):
            raise InvalidQuery(
                f"{excerpt(node)} is neither grouped nor aggregated.",
                hint=f"GROUP BY {excerpt(node)}, or COUNT({excerpt(node)}).",
            )
        return None

    def _aggregate(self, node: exp.Expression) -> Expression:
        condition: Expression | None = None
        text = excerpt(node)
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            only(node.expression, "this")
            condition = _row(node.expression.this, self.rows)
            node = node.this
        aggregate = self._read(node, condition, text)
        if aggregate not in self.aggregates:
            self.aggregates.append(aggregate)
        kind = "real" if aggregate.kind in ("sum", "avg", "mean") else "integer"
        if aggregate.kind == "sum" and aggregate.argument is not None:
            kind = "real" if aggregate.argument.meaning.type == "real" else "integer"
        name = f"a{self.aggregates.index(aggregate)}"
        return Column(name, Meaning(kind), released=True)  # type: ignore[arg-type]

    def _read(self, node: exp.Expression, condition: Expression | None, text: str) -> Aggregate:
        if isinstance(node, exp.Count):
            only(node, "this")
            inner = node.this
            if inner is None or isinstance(inner, exp.Star):
                if inner is not None:
                    only(inner)
                return Aggregate("count_rows", None, condition, text)
            if isinstance(inner, exp.Distinct):
                only(inner, "expressions")
                self._require_unit(inner.expressions, text)
                return Aggregate("count_units", None, condition, text)
            if self._is_unit(inner):
                return Aggregate("count_rows", None, condition, text)  # a unit is never NULL
            return Aggregate("count", _row(inner, self.rows), condition, text)
        kind = _AGGREGATES.get(type(node))
        if kind is None:
            raise unsupported(node, "COUNT, SUM or AVG")
        only(node, "this")
        aggregate = Aggregate(kind, _row(node.this, self.rows), condition, text)
        return self._over_everybody(aggregate) if kind == "avg" else aggregate

    def _over_everybody(self, aggregate: Aggregate) -> Aggregate:
        """An average over all rows, whose number is public, needs no count; any other does.

        Nothing may leave a row out: no condition, no group, no NULL.
        """
        argument, everybody = aggregate.argument, self.rows.schema.rows
        complete = not self.filtered and not self.keys and aggregate.where is None
        if everybody is None or not complete or argument is None or argument.meaning.nullable:
            return aggregate
        return replace(aggregate, kind="mean", over=everybody)

    def _is_unit(self, node: exp.Expression) -> bool:
        unit = self.rows.schema.unit
        return (
            isinstance(node, exp.Column)
            and unit is not None
            and node.name.lower() == unit.lower()
            and unit.lower() not in self.rows.columns  # else it is the name of something else
            and node.table.lower() in ("", self.rows.alias)
        )

    def _require_unit(self, nodes: list[exp.Expression], text: str) -> None:
        unit = self.rows.schema.unit
        if len(nodes) != 1 or not self._is_unit(nodes[0]):
            raise Unsupported(
                f"{text}: distinct values of a column cannot be counted, since one person may add "
                "as many as they like.",
                hint=f"COUNT(DISTINCT {unit}) counts people."
                if unit
                else "COUNT(*) counts people.",
            )


def _row(node: exp.Expression, rows: Rows) -> Expression:
    """An expression over private rows."""

    def resolve(inner: exp.Expression) -> Expression | None:
        if not isinstance(inner, exp.Column):
            return None
        only(inner, "this", "table", "db")
        if not isinstance(inner.this, exp.Identifier):
            raise unsupported(inner, "name the columns you want")
        if inner.table and inner.table.lower() != rows.alias:
            raise UnknownName(
                f"{excerpt(inner)}: there is no table {inner.table!r} in this query.",
                hint=f"{rows.alias}.{inner.name}",
            )
        known = rows.columns.get(inner.name.lower())
        if known is None:
            raise _unknown_column(inner, rows)
        return known

    return read(node, resolve)


def _unknown_column(node: exp.Column, rows: Rows) -> UnknownName:
    unit = rows.schema.unit
    if unit is not None and node.name.lower() == unit.lower():
        return UnknownName(
            f"{node.name} says who a row is about and can only be counted.",
            hint=f"COUNT(DISTINCT {unit})",
        )
    return UnknownName(
        f"there is no column {node.name!r} that you may use.",
        hint=meant(node.name, "column", sorted(rows.columns)),
    )
