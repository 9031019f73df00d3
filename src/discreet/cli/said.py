"""What a curator says about a data file on the command line, and says only once.

The words are kept beside the data, in ``.discreet``, as they were typed. What is said later is
added to them or takes their place; a column with nothing behind its ``=`` is forgotten.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import Any, get_args

from discreet.errors import InvalidInput
from discreet.exact import rational
from discreet.policy import EACH_ROW, type_of
from discreet.policy.values import Type, parse

Words = Mapping[str, str]
"""For each column what was typed behind its ``=``."""


@dataclass(frozen=True)
class Said:
    """The words about one data file."""

    unit: str | None = None
    rows_per_unit: int | None = None
    bounds: Words = field(default_factory=dict)
    keys: Words = field(default_factory=dict)
    types: Words = field(default_factory=dict)
    grids: Words = field(default_factory=dict)
    table: str | None = None
    delimiter: str | None = None
    people: int | None = None

    @staticmethod
    def read(path: Path) -> Said:
        """What was said before; nothing where there is no file."""
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            return Said(**kept)
        except FileNotFoundError:
            return Said()
        except (OSError, ValueError, TypeError):
            raise InvalidInput(
                f'"{path}" does not hold what was said about the data.',
                hint=f"rm {path}, and say it again.",
            ) from None

    def write(self, path: Path) -> None:
        """Keep it, for its owner alone."""
        text = json.dumps({each.name: getattr(self, each.name) for each in fields(self)}, indent=2)
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text + "\n")
        fresh.replace(path)

    def then(self, later: Said, *, name: str) -> Said:
        """With what is said later. The unit cannot change: the budget counts what is learnt of it.

        >>> Said(bounds={"age": "0:110"}).then(Said(bounds={"age": ""}), name="visits").bounds
        {}
        """
        if self.unit is not None and later.unit not in (None, self.unit):
            raise InvalidInput(
                f"{name} was opened with {_unit(self.unit)}, and its budget counts what is learnt "
                f"about each of them; it cannot become {_unit(later.unit)}.",
                hint=f"leave it out, or say {_unit(self.unit)}.",
            )

        def both(old: Words, new: Words) -> Words:
            return {column: typed for column, typed in ({**old, **new}).items() if typed}

        return Said(
            later.unit or self.unit,
            later.rows_per_unit or self.rows_per_unit,
            both(self.bounds, later.bounds),
            both(self.keys, later.keys),
            both(self.types, later.types),
            both(self.grids, later.grids),
            later.table or self.table,
            later.delimiter or self.delimiter,
            later.people or self.people,
        )

    def settings(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        """As ``discreet.open`` takes it, where columns have these types."""
        return {
            "unit": self.unit,
            "rows_per_unit": self.rows_per_unit,
            "bounds": self.ranges(),
            "keys": {
                column: _keys(column, words, type_of(kinds.get(column, "text")) or "text")
                for column, words in self.keys.items()
            },
            "grids": self.steps(),
            "types": dict(self.types),
            "table": self.table,
            "delimiter": self.delimiter,
            "people": self.people,
        }

    def ranges(self) -> dict[str, tuple[Any, Any]]:
        """The bounds, as values."""
        return {column: _bounds(column, words) for column, words in self.bounds.items()}

    def steps(self) -> dict[str, Fraction]:
        """The grids, as numbers."""
        return {column: rational(words) for column, words in self.grids.items()}


def words(option: str, given: Sequence[str] | None, example: str) -> dict[str, str]:
    """What ``--option column=...`` says, for each column.

    >>> words("bounds", ["age=0:110"], "0:110")
    {'age': '0:110'}
    """
    found: dict[str, str] = {}
    for each in given or ():
        column, equals, rest = each.partition("=")
        if not equals or not column.strip():
            raise InvalidInput(
                f"--{option} {each!r} does not say which column it is about.",
                hint=f"--{option} {_plain(each) or 'age'}={example}",
            )
        found[column.strip()] = rest.strip()
    return found


def require_columns(option: str, named: Words, columns: Sequence[str], file: str) -> None:
    """Refuse a column that the file does not have, with the one that was probably meant."""
    for name, rest in named.items():
        if name not in columns:
            close = get_close_matches(name.lower(), [c.lower() for c in columns], n=1, cutoff=0.5)
            meant = [c for c in columns if c.lower() in close] or list(columns)
            raise InvalidInput(
                f'{file} has no column "{name}"; it has {", ".join(columns)}.',
                hint=f"--{option} {quote(f'{meant[0]}={rest}' if rest else meant[0])}",
            )


def require_types(types: Words) -> None:
    """Refuse a type that nobody knows."""
    for column, word in types.items():
        if type_of(word) is None:
            known = get_args(Type)
            close = get_close_matches(word.lower(), known, n=1, cutoff=0.4)
            raise InvalidInput(
                f"--types {column}={word}: a type is one of {', '.join(known)}.",
                hint="--types " + quote(f"{column}={close[0] if close else 'integer'}"),
            )


def _bounds(column: str, text: str) -> tuple[Any, Any]:
    """Both ends of ``0:110``; those of times hold colons themselves, as many on each side."""
    parts = text.split(":")
    middle = len(parts) // 2
    try:
        low, high = (_value(":".join(half)) for half in (parts[:middle], parts[middle:]))
        backwards = bool(low > high)
    except (InvalidInput, TypeError):
        raise InvalidInput(
            f"--bounds {column}={text}: a range has a smallest and a largest value.",
            hint=f"--bounds {quote(f'{column}=0:110')}, or --bounds "
            f"{quote(f'{column}=2025-01-01:2025-12-31')} for dates.",
        ) from None
    if backwards:
        turned = ":".join([*parts[middle:], *parts[:middle]])
        raise InvalidInput(
            f"--bounds {column}={text}: the smallest value is larger than the largest.",
            hint=f"--bounds {quote(f'{column}={turned}')}",
        )
    return low, high


def _value(text: str) -> Any:
    """A number or a date as it is written; only one without a point is a whole number."""
    for reader in (int, date.fromisoformat, datetime.fromisoformat):
        try:
            return reader(text)
        except ValueError:
            continue
    return rational(text)


def _keys(column: str, text: str, kind: Type) -> list[Any]:
    listed = next(csv.reader([text], skipinitialspace=True), [])
    try:
        return [parse(kind, key) for key in listed]
    except InvalidInput as error:
        raise InvalidInput(
            f"--keys {column}={text}: {error.message}",
            hint=f"--keys {quote(f'{column}=1,2,3')}, or --types {quote(f'{column}=text')}"
            if kind in ("integer", "real")
            else f"{error.hint}",
        ) from None


def _plain(text: str) -> str:
    """The name that a malformed option seems to start with."""
    return next(iter(text.replace(":", " ").replace(",", " ").split()), "")


def _unit(unit: str | None) -> str:
    return "--each-row" if unit == EACH_ROW else f"--unit {quote(unit or '')}"
