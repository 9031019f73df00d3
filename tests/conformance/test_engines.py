"""One plan, three engines, one meaning: the same snapshot, values, keys and integers on each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import md5
from pathlib import Path
from typing import Any

import psycopg
import pytest

from discreet.errors import DiscreetError, InvalidInput
from discreet.plan.bounding import boundings
from discreet.plan.expressions import Expression, literal
from discreet.plan.operations import call
from discreet.plan.primitives import lower
from discreet.plan.schema import Schema
from discreet.policy.model import Dataset
from discreet.sql.core import RANK, UNIT, measure
from discreet.sql.dialects import POSTGRES, SPARK
from discreet.sql.emit import expression, identifier
from discreet.sql.hashing import digest
from discreet.sql.queries import read_query
from tests.conformance.engines import KEY, Engine, InDuckDB, InPostgres, InSpark
from tests.conformance.expressions import EXPRESSIONS, conjunction
from tests.conformance.queries import QUERIES
from tests.ledger.private_postgres import PrivatePostgres
from tests.session.generator import ODD, Generator, Rows, Setting
from tests.sql.escapes import LONG, STATEMENTS

NAMES = ("duckdb", "postgres", "spark")
BATCH = 60
# Its own LOWER and UPPER know all of Unicode: a sharp s becomes two letters.
LOCALIZED = (
    "CREATE DATABASE localized TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' "
    "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'PG_UNICODE_FAST'"
)


@pytest.fixture(scope="module")
def engines(spark) -> Iterator[dict[str, Engine]]:
    """All three, each with a database of its own; PostgreSQL in a locale with ideas of its own."""
    server = PrivatePostgres()
    try:
        with psycopg.connect(server.address("postgres"), autocommit=True) as connection:
            connection.execute(LOCALIZED)
        postgres = InPostgres(server.address("localized"))
        running: dict[str, Engine] = {
            "duckdb": InDuckDB(),
            "postgres": postgres,
            "spark": InSpark(),
        }
        yield running
        for engine in running.values():
            engine.close()
    finally:
        server.stop()


@dataclass(frozen=True)
class Loaded:
    """A data set that all three hold."""

    engines: Mapping[str, Engine]
    dataset: Dataset
    schema: Schema
    table: str

    def read(self, text: str) -> Expression:
        """The plan of an expression over one row."""
        where = read_query(
            f"SELECT COUNT(*) FROM t WHERE ({text}) IS NULL", {"t": self.schema}
        ).core.where
        assert where is not None
        ((inner,),) = [call.arguments for call in where.arguments]  # type: ignore[union-attr]
        return inner

    def values(self, nodes: list[Expression], name: str) -> list[list[Any]]:
        """Their values in every row of the snapshot, on one engine."""
        engine = self.engines[name]
        found: list[list[Any]] = []
        for start in range(0, len(nodes), BATCH):
            texts = [expression(node, engine.dialect) for node in nodes[start : start + BATCH]]
            columns = ", ".join(f"{text} AS e{place}" for place, text in enumerate(texts))
            order = ", ".join(identifier(each, engine.dialect) for each in (UNIT, RANK))
            rows = engine.rows(f"SELECT {columns} FROM {self.table} ORDER BY {order}")
            found += [list(column) for column in zip(*rows, strict=True)]
        return found

    def integers(self, text: str, name: str) -> list[tuple[Any, ...]]:
        """What a query measures, before any noise: keys and whole numbers."""
        engine = self.engines[name]
        core = read_query(text, {"t": self.schema}).core
        measurement = measure(
            core,
            lower(core),
            table=self.table,
            dialect=engine.dialect,
            bounding=boundings(core, self.dataset)[-1],
            key=KEY,
        )
        rows = engine.rows(measurement.sql)
        # Private groups come in an order of their own; the engines must agree on it too.
        return sorted(rows, key=repr) if core.keys_are_public else rows


def load(
    engines: Mapping[str, Engine],
    setting: Setting,
    rows: Rows,
    folder: Path,
    table: str = "other",
) -> Loaded:
    path = folder / "t.parquet"
    setting.write(rows, path)
    dataset = setting.policy(path).datasets["t"]
    for engine in engines.values():
        engine.load(dataset, setting, rows, path, table)
    return Loaded(engines, dataset, Schema.of(dataset), table)


SETTING = Setting(
    types={
        "u": "integer",
        "n": "integer",
        "m": "integer",
        "x": "real",
        "y": "real",
        "w": "text",
        "v": "text",
        "f": "boolean",
        "d": "date",
        "s": "timestamp",
    },
    as_text=frozenset(),
    unit="u",
    rows_per_unit=4,
    relation="add_remove",
    bounds={"n": (-20, 100), "x": (-2.5, 2.5)},
    keys={"w": ["a", "b", "ab", "", None]},
    missing={},
    grids={"x": 0.01},
    bounding={},
)
MORE_TEXT = [
    *(
        "ẞ",
        "İ",
        "ı",
        "ΑΣ",
        "ς",
        "ŉ",
        "ᾀ",
        "ǅ",
        "Ÿ",
        "ж",
        "Ж",
        "ѐ",
        "\u0301",
        "🤦🏼‍♂️",
        "\ufeffa",
        "\r\n",
    ),
    *("a|b", "~", "$a", "${x}", "\\n", "a\\b%", "''", "`", "\t ", " a ", "\u2028", "\U0010ffff"),
    *("Ab", "aB", "-1", "10", "9", "z", "Z", "é", "É", "ÿ", "a\u0308", "ä", "\u0131I"),
]


def special(setting: Setting, *, people: int = 60) -> Rows:
    """Every odd cell of every type, mixed at random, more rows of a person than are kept."""
    pick = random.Random(7)
    cells = {name: list(ODD[kind]) for name, kind in setting.types.items() if name != "u"}
    cells["v"] += MORE_TEXT
    cells["y"] += [
        1e120,
        3e120,
        -1e-120,
        3e-121,
        1e100,
        2.0**52 + 0.5,
        -(2.0**52) - 0.5,
        2.0**53 + 2,
    ]
    cells["y"] += [0.49999999999999994, -0.5, 1.5, 1 / 3, 1e16, 123456789.125]
    cells["n"] += list(range(-3, 9))
    cells["w"] += ["a", "b", "ab"] * 4
    cells["d"] += [19781, 19783, -1, 1, 11016, 20453, 20454]
    cells["s"] += [-1, 1, 86_399_999_999, 1_767_225_599_999_999, 951_782_400_000_000]
    rows = []
    for unit in range(people):
        many = pick.choice([1, 2, 4, 5, 9])
        own = [{name: pick.choice(each) for name, each in cells.items()} for _ in range(many)]
        own += [dict(pick.choice(own))]
        rows += [{"u": unit - 3, **row} for row in own]
    return rows


@pytest.fixture(scope="module")
def loaded(engines, tmp_path_factory) -> Loaded:
    return load(engines, SETTING, special(SETTING), tmp_path_factory.mktemp("special"), "special")


def whole_snapshot(loaded: Loaded, name: str) -> list[tuple[Any, ...]]:
    engine = loaded.engines[name]
    names = [identifier(each, engine.dialect) for each in (UNIT, RANK, "_discreet_rows")]
    names += [identifier(column.name, engine.dialect) for column in loaded.schema.columns.values()]
    order = ", ".join(names[:2])
    return engine.rows(f"SELECT {', '.join(names)} FROM {loaded.table} ORDER BY {order}")


def test_there_are_hundreds_of_expressions():
    assert len(set(EXPRESSIONS)) >= 400


def test_snapshots_are_the_same_row_by_row(loaded):
    expected = whole_snapshot(loaded, "duckdb")
    assert len(expected) > 150
    for name in NAMES[1:]:
        assert whole_snapshot(loaded, name) == expected, name


def test_every_expression_has_one_value(loaded):
    nodes = [loaded.read(text) for text in EXPRESSIONS]
    expected = loaded.values(nodes, "duckdb")
    wrong = []
    for name in NAMES[1:]:
        found = loaded.values(nodes, name)
        for text, node, ours, theirs in zip(EXPRESSIONS, nodes, expected, found, strict=True):
            pairs = list(zip(ours, theirs, strict=True))
            different = [(a, b) for a, b in pairs if not same(a, b)]
            if different or not of_its_type(node, theirs):
                wrong.append((name, text, different[:3]))
    assert not wrong


def same(one: Any, other: Any) -> bool:
    """Equal to the bit, but that 0 has no sign and a whole number no kind."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)


