"""One meaning for every operation: arrays in Python and SQL in an engine give the same values."""

from __future__ import annotations

import math
import random
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from discreet.errors import DiscreetError
from discreet.plan.evaluate import Vector, evaluate
from discreet.plan.expressions import Column, Expression, Literal, Meaning, literal
from discreet.plan.intervals import Interval
from discreet.plan.operations import PARTS, STAGE_AGGREGATES, TRUNCATIONS, call, names
from discreet.sql.dialects import DUCKDB
from discreet.sql.emit import expression
from discreet.sql.queries import read_query
from tests.session.generator import CANCELS, Generator

# Two columns of each type, as a snapshot holds them: finite, in range, NULL here and there.
CELLS: dict[str, tuple[Column, list[Any]]] = {}


def _column(name: str, kind: str, cells: list[Any], *, bounds: Interval | None = None) -> Column:
    CELLS[name] = (Column(name, Meaning(kind, bounds or Interval())), cells)  # type: ignore[arg-type]
    return CELLS[name][0]


_WHOLE = [0, 1, -1, 2, 7, -7, 100, 2**31, -(2**31), 2**40, None]
_REALS = [0.0, 0.5, 1.5, 2.5, -0.5, -2.5, 1 / 3, 0.49999999999999994, 1e-300, 5e-324, None]
_HUGE = [*_REALS, 1.7976931348623157e308, -1e308, 1e200, 2.0**53, -(2.0**52) - 0.5]
_TEXTS = [
    *("", " ", "  a ", "a", "A", "ab", "aab", "a%b", "a_b", "\\", "'", '"', "a\tb ", "\n", "é"),
    *("e\u0301", "ß", "İ", "ΑΣ", "ŉ", "ᾀ", "\u00a0a", "👩‍👧x", "0", "NULL", None),
]
_DAYS = [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), date(2026, 1, 4), date(1969, 7, 20)]
_MOMENTS = [
    datetime(1, 1, 1),  # noqa: DTZ001
    datetime(9999, 12, 31, 23, 59, 59),  # noqa: DTZ001
    datetime(2026, 1, 4, 0, 0),  # noqa: DTZ001
    datetime(2026, 1, 31, 23, 59, 59, 999999),  # noqa: DTZ001
    datetime(1969, 12, 31, 23, 0, 0, 1),  # noqa: DTZ001
    None,
]
_SMALL = Interval.of(-(2**40), 2**40)

i, j = (_column(n, "integer", _WHOLE, bounds=_SMALL) for n in ("i", "j"))
k, l = (_column(n, "integer", [*_WHOLE, 2**53, -(2**53)]) for n in ("k", "l"))  # noqa: E741
r, s = (_column(n, "real", [*_REALS, 1e6, -1e6], bounds=Interval.of(-(10**6), 10**6)) for n in "rs")
x, y = (_column(n, "real", _HUGE) for n in ("x", "y"))
b, c = (_column(n, "boolean", [True, False, None]) for n in ("b", "c"))
t, u = (_column(n, "text", _TEXTS) for n in ("t", "u"))
d, e = (_column(n, "date", [*_DAYS, None]) for n in ("d", "e"))
m, n = (_column(name, "timestamp", _MOMENTS) for name in ("m", "n"))
nothing = literal(None)

