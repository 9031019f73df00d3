"""Reading queries: which SELECT touches private rows, and which only the noisy table."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.errors import DiscreetError, InvalidQuery, TooLarge, UnknownName, Unsupported
from discreet.plan.query import Query
from discreet.plan.schema import Schema
from discreet.sql.clauses import Noisy, Rows, Source
from discreet.sql.examples import about, example, nearest, renamed
from discreet.sql.noisy import over_noisy
from discreet.sql.rows import over_rows
from discreet.sql.syntax import name as written
from discreet.sql.syntax import only, parse, unsupported

_SELECT = (
    *("expressions", "from_", "where", "group", "having", "order", "limit", "offset"),
    *("distinct", "with_"),
)


def read_query(text: str, schemas: Mapping[str, Schema]) -> Query:
    """The plan of an analyst's query over one of the data sets.

    ``schemas`` are keyed by the lower-case names under which an analyst knows them.
    """
    tree = parse(text, example=about(text, schemas))
    try:
        result = _Reader(schemas, text).select(tree, {})
    except RecursionError:
        raise TooLarge("the query is nested too deeply.", hint="simplify it.") from None
    if isinstance(result, Rows):
        raise Unsupported(
            "single rows are never released, only aggregates over many.",
            hint=f"SELECT COUNT(*) FROM {written(result.schema.dataset)}",  # noqa: S608  # words for people
        )
    core = result.query.core
    if not core.aggregates and core.keys_are_public:
        named = ", ".join(key.name for key in core.keys)
        raise InvalidQuery(
            f"nothing is asked of the rows: all values of {named} are public, and they would be "
            "listed whether anybody has them or not.",
            hint="COUNT(*) beside them counts each; HAVING COUNT(*) > 10 keeps those that have "
            "rows. `\\d` in `discreet shell` shows what is public, free.",
        )
    return result.query


class _Reader:
    def __init__(self, schemas: Mapping[str, Schema], text: str) -> None:
        self.schemas = schemas
        self.text = text

    def select(self, node: exp.Expression, ctes: Mapping[str, Source]) -> Source:
        if isinstance(node, exp.Subquery):
            only(node, "this", "alias")
            return self.select(node.this, ctes)
        if not isinstance(node, exp.Select):
            raise unsupported(node, "one SELECT over one table")
        if node.args.get("joins"):
            raise Unsupported(
                "SELECT with JOINS is not allowed here: a query reads one table.",
                hint=about(self.text, self.schemas),
            )
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
            return over_noisy(node, source)
        return over_rows(node, source)

    def _source(self, node: exp.Select, ctes: Mapping[str, Source]) -> Source:
        clause = node.args.get("from_")
        if clause is None:
            raise InvalidQuery(
                "the query reads no table.",
                hint=about(self.text, self.schemas),
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
        listed = ", ".join(written(schema.dataset) for schema in self.schemas.values()) or "none"
        return UnknownName(
            f"there is no table {name!r} that you may ask; the tables are: {listed}.",
            hint=self._meant(name),
        )

    def _meant(self, name: str) -> str:
        """The query with a table that is there, if that is one, or another about it."""
        schema = nearest(name, self.schemas)
        if schema is None:
            return "no data set is declared."
        better = renamed(self.text, name, schema.dataset)
        try:
            # With this one table alone whatever else is unknown is not looked for any further.
            read_query(better, {schema.dataset.lower(): schema} if better != self.text else {})
        except DiscreetError:
            return example(schema)
        return better

    def _example(self) -> str:
        return written(next(iter(sorted(self.schemas)), "visits"))


def _renamed(source: Source, alias: str) -> Source:
    if isinstance(source, Rows):
        return Rows(source.schema, source.columns, source.where, alias.lower())
    return Noisy(source.query, source.columns, alias.lower())
