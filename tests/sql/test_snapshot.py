"""Whatever a cell holds, it becomes a value of the declared type, in range, or NULL."""

from __future__ import annotations

import math
from datetime import date, datetime
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.policy import Column as Declared
from discreet.policy import Dataset, Policy
from discreet.session.opening import open_policy
from discreet.sql.cleaning import clean_unit
from discreet.sql.dialects import DUCKDB

BUDGET = {"epsilon": 1, "delta": 0}
SPECIAL_REALS = [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308, None, 1.5]
TEXTS = [
    *(
        "nan",
        "inf",
        "-Infinity",
        "-0",
        "5e-324",
        "1e999",
        "-1e999",
        "",
        "abc",
        "1,5",
        " 1.5 ",
        "1.5",
    ),
    *("0x1F", "1_000", "9" * 30, "true", "NULL", "'", None),
]


def Column(**settings: Any) -> Declared:
    """A declared column called ``c``, or as it says."""
    return Declared.model_validate({"name": "c"} | settings)


def dataset(column: Declared, source: dict[str, Any], **settings: Any) -> Policy:
    made = Dataset.model_validate(
        {"name": "t", "source": source, "unit": None, "columns": {column.name: column}}
        | {"budget": BUDGET, "analysts": {"ann": BUDGET}}
        | settings
    )
    return Policy(datasets={"t": made})


def cleaned(column: Declared, path: Path, **source: Any) -> list[Any]:
    """The cells of a snapshot of one column, in the order of the file."""
    kind = {".parquet": "parquet", ".csv": "csv", ".duckdb": "duckdb"}[path.suffix]
    policy = dataset(column, {"kind": kind, "path": str(path)} | source)
    with open_policy(policy, beside=path.parent) as session:
        session.prepare("t")
        table = session._data["t"].run("SELECT * FROM snapshot ORDER BY rowid")
        assert table.column_names == [column.name]
        return list(table.column(column.name).to_pylist())


def write(
    folder: Path, cells: list[Any], kind: pa.DataType, suffix: str
) -> tuple[Path, dict[str, Any]]:
    """A file of one column ``c``."""
    path = folder / f"t{suffix}"
    array = pa.array(cells, kind)
    if suffix == ".parquet":
        pq.write_table(pa.table({"c": array}), path)
        return path, {}
    if suffix == ".csv":
        lines = ["" if cell is None else '"' + str(cell).replace('"', '""') + '"' for cell in cells]
        path.write_text("c,d\n" + "".join(f"{line},0\n" for line in lines))
        return path, {}
    with duckdb.connect(str(path)) as connection:
        connection.register("arrow", pa.table({"c": array}))
        connection.execute("CREATE TABLE v AS SELECT * FROM arrow")
    return path, {"table": "v"}


