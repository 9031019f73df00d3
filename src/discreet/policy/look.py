"""What the rows of a CSV file suggest about its columns: private, so for comments only."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TextIO

from discreet.errors import InvalidInput
from discreet.policy.draft import Proposal
from discreet.policy.values import Type, Value, parse, shown
from discreet.policy.write import quoted

_KINDS: tuple[Type, ...] = ("boolean", "integer", "real", "date", "timestamp", "text")
_ROWS = 100_000
_KEYS = 20


def look(path: Path) -> dict[str, Proposal]:
    """A proposal for each column, from the first rows."""
    with _open(path) as file:
        rows = _rows(path, file)
        names = next(rows, [])
        cells: list[list[str]] = [[] for _ in names]
        for row in islice(rows, _ROWS):
            for held, cell in zip(cells, row, strict=False):
                if cell:
                    held.append(cell)
    return {name: propose(held) for name, held in zip(names, cells, strict=True)}


def propose(cells: Iterable[str]) -> Proposal:
    """The narrowest type that fits all cells, with their range or their few values.

    >>> propose(["17", "4"])
    Proposal(kind='integer', settings='bounds = [4, 17]')
    """
    distinct = list(dict.fromkeys(cells))
    kind, values = next(found for each in _KINDS if (found := _as(each, distinct)) is not None)
    if kind in ("text", "boolean"):
        listed = ", ".join(sorted(quoted(str(each)) for each in values))
        few = kind == "text" and 0 < len(values) <= _KEYS
        return Proposal(kind, f"keys = [{listed}]" if few else "")
    low, high = min(values), max(values)
    return Proposal(kind, f"bounds = [{shown(low)}, {shown(high)}]")


def _as(kind: Type, cells: list[str]) -> tuple[Type, list[Value]] | None:
    if kind != "text" and not cells:
        return None
    try:
        return kind, [parse(kind, cell) for cell in cells]
    except InvalidInput:
        return None


def _open(path: Path) -> TextIO:
    try:
        return path.open(newline="", encoding="utf-8-sig")
    except OSError:
        raise InvalidInput(
            f'there is no file "{path}" that can be read.', hint="discreet init visits.csv"
        ) from None


def _rows(path: Path, file: TextIO) -> Iterator[list[str]]:
    return csv.reader(file, delimiter="\t" if ".tsv" in path.name.lower() else ",")
