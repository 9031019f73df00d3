"""The SQL of a core: exact whole numbers for every group, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import TooLarge
from discreet.plan.expressions import Column, Expression
from discreet.plan.noise import GroupBounding
from discreet.plan.primitives import Lowered, Primitive
from discreet.plan.query import Core, Key
from discreet.sql.dialects import Dialect
from discreet.sql.emit import constant, expression, identifier, real

LONGEST = 1_000_000
RANK = "_discreet_rank"
UNIT = "_discreet_unit"


@dataclass(frozen=True, slots=True)
class Measurement:
    """The text, and which of its columns make up each primitive.

    A primitive is ``columns[total] - centre * columns[count]``; a count has no second part.
    """

    sql: str
    parts: tuple[tuple[int, int | None], ...]


def measure(
    core: Core,
    lowered: Lowered,
    *,
    table: str,
    dialect: Dialect,
    bounding: GroupBounding | None = None,
    key: str = "",
) -> Measurement:
    """The query that measures the primitives of a core on a snapshot.

    The snapshot holds no more rows of a unit than are used. With ``bounding`` each unit keeps only
    some of the query's groups, chosen by a hash under ``key``, and some rows in each.
    """
    columns: list[str] = []

    def column(text: str) -> int:
        if text not in columns:
            columns.append(text)
        return columns.index(text)

    parts: list[tuple[int, int | None]] = []
    for primitive in lowered.primitives:
        total = column(_aggregate(primitive, dialect))
        centre = column(_count(primitive, dialect)) if primitive.centre else None
        parts.append((total, centre))
    source = table + _where(core, dialect)
    if bounding is not None:
        source = _bounded(core, source, bounding, key, dialect)
    keys = [f"{_key(key, dialect)} AS k{index}" for index, key in enumerate(core.keys)]
    selected = [*keys, *(f"{text} AS m{index}" for index, text in enumerate(columns))]
    columns_text = ", ".join(selected) or "1 AS nothing"
    sql = f"SELECT {columns_text} FROM {source}"  # noqa: S608  # written from the plan alone
    if len(sql) > LONGEST:
        raise TooLarge("the query is too long once it is written out.", hint="use fewer CLAMPs.")
    if core.keys:
        places = range(1, len(core.keys) + 1)
        sql += " GROUP BY " + ", ".join(str(place) for place in places)
        if not core.keys_are_public:
            # The engine's own order depends on the rows; that of the keys does not.
            sql += " ORDER BY " + ", ".join(f"{place} NULLS LAST" for place in places)
    return Measurement(sql, tuple(parts))


def _key(key: Key, dialect: Dialect) -> str:
    text = expression(key.expression, dialect)
    # Of two equal zeros an engine shows the one that it meets first; adding 0 leaves only one.
    return f"({text} + 0e0)" if key.expression.meaning.type == "real" else text


def _where(core: Core, dialect: Dialect) -> str:
    conditions = [] if core.where is None else [expression(core.where, dialect)]
    conditions += [text for key in core.keys if (text := _only_declared(key, dialect))]
    return " WHERE " + " AND ".join(conditions) if conditions else ""


def _bounded(core: Core, source: str, bounding: GroupBounding, key: str, dialect: Dialect) -> str:
    """The rows that are left when each unit keeps some groups, and some rows in each."""
    keys = [_key(each, dialect) for each in core.keys]
    unit = identifier(UNIT)
    # The unit is in the hash, so that each keeps groups of its own.
    chosen = ", ".join([f"HASH({', '.join([constant(key), unit, *keys])})", *keys])
    own = ", ".join([unit, *keys])
    return (
        f"(SELECT * FROM (SELECT *, "  # noqa: S608  # written from the plan alone
        f"DENSE_RANK() OVER (PARTITION BY {unit} ORDER BY {chosen}) AS _discreet_group, "
        f"ROW_NUMBER() OVER (PARTITION BY {own} ORDER BY {identifier(RANK)}) AS _discreet_place "
        f"FROM {source}) WHERE _discreet_group <= {bounding.groups} "
        f"AND _discreet_place <= {bounding.rows})"
    )


def _only_declared(key: Key, dialect: Dialect) -> str | None:
    """Values outside a column's declared keys are dropped; other domains cannot be left."""
    if key.values is None or not isinstance(key.expression, Column):
        return None
    name = expression(key.expression, dialect)
    values = ", ".join(constant(v) for v in key.values if v is not None)
    listed = f"{name} IN ({values})" if values else "FALSE"
    return f"({listed} OR {name} IS NULL)" if None in key.values else listed


def _aggregate(primitive: Primitive, dialect: Dialect) -> str:
    if primitive.kind == "rows":
        return _count(primitive, dialect)
    filtered = _filter(primitive.where, dialect)
    if primitive.kind == "units":
        return f"COUNT(DISTINCT {identifier(UNIT)}){filtered}"
    assert primitive.argument is not None  # noqa: S101  # a sum has one
    return f"SUM({_steps(primitive, primitive.argument, dialect)}){filtered}"


def _count(primitive: Primitive, dialect: Dialect) -> str:
    argument = primitive.argument
    counted = "*" if argument is None else _present(argument, dialect)
    return f"COUNT({counted}){_filter(primitive.where, dialect)}"


def _present(argument: Expression, dialect: Dialect) -> str:
    """Something that is NULL exactly where the argument is."""
    if isinstance(argument, Column):
        return identifier(argument.name)
    return expression(argument, dialect)


def _filter(where: Expression | None, dialect: Dialect) -> str:
    return "" if where is None else f" FILTER (WHERE {expression(where, dialect)})"


def _steps(primitive: Primitive, argument: Expression, dialect: Dialect) -> str:
    """The argument in whole steps, clamped to its bounds once more, this time as integers."""
    if isinstance(argument, Column) and (
        argument.step is not None or argument.meaning.type == "integer"
    ):
        return identifier(argument.name)  # the snapshot stores it so, and clamped it
    text = expression(argument, dialect)
    if argument.meaning.type != "integer":
        low, high = primitive.low * primitive.step, primitive.high * primitive.step
        scaled = f"LEAST(GREATEST({text}, {real(low)}), {real(high)})"
        # LEAST and GREATEST pass over NULL, which would become the lower bound.
        text = (
            f"CASE WHEN {text} IS NOT NULL THEN CAST(FLOOR({scaled} / {real(primitive.step)} "
            f"+ 0.5e0) AS {dialect.whole}) END"
        )
    return (
        f"CASE WHEN {text} IS NOT NULL THEN "
        f"LEAST(GREATEST({text}, {primitive.low}), {primitive.high}) END"
    )