SUFFIXES = [".parquet", ".duckdb"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_reals_with_bounds_become_steps(suffix, tmp_path):
    column = Column(type="real", bounds=(-2, 2), grid=Fraction(1, 10))
    path, source = write(tmp_path, SPECIAL_REALS, pa.float64(), suffix)
    assert cleaned(column, path, **source) == [None, 20, -20, 0, 0, 20, None, 15]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_reals_without_bounds_are_moderate_and_have_one_zero(suffix, tmp_path):
    cells = [*SPECIAL_REALS, 1e120, -1e-120]
    path, source = write(tmp_path, cells, pa.float64(), suffix)
    found = cleaned(Column(type="real"), path, **source)
    assert found == [None, None, None, 0.0, 0.0, None, None, 1.5, 1e120, -1e-120]
    assert math.copysign(1, found[3]) == 1


@pytest.mark.parametrize("others", list(permutations([3.0, -50.0, math.inf], 2)))
def test_what_nan_becomes_does_not_depend_on_the_other_rows(others, tmp_path):
    path, _ = write(tmp_path, [math.nan, *others], pa.float64(), ".parquet")
    bounded = Column(type="real", bounds=(-2, 2), grid=1)
    assert cleaned(bounded, path)[0] is None
    (tmp_path / "again").mkdir()
    again, _ = write(tmp_path / "again", [math.nan, *others], pa.float64(), ".parquet")
    assert cleaned(Column(type="real"), again)[0] is None


def test_a_missing_value_takes_the_place_of_what_cannot_be_read(tmp_path):
    column = Column(type="real", bounds=(-2, 2), grid=Fraction(1, 2), missing=1)
    path, _ = write(tmp_path, SPECIAL_REALS, pa.float64(), ".parquet")
    assert cleaned(column, path) == [2, 4, -4, 0, 0, 4, 2, 3]


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".csv"])
def test_reals_in_text(suffix, tmp_path):
    column = Column(type="real", bounds=(-2, 2), grid=Fraction(1, 2))
    path, source = write(tmp_path, TEXTS, pa.string(), suffix)
    found = cleaned(column, path, **source)
    named = dict(zip(TEXTS, found, strict=True))
    assert all(cell is None or -4 <= cell <= 4 for cell in found)
    assert named["1.5"] == named[" 1.5 "] == 3
    assert named["inf"] == 4
    assert named["-Infinity"] == -4
    for unreadable in ("nan", "abc", "1,5", "", "'", None):
        assert named[unreadable] is None


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_whole_numbers(suffix, tmp_path):
    cells = [0, 2**63 - 1, -(2**63), None, 7]
    path, source = write(tmp_path, cells, pa.int64(), suffix)
    bounded = Column(type="integer", bounds=(-5, 5))
    assert cleaned(bounded, path, **source) == [0, 5, -5, None, 5]
    free = tmp_path / "free"
    free.mkdir()
    path, source = write(free, cells, pa.int64(), suffix)
    assert cleaned(Column(type="integer"), path, **source) == cells


def test_whole_numbers_in_text_and_in_other_types(tmp_path):
    column = Column(type="integer", bounds=(-100, 100))
    path, _ = write(tmp_path, ["7", "x", "", "9" * 40, "1e2", None], pa.string(), ".csv")
    assert cleaned(column, path) == [7, None, None, None, 100, None]
    others: list[tuple[list[Any], pa.DataType]] = [
        ([math.nan, math.inf, 1e300, 7.0, None], pa.float64()),
        ([2**64 - 1, 7, 0], pa.uint64()),
        ([True, False, None], pa.bool_()),
        ([date(2026, 1, 1), None], pa.date32()),
    ]
    for number, (cells, kind) in enumerate(others):
        folder = tmp_path / str(number)
        folder.mkdir()
        path, _ = write(folder, cells, kind, ".parquet")
        assert all(cell is None or -100 <= cell <= 100 for cell in cleaned(column, path))


def test_huge_decimals(tmp_path):
    from decimal import Decimal

    cells = [Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(3), None]
    path, _ = write(tmp_path, cells, pa.decimal128(38, 0), ".parquet")
    assert cleaned(Column(type="integer", bounds=(0, 9)), path) in (
        [9, 0, 3, None],
        [None, None, 3, None],
    )
    other = tmp_path / "real"
    other.mkdir()
    path, _ = write(other, cells, pa.decimal128(38, 0), ".parquet")
    assert cleaned(Column(type="real", bounds=(0, 9), grid=1), path) == [9, 0, 3, None]


DAYS = [0, 2**31 - 1, -(2**31) + 1, 5_000_000, -719162, 2932896, 20454, None]


def test_dates(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"c": pa.array(DAYS, pa.int32()).cast(pa.date32())}), path)
    free = cleaned(Column(type="date"), path)
    epoch, plain = date(1970, 1, 1), date(2026, 1, 1)
    assert free == [epoch, None, None, None, date(1, 1, 1), date(9999, 12, 31), plain, None]
    other = tmp_path / "bounded"
    other.mkdir()
    path = other / "t.parquet"
    pq.write_table(pa.table({"c": pa.array(DAYS, pa.int32()).cast(pa.date32())}), path)
    low, high = date(2025, 1, 1), date(2025, 12, 31)
    bounded = cleaned(Column(type="date", bounds=(low, high)), path)
    assert bounded == [low, None, None, None, low, high, high, None]


