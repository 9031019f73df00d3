"""At most so many rows of each person, the same ones for every aggregate, whatever their order."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from discreet.engines.duckdb import DuckDB
from discreet.plan.expressions import Column
from discreet.session.session import Session
from tests.session.generator import Generator, Rows, Setting
from tests.session.made import select

QUERIES = [
    "SELECT COUNT(*), SUM(n), AVG(x), COUNT(y), SUM(CLAMP(y, -1, 1)), AVG(n * x) FROM t",
    "SELECT w, COUNT(*), SUM(x), COUNT(v) FROM t GROUP BY w",
    "SELECT f, d, SUM(n), AVG(CLAMP(m, 0, 9)) FROM t WHERE x < 1 GROUP BY f, d",
    "SELECT v, COUNT(*), SUM(SQRT(ABS(x))) FROM t GROUP BY v",
]


def threads(session: Session, count: int) -> None:
    """Let the session's engine use so many threads."""
    data = session._data["t"]
    data.close()
    old = data._engine
    assert isinstance(old, DuckDB)
    data._engine = DuckDB(old.path, source=old._source, paths=old._paths, threads=count)


def exact(session: Session, text: str) -> tuple[Any, ...]:
    """All that a query measures, keys included, to the last bit."""
    aggregates = session.aggregate(session.plan(text, epsilon=1))
    keys = [c if isinstance(c, tuple) else tuple(c.to_pylist()) for c in aggregates.keys]
    return (*map(repr, keys), *(tuple(values.tolist()) for values in aggregates.values))


def check_order(seed: int, shuffles: int, folder: Path) -> None:
    generator = Generator(seed)
    setting = generator.setting()
    people = generator.people(setting, 40)
    folder.mkdir()
    seen: dict[str, set[Any]] = {text: set() for text in QUERIES}
    with setting.open(generator.shuffled(people), folder) as session:
        for turn in range(shuffles):
            threads(session, 1 + turn % 2)
            setting.swap(session, generator.shuffled(people), folder)
            for text in QUERIES:
                seen[text].add(exact(session, text))
    assert [len(found) for found in seen.values()] == [1] * len(QUERIES)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_and_the_number_of_threads_change_nothing(seed, tmp_path):
    check_order(seed, 6, tmp_path / "data")


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10, 14))
def test_two_hundred_orders_on_one_and_two_threads_change_nothing(seed, tmp_path):
    check_order(seed, 400, tmp_path / "data")


LARGE = """
    SELECT (i * 7919) % 60000 AS u, CAST((i * 31) % 1000 - 400 AS INTEGER) AS n, i % 97 AS m,
        ((i * 7919) % 1000003) / 7.0 AS x, CASE WHEN i % 5 = 0 THEN NULL ELSE SIN(i) END AS y,
        'w' || (i % 6) AS w, 'v' || (i % 1000) AS v, i % 3 = 0 AS f,
        DATE '2026-01-01' + CAST(i % 50 AS INTEGER) AS d,
        TIMESTAMP '2026-01-01 00:00:00' AS s
    FROM RANGE({rows}) t(i) ORDER BY HASH(i + {turn})
"""


@pytest.mark.parametrize(
    ("rows", "turns"), [(250_000, 2), pytest.param(250_000, 60, marks=pytest.mark.deep)]
)
def test_large_tables_that_engines_share_out_give_the_same_sums(rows, turns, tmp_path):
    setting = Setting(
        types={**Generator(1).setting().types, "u": "integer"},
        as_text=frozenset(),
        unit="u",
        rows_per_unit=3,
        relation="add_remove",
        bounds={"n": (0, 500), "x": (0, 100_000)},
        keys={"w": ["w0", "w1"]},
        missing={},
        grids={},
        bounding={},
    )
    path = tmp_path / "t.parquet"
    select(LARGE.format(rows=rows, turn=0), path)
    seen: dict[str, set[Any]] = {text: set() for text in QUERIES}
    with _opened(setting, path) as session:
        for turn in range(turns):
            select(LARGE.format(rows=rows, turn=turn), path)
            for count in (1, 2):
                threads(session, count)
                session.prepare("t", refresh=True)
                for text in QUERIES:
                    seen[text].add(exact(session, text))
    assert [len(found) for found in seen.values()] == [1] * len(QUERIES)


def _opened(setting: Setting, path: Path) -> Session:
    from discreet.session.opening import open_policy

    return open_policy(setting.policy(path), beside=path.parent)


# Caps --------------------------------------------------------------------------------------------

SAME_ROWS = [
    # Each pair counts the same rows in two ways.
    ("COUNT(*)", "SUM(CASE WHEN TRUE THEN 1 END)"),
    ("COUNT(*)", "SUM(CASE WHEN f THEN 1 ELSE 1 END)"),
    ("COUNT(n)", "SUM(CASE WHEN n IS NOT NULL THEN 1 ELSE 0 END)"),
    ("COUNT(v)", "COUNT(*) FILTER (WHERE v IS NOT NULL)"),
    ("COUNT(x) FILTER (WHERE f)", "SUM(CASE WHEN f AND x IS NOT NULL THEN 1 ELSE 0 END)"),
]


