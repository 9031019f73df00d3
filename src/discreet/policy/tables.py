"""Public tables of keys: CSV files that everybody may read."""

from __future__ import annotations

import csv
from pathlib import Path

from discreet.errors import InvalidInput
from discreet.policy.columns import KeysFrom
from discreet.policy.values import Type, Value, parse


def keys_of(table: KeysFrom, *, folder: Path, kind: Type) -> tuple[Value | None, ...]:
    """The distinct values of a public table's column, in the order of the file."""
    path = folder / table.path
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file, strict=True))
    except OSError:
        raise InvalidInput(
            f'there is no public table "{table.path}" that can be read.',
            hint="give its path from the policy file's folder, for example wards.csv",
        ) from None
    except (UnicodeDecodeError, csv.Error):
        raise InvalidInput(
            f'"{table.path}" is not a CSV file in UTF-8.',
            hint="save the table as CSV: a line of names, commas between the cells, UTF-8",
        ) from None
    names = rows[0] if rows else []
    column = table.column if table.column is not None else next(iter(names), None)
    if column is None or column not in names:
        there = ", ".join(names) or "none at all"
        raise InvalidInput(
            f'"{table.path}" has no column "{column or ""}"; its columns: {there}.',
            hint=f'keys_from = {{ path = "{table.path}", column = "{next(iter(names), "ward")}" }}',
        )
    place = names.index(column)
    keys: dict[Value | None, None] = {}
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue  # the empty line at the end of a file
        cell = row[place] if place < len(row) else ""
        if not cell:
            raise InvalidInput(
                f'row {line} of "{table.path}" has no key.',
                hint="delete the row; null = true in keys_from makes NULL a key",
            )
        try:
            keys[parse(kind, cell)] = None
        except InvalidInput as error:
            raise InvalidInput(
                f'row {line} of "{table.path}": {error.message}', hint=error.hint
            ) from None
    if table.null:
        keys[None] = None
    return tuple(keys)