def test_dates_in_text(tmp_path):
    cells = ["2026-01-31", "2026-02-30", "infinity", "", "99999-01-01", "x", "0044-03-15 (BC)"]
    path, _ = write(tmp_path, cells, pa.string(), ".csv")
    found = cleaned(Column(type="date"), path)
    assert found == [date(2026, 1, 31), *([None] * 6)]


def test_timestamps(tmp_path):
    cells = [0, 2**63 - 1, -(2**63) + 1, 300_000_000_000_000_000, None]
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"c": pa.array(cells, pa.int64()).cast(pa.timestamp("us"))}), path)
    found = cleaned(Column(type="timestamp"), path)
    assert found == [datetime(1970, 1, 1), None, None, None, None]  # noqa: DTZ001


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
def test_timestamps_of_other_precision(unit, tmp_path):
    path = tmp_path / "t.parquet"
    cells = pa.array([0, 2**40, None], pa.int64()).cast(pa.timestamp(unit))
    pq.write_table(pa.table({"c": cells}), path, use_deprecated_int96_timestamps=False)
    found = cleaned(Column(type="timestamp"), path)
    assert found[0] == datetime(1970, 1, 1)  # noqa: DTZ001
    assert found[2] is None


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".csv"])
def test_text_stays_as_it_is(suffix, tmp_path):
    cells = ["a", " a", "é", "e\u0301", "'", '"', "a,b", "line\nline", "é" * 5000, "👩‍👧", None]
    path, source = write(tmp_path, cells, pa.string(), suffix)
    # All of it, but for what is longer than any cell may be.
    kept = [cell and cell[:1000] for cell in cells]
    assert cleaned(Column(type="text"), path, **source) == kept


def test_conditions(tmp_path):
    path, _ = write(
        tmp_path, ["true", "F", "1", "0", "yes", "maybe", "", None], pa.string(), ".csv"
    )
    found = cleaned(Column(type="boolean"), path)
    assert found[:4] == [True, False, True, False]
    assert set(found[4:]) <= {True, False, None}
    assert found[5:] == [None, None, None]


def test_a_csv_file_full_of_faults_is_read_all_the_same(tmp_path):
    path = tmp_path / "t.csv"
    rows = ["c,d", "1,2", "3", "4,5,6", '"7', '8",9', "\xff\xfe,1", "," * 50, "x" * 3_000_000]
    ends = ["\n", "\r\n", "\n", "\n", "\n", "\r\n", "\n", "\n", "\n"]
    body = "".join(row + end for row, end in zip(rows, ends, strict=True)) + "10,11\n"
    path.write_bytes(body.encode("latin-1"))
    found = cleaned(Column(type="integer"), path)
    assert {1, 3, 10} <= set(found)


def test_quoted_line_breaks_do_not_stop_a_large_csv_file(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f'{i},"a\nb","{"x" * 80}"' for i in range(40_000)]
    path.write_text("c,d,e\n" + "\n".join(lines) + "\n")
    assert len(cleaned(Column(type="integer"), path)) == 40_000


def test_columns_that_were_not_declared_are_not_there(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"c": [1], "secret": ["x"]}), path)
    assert cleaned(Column(type="integer"), path) == [1]


def test_files_of_a_glob_are_one_table_by_name(tmp_path):
    pq.write_table(pa.table({"c": [1], "d": [2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"d": [4], "c": [3]}), tmp_path / "b.parquet")
    policy = dataset(
        Column(type="integer"), {"kind": "parquet", "path": str(tmp_path / "*.parquet")}
    )
    with open_policy(policy, beside=tmp_path) as session:
        session.prepare("t")
        table = session._data["t"].run("SELECT c FROM snapshot ORDER BY c")
    assert table.column("c").to_pylist() == [1, 3]


def test_csv_files_of_a_glob_are_one_table_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("c,d\n1,2\n")
    (tmp_path / "b.csv").write_text("d,c\n4,3\n")
    policy = dataset(Column(type="integer"), {"kind": "csv", "path": str(tmp_path / "*.csv")})
    with open_policy(policy, beside=tmp_path) as session:
        session.prepare("t")
        table = session._data["t"].run("SELECT c FROM snapshot ORDER BY c")
    assert table.column("c").to_pylist() == [1, 3]


def test_names_in_quotes_stay_names(tmp_path):
    name = """o'"dd; DROP TABLE snapshot --"""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({name: [1, 2]}), path)
    assert cleaned(Column(name=name, type="integer"), path) == [1, 2]


