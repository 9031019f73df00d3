"""Queries to suggest: over tables and columns that are there, and accepted when typed back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from discreet.plan.schema import Schema
from discreet.sql.syntax import name as written

_FEW = 20


def example(schema: Schema) -> str:
    """A count for each value of a column that has few public ones, or one count."""
    table = written(schema.dataset)
    for column in schema.columns.values():
        domain = column.meaning.domain
        if domain is not None and len(domain) <= _FEW and column.meaning.type == "text":
            key = written(column.name)
            return f"SELECT {key}, COUNT(*) FROM {table} GROUP BY {key}"  # noqa: S608  # words for people
    return f"SELECT COUNT(*) FROM {table}"  # noqa: S608  # words for people


def about(text: str, schemas: Mapping[str, Schema]) -> str:
    """An example over the first table that a text speaks of, or over any."""
    spoken = [each for each in schemas.values() if _speaks(text, each.dataset)]
    chosen = (spoken or [schemas[name] for name in sorted(schemas)])[:1]
    return example(chosen[0]) if chosen else "SELECT COUNT(*) FROM visits"


def nearest(name: str, schemas: Mapping[str, Schema]) -> Schema | None:
    """The table that was probably meant."""
    close = get_close_matches(name.lower(), sorted(schemas), n=1, cutoff=0.5)
    return schemas[(close or sorted(schemas))[0]] if schemas else None


def renamed(text: str, wrong: str, right: str) -> str:
    """A text with another name for a table.

    >>> renamed("SELECT COUNT(*) FROM visit WHERE visit.age > 3", "visit", "visits")
    'SELECT COUNT(*) FROM visits WHERE visits.age > 3'
    """
    return re.sub(rf'(?<!\w)"?{re.escape(wrong)}"?(?!\w)', lambda _: written(right), text)


def _speaks(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None
