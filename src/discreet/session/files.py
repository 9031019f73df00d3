"""What a source says of itself: the names of its columns, and their types if it has any.

Of a CSV file only the first line is read. Its columns are text until somebody says more: a type
found in the rows would be a private fact.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import date, datetime
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.engines.duckdb import schema_of
from discreet.engines.secret import Secret
from discreet.errors import InvalidInput
from discreet.policy.against import Seen
from discreet.policy.sources import Source, kind_of
from discreet.session.rows import files, passing
from discreet.sql.dialects import POSTGRES
from discreet.sql.relations import Header, relation


def header(source: Source, path: str) -> Header:
    """The names in the first line of a CSV file, compressed or not."""
    encoding = "utf-8-sig" if source.encoding == "utf-8" else source.encoding
    try:
        with (
            pa.input_stream(path, compression="detect") as stream,
            # More than the first line is decoded, and what is wrong below it must not be heard.
            io.TextIOWrapper(stream, encoding=encoding, newline="", errors="replace") as text,
        ):
            rows = csv.reader(text, delimiter=source.delimiter, quotechar=source.quote)
            names = next(rows, [])
    except (OSError, UnicodeError, csv.Error):
        raise InvalidInput(
            f'the first line of "{path}" could not be read.',
            hint="is it there, and is it text, with the names of the columns on top?",
        ) from None
    if any("\ufffd" in name for name in names):
        raise InvalidInput(
            f'the first line of "{path}" is not in the encoding {source.encoding}.',
            hint='encoding = "latin-1", say',
        )
    if not names:
        raise InvalidInput(
            f'the first line of "{path}" is empty.', hint="patient_id,ward,age on its first line"
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not all(names):
        wrong = f'the column "{twice[0]}" twice' if twice else "a column without a name"
        raise InvalidInput(
            f'the first line of "{path}" has {wrong}.', hint="each column a name of its own"
        )
    return tuple(names)


def look(source: Source, *, folder: Path) -> Seen:
    """What files say of themselves, for checking a policy; a server is not asked."""
    found = files(source, folder)
    if source.kind in ("parquet", "csv", "duckdb") and not found:
        raise _no_file(source.path or "", folder)
    known = frozenset(passing(source, folder))
    match source.kind:
        case "parquet":
            names = (tuple(schema_of(Path(file))) for file in found)
        case "csv" if source.header:
            names = (header(source, file) for file in found)
        case "duckdb":
            names = (tuple(schema_of(Path(file), table=source.table)) for file in found[:1])
        case _:
            return Seen(files=known)
    return Seen(tuple(dict.fromkeys(chain.from_iterable(names))), known)


def _no_file(path: str, folder: Path) -> InvalidInput:
    beside = (folder / path).parent
    there = [each.name for each in beside.glob("*") if kind_of(each.name)]
    close = get_close_matches(Path(path).name, sorted(there), n=1, cutoff=0.4)
    return InvalidInput(
        f'there is no file "{folder / path}".',
        hint=f"did you mean {Path(path).with_name(close[0])}?"
        if close
        else "a path starts at the folder of the policy; a pattern such as visits/*.csv will do",
    )


def column_types(
    path: Path,
    *,
    source: Source | None = None,
    bounds: Mapping[str, Sequence[Any]] | None = None,
    keys: Mapping[str, Sequence[Any]] | None = None,
    grids: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The type of each column of a file; for a CSV file, as its bounds and keys suggest.

    A column with bounds or keys has their type: whole numbers, reals, dates; one with a grid is
    real. ``types`` decides where it speaks.
    """
    read = source or Source(kind=kind_of(path.name) or "parquet", path=str(path))
    found: dict[str, str] = {}
    for file in files(read, Path()) or [str(path)]:
        own = (
            dict.fromkeys(header(read, file), "text")
            if read.kind == "csv"
            else schema_of(Path(file), table=read.table)
        )
        known = {name.lower() for name in found}  # files are joined by what SQL calls one name
        found |= {name: kind for name, kind in own.items() if name.lower() not in known}
    if read.kind != "csv":
        return found | dict(types or {})
    for column, ends in (*(keys or {}).items(), *(bounds or {}).items()):
        if column in found:
            found[column] = type_of_values(ends)
    suggested = found | {column: "real" for column in grids or {} if column in found}
    return suggested | {column: kind for column, kind in (types or {}).items() if column in found}


def table_types(source: Source, secret: Secret) -> Mapping[str, str]:
    """The columns of a table of PostgreSQL and what it calls their types."""
    from discreet.engines.postgres import Postgres

    table = source.model_copy(update={"table": ".".join(source.schema_and_table)})
    with closing(Postgres(secret, relation(table, POSTGRES), name="")) as engine:
        return engine.types()


def type_of_values(values: Sequence[Any]) -> str:
    """The type that public values have themselves.

    >>> type_of_values([0, 110]), type_of_values([0, 99.5]), type_of_values(["A", "B", None])
    ('integer', 'real', 'text')
    """
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) == 1:
        return kinds.pop()
    return "real" if kinds == {"integer", "real"} else "text"


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case str():
            return "text"
        case datetime():
            return "timestamp"
        case date():
            return "date"
    return "real"
