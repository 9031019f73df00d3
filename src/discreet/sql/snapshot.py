"""The SQL that makes a snapshot: each row cleaned on its own, each person's rows ranked."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.plan.expressions import Type
from discreet.plan.schema import column as planned
from discreet.policy.model import Dataset
from discreet.sql.cleaning import clean, clean_unit
from discreet.sql.core import RANK, UNIT
from discreet.sql.dialects import Dialect
from discreet.sql.emit import apply, constant, identifier
from discreet.sql.hashing import canonical, keyed
from discreet.sql.relations import Header, duckdb_source

__all__ = ["ROWS", "Header", "duckdb_source", "snapshot"]

ROWS = "_discreet_rows"
"""How many rows the unit has, counted to one more than the most that are kept."""


def snapshot(
    dataset: Dataset,
    *,
    source: str,
    key: str | None,
    dialect: Dialect,
    types: Mapping[str, str] | None = None,
) -> str:
    """The SELECT that defines a snapshot of ``source`` (an engine's relation, quoted).

    ``types`` are the engine's own words for the types of the source's columns. Without them each
    cast is tried, where the engine can try. Without a ``key`` the text is only for showing.
    """
    columns = [column for name, column in dataset.columns.items() if name != dataset.unit]
    cleaned = [
        f"{clean(column, dialect, types)} AS {identifier(column.name, dialect)}"
        for column in columns
    ]
    if dataset.unit is None:
        return f"SELECT {', '.join(cleaned)} FROM {source}"  # noqa: S608  # names are quoted
    unit = dataset.columns[dataset.unit]
    own = identifier(UNIT, dialect)
    inner = ", ".join([f"{clean_unit(unit, key, dialect, types)} AS {own}", *cleaned])
    names = [identifier(column.name, dialect) for column in columns]
    kinds: list[Type] = [
        "integer" if planned(column).step is not None else column.type for column in columns
    ]
    # The hash comes first so that no value is preferred, with the unit in it so that each keeps
    # rows of its own. All columns follow it, so that rows which are still tied are the same.
    # Whoever knew the key would learn only what the keeper of the data knows: which of one
    # person's rows are kept.
    texts = [canonical(name, kind, dialect) for name, kind in zip(names, kinds, strict=True)]
    ranking = [keyed(key, [unit_text(unit.type, dialect), *texts], dialect), *names]
    order = ", ".join(f"{each} NULLS LAST" for each in ranking)
    kept = dataset.rows_per_unit
    rank, rows = identifier(RANK, dialect), identifier(ROWS, dialect)
    return (
        f"SELECT * FROM (SELECT *, "  # noqa: S608  # names are quoted
        f"ROW_NUMBER() OVER (PARTITION BY {own} ORDER BY {order}) AS {rank}, "
        f"LEAST(COUNT(*) OVER (PARTITION BY {own}), {constant(kept + 1, dialect)}) AS {rows} "
        f"FROM (SELECT {inner} FROM {source}{dialect.gathered.format(own)}) AS cleaned "
        f"WHERE {own} IS NOT NULL) AS ranked "
        f"WHERE {rank} <= {kept}"
    )


def unit_text(kind: str, dialect: Dialect) -> str:
    """The unit of a snapshot as text: a whole number, or the hash of one person's name."""
    own = identifier(UNIT, dialect)
    if kind == "integer":
        return dialect.canonical["integer"].format(own)
    return apply("unit_to_text", own, dialect=dialect)
