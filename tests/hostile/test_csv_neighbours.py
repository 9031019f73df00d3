"""One person's line in a CSV file changes nobody else's rows, however badly it is written.

Two kinds of lines are left out: those that open a quote which is never closed, and those with a
bare carriage return. Both change what the lines of the file are, and SECURITY.md speaks of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet

STRANGER = 9999
LINES = [f"{who},w{who % 3},{20 + who % 50}".encode() for who in range(1, 601)]

ODD = {
    "too many cells": b"9999,w1,30,1,2,3",
    "too few cells": b"9999",
    "nothing": b"",
    "five thousand cells": b"," * 5000,
    "a quote inside a cell": b'9999,w"1,30',
    "text after a closed quote": b'9999,"w1"x,30',
    "a line break in quotes": b'9999,"w\n1",30',
    "doubled quotes": b'9999,"w""1",30',
    "no UTF-8": b"9999,w\xff\xfe,30",
    "half a character at the end": b"9999,w1,30\xe2\x82",
    "a NUL": b"9999,w\x00,30",
    "the end of a file, long ago": b"9999,w\x1a,30",
    "another line ending": b"9999,w1,30\r",
    "a byte order mark": b"\xef\xbb\xbf9999,w1,30",
    "two bytes for each character": "9999,w1,30".encode("utf-16"),
    "three million letters": b"9999," + b"x" * 3_000_000 + b",30",
    "a comment": b"#9999,w1,30",
}


def others(folder: Path, lines: list[bytes]) -> list[Any]:
    """The rows of the snapshot that are not the stranger's."""
    folder.mkdir()
    file = folder / "visits.csv"
    file.write_bytes(b"\n".join([b"who,ward,age", *lines]) + b"\n")
    with discreet.open(
        file,
        unit="who",
        rows_per_unit=3,
        types={"who": "integer"},
        bounds={"age": (0, 110)},
        epsilon=1,
    ) as session:
        session.prepare()
        place = session.snapshot()
        assert place is not None
    with duckdb.connect(place.place, read_only=True) as connection:
        return connection.execute(
            "SELECT _discreet_unit, ward, age FROM snapshot "
            f"WHERE _discreet_unit <> {STRANGER} ORDER BY ALL"
        ).fetchall()


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> list[Any]:
    """Everybody's rows where there is no stranger."""
    rows = others(tmp_path_factory.mktemp("csv") / "alone", LINES)
    assert len(rows) == len(LINES)
    return rows


@pytest.mark.parametrize("line", ODD.values(), ids=ODD.keys())
def test_a_strangers_line_changes_no_row_of_others(line, alone, tmp_path):
    assert others(tmp_path / "with", [*LINES[:300], line, *LINES[300:]]) == alone
