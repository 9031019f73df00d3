"""Statements damaged at random are refused, or mean something over the declared tables alone."""

from __future__ import annotations

import random
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from discreet.errors import DiscreetError
from discreet.plan.noise import plan_noise
from discreet.plan.primitives import lower
from discreet.plan.schema import Schema
from discreet.sql.core import measure
from discreet.sql.dialects import DUCKDB
from discreet.sql.queries import read_query
from tests.session.generator import Generator
from tests.sql.escapes import STATEMENTS
from tests.sql.made import VISITS, WARDS

PLAIN = [
    "SELECT COUNT(*) FROM visits",
    "SELECT ward, COUNT(*) AS n, AVG(age) FROM visits WHERE day >= DATE '2025-03-01' GROUP BY ward",
    "SELECT name, COUNT(*) FROM visits GROUP BY name HAVING COUNT(*) > 5 ORDER BY 2 DESC LIMIT 3",
    "SELECT SUM(CLAMP(weight, 0, 100)) FILTER (WHERE urgent) FROM visits v WHERE v.age < 40",
    "WITH a AS (SELECT * FROM visits WHERE age > 3) SELECT ward, SUM(cost) FROM a GROUP BY ALL",
    "SELECT MAX(n) - MIN(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS g",
    "SELECT COUNT(DISTINCT patient_id) n, COUNT(name) FROM visits WHERE name LIKE 'A%' OR urgent",
    "SELECT CASE WHEN age < 18 THEN 'young' ELSE 'old' END AS a, AVG(cost) FROM visits GROUP BY a",
    "SELECT EXTRACT(month FROM day), COUNT(*) FROM visits WHERE ward IN ('north', 'x') GROUP BY 1",
    "SELECT CAST(urgent AS INTEGER), SUM(ROUND(cost, 1)) FROM visits GROUP BY urgent",
]
PIECES = [
    *("(", ")", ",", "'", '"', ";", "--", "/*", "*/", "*", "%", "=", ".", "[", "]", "{", "}", "::"),
    *("$1", "?", "@", "#", "\\", "\n", "\t", "\0", "\u00a0", "\ud800", "é", "NULL", "TRUE", "0"),
    *("1e999", "-1", "0x1F", "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT"),
    *("UNION ALL", "JOIN", "OVER ()", "DISTINCT", "ALL", "CASE", "END", "WHEN", "THEN", "ELSE"),
    *("AS", "IN", "NOT", "AND", "OR", "IS", "LIKE", "BETWEEN", "CAST(", "COUNT(", "SUM(", "MAX("),
    *("visits", "snapshot", "patient_id", "_discreet_unit", "age", "ward", "cost", "n", "k0", "a0"),
    *("read_csv('x')", "FILTER (WHERE urgent)", "INTERVAL 1 DAY", "DATE '2025-01-01'", "EXISTS ("),
    *("LATERAL", "UNNEST([1])", "EXPLAIN", "PRAGMA", "COPY", "ATTACH", "SET", "WITH", "RECURSIVE"),
]
ODD = Generator(0).setting()
DATASETS = {
    **VISITS.datasets,
    **WARDS.datasets,
    **ODD.policy(Path("t.parquet")).datasets,
}
SCHEMAS = {name: Schema.of(dataset) for name, dataset in DATASETS.items()}
KNOWN = {"_discreet_unit", *(name for schema in SCHEMAS.values() for name in schema.columns)}


def mutated(pick: random.Random, text: str) -> str:
    """A few changes, of characters or of words."""
    for _ in range(pick.choice([1, 1, 1, 2, 4])):
        parts = re.findall(r"\w+|\s+|[^\w\s]", text)
        if not parts:
            return text
        at, other = pick.randrange(len(parts)), pick.randrange(len(parts))
        match pick.randrange(8):
            case 0:
                del parts[at]
            case 1:
                parts.insert(at, parts[other])
            case 2:
                parts[at], parts[other] = parts[other], parts[at]
            case 3:
                parts.insert(at, f" {pick.choice(PIECES)} ")
            case 4:
                parts[at] = pick.choice(PIECES)
            case 5:
                parts[at:other] = []
            case 6:
                parts[at:at] = parts[other : other + pick.randint(1, 8)]
            case _:
                flat = "".join(parts)
                place = pick.randrange(len(flat))
                parts = [flat[:place], chr(pick.randrange(1, 0x250)), flat[place + 1 :]]
        text = "".join(parts)
    return text


def follow(text: str) -> str:
    """Read, plan and write a statement; what became of it."""
    try:
        query = read_query(text, SCHEMAS)
        noise = plan_noise(
            query.core,
            lower(query.core),
            DATASETS[query.core.dataset],
            epsilon=Fraction(1),
            delta=Fraction(1, 10**9),
        )
        sql = measure(query.core, noise.lowered, table="snapshot", dialect=DUCKDB).sql
    except DiscreetError as error:
        return error.code
    (tree,) = sqlglot.parse(sql, read="duckdb")
    assert isinstance(tree, exp.Select)
    assert [table.sql() for table in tree.find_all(exp.Table)] == ["snapshot"]
    assert {column.name for column in tree.find_all(exp.Column)} <= KNOWN
    assert not list(tree.find_all(exp.Subquery, exp.Command, exp.Window, exp.Join))
    return "planned"


def follow_many(seed: int, count: int) -> Counter[str]:
    pick, generator = random.Random(seed), Generator(seed)
    became = Counter[str]()
    for _ in range(count):
        match pick.randrange(4):
            case 0:
                text = pick.choice(STATEMENTS)
            case 1:
                text = generator.query(ODD)
            case _:
                text = pick.choice(PLAIN)
        text = mutated(pick, text)
        try:
            became[follow(text)] += 1
        except Exception as error:
            error.add_note(f"seed {seed}: {text!r}")
            raise
    return became


@pytest.mark.parametrize("text", PLAIN)
def test_unharmed_they_are_planned(text):
    assert follow(text) == "planned"


@pytest.mark.parametrize("seed", range(4))
def test_damaged_statements_are_refused_or_planned(seed):
    became = follow_many(seed, 500)
    assert became["planned"] > 25
    assert became.total() - became["planned"] > 100


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 120))
def test_a_hundred_thousand_damaged_statements_are_refused_or_planned(seed):
    assert follow_many(seed, 5000)["planned"] > 250