@pytest.mark.parametrize("kind", ["DOUBLE", "VARCHAR", "DECIMAL(30, 2)"])
def test_a_unit_that_is_no_whole_number_is_nobody(kind):
    """Rounded, 1.2 and 1.4 would be one person with the rows of both."""
    read = clean_unit(Declared(name="c", type="integer"), "key", DUCKDB, {"c": kind.lower()})
    cells = ", ".join(f"(CAST({c} AS {kind}))" for c in ("1", "1.2", "1.4", "-2.0", "NULL"))
    found = duckdb.execute(f"SELECT {read} FROM (VALUES {cells}) AS t(c)").fetchall()
    assert found == [(1,), (None,), (None,), (-2,), (None,)]


@pytest.mark.parametrize(
    ("kind", "longest"),
    [
        ("UBIGINT", 2**64 - 1),
        ("HUGEINT", -(2**127) + 1),
        ("UHUGEINT", 2**128 - 1),
        ("DECIMAL(38, 0)", -(10**38) + 1),
        ("DECIMAL(38, 2)", 10**36 - 1),
        ("VARCHAR", 10**28 - 1),
    ],
)
def test_nobody_is_lost_for_a_long_number(kind, longest, tmp_path):
    """Numbers beyond 64 bits are people too, and two of them that a double cannot tell apart."""
    names = (longest, longest - 1 if longest > 0 else longest + 1, 2**63, 2**53 + 1, 2**53, 7)
    cells = ", ".join(f"(CAST('{name}' AS {kind}))" for name in (*names, 7))
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {cells}) AS t(c)")
    policy = dataset(
        Column(type="integer"),
        {"kind": "duckdb", "path": str(path), "table": "t"},
        unit="c",
        rows_per_unit=1,
    )
    with open_policy(policy, beside=tmp_path) as session:
        session.prepare("t")
        table = session._data["t"].run('SELECT "_discreet_unit"::VARCHAR AS u FROM snapshot')
        request = session.plan("SELECT COUNT(DISTINCT c), COUNT(*) FROM t", epsilon=1)
        counted = [values.tolist() for values in session.aggregate(request).values]
    assert sorted(table.column("u").to_pylist()) == sorted(map(str, names))
    assert counted == [[len(names)], [len(names)]]


def test_half_of_the_people_of_a_parquet_file_are_not_above_sixty_three_bits(tmp_path):
    import discreet

    path = tmp_path / "t.parquet"
    who = [(index * 0x9E3779B97F4A7C15) % 2**64 for index in range(1000)]
    pq.write_table(pa.table({"who": pa.array(who, pa.uint64())}), path)
    with discreet.open(path, unit="who", rows_per_unit=1, epsilon=1) as session:
        request = session.plan("SELECT COUNT(DISTINCT who) FROM t", epsilon=1)
        assert session.aggregate(request).values[0].tolist() == [1000]


def test_a_unit_of_one_type_is_read_anew_when_the_file_has_another(tmp_path):
    import discreet

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"who": pa.array([1, 2], pa.int64())}), path)
    with discreet.open(path, unit="who", rows_per_unit=1, epsilon=1) as session:
        session.prepare()
        pq.write_table(pa.table({"who": pa.array([1, 2**64 - 1], pa.uint64())}), path)
        session.prepare(refresh=True)
        request = session.plan("SELECT COUNT(DISTINCT who) FROM t", epsilon=1)
        assert session.aggregate(request).values[0].tolist() == [2]


def test_a_file_may_be_away_while_its_snapshot_serves(tmp_path):
    import discreet

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"who": pa.array([1, 2, 2**64 - 1], pa.uint64())}), path)
    given = {"unit": "who", "rows_per_unit": 1, "epsilon": 1}
    with discreet.open(path, **given) as session:
        session.prepare()
        path.rename(tmp_path / "away")
        request = session.plan("SELECT COUNT(*) FROM t", epsilon=1)
        assert session.aggregate(request).values[0].tolist() == [3]
