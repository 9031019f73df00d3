"""No cell can make a query fail, and none is quoted in anything that an analyst sees."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.duckdb import DuckDB
from discreet.errors import DiscreetError, EngineFailed
from discreet.plan.operations import STAGE_AGGREGATES, names
from discreet.session.session import Session
from tests.session.generator import ODD, UNREADABLE, Generator, Rows, Setting
from tests.session.made import ward
from tests.sql.escapes import LONG, STATEMENTS, doubled

SECRET = "SECRET-ALICE"


def outcome(session: Session, text: str) -> tuple[Any, ...]:
    """What an analyst sees but for the noise: the error in full, or the answer's shape."""
    try:
        answer = session.sql(text, epsilon=1)
    except DiscreetError as error:
        return (error.code, str(error), error.to_json()["error"]["message"])
    seen = str(answer) + answer._repr_html_() + repr(answer.to_json()) + answer.statement()
    assert SECRET not in seen
    shape = [(column.name, column.type, column.low is None) for column in answer.columns]
    public = session.plan(text, epsilon=1).query
    plain = public.core.keys_are_public and "HAVING" not in text
    return ("answer", shape, len(answer) if plain else None)


def cursed(generator: Generator, setting: Setting, unit: Any) -> Rows:
    """A person whose cells are all odd, and some secret."""
    rows = []
    for _ in range(setting.rows_per_unit + 2):
        row: dict[str, Any] = {} if setting.unit is None else {setting.unit: unit}
        for name, kind in setting.types.items():
            if name == setting.unit:
                continue
            if kind == "text" or name in setting.as_text:
                row[name] = generator.random.choice([SECRET, *UNREADABLE])
            else:
                row[name] = generator.random.choice(ODD[kind])
        rows.append(row)
    return rows


def faults(seed: int, queries: int, folder: Path) -> Counter[str]:
    generator = Generator(seed)
    setting = generator.setting()
    people = generator.people(setting, 5)
    text = setting.unit is not None and setting.types[setting.unit] == "text"
    person = cursed(generator, setting, SECRET if text else 10**9)
    folder.mkdir()
    texts = [generator.query(setting) for _ in range(queries)]
    # A private key of one person is shown with a chance below 1e-12 for each query.
    with setting.open(generator.shuffled(people), folder, delta_per_query=1e-12) as session:
        without = [outcome(session, each) for each in texts]
        setting.swap(session, generator.shuffled([*people, person]), folder)
        beside = [outcome(session, each) for each in texts]
    for each, one, other in zip(texts, without, beside, strict=True):
        assert one == other, (seed, each)
        assert one[0] != EngineFailed.code, (seed, each)
    return Counter(one[0] for one in without)


@pytest.mark.parametrize("seed", range(10))
def test_one_persons_odd_cells_change_neither_success_nor_words(seed, tmp_path, capfd):
    became = faults(seed, 20, tmp_path / "data")
    assert became["answer"] >= 8
    assert SECRET not in "".join(capfd.readouterr())


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 150))
def test_a_thousand_faults_change_neither_success_nor_words(seed, tmp_path):
    faults(seed, 20, tmp_path / "data")


# Every operation on every odd cell ---------------------------------------------------------------