PAIRS: list[tuple[Expression, ...]] = [
    (i, j),
    (k, l),
    (r, s),
    (x, y),
    (i, x),
    (r, k),
    (i, literal(2)),
    (literal(Fraction(1, 10)), x),
]
SINGLE: list[tuple[Expression, ...]] = [(i,), (k,), (r,), (x,), (literal(-3),), (nothing,)]
COMPARED: list[tuple[Expression, ...]] = [
    *PAIRS,
    (t, u),
    (d, e),
    (m, n),
    (d, m),
    (n, e),
    (b, c),
    (t, nothing),
]
CASES: dict[str, list[tuple[Expression, ...]]] = {
    **{key: [*PAIRS, (x, x), (x, nothing)] for key in ("add", "subtract", "multiply", "divide")},
    "modulo": [(i, j), (i, literal(7)), (i, literal(-7)), (i, literal(0))],
    **dict.fromkeys(("negate", "abs", "floor", "ceil", "round", "sqrt"), SINGLE),
    **{key: [(x,), (r,), (i,), (literal(1),)] for key in ("limit", "flush")},
    "clamp": [
        (i, literal(0), literal(5)),
        (k, literal(0), literal(5)),
        (x, literal(Fraction(-5, 2)), literal(Fraction(1, 3))),
        (r, literal(-1), literal(1)),
    ],
    **{key: [*PAIRS, (x, y, literal(1)), (i, r, x)] for key in ("least", "greatest")},
    **dict.fromkeys(
        ("equal", "differs", "less", "less_equal", "greater", "greater_equal"), COMPARED
    ),
    "in": [
        (i, literal(1), literal(7)),
        (t, literal("a"), literal("")),
        (i, literal(1), nothing),
        (d, literal(date(2024, 2, 29))),
        (x, literal(Fraction(1, 2))),
    ],
    **{key: [(b, c), (b,), (b, c, nothing), (b, literal(value=True))] for key in ("and", "or")},
    "not": [(b,), (nothing,)],
    "is_null": [(i,), (x,), (t,), (d,), (b,), (nothing,)],
    "case": [
        (b, i, j),
        (b, i, c, x, r),
        (b, t, u),
        (b, d, nothing),
        (b, b, c),
        (nothing, i, j),
        (b, literal(2_000_000_000), literal(1)),
    ],
    "coalesce": [(i, j), (i, x), (t, u, literal("none")), (d, e), (b, c), (nothing, i)],
    "nullif": [(i, j), (x, y), (t, u), (d, e), (b, c), (i, x)],
    **{key: [(t,), (nothing,)] for key in ("lower", "upper", "trim", "length")},
    "substring": [
        (t, literal(start), literal(length))
        for start in (0, 1, 2, 2**31 - 1)
        for length in (0, 1, 3, 2**31 - 1)
    ],
    "concat": [(t, u), (t, literal("'x"), u), (t, nothing)],
    "like": [
        (t, literal(pattern))
        for pattern in ("", "%", "_", "a%", "%a", "%a%b", "a_b", "_%_", "%%", "'", "A", "%\n%")
    ],
    "extract": [
        (literal(part), column)
        for part in PARTS
        for column in (d, m)
        if column is m or part not in ("hour", "minute")
    ],
    "date_trunc": [(literal(part), column) for part in TRUNCATIONS for column in (d, m)],
    "to_real": [(i,), (k,), (r,), (x,), (b,)],
    "to_integer": [(i,), (r,), (b,)],
    "to_text": [(i,), (t,), (b,), (d,)],
    "to_date": [(d,), (m,)],
}


@pytest.fixture(scope="module")
def rows() -> dict[str, list[Any]]:
    """Cells mixed at random, after a start in which every column runs through all of its own."""
    pick = random.Random(0)
    return {
        name: [*cells, *(pick.choice(cells) for _ in range(400 - len(cells)))]
        for name, (_, cells) in CELLS.items()
    }