def of_its_type(node: Expression, values: list[Any]) -> bool:
    kinds = {"integer": int, "real": float, "text": str, "boolean": bool}
    wanted = kinds.get(node.meaning.type)
    return wanted is None or all(value is None or type(value) is wanted for value in values)


# Whole queries -----------------------------------------------------------------------------------


def agree(loaded: Loaded, texts: list[str]) -> None:
    """Every engine returns the same keys and the same whole numbers."""
    for text in texts:
        expected = loaded.integers(text, "duckdb")
        for name in NAMES[1:]:
            assert loaded.integers(text, name) == expected, (name, text)


def test_there_are_enough_queries():
    assert len(set(QUERIES)) >= 60


def test_every_query_measures_the_same_integers(loaded):
    agree(loaded, QUERIES)


def test_bounded_groups_are_the_same_groups(loaded):
    bounding = {"groups_per_unit": 2, "rows_in_group": 1}
    policy = replace(SETTING, bounding=bounding).policy(Path("t.parquet"))
    keyed = [text for text in QUERIES if "GROUP BY 1" in text][::3]
    assert len(keyed) > 8
    agree(replace(loaded, dataset=policy.datasets["t"]), keyed)


def test_people_with_names_are_the_same_people(engines, tmp_path):
    setting = replace(
        SETTING,
        types={name: "text" if name == "u" else kind for name, kind in SETTING.types.items()},
        bounding={"groups_per_unit": 1},
    )
    names = ["", " ", "é", "e\u0301", "'", "\\", "a|b", "👩‍👧", None, "ann", "Ann"]
    rows = special(setting, people=40)
    for row in rows:
        row["u"] = names[row["u"] % len(names)]
    loaded = load(engines, setting, rows, tmp_path)
    expected = whole_snapshot(loaded, "duckdb")
    assert {row[0] for row in expected} == {
        md5(f"{digest(KEY)}|{name}".encode()).hexdigest() for name in names if name is not None
    }
    for name in NAMES[1:]:
        assert whole_snapshot(loaded, name) == expected, name
    agree(
        loaded, ["SELECT COUNT(DISTINCT u) FROM t", "SELECT v, COUNT(DISTINCT u) FROM t GROUP BY v"]
    )


