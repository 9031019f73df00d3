"""The SQL of a core: exact whole numbers for every group, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import TooLarge
from discreet.plan.bounding import GroupBounding
from discreet.plan.expressions import Column, Expression
from discreet.plan.primitives import Lowered, Primitive
from discreet.plan.query import Core, Key
from discreet.sql.dialects import Dialect
from discreet.sql.emit import apply, constant, expression, identifier, real
from discreet.sql.hashing import canonical, keyed

LONGEST = 1_000_000
_MOST_ROWS = 2**41
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
    key: str | None = None,
) -> Measurement:
    """The query that measures the primitives of a core on a snapshot.

    The snapshot holds no more rows of a unit than are used. With ``bounding`` each unit keeps only
    some of the query's groups, chosen by a hash under ``key``, and some rows in each. Without a
    ``key`` the text is only for showing.
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
    if key.expression.meaning.type != "real":
        return text
    # Of two equal zeros an engine shows the one that it meets first; adding 0 leaves only one.
    return f"({text} + {real(Fraction(0), dialect)})"


def _where(core: Core, dialect: Dialect) -> str:
    conditions = [] if core.where is None else [_condition(core.where, dialect)]
    conditions += [text for key in core.keys if (text := _only_declared(key, dialect))]
    return " WHERE " + " AND ".join(conditions) if conditions else ""


def _bounded(
    core: Core, source: str, bounding: GroupBounding, key: str | None, dialect: Dialect
) -> str:
    """The rows that are left when each unit keeps some groups, and some rows in each."""
    keys = [_key(each, dialect) for each in core.keys]
    kinds = [each.expression.meaning.type for each in core.keys]
    unit, rank = identifier(UNIT, dialect), identifier(RANK, dialect)
    texts = [canonical(text, kind, dialect) for text, kind in zip(keys, kinds, strict=True)]
    # The unit is in the hash, so that each keeps groups of its own; the keys follow it, so that
    # two groups of one hash are still two.
    chosen = ", ".join(
        f"{each} NULLS LAST"
        for each in [
            keyed(key, [apply("unit_to_text", unit, dialect=dialect), *texts], dialect),
            *keys,
        ]
    )
    own = ", ".join([unit, *keys])
    return (
        f"(SELECT * FROM (SELECT *, "  # noqa: S608  # written from the plan alone
        f"DENSE_RANK() OVER (PARTITION BY {unit} ORDER BY {chosen}) AS _discreet_group, "
        f"ROW_NUMBER() OVER (PARTITION BY {own} ORDER BY {rank}) AS _discreet_place "
        f"FROM {source}) AS placed WHERE _discreet_group <= {bounding.groups} "
        f"AND _discreet_place <= {bounding.rows}) AS bounded"
    )


def _only_declared(key: Key, dialect: Dialect) -> str | None:
    """Values outside a column's declared keys are dropped; other domains cannot be left."""
    if key.values is None or not isinstance(key.expression, Column):
        return None
    name = expression(key.expression, dialect)
    values = ", ".join(constant(v, dialect) for v in key.values if v is not None)
    listed = f"{name} IN ({values})" if values else "FALSE"
    return f"({listed} OR {name} IS NULL)" if None in key.values else listed


def _aggregate(primitive: Primitive, dialect: Dialect) -> str:
    if primitive.kind == "rows":
        return _count(primitive, dialect)
    filtered = _filter(primitive.where, dialect)
    if primitive.kind == "units":
        return f"COUNT(DISTINCT {identifier(UNIT, dialect)}){filtered}"
    assert primitive.argument is not None  # noqa: S101  # a sum has one
    most = max(abs(primitive.low), abs(primitive.high))
    # No table has more rows than this allows for.
    total = "total" if most * _MOST_ROWS < 2**63 else "long_total"
    steps = _steps(primitive, primitive.argument, dialect)
    return apply(total, steps, dialect=dialect) + filtered


def _count(primitive: Primitive, dialect: Dialect) -> str:
    argument = primitive.argument
    counted = "*" if argument is None else _present(argument, dialect)
    return f"COUNT({counted}){_filter(primitive.where, dialect)}"


def _present(argument: Expression, dialect: Dialect) -> str:
    """Something that is NULL exactly where the argument is."""
    if isinstance(argument, Column):
        return identifier(argument.name, dialect)
    return expression(argument, dialect)


def _filter(where: Expression | None, dialect: Dialect) -> str:
    return "" if where is None else f" FILTER (WHERE {_condition(where, dialect)})"


def _condition(where: Expression, dialect: Dialect) -> str:
    """What is NULL in every row keeps none, and not every engine takes it for a condition."""
    return "FALSE" if where.meaning.type == "null" else expression(where, dialect)


def _steps(primitive: Primitive, argument: Expression, dialect: Dialect) -> str:
    """The argument in whole steps, clamped to its bounds once more, this time as integers."""
    if isinstance(argument, Column) and (
        argument.step is not None or argument.meaning.type == "integer"
    ):
        return identifier(argument.name, dialect)  # the snapshot stores it so, and clamped it
    text = steps = expression(argument, dialect)
    if argument.meaning.type != "integer":
        low, high = (real(end * primitive.step, dialect) for end in (primitive.low, primitive.high))
        scaled = f"LEAST(GREATEST({text}, {low}), {high}) / {real(primitive.step, dialect)}"
        half = real(Fraction(1, 2), dialect)
        steps = apply("floor_to_integer", f"{scaled} + {half}", dialect=dialect)
    # LEAST and GREATEST pass over NULL, which would become the lower bound.
    return (
        f"CASE WHEN {text} IS NOT NULL THEN "
        f"LEAST(GREATEST({steps}, {primitive.low}), {primitive.high}) END"
    )