def adversarial(pick: random.Random, generator: Generator, setting: Setting) -> Rows:
    """One person with very many rows, everybody tied, rows of nobody, duplicates."""
    plain = [generator.row(setting, None) for _ in range(6)]
    ids = [1, 2, 3, 4, None] if setting.types.get("u") == "integer" else ["a", "b", "", "a ", None]
    rows = []
    for unit in ids:
        for _ in range(pick.choice([1, 5, 40])):
            rows.append(dict(pick.choice(plain)) | ({"u": unit} if setting.unit else {}))
    crowd = pick.choice([0, 500, 2000])
    rows += [dict(plain[0]) | ({"u": ids[0]} if setting.unit else {}) for _ in range(crowd)]
    pick.shuffle(rows)
    return rows


def check_caps(seed: int, folder: Path) -> None:
    pick, generator = random.Random(seed), Generator(seed)
    setting = generator.setting()
    rows = adversarial(pick, generator, setting)
    folder.mkdir()
    with setting.open(rows, folder) as session:
        session.prepare("t")
        engine = session._data["t"]
        if setting.unit is None:
            kept = engine.run("SELECT COUNT(*) AS c FROM snapshot").column("c").to_pylist()
            assert kept == [len(rows)]
        else:
            table = engine.run(
                'SELECT "_discreet_unit" AS u, COUNT(*) AS c FROM snapshot GROUP BY 1'
            )
            kept = dict(zip(*(table.column(c).to_pylist() for c in ("u", "c")), strict=True))
            owned = Counter(row["u"] for row in rows if row["u"] is not None)
            assert None not in kept
            assert sorted(kept.values()) == sorted(
                min(count, setting.rows_per_unit) for count in owned.values()
            )
        for grouping in ("", "w", "v", "f, d"):
            items = ", ".join(f"{a} AS a{i}, {b} AS b{i}" for i, (a, b) in enumerate(SAME_ROWS))
            text = f"SELECT {items} FROM t" + (f" GROUP BY {grouping}" if grouping else "")
            request = session.plan(text, epsilon=1)
            values, recipes = session.aggregate(request).values, request.noise.lowered.recipes
            asked = {
                name: values[recipes[int(value.name[1:])].total].tolist()
                for name, value in request.query.stages[0].columns
                if isinstance(value, Column)
            }
            for index in range(len(SAME_ROWS)):
                assert asked[f"a{index}"] == asked[f"b{index}"], (seed, text)


@pytest.mark.parametrize("seed", range(10))
def test_the_cap_holds_and_all_aggregates_see_the_same_rows(seed, tmp_path):
    check_caps(seed, tmp_path / "data")


@pytest.mark.deep
@pytest.mark.parametrize("block", range(10))
def test_the_cap_holds_on_a_thousand_adversarial_tables(block, tmp_path):
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        check_caps(seed, tmp_path / str(seed))


def test_one_person_with_a_hundred_thousand_rows_counts_as_one(tmp_path):
    path = tmp_path / "t.parquet"
    select(
        "SELECT CASE WHEN i < 100000 THEN 7 ELSE i END AS u, i % 50 AS n FROM RANGE(100200) t(i)",
        path,
    )
    import discreet

    with discreet.open(
        path, unit="u", rows_per_unit=3, bounds={"n": (0, 50)}, epsilon=10**6
    ) as session:
        request = session.plan("SELECT COUNT(*), COUNT(DISTINCT u) FROM t", epsilon=1)
        values = [values.tolist() for values in session.aggregate(request).values]
    assert values == [[203], [201]]


def test_which_rows_are_kept_depends_on_the_persons_own_rows_alone(tmp_path):
    """Adding other people moves nothing of this person's."""
    generator = Generator(3)
    setting = next(s for s in iter(generator.setting, None) if s.unit and s.rows_per_unit > 1)
    people = [rows for rows in generator.people(setting, 12) if rows[0]["u"] is not None]
    folder = tmp_path / "data"
    folder.mkdir()

    def kept(session: Session) -> set[str]:
        table = session._data["t"].run("SELECT * FROM snapshot")
        return {repr(row) for row in table.to_pylist() if row["_discreet_unit"] == unit}

    with setting.open(generator.shuffled(people), folder) as session:
        session.prepare("t")
        unit = session._data["t"].run("SELECT * FROM snapshot").to_pylist()[0]["_discreet_unit"]
        everybody = kept(session)
        for count in (1, 3, 6):
            setting.swap(session, generator.shuffled(people), folder)
            some = [people[i] for i in generator.random.sample(range(len(people)), count)]
            setting.swap(session, generator.shuffled(some), folder)
            assert kept(session) in (everybody, set())


@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (2, 1), (3, 2), (5, 4)])
@pytest.mark.parametrize("key", ["w", "v"])
def test_a_person_counts_in_so_many_groups_and_so_often_in_each(groups, rows, key, tmp_path):
    """One person in ten groups, five times in each: w is public, v private."""
    path = tmp_path / "t.parquet"
    select("SELECT 7 AS u, 'k' || (i % 10) AS w, 'k' || (i % 10) AS v FROM RANGE(50) t(i)", path)
    import discreet

    with discreet.open(
        path,
        unit="u",
        rows_per_unit=50,
        groups_per_unit=groups,
        rows_in_group=rows,
        keys={"w": [f"k{i}" for i in range(10)]},
        epsilon=10,
        delta=1e-3,
        delta_per_query=1e-6,
    ) as session:
        request = session.plan(f"SELECT {key}, COUNT(*) FROM t GROUP BY 1", epsilon=1)
        counts = session.aggregate(request).values[0].tolist()
        assert sorted(count for count in counts if count) == [rows] * groups
        assert sum(counts) == request.noise.sensitivities[0].l1