# Random expressions and queries ------------------------------------------------------------------


def agree_on_random(loaded: Loaded, seed: int, expressions: int, queries: int) -> None:
    generator = Generator(seed)
    texts: list[str] = []
    nodes: list[Expression] = []
    while len(nodes) < expressions:
        kind = generator.random.choice(["number", "condition", "text", "key"])
        text = generator.expression(kind, 3)
        try:
            nodes.append(loaded.read(text))
        except DiscreetError:
            continue
        texts.append(text)
    expected = loaded.values(nodes, "duckdb")
    for name in NAMES[1:]:
        for text, ours, theirs in zip(texts, expected, loaded.values(nodes, name), strict=True):
            pairs = list(zip(ours, theirs, strict=True))
            assert all(same(a, b) for a, b in pairs), (seed, name, text)
    asked = 0
    while asked < queries:
        text = generator.query(SETTING)
        try:
            read_query(text, {"t": loaded.schema})
        except DiscreetError:
            continue
        agree(loaded, [text])
        asked += 1


@pytest.mark.parametrize("seed", range(2))
def test_random_expressions_and_queries_agree(seed, loaded):
    agree_on_random(loaded, seed, 60, 8)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 130))
def test_many_random_expressions_and_queries_agree(seed, loaded):
    agree_on_random(loaded, seed, 240, 40)


# What must not get through ------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_no_escape_is_written_for_any_engine(name, loaded):
    """The reader refuses each of them before a dialect is asked."""
    schemas = {"t": loaded.schema, "visits": loaded.schema}
    escaped = []
    for text in [*STATEMENTS, *LONG]:
        try:
            core = read_query(text, schemas).core
            measure(core, lower(core), table="snapshot", dialect=loaded.engines[name].dialect)
        except DiscreetError:
            continue
        escaped.append(text)
    assert not escaped


HOSTILE = [
    "x' OR '1'='1",
    "'; DROP TABLE snapshot; --",
    "\\' OR 1=1 --",
    "\\",
    "\\\\'",
    "${env:HOME}",
    "${spark.app.name}",
    "$$; SELECT 1; $$",
    '"; DROP TABLE snapshot; --',
    "`; DROP TABLE snapshot; --",
    "/* */ -- #",
    "%s %(x)s {0} :a ? @v",
    "\u0027 OR 1=1",
    "E'\\''",
    "line\nbreak\r\n\ttab",
    "\u2019\uff07\u02bc",
]


def test_a_text_stays_the_text_it_is(loaded):
    nodes: list[Expression] = [literal(text) for text in HOSTILE]
    nodes += [
        call("equal", call("concat", literal(text), column), literal(text + "a"))
        for text in HOSTILE
        for column in [loaded.schema.columns["w"]]
    ]
    for name in NAMES:
        found = loaded.values(nodes, name)
        for text, values in zip(HOSTILE, found, strict=False):
            assert set(values) == {text}, name
        assert loaded.values(nodes, "duckdb") == found


@pytest.mark.parametrize("column", [each for each in HOSTILE if "${" not in each])
def test_a_name_stays_the_name_it_is(column, engines, tmp_path):
    setting = replace(
        SETTING,
        types={"u": "integer", column: "integer"},
        bounds={column: (0, 9)},
        keys={},
        grids={},
    )
    rows = [{"u": unit, column: unit % 5} for unit in range(20)]
    loaded = load(engines, setting, rows, tmp_path)
    name = '"' + column.replace('"', '""') + '"'
    for text in (f"SELECT SUM({name}) FROM t", f"SELECT {name}, COUNT(*) FROM t GROUP BY 1"):
        agree(loaded, [text])
    assert loaded.integers(f"SELECT SUM({name}) FROM t", "duckdb") == [(40,)]


def test_a_name_that_spark_would_replace_is_refused():
    with pytest.raises(InvalidInput, match="replace a part"):
        identifier("${env:HOME}", SPARK)
    assert identifier("${env:HOME}", POSTGRES) == '"${env:HOME}"'


def test_long_chains_mean_the_same(loaded):
    agree(loaded, [f"SELECT COUNT(*) FROM t WHERE {conjunction(300)}"])
