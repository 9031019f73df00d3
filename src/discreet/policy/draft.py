"""A first policy for a source, from the names and types of its columns alone.

What the data would suggest (ranges, keys, the type of a CSV column) is private: a draft holds it
only as a comment marked UNSAFE, for a curator to judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from discreet.policy.model import EACH_ROW
from discreet.policy.schema import type_of, unit_type_of
from discreet.policy.sources import kind_of
from discreet.policy.values import Type
from discreet.policy.write import key, quoted

_EXAMPLES: dict[Type, str] = {
    "integer": "bounds = [0, 100]",
    "real": "bounds = [0, 100], grid = 0.01",
    "text": 'keys = ["A", "B"]',
    "date": "bounds = [2020-01-01, 2029-12-31]",
    "timestamp": "bounds = [2020-01-01T00:00:00, 2029-12-31T23:59:59]",
}


class Proposal(NamedTuple):
    """What the data suggest about a column; using it is the curator's assertion."""

    kind: Type
    settings: str = ""
    """As a policy writes them: ``bounds = [0, 97]``."""


def draft(
    source: str,
    columns: Iterable[tuple[str, str]],
    *,
    name: str,
    unit: str | None = None,
    rows_per_unit: int | None = None,
    table: str | None = None,
    connection: str | None = None,
    proposals: Mapping[str, Proposal] | None = None,
) -> str:
    """The text of a policy for a source with these (name, engine type) columns.

    With a ``connection``, ``env:NAME`` or ``file:PATH``, it is a table of PostgreSQL.

    >>> text = draft("visits.parquet", [("id", "BIGINT"), ("age", "INTEGER")], name="visits")
    >>> [line for line in text.splitlines() if line.startswith("age")]
    ['age = { type = "integer" }']
    """
    listed = list(columns)
    header = f"dataset.{key(name)}"
    lines = [
        "# A draft, made from the names and types of the columns"
        + (" alone." if proposals is None else "; comments were read off the data."),
        "# Whatever you write here is public. A range or a list of keys that was read off the",
        "# data is not made safe by writing it down: by declaring it you assert that it would be",
        "# the same whoever is present. Lines marked UNSAFE are proposals that nobody has judged.",
        "",
        f"[{header}]",
        _source(source, table, connection),
        *_unit(listed, unit, rows_per_unit),
        "# people = 100000           # how many there are, if that is public",
        "",
        f"[{header}.columns]",
        "# bounds: values beyond them are moved to the nearer end. keys: the values to group by.",
        "# A column that is not listed cannot be used by any query.",
        *(line for column in listed for line in _column(*column, unit, proposals or {})),
        "",
        f"[{header}.budget]",
        "epsilon = 1                  # the most that all analysts together learn of one person",
        "delta = 0                    # above 0 (say 1e-6) for keys that are not declared",
        'accountant = "pure"          # "approximate" or "zcdp" where delta is above 0',
        "",
        f"[{header}.analysts]",
        "curator = { epsilon = 1 }",
        "",
    ]
    return "\n".join(lines)


def _source(source: str, table: str | None, connection: str | None) -> str:
    if connection is not None:
        return (
            f'source = {{ kind = "postgres", connection = {quoted(connection)}, '
            f"table = {quoted(table or source)} }}"
        )
    kind = kind_of(source) or "csv"
    settings = f"kind = {quoted(kind)}, path = {quoted(source)}"
    if kind == "csv" and ".tsv" in source.lower():
        settings += ', delimiter = "\\t"'
    if table is not None:
        settings += f", table = {quoted(table)}"
    return f"source = {{ {settings} }}"


def _unit(
    columns: list[tuple[str, str]], unit: str | None, rows_per_unit: int | None
) -> Iterator[str]:
    yield "# unit: whose privacy is protected, the column that says whose row it is."
    if unit is not None:
        yield f"unit = {quoted(unit)}"
        if rows_per_unit is not None:
            yield f"rows_per_unit = {rows_per_unit}"
        if rows_per_unit is not None or unit == EACH_ROW:
            return
    else:
        likely = [name for name, _ in columns if name.lower().endswith("id")] or ["patient_id"]
        for name in likely[:3]:
            yield f"# unit = {quoted(name)}    # UNSAFE until you know that it names a person"
        yield '# unit = "each row"      # UNSAFE unless nobody has two rows'
    yield "# rows_per_unit = 20         # the most rows of one person that are used"


def _column(
    name: str, engine_type: str, unit: str | None, proposals: Mapping[str, Proposal]
) -> Iterator[str]:
    kind = unit_type_of(engine_type) if name == unit else type_of(engine_type)
    if kind is None:
        yield f"# {key(name)}: a column of type {engine_type} cannot be used".replace("\n", " ")
        return
    yield f'{key(name)} = {{ type = "{kind}" }}'
    if name == unit:
        return
    found = proposals.get(name)
    settings = _EXAMPLES.get(kind, "") if found is None else found.settings
    shown = kind if found is None else found.kind
    if settings or shown != kind:
        comma = ", " if settings else ""
        why = "read off the data" if found is not None else "an example"
        yield f'# {key(name)} = {{ type = "{shown}"{comma}{settings} }}    # UNSAFE: {why}'
