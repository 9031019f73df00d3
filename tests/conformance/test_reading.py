"""Cells of any type, read as any declared type: the same on every engine, or refused beforehand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidInput
from discreet.policy import Column
from discreet.sql.cleaning import clean, clean_unit
from discreet.sql.dialects import POSTGRES, SPARK
from tests.conformance.engines import InDuckDB, InPostgres, InSpark

DECLARED = ("integer", "real", "text", "boolean", "date", "timestamp")
NOON = datetime(2026, 1, 31, 12, 0, 0, 1, tzinfo=UTC)
LONG, LOW = Decimal("9" * 38), Decimal("-" + "9" * 38)

# The column's name, PostgreSQL's type and Arrow's, and odd cells of it.
SOURCES: list[tuple[str, str, pa.DataType, list[Any]]] = [
    ("small", "smallint", pa.int16(), [0, 1, -(2**15), None]),
    ("plain", "integer", pa.int32(), [0, 7, 2**31 - 1, None]),
    ("big", "bigint", pa.int64(), [2**63 - 1, -(2**63), 0, None]),
    ("short", "real", pa.float32(), [0.5, -0.0, math.nan, math.inf, 3.0e38, 1e-45, None]),
    ("double", "double precision", pa.float64(), [2.5, 3.5, -2.5, 1e308, -5e-324, math.nan, None]),
    ("edges", "double precision", pa.float64(), [2.0**63, -(2.0**63), -math.inf, 1e19, 7.0]),
    ("exact", "numeric(10,2)", pa.decimal128(10, 2), [Decimal("2.50"), Decimal("-0.01"), None]),
    ("wide", "numeric(38,0)", pa.decimal128(38, 0), [LONG, LOW, Decimal(3), None]),
    ("truth", "boolean", pa.bool_(), [True, False, None]),
    ("name", "text", pa.string(), ["", " a ", "7", "é", "'", None]),
    ("brief", "character varying(9)", pa.string(), ["ab", "", None]),
    ("day", "date", pa.date32(), [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), None]),
    (
        "moment",
        "timestamp without time zone",
        pa.timestamp("us"),
        [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), None],  # noqa: DTZ001
    ),
    ("zoned", "timestamp with time zone", pa.timestamp("us", tz="UTC"), [NOON, None]),
]
TEXT_CELLS: dict[str, dict[str, Any]] = {
    "integer": {
        "7": 7,
        " 7 ": 7,
        "-0": 0,
        "+12": 12,
        "1e2": 100,
        "9223372036854775807": 2**63 - 1,
        **dict.fromkeys(("", "x", "1,5", "0x1F", "9" * 40, "nan", "1e999", "7\n", "٧", "1d")),
    },
    "real": {
        "1.5": 1.5,
        " .5": 0.5,
        "2.": 2.0,
        "-1e3": -1000.0,
        "1E-400": 0.0,
        "0.1": 0.1,
        **dict.fromkeys(("", "x", "1,5", "nan", "1e999", "-1e130", "1f", "1.5\n", ".", "1e")),
    },
    "boolean": {
        "true": True,
        "F": False,
        "1": True,
        "0": False,
        "YES": True,
        "n": False,
        **dict.fromkeys(("", "maybe", " true", "2", "on")),
    },
    "date": {
        "2024-02-29": date(2024, 2, 29),
        "0001-01-01": date(1, 1, 1),
        **dict.fromkeys(("2023-02-29", "2026-02-30", "0000-01-01", "99999-01-01", "infinity")),
        **dict.fromkeys(("1900-02-29", "today", "2026-1-5", "20260105", "2026-01-31 x", "", "x\n")),
    },
    "timestamp": {
        "2026-01-31 12:00:00.000001": NOON.replace(tzinfo=None),
        "2026-01-31T12:00": datetime(2026, 1, 31, 12),  # noqa: DTZ001
        "2000-02-29": datetime(2000, 2, 29),  # noqa: DTZ001
        **dict.fromkeys(("2026-01-31 25:00:00", "2100-02-29", "now", "12:00", "", "2026-01-31 \n")),
    },
}


@pytest.fixture(scope="module")
def postgres(server) -> Iterator[InPostgres]:
    engine = InPostgres(server.address("postgres"))
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    path: Path = tmp_path_factory.mktemp("reading") / "t.parquet"
    most = max(len(cells) for *_, cells in SOURCES)
    columns = {
        name: pa.array(cells + [None] * (most - len(cells)), kind)
        for name, _, kind, cells in SOURCES
    }
    pq.write_table(pa.table({"id": range(most)} | columns), path)
    return path


def declared(name: str, kind: str) -> list[Column]:
    """The column with and, where it can have them, without bounds."""
    bounds: dict[str, Any] = {
        "integer": (-5, 100),
        "real": (-2.5, 100),
        "date": (date(2000, 1, 1), date(2026, 1, 1)),
        "timestamp": (datetime(2000, 1, 1), datetime(2026, 2, 1)),  # noqa: DTZ001
    }
    made = [Column.model_validate({"name": name, "type": kind})]
    if kind in bounds:
        made.append(Column.model_validate({"name": name, "type": kind, "bounds": bounds[kind]}))
    return made


def combinations() -> Iterator[Column]:
    for (name, *_), kind in product(SOURCES, DECLARED):
        yield from declared(name, kind)


def cells_of(engine: Any, columns: list[Column], source: str, types: Any) -> list[list[Any]]:
    texts = [clean(column, engine.dialect, types) for column in columns]
    listed = ", ".join(f"{text} AS c{place}" for place, text in enumerate(texts))
    rows = engine.rows(f"SELECT {listed} FROM {source} ORDER BY id")
    return [list(column) for column in zip(*rows, strict=True)]


def readable(dialect: Any, types: dict[str, str]) -> list[Column]:
    found = []
    for column in combinations():
        try:
            clean(column, dialect, types)
        except InvalidInput as refusal:
            refused(str(refusal), column, types)
            continue
        found.append(column)
    return found


def refused(words: str, column: Column, types: dict[str, str]) -> None:
    """A refusal names the column and both types, and says what to do."""
    for word in (repr(column.name), types[column.name], column.type, "Hint: "):
        assert word in words


def check(engine: Any, types: dict[str, str], file: Path) -> None:
    """What an engine reads is what DuckDB reads, which can try any cast."""
    columns = readable(engine.dialect, types)
    assert len(columns) > 70
    duckdb = InDuckDB()
    expected = cells_of(duckdb, columns, f"READ_PARQUET('{file}')", None)
    duckdb.close()
    found = cells_of(engine, columns, "source", types)
    wrong = [
        (column.name, column.type, column.bounds, ours, theirs)
        for column, ours, theirs in zip(columns, expected, found, strict=True)
        # Text is read as conditions in a few more ways by DuckDB, and as numbers too.
        if ours != theirs and types[column.name] not in ("text", "string")
    ]
    assert not wrong


def test_postgres_reads_cells_of_every_type(postgres, file):
    words = {"id": "integer"} | {name: word for name, word, *_ in SOURCES}
    rows = [list(row.values()) for row in pq.read_table(file).to_pylist()]
    postgres.table(words, rows)
    check(postgres, postgres.types(), file)


def test_spark_reads_cells_of_every_type(spark, file):
    engine = InSpark()
    engine.source(file)
    check(engine, engine.types(), file)


@pytest.mark.parametrize("kind", TEXT_CELLS)
def test_postgres_reads_text_as_what_it_says(kind, postgres):
    cells = TEXT_CELLS[kind]
    postgres.table({"id": "integer", "c": "text"}, list(enumerate(cells)))
    column = Column.model_validate({"name": "c", "type": kind})
    (found,) = cells_of(postgres, [column], "source", postgres.types())
    assert dict(zip(cells, found, strict=True)) == cells


@pytest.mark.parametrize("kind", TEXT_CELLS)
def test_spark_reads_text_as_what_it_says(kind, spark, tmp_path):
    cells = TEXT_CELLS[kind]
    pq.write_table(pa.table({"id": range(len(cells)), "c": list(cells)}), tmp_path / "t.parquet")
    engine = InSpark()
    engine.source(tmp_path / "t.parquet")
    column = Column.model_validate({"name": "c", "type": kind})
    (found,) = cells_of(engine, [column], "source", engine.types())
    assert dict(zip(cells, found, strict=True)) == cells


LONG_NAMES: dict[str, list[Any]] = {
    "exact": [*(Decimal(n) for n in (10**38 - 1, 10**38 - 2, 2**64, 2**63, 7)), None],
    "cents": [Decimal("7.00"), Decimal("-0.50"), Decimal(2**63), Decimal(7), None, -(10**36) + 1],
    "tag": [str(2**64), "12345678901234567890.5", "-7.0", "x", "1e2", None],
}
PEOPLE = {
    "exact": [10**38 - 1, 10**38 - 2, 2**64, 2**63, 7, None],
    "cents": [7, None, 2**63, 7, None, -(10**36) + 1],
    "tag": [2**64, None, -7, None, 100, None],
}


def people(engine: Any, source: str, types: dict[str, str]) -> dict[str, list[Any]]:
    """Who each row is about, by each of the columns that may name people."""
    units = [
        clean_unit(Column(name=name, type="integer"), "key", engine.dialect, types)
        for name in PEOPLE
    ]
    listed = ", ".join(f"{text} AS c{place}" for place, text in enumerate(units))
    rows = engine.rows(f"SELECT {listed} FROM {source} ORDER BY id")
    return dict(zip(PEOPLE, (list(column) for column in zip(*rows, strict=True)), strict=True))


@pytest.fixture(scope="module")
def long_names(tmp_path_factory) -> Path:
    path: Path = tmp_path_factory.mktemp("names") / "t.parquet"
    kinds = {"exact": pa.decimal128(38, 0), "cents": pa.decimal128(38, 2), "tag": pa.string()}
    columns = {name: pa.array(cells, kinds[name]) for name, cells in LONG_NAMES.items()}
    pq.write_table(pa.table({"id": range(6)} | columns), path)
    return path


def test_duckdb_loses_nobody_for_a_long_number(long_names):
    engine = InDuckDB()
    types = {"exact": "decimal(38,0)", "cents": "decimal(38,2)", "tag": "varchar"}
    assert people(engine, f"READ_PARQUET('{long_names}')", types) == PEOPLE
    engine.close()


def test_postgres_loses_nobody_for_a_long_number(postgres):
    words = {"id": "integer", "exact": "numeric(38,0)", "cents": "numeric(38,2)", "tag": "text"}
    rows = [[place, *cells] for place, cells in enumerate(zip(*LONG_NAMES.values(), strict=True))]
    postgres.table(words, rows)
    assert people(postgres, "source", postgres.types()) == PEOPLE
    # Equal numbers of another length are one person, and what is no number is nobody.
    odd = ("7", "7.00", "NaN", "-Infinity", "Infinity", "1e4000", "7.5")
    postgres.table({"id": "integer", "c": "numeric"}, [(i, Decimal(n)) for i, n in enumerate(odd)])
    unit = clean_unit(Column(name="c", type="integer"), "key", POSTGRES, postgres.types())
    found = postgres.connection.execute(f"SELECT {unit}::text FROM source ORDER BY id").fetchall()
    assert [name for (name,) in found] == ["7", "7", None, None, None, "1" + "0" * 4000, None]


def test_spark_loses_nobody_for_a_long_number(spark, long_names):
    engine = InSpark()
    engine.source(long_names)
    assert people(engine, "source", engine.types()) == PEOPLE


def test_postgres_has_types_of_its_own(postgres):
    connection = postgres.connection
    connection.execute("DROP TABLE IF EXISTS source; DROP TYPE IF EXISTS mood")
    connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok'); SET TIME ZONE 'Asia/Kolkata'")
    connection.execute(
        "CREATE TABLE source (id int, fixed char(5), free numeric, feeling mood, code uuid, "
        "at timestamptz, until date, since timestamp)"
    )
    code = "0c1fd6f2-3a52-4a43-9f5e-0a8a0a4a6c11"
    connection.execute(
        "INSERT INTO source VALUES (1, 'ab', 'NaN', 'sad', %s, '2026-01-01 02:00+05:30', "
        "'infinity', '-infinity'), (2, '', '-Infinity', NULL, NULL, 'infinity', '4713-01-01 BC', "
        "'294276-01-01'), (3, ' x', 1e-400, 'ok', NULL, NULL, NULL, NULL), "
        "(4, NULL, 1e4000, NULL, NULL, NULL, NULL, NULL), (5, NULL, 2.5, NULL, NULL, NULL, "
        "'2026-01-01', '2026-01-01 00:00:00.5')",
        [code],
    )
    types = postgres.types()

    def read(name: str, kind: str, **settings: Any) -> list[Any]:
        column = Column.model_validate({"name": name, "type": kind, **settings})
        return cells_of(postgres, [column], "source", types)[0]

    assert read("fixed", "text") == ["ab", "", " x", None, None]
    assert read("free", "real") == [None, None, 0.0, None, 2.5]
    assert read("free", "real", bounds=(-1, 1), grid=0.5) == [None, -2, 0, 2, 2]
    assert read("free", "integer") == [None, None, 0, None, 3]
    assert read("feeling", "text") == ["sad", None, "ok", None, None]
    for kind in ("integer", "real", "boolean", "date", "timestamp"):
        assert read("feeling", kind) == [None] * 5
    assert read("code", "text")[0] == code
    # Moments with a zone are those of UTC, whatever the session's zone is.
    assert read("at", "timestamp")[:2] == [datetime(2025, 12, 31, 20, 30), None]  # noqa: DTZ001
    assert read("at", "date")[:2] == [date(2025, 12, 31), None]
    assert read("until", "date") == [None, None, None, None, date(2026, 1, 1)]
    # The calendar goes on where no timestamp can follow.
    connection.execute("UPDATE source SET until = '5874897-12-31' WHERE id = 3")
    moment = datetime(2026, 1, 1)  # noqa: DTZ001
    assert read("until", "timestamp") == [None, None, None, None, moment]
    assert read("until", "text") == [None, None, None, None, "2026-01-01"]
    assert read("since", "date") == [None, None, None, None, date(2026, 1, 1)]
    connection.execute("SET TIME ZONE 'UTC'")


@pytest.mark.parametrize(
    ("dialect", "word", "kind"),
    [
        (POSTGRES, "bytea", "text"),
        (POSTGRES, "integer[]", "integer"),
        (POSTGRES, "double precision", "text"),
        (POSTGRES, "jsonb", "text"),
        (POSTGRES, "date", "integer"),
        (SPARK, "binary", "text"),
        (SPARK, "array<int>", "integer"),
        (SPARK, "map<string,int>", "text"),
        (SPARK, "timestamp", "real"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_what_cannot_be_read_in_every_case_is_refused_beforehand(dialect, word, kind):
    column = Column.model_validate({"name": "c", "type": kind})
    with pytest.raises(InvalidInput, match="there is no way to read every such cell") as refusal:
        clean(column, dialect, {"c": word})
    assert word in refusal.value.message
    assert refusal.value.hint


def test_a_column_that_is_not_there_is_named():
    column = Column.model_validate({"name": "missing", "type": "text"})
    with pytest.raises(InvalidInput, match="no column 'missing'") as refusal:
        clean(column, POSTGRES, {"b": "text", "a": "text"})
    assert refusal.value.hint == "its columns are: a, b."


def test_postgres_is_never_asked_to_try(postgres):
    column = Column.model_validate({"name": "c", "type": "integer"})
    with pytest.raises(InvalidInput, match="type that was not given"):
        clean(column, POSTGRES)
    with pytest.raises(psycopg.Error):
        postgres.rows("SELECT TRY_CAST('x' AS BIGINT)")