EVERY: dict[str, list[str]] = {
    "add": ["n + m", "x + y", "n + 1e100", "y + y"],
    "subtract": ["n - m", "x - y", "y - y"],
    "multiply": ["n * m", "x * y", "y * y * 0", "y * 1e100"],
    "divide": ["n / m", "x / y", "1 / y", "y / 1e-100", "0 / n"],
    "limit": ["y * y * y", "y / (y * y)", "n * 1e100 * 1e100 * 1e100 * 1e100"],
    "flush": ["y * y * y", "1 / (y * y * y)"],
    "modulo": ["n % 7", "n % n", "CLAMP(m, -5, 5) % n"],
    "negate": ["-n", "-m", "-y"],
    "abs": ["ABS(n)", "ABS(m)", "ABS(y)"],
    "floor": ["FLOOR(n)", "FLOOR(m)", "FLOOR(y)", "FLOOR(y * y * 0)"],
    "ceil": ["CEIL(m)", "CEIL(y)", "CEIL(x)"],
    "round": ["ROUND(m)", "ROUND(y)", "ROUND(x, 3)", "ROUND(y, 12)"],
    "sqrt": ["SQRT(n)", "SQRT(m)", "SQRT(y)", "SQRT(-x)"],
    "clamp": ["CLAMP(m, -9, 9)", "CLAMP(y, 0, 1e100)", "CLAMP(y * y, 0, 1)"],
    "least": ["LEAST(m, y)", "LEAST(n, 3, x)"],
    "greatest": ["GREATEST(m, y)", "GREATEST(n, 3, x)"],
    "equal": ["m = y", "w = v", "d = s", "f = f", "m = 1e100"],
    "differs": ["m <> y", "w <> v", "d <> s"],
    "less": ["m < y", "w < v", "d < s", "f < f"],
    "less_equal": ["m <= y", "w <= v"],
    "greater": ["m > y", "w > v"],
    "greater_equal": ["m >= y", "w >= v"],
    "in": ["m IN (1, 2, NULL)", "w IN ('', 'a')", "d IN (DATE '2026-01-01')", "y IN (0, 0.5)"],
    "and": ["f AND n > 0"],
    "or": ["f OR n > 0"],
    "not": ["NOT f"],
    "is_null": ["m IS NULL", "y IS NULL", "d IS NULL", "s IS NULL", "v IS NOT NULL"],
    "case": ["CASE WHEN f THEN m ELSE y END", "CASE WHEN f THEN 2000000000 ELSE 1 END * 3"],
    "coalesce": ["COALESCE(m, n)", "COALESCE(y, m)", "COALESCE(v, w)"],
    "nullif": ["NULLIF(m, y)", "NULLIF(v, w)", "NULLIF(d, DATE '2026-01-01')"],
    "lower": ["LOWER(v)"],
    "upper": ["UPPER(v)"],
    "trim": ["TRIM(v)"],
    "length": ["LENGTH(v)", "LENGTH(UPPER(v))"],
    "substring": ["SUBSTRING(v, 0, 2)", "SUBSTRING(v, 2147483647, 2147483647)", "SUBSTRING(v, 2)"],
    "concat": ["v || w", "v || NULL"],
    "like": ["v LIKE '%'", "v LIKE '_a%'", "v LIKE ''"],
    "extract": [
        *(f"EXTRACT({part} FROM d)" for part in ("year", "quarter", "month", "day", "isodow")),
        *(f"EXTRACT({part} FROM s)" for part in ("year", "hour", "minute", "isodow")),
    ],
    "date_trunc": [
        f"DATE_TRUNC('{part}', {column})"
        for part in ("year", "quarter", "month", "week", "day")
        for column in "ds"
    ],
    "to_real": ["CAST(m AS DOUBLE)", "CAST(f AS DOUBLE)"],
    "to_integer": ["CAST(x AS INTEGER)", "CAST(f AS INTEGER)", "CAST(n AS BIGINT)"],
    "to_text": ["CAST(m AS VARCHAR)", "CAST(d AS VARCHAR)", "CAST(f AS VARCHAR)"],
    "to_date": ["CAST(s AS DATE)", "CAST(d AS DATE)"],
}


def test_every_operation_is_here():
    assert set(EVERY) == set(names()) - STAGE_AGGREGATES


@pytest.mark.parametrize("seed", range(2))
def test_every_operation_stands_every_cell(seed, tmp_path):
    """With and without a person who owns every odd cell, each query succeeds, in one shape."""
    generator = Generator(seed)
    setting = next(s for s in iter(generator.setting, None) if s.unit and s.rows_per_unit > 1)
    most = max(len(cells) for cells in (*ODD.values(), UNREADABLE))
    odd = [
        {"u": "x" if setting.types["u"] == "text" else 99}
        | {
            name: cells[i % len(cells)]
            for name, kind in setting.types.items()
            if name != "u"
            for cells in [UNREADABLE if name in setting.as_text else ODD[kind]]
        }
        for i in range(most)
    ]
    # Every cell is to be met, so the cap must not hide any.
    setting = replace(setting, rows_per_unit=most)
    texts = [
        template.format(each)
        for expressions in EVERY.values()
        for each in expressions
        for template in (
            "SELECT COUNT({0}) FROM t",
            "SELECT {0} AS k, COUNT(*) FROM t GROUP BY 1",
            "SELECT COUNT(*) FROM t WHERE ({0}) IS NULL",
        )
    ]
    folder = tmp_path / "data"
    folder.mkdir()

    def run(session: Session) -> list[tuple[Any, ...]]:
        shapes = []
        for text in texts:
            request = session.plan(text, epsilon=1)
            found = session.aggregate(request)
            public = request.query.core.keys_are_public
            shapes.append((text, found.groups if public else None, len(found.values)))
        return shapes

    with setting.open([], folder) as session:
        without = run(session)
        setting.swap(session, odd, folder)
        assert run(session) == without


# Nothing that is refused reaches the engine ------------------------------------------------------


def test_what_is_refused_never_reaches_the_engine(tmp_path, monkeypatch):
    with ward(tmp_path, name="visits") as session:
        session.prepare()
        ran: list[str] = []
        plain = DuckDB.run

        def counting(self: DuckDB, sql: str, **settings: Any) -> Any:
            ran.append(sql)
            return plain(self, sql, **settings)

        monkeypatch.setattr(DuckDB, "run", counting)
        before = session.balance().remaining
        for text in [*STATEMENTS, *LONG, doubled(30)]:
            for ask in (session.sql, session.explain):
                with pytest.raises(DiscreetError) as refusal:
                    ask(text, epsilon=1)
                assert refusal.value.code != EngineFailed.code
        assert ran == []
        assert session.balance().remaining == before
        session.sql("SELECT COUNT(*) FROM visits", epsilon=1)
        assert len(ran) == 1
