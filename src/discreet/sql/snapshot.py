"""The SQL that makes a snapshot: each row cleaned on its own, each person's rows ranked.

Every expression here is total: no cell, whatever it holds, can make it raise. What cannot be read
as the declared type becomes NULL (or the column's ``missing``), numbers are clamped to their bounds
and put on their grid, so that later queries add up whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from typing import TypeAlias

from discreet.plan.expressions import Value
from discreet.plan.schema import column as planned
from discreet.policy.columns import Column
from discreet.policy.model import Dataset
from discreet.policy.sources import Source
from discreet.sql.core import RANK, UNIT
from discreet.sql.dialects import Dialect
from discreet.sql.emit import constant, identifier, real

ROWS = "_discreet_rows"
"""How many rows the unit has, counted to one more than the most that are kept."""

Header: TypeAlias = tuple[str, ...]
"""The names of a CSV file's columns, in the file's order."""

_FIRST_DAY, _LAST_DAY = date(1, 1, 1), date(9999, 12, 31)


def snapshot(dataset: Dataset, *, source: str, key: str, dialect: Dialect) -> str:
    """The SELECT that defines a snapshot of ``source`` (an engine's relation, quoted)."""
    cleaned = [
        f"{clean(declared, dialect)} AS {identifier(name)}"
        for name, declared in dataset.columns.items()
        if name != dataset.unit
    ]
    if dataset.unit is None:
        return f"SELECT {', '.join(cleaned)} FROM {source}"  # noqa: S608  # names are quoted
    unit = dataset.columns[dataset.unit]
    inner = ", ".join([f"{_unit(unit, key, dialect)} AS {identifier(UNIT)}", *cleaned])
    names = [identifier(name) for name in dataset.columns if name != dataset.unit]
    # The hash comes first so that no value is preferred, and all columns follow it, so that rows
    # which are still tied are the same. Whoever knew the key would learn only what the keeper of
    # the data knows: which of one person's rows are kept.
    order = ", ".join([f"HASH({', '.join([constant(key), *names])})", *names])
    kept, own = dataset.rows_per_unit, f"PARTITION BY {identifier(UNIT)}"
    return (
        f"SELECT * FROM (SELECT *, "  # noqa: S608  # names are quoted
        f"ROW_NUMBER() OVER ({own} ORDER BY {order}) AS {identifier(RANK)}, "
        f"LEAST(COUNT(*) OVER ({own}), {kept + 1}) AS {identifier(ROWS)} "
        f"FROM (SELECT {inner} FROM {source}) WHERE {identifier(UNIT)} IS NOT NULL) "
        f"WHERE {identifier(RANK)} <= {kept}"
    )


def clean(declared: Column, dialect: Dialect) -> str:
    """One column of one row, cleaned."""
    raw = identifier(declared.name)
    match declared.type:
        case "integer":
            text = _clamped(f"TRY_CAST({raw} AS {dialect.whole})", declared.limits)
        case "real":
            text = _real(declared, raw, dialect)
        case "date" | "timestamp":
            text = _date(declared, raw)
        case "text":
            text = f"TRY_CAST({raw} AS VARCHAR)"
        case "boolean":
            text = f"TRY_CAST({raw} AS BOOLEAN)"
    if declared.missing is None:
        return text
    return f"COALESCE({text}, {constant(_stored(declared, declared.missing))})"


def _unit(declared: Column, key: str, dialect: Dialect) -> str:
    raw = identifier(declared.name)
    if declared.type == "integer":
        return f"TRY_CAST({raw} AS {dialect.whole})"
    # 128 keyed bits: two people fall together with probability below n^2 / 2^129.
    text = f"TRY_CAST({raw} AS VARCHAR)"
    return f"MD5_NUMBER({constant(key)} || {text})"


def _real(declared: Column, raw: str, dialect: Dialect) -> str:
    double = f"TRY_CAST({raw} AS {dialect.real})"
    step, limits = planned(declared).step, declared.limits
    if step is None or limits is None:
        # Adding 0 makes one of the two zeros, which are equal and yet can be told apart.
        return f"CASE WHEN {dialect.is_finite.format(double)} THEN {double} + 0e0 END"
    low, high = (real(limit * step) for limit in limits)
    # NaN is neither below, above nor equal to anything in any engine's eyes once it is excluded.
    scaled = f"LEAST(GREATEST({double}, {low}), {high})"
    if step.numerator == 1:
        scaled = f"{scaled} * {real(Fraction(step.denominator))}"
    else:
        scaled = f"{scaled} / {real(step)}"
    steps = f"CAST(FLOOR({scaled} + 0.5e0) AS {dialect.whole})"
    return (
        f"CASE WHEN {double} IS NOT NULL AND NOT ISNAN({double}) "
        f"THEN LEAST(GREATEST({steps}, {limits[0]}), {limits[1]}) END"
    )


def _date(declared: Column, raw: str) -> str:
    name = declared.type.upper()
    text = f"TRY_CAST({raw} AS {name})"
    first: Value = _FIRST_DAY
    last: Value = _LAST_DAY
    if declared.type == "timestamp":
        first = datetime(1, 1, 1)  # noqa: DTZ001  # timestamps here have no zone
        last = datetime(9999, 12, 31, 23, 59, 59)  # noqa: DTZ001
    readable = f"{text} BETWEEN {constant(first)} AND {constant(last)}"
    value = text
    if declared.bounds is not None:
        low, high = (constant(bound) for bound in declared.bounds)
        value = f"LEAST(GREATEST({text}, {low}), {high})"
    return f"CASE WHEN {readable} THEN {value} END"


def _clamped(text: str, limits: tuple[int, int] | None) -> str:
    if limits is None:
        return text
    return (
        f"CASE WHEN {text} IS NOT NULL THEN LEAST(GREATEST({text}, {limits[0]}), {limits[1]}) END"
    )


def _stored(declared: Column, value: Value) -> Value:
    step = planned(declared).step
    return int(value / step) if step is not None and isinstance(value, Fraction) else value


def duckdb_source(source: Source, paths: list[str], headers: Mapping[str, Header]) -> str:
    """A file or table as DuckDB reads it; CSV as text, so that no type is guessed.

    ``headers`` names the columns of each CSV file: a reader that looked for them itself would look
    at rows too. Files whose columns stand in another order are read apart and joined by name.
    """
    if source.kind == "parquet":
        return f"READ_PARQUET({_list(paths)}, union_by_name = true)"
    if source.kind == "csv":
        alike: dict[Header, list[str]] = {}
        for path in paths:
            alike.setdefault(headers[path], []).append(path)
        parts = [_csv(source, files, header) for header, files in alike.items()]
        return parts[0] if len(parts) == 1 else f"({' UNION ALL BY NAME '.join(parts)})"
    names = (source.table or "").split(".")
    return ".".join(["source", *(identifier(name) for name in names)])


def _csv(source: Source, paths: list[str], header: Header) -> str:
    columns = ", ".join(f"{_quoted(name)}: 'VARCHAR'" for name in header)
    return (
        f"(SELECT * FROM READ_CSV({_list(paths)}, columns = {{{columns}}}, "  # noqa: S608
        f"header = {str(source.header).lower()}, delim = {_quoted(source.delimiter)}, "
        f"quote = {_quoted(source.quote)}, escape = {_quoted(source.quote)}, "
        f"nullstr = {_list(source.null)}, encoding = {_quoted(source.encoding)}, "
        # In parallel, or strictly, a line break in one person's cell could stop the whole file.
        "auto_detect = false, null_padding = true, ignore_errors = true, parallel = false, "
        "strict_mode = false))"
    )


def _list(texts: Sequence[str]) -> str:
    return "[" + ", ".join(_quoted(text) for text in texts) + "]"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
