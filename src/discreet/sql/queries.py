"""Reading queries: which SELECT touches private rows, and which only the noisy table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp

from discreet.errors import InvalidQuery, TooLarge, UnknownName, Unsupported
from discreet.plan.expressions import Column, Expression, Literal, Meaning, literal
from discreet.plan.operations import STAGE_AGGREGATES, call, has_stage_aggregate
from discreet.plan.query import Aggregate, Core, Key, Kind, Order, Query, Stage
from discreet.plan.schema import Schema
from discreet.sql.expressions import read
from discreet.sql.syntax import excerpt, only, parse, unsupported
from discreet.sql.syntax import name as written

_AGGREGATES: dict[type[exp.Expression], Kind] = {exp.Sum: "sum", exp.Avg: "avg"}
_STAGE_AGGREGATES: dict[type[exp.Expression], str] = {
    exp.Sum: "total",
    exp.Avg: "average",
    exp.Min: "minimum",
    exp.Max: "maximum",
    exp.Count: "tally",
}
_SELECT = (
    *("expressions", "from_", "where", "group", "having", "order", "limit", "offset"),
    *("distinct", "with_"),
)


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


def read_query(text: str, schemas: Mapping[str, Schema]) -> Query:
    """The plan of an analyst's query over one of the data sets.

    ``schemas`` are keyed by the lower-case names under which an analyst knows them.
    """
    tree = parse(text)
    try:
        result = _Reader(schemas).select(tree, {})
    except RecursionError:
        raise TooLarge("the query is nested too deeply.", hint="simplify it.") from None
    if isinstance(result, Rows):
        raise Unsupported(
            "single rows are never released, only aggregates over many.",
            hint=f"SELECT COUNT(*) FROM {written(result.schema.dataset)}",  # noqa: S608  # words for people
        )
    return result.query


class _Reader:
    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self.schemas = schemas

    def select(self, node: exp.Expression, ctes: Mapping[str, Source]) -> Source:
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            return self.select(node.this, ctes)
        if not isinstance(node, exp.Select):
            raise unsupported(node, "one SELECT over one table")
        only(node, *_SELECT)
        scope = dict(ctes)
        if (with_ := node.args.get("with_")) is not None:
            only(with_, "expressions")
            for cte in with_.expressions:
                only(cte, "this", "alias")
                only(cte.args["alias"], "this")
                scope[cte.alias.lower()] = self.select(cte.this, scope)
        source = self._source(node, scope)
        if isinstance(source, Noisy):
            return _over_noisy(node, source)
        return _over_rows(node, source)

    def _source(self, node: exp.Select, ctes: Mapping[str, Source]) -> Source:
        clause = node.args.get("from_")
        if clause is None:
            raise InvalidQuery(
                "the query reads no table.",
                hint=f"SELECT COUNT(*) FROM {self._example()}",  # noqa: S608  # words for people
            )
        only(clause, "this")
        table = clause.this
        if isinstance(table, exp.Subquery):
            only(table, "this", "alias")
            if table.args.get("alias") is not None:
                only(table.args["alias"], "this")
            return _renamed(self.select(table.this, ctes), table.alias)
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            raise unsupported(table, f"FROM {self._example()}")
        only(table, "this", "alias", "db")
        if table.args.get("alias") is not None:
            only(table.args["alias"], "this")
        name = table.name.lower()
        if table.db and table.db.lower() not in ("public", "main"):
            raise self._unknown(f"{table.db}.{table.name}")
        alias = table.alias or table.name
        if not table.db and name in ctes:
            return _renamed(ctes[name], alias)
        schema = self.schemas.get(name)
        if schema is None:
            raise self._unknown(table.name)
        return Rows(schema, schema.columns, None, alias.lower())

    def _unknown(self, name: str) -> UnknownName:
        return UnknownName(
            f"there is no table {name!r} that you may ask.",
            hint=_meant(name, "table", sorted(schema.dataset for schema in self.schemas.values())),
        )

    def _example(self) -> str:
        return written(next(iter(sorted(self.schemas)), "visits"))


def _renamed(source: Source, alias: str) -> Source:
    if isinstance(source, Rows):
        return Rows(source.schema, source.columns, source.where, alias.lower())
    return Noisy(source.query, source.columns, alias.lower())


# Over private rows -----------------------------------------------------------------------------


def _over_rows(node: exp.Select, rows: Rows) -> Source:
    where = _conjunction(rows.where, _clause(node, "where", lambda c: _row(c, rows)))
    aggregated = any(_has_aggregate(part) for part in _above_parts(node))
    if not aggregated and node.args.get("group") is None and node.args.get("distinct") is None:
        return _projection(node, rows, where)
    return _aggregation(node, rows, where)


def _projection(node: exp.Select, rows: Rows, where: Expression | None) -> Rows:
    for name in ("having", "order", "limit", "offset"):
        if node.args.get(name) is not None:
            raise Unsupported(
                f"{name.upper()} over single rows is not allowed: which rows it keeps depends on "
                "everybody else's.",
                hint="aggregate first: SELECT ward, COUNT(*) ... GROUP BY ward",
            )
    columns: dict[str, Expression] = {}
    for item in node.expressions:
        if isinstance(item, exp.Star):
            only(item)
            columns.update(rows.columns)
            continue
        inner, name = _aliased(item)
        columns[name.lower()] = _row(inner, rows)
    return Rows(rows.schema, columns, where, rows.alias)


def _aggregation(node: exp.Select, rows: Rows, where: Expression | None) -> Noisy:
    items = [_aliased(item) for item in node.expressions]
    keys = _keys(node, items, rows)
    core = _Core(rows, keys)
    columns = [(name, core.above(inner)) for inner, name in items]
    having = _clause(node, "having", lambda c: core.above(c, {n.lower(): e for n, e in columns}))
    stage = _finished_stage(
        node,
        columns,
        lambda term: core.above(term, {name.lower(): value for name, value in columns}),
        where=having,
    )
    query = Query(Core(rows.schema.dataset, where, tuple(keys), tuple(core.aggregates)), (stage,))
    return Noisy(query, _outputs(stage), rows.alias)


def _keys(node: exp.Select, items: list[tuple[exp.Expression, str]], rows: Rows) -> list[Key]:
    group, distinct = node.args.get("group"), node.args.get("distinct")
    plain = [(inner, name) for inner, name in items if not _has_aggregate(inner)]
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
            if name.lower() == term.name.lower() and not _has_aggregate(inner):
                return inner, name
    return term, term.name if isinstance(term, exp.Column) else excerpt(term)


class _Core:
    """The scope above the private aggregation: keys and aggregates are all that can be seen."""

    def __init__(self, rows: Rows, keys: list[Key]) -> None:
        self.rows = rows
        self.keys = keys
        self.aggregates: list[Aggregate] = []

    def above(
        self, node: exp.Expression, results: Mapping[str, Expression] | None = None
    ) -> Expression:
        """An expression over keys ``k0..`` and aggregates ``a0..``; ``results`` by their names."""

        def resolve(inner: exp.Expression) -> Expression | None:
            if isinstance(inner, exp.Filter) or _is_aggregate(inner):
                return self._aggregate(inner)
            if _has_aggregate(inner):
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
                return Column(f"k{index}", Meaning(meaning.type, nullable=True))
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
        kind = "real" if aggregate.kind in ("sum", "avg") else "integer"
        if aggregate.kind == "sum" and aggregate.argument is not None:
            kind = "real" if aggregate.argument.meaning.type == "real" else "integer"
        return Column(f"a{self.aggregates.index(aggregate)}", Meaning(kind))  # type: ignore[arg-type]

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
        return Aggregate(kind, _row(node.this, self.rows), condition, text)

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
        hint=_meant(node.name, "column", sorted(rows.columns)),
    )


def _meant(name: str, what: str, known: list[str]) -> str:
    """All names there are, and first the one that was probably meant."""
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    listed = f"the {what}s are: {', '.join(map(written, known)) or 'none'}."
    return f"{written(close[0])}; {listed}" if close else listed


# Over the noisy table --------------------------------------------------------------------------


def _over_noisy(node: exp.Select, noisy: Noisy) -> Noisy:
    def resolve(inner: exp.Expression) -> Expression | None:
        if _is_aggregate(inner):
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
        inner, name = _aliased(item)
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
        items = [_aliased(item) for item in node.expressions if not isinstance(item, exp.Star)]
        groups = tuple(
            _plain_group(
                read(_by_place(term, items), resolve)
                if isinstance(term, exp.Literal)
                else named(term),
                term,
            )
            for term in group.expressions
        )
    elif any(_has_aggregate(part) for part in _above_parts(node)):
        groups = ()
    distinct = node.args.get("distinct")
    if distinct is not None:
        only(distinct)
    stage = _finished_stage(
        node,
        columns,
        named,
        where=_clause(node, "where", lambda c: _plain_group(read(c, resolve), c)),
        groups=groups,
        having=_clause(node, "having", named),
        distinct=distinct is not None,
    )
    if groups is not None:
        for value in (*(value for _, value in columns), *(term.expression for term in stage.order)):
            _check_grouped(value, groups)
        if stage.having is not None:
            _check_grouped(stage.having, groups)
    query = Query(noisy.query.core, (*noisy.query.stages, stage))
    return Noisy(query, _outputs(stage), noisy.alias)


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


# Shared ----------------------------------------------------------------------------------------


def _finished_stage(
    node: exp.Select,
    columns: list[tuple[str, Expression]],
    read_term: Callable[[exp.Expression], Expression],
    *,
    where: Expression | None,
    groups: tuple[Expression, ...] | None = None,
    having: Expression | None = None,
    distinct: bool = False,
) -> Stage:
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


def _clause(
    node: exp.Select, name: str, reader: Callable[[exp.Expression], Expression]
) -> Expression | None:
    clause = node.args.get(name)
    if clause is None:
        return None
    only(clause, "this")
    # AND-ing checks that it is a condition.
    return call("and", reader(clause.this))


def _conjunction(left: Expression | None, right: Expression | None) -> Expression | None:
    if left is None or right is None:
        return left or right
    return call("and", left, right)


def _aliased(item: exp.Expression) -> tuple[exp.Expression, str]:
    if isinstance(item, exp.Alias):
        only(item, "this", "alias")
        return item.this, item.alias
    if isinstance(item, exp.Star):
        raise unsupported(item, "name the columns you want")
    return item, item.name if isinstance(item, exp.Column) else excerpt(item)


def _unique(columns: list[tuple[str, Expression]]) -> tuple[tuple[str, Expression], ...]:
    """Two columns of one name get a number each, so that none is lost."""
    seen: dict[str, int] = {}
    result: list[tuple[str, Expression]] = []
    for name, value in columns:
        seen[name.lower()] = seen.get(name.lower(), 0) + 1
        times = seen[name.lower()]
        result.append((name if times == 1 else f"{name}_{times}", value))
    return tuple(result)


def _outputs(stage: Stage) -> dict[str, Column]:
    return {
        name.lower(): Column(name, Meaning(value.meaning.type, nullable=True))
        for name, value in stage.columns
    }


def _above_parts(node: exp.Select) -> list[exp.Expression]:
    parts = list(node.expressions)
    for name in ("having", "order"):
        if (clause := node.args.get(name)) is not None:
            parts.append(clause)
    return parts


def _is_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.AggFunc) and not isinstance(node, exp.Coalesce)


def _has_aggregate(node: exp.Expression) -> bool:
    return any(_is_aggregate(inner) for inner in node.walk())
