"""How each engine names the relation that a source is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from discreet.policy.sources import Source
from discreet.sql.dialects import DUCKDB, Dialect
from discreet.sql.emit import identifier

Header: TypeAlias = tuple[str, ...]
"""The names of a CSV file's columns, in the file's order."""


def relation(source: Source, dialect: Dialect, *, form: str = "parquet") -> str:
    """A table of a server by its quoted name, or for Spark a path with its ``form``.

    >>> from discreet.sql.dialects import POSTGRES, SPARK
    >>> relation(
    ...     Source(kind="postgres", table="hospital.visits", connection="env:DSN"), POSTGRES
    ... )
    '"hospital"."visits"'
    >>> relation(Source(kind="spark", path="/data/visits"), SPARK)
    '`parquet`.`/data/visits`'
    """
    if source.table is None:
        return ".".join(identifier(part, dialect) for part in (form, source.path or ""))
    return ".".join(identifier(part, dialect) for part in source.table.split("."))


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
    return "source." + relation(source, DUCKDB)


def _csv(source: Source, paths: list[str], header: Header) -> str:
    columns = ", ".join(f"{DUCKDB.text(name)}: 'VARCHAR'" for name in header)
    return (
        f"(SELECT * FROM READ_CSV({_list(paths)}, columns = {{{columns}}}, "  # noqa: S608
        f"header = {str(source.header).lower()}, delim = {DUCKDB.text(source.delimiter)}, "
        f"quote = {DUCKDB.text(source.quote)}, escape = {DUCKDB.text(source.quote)}, "
        f"nullstr = {_list(source.null)}, encoding = {DUCKDB.text(source.encoding)}, "
        # In parallel, or strictly, a line break in one person's cell could stop the whole file.
        "auto_detect = false, null_padding = true, ignore_errors = true, parallel = false, "
        "strict_mode = false))"
    )


def _list(texts: Sequence[str]) -> str:
    return "[" + ", ".join(DUCKDB.text(text) for text in texts) + "]"