_TYPES = {
    "integer": pa.int64(),
    "real": pa.float64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


@pytest.fixture(scope="module")
def engine(rows):
    """The same rows in DuckDB."""
    with duckdb.connect() as connection:
        table = pa.table(
            {
                name: pa.array(cells, _TYPES[CELLS[name][0].meaning.type])
                for name, cells in rows.items()
            }
        )
        connection.register("arrow", table)
        connection.execute("CREATE TABLE rows AS SELECT * FROM arrow")
        yield connection


def in_engine(connection: duckdb.DuckDBPyConnection, node: Expression) -> list[Any]:
    text = expression(node, DUCKDB)
    answer = connection.sql(f"SELECT {text} AS value FROM rows ORDER BY rowid")
    return [plain(value) for (value,) in answer.fetchall()]


def in_python(rows: dict[str, list[Any]], node: Expression) -> list[Any]:
    found = evaluate(node, {name: Vector.of(cells) for name, cells in rows.items()})
    return [
        plain(value) if there else None
        for value, there in zip(found.data.tolist(), found.valid.tolist(), strict=True)
    ]


def plain(value: Any) -> Any:
    """Numbers as doubles, days as days: types are compared elsewhere."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return float(value)


def agrees(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        # The evaluator may hold conditions as numbers or as objects.
        return one is not None and other is not None and bool(one) == bool(other)
    return bool(one == other)


def test_every_operation_has_a_case():
    assert set(CASES) == set(names()) - STAGE_AGGREGATES


@pytest.mark.parametrize("operation", CASES)
def test_python_and_duckdb_agree(operation, rows, engine):
    for arguments in CASES[operation]:
        node = call(operation, *arguments)
        ours, theirs = in_python(rows, node), in_engine(engine, node)
        for row, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            cells = [rows[a.name][row] if isinstance(a, Column) else a for a in arguments]
            assert agrees(one, other), (operation, cells, one, other)


@pytest.mark.parametrize("operation", CASES)
def test_no_value_leaves_its_bounds_or_is_missing_unforeseen(operation, rows, engine):
    for arguments in CASES[operation]:
        node = call(operation, *arguments)
        check_meaning(node.meaning, in_engine(engine, node))


def check_meaning(meaning: Meaning, values: list[Any]) -> None:
    """What was promised of an expression before any row was read holds for every row."""
    low, high = meaning.bounds.low, meaning.bounds.high
    for value in values:
        if value is None:
            assert meaning.nullable
            continue
        if meaning.type in ("integer", "real"):
            assert math.isfinite(value)
            # Doubles round, and sums are clamped to the bounds once more for that reason.
            slack = abs(value) / 2**40 + 2**-40
            assert low is None or low <= value + slack
            assert high is None or value - slack <= high
        if meaning.domain is not None and meaning.type != "real":
            assert value in meaning.domain


def test_text_in_upper_and_lower_case_agrees_for_every_letter(engine):
    letters = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    letters += ["ΑΣ", "Éß", "éSS", "İi", "Жß", "漢字É", "👩‍👧É", "a\u0345"]
    engine.register("letters", pa.table({"place": range(len(letters)), "t": letters}))
    for operation in ("upper", "lower"):
        node = call(operation, t)
        text = expression(node, DUCKDB)
        theirs = engine.sql(f"SELECT {text} FROM letters ORDER BY place").fetchall()
        ours = evaluate(node, {"t": Vector.of(letters)}).data.tolist()
        assert ours == [value for (value,) in theirs]


def stored(setting, session) -> tuple[dict[str, Vector], int]:
    """The rows of a snapshot as Python sees them."""
    table = session._data["t"].run("SELECT * FROM snapshot ORDER BY rowid")
    schema = session._schemas["t"].columns
    vectors: dict[str, Vector] = {}
    for name, column in schema.items():
        cells = table.column(name).to_pylist()
        if column.step is not None:
            top, bottom = float(column.step.numerator), float(column.step.denominator)
            cells = [None if cell is None else cell * top / bottom for cell in cells]
        vectors[name] = Vector.of(cells)
    return vectors, table.num_rows


def agree_on_a_snapshot(seed: int, folder, *, expressions: int) -> int:
    """Random expressions over the rows of a random snapshot."""
    generator = Generator(seed)
    setting = generator.setting()
    people = generator.people(setting, 12)
    folder.mkdir()
    compared = 0
    with setting.open(generator.shuffled(people), folder) as session:
        session.prepare("t")
        vectors, count = stored(setting, session)
        # Whole numbers beyond 2**53 are exact in the engine and doubles in Python.
        exact = [
            vectors["m"].valid[row] <= (abs(vectors["m"].data[row]) <= 2**53)
            for row in range(count)
        ]
        for _ in range(expressions):
            kind = generator.random.choice(["number", "condition", "text", "key"])
            text = generator.expression(kind, 3)
            try:
                query = read_query(f"SELECT {text}, COUNT(*) FROM t GROUP BY 1", session._schemas)
            except DiscreetError:
                continue
            node = query.core.keys[0].expression
            assert not isinstance(node, Literal)
            sql = f"SELECT {expression(node, DUCKDB)} AS v FROM snapshot ORDER BY rowid"
            theirs = session._data["t"].run(sql).column("v").to_pylist()
            found = evaluate(node, vectors)
            for row in range(count):
                one = plain(found.data[row]) if found.valid[row] else None
                if exact[row]:
                    assert agrees(one, plain(theirs[row])), (seed, text, row, one, theirs[row])
            # What cancels leaves the bounds of reals, which is why sums are clamped once more.
            kept = node.meaning.type != "real" or CANCELS not in text
            bounds = node.meaning.bounds if kept else Interval()
            check_meaning(Meaning(node.meaning.type, bounds, node.meaning.nullable), theirs)
            compared += 1
    return compared


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions_agree(seed, tmp_path):
    assert agree_on_a_snapshot(seed, tmp_path / "data", expressions=60) > 20


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_expressions_agree(seed, tmp_path):
    assert agree_on_a_snapshot(seed, tmp_path / "data", expressions=300) > 100
