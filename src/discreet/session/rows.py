"""Which rows a source holds, in words that stay the same under another name.

A budget belongs to people, and rows are known by the files that hold them: two patterns that match
one file would otherwise give its people two budgets. That a file exists is public; none is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from glob import glob
from pathlib import Path

from discreet.policy import Source


def lasting(source: Source, folder: Path, home: Path) -> Iterator[str]:
    """What a source is remembered by: its table, or its pattern and every file that it matches.

    Files are named as seen from the home, so that the folder may be moved and opened from anywhere.
    """
    if source.path is None:
        yield f"{source.connection or ''} {_table(source)}"
        return
    for place in (_place(source, folder), *files(source, folder)):
        seen = os.path.relpath(Path(place).resolve(), home)
        yield f"{seen} {_table(source)}"


def passing(source: Source, folder: Path) -> Iterator[str]:
    """What tells two names of one file at this moment: the place on its disk.

    It is not remembered, since a disk gives the place of a deleted file to another one.
    """
    for place in files(source, folder):
        with suppress(FileNotFoundError):  # deleted just now
            found = Path(place).stat()
            yield f"{found.st_dev}:{found.st_ino} {_table(source)}"


def files(source: Source, folder: Path) -> list[str]:
    """The files of this machine that a source's path matches; those in a folder, if it is one."""
    if source.path is None:
        return []
    found: list[str] = []
    pattern = _place(source, folder)
    for place in matches(Path(pattern)) or [pattern]:
        inside = sorted(Path(place).rglob("*")) if Path(place).is_dir() else [Path(place)]
        found += [str(each) for each in inside if each.is_file()]
    return found


def matches(pattern: Path) -> list[str]:
    """The files that a pattern matches, if it is one."""
    return sorted(glob(str(pattern), recursive=True))  # noqa: PTH207  # absolute


def is_there(pattern: Path) -> bool:
    """Whether it is a file, or a pattern that matches one."""
    return pattern.is_file() or any(Path(each).is_file() for each in matches(pattern))


def folder_of(pattern: Path) -> Path:
    """The folder that holds a file, or every file that a pattern can match.

    >>> folder_of(Path("/data/visits.csv")), folder_of(Path("/data/**/visits-*.csv"))
    (PosixPath('/data'), PosixPath('/data'))
    """
    plain = pattern
    while any(mark in str(plain) for mark in "*?[") and not plain.exists():
        plain = plain.parent
    return plain.resolve().parent if plain == pattern else plain.resolve()


def _place(source: Source, folder: Path) -> str:
    path = source.path or ""
    return str(folder / (path.removeprefix("file://") if path.startswith("file:///") else path))


def _table(source: Source) -> str:
    if source.table is None:
        return ""
    if source.kind == "postgres":
        return ".".join(source.schema_and_table)
    # To DuckDB and Spark small and large letters are alike.
    table = source.table.lower()
    return table.removeprefix("main.") if source.kind == "duckdb" else table
