"""A whole session on Spark: the same integers before noise as on DuckDB, however they are read."""

import shutil
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import InvalidInput
from discreet.ledger import create
from discreet.session import Session

POLICY = """
[dataset.visits]
source = {source}
mode = "{mode}"
unit = "patient"
rows_per_unit = 3
bounding = "{bounding}"
groups_per_unit = 2
rows_in_group = 2
delta_per_query = 1e-8
columns.patient = {{ type = "text" }}
columns.ward.type = "text"
columns.ward.keys = ["North", "South", "it's \\\\ ${{env:HOME}}", {{ null = true }}]
columns.age = {{ type = "integer", bounds = [0, 110] }}
columns.cost = {{ type = "real", bounds = [-5, 500], grid = 0.01 }}
columns.day = {{ type = "date" }}
budget = {{ epsilon = 100, delta = 1e-3, accountant = "approximate" }}
analysts.ann = {{ epsilon = 100, delta = 1e-3 }}
"""
QUERIES = [
    "SELECT COUNT(*) FROM visits",
    "SELECT ward, COUNT(*), SUM(cost), AVG(age) FROM visits GROUP BY ward",
    "SELECT ward, COUNT(DISTINCT patient) FROM visits WHERE age > 30 GROUP BY ward",
    "SELECT day, COUNT(*), SUM(age * 2 - 1) FROM visits GROUP BY day",
    "SELECT EXTRACT(month FROM day) AS m, COUNT(*) FROM visits WHERE ward <> 'North' GROUP BY m",
]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Rows with all that can be wrong with them."""
    draws = np.random.default_rng(5)
    size = 5000
    wards = ["North", "South", "it's \\ ${env:HOME}", None, "elsewhere"]
    cost = draws.normal(100, 200, size)
    cost[::97], cost[1::97], cost[2::97] = np.nan, np.inf, -0.0
    table = pa.table(
        {
            "patient": [None if i % 50 == 0 else f"p{i}" for i in draws.integers(0, 900, size)],
            "ward": [wards[i] for i in draws.integers(0, len(wards), size)],
            "age": pa.array([None if i > 150 else int(i) for i in draws.integers(-20, 200, size)]),
            "cost": cost,
            "day": [date(2026, 1 + i % 12, 1 + i % 28) for i in draws.integers(0, 400, size)],
        }
    )
    path = tmp_path_factory.mktemp("rows") / "visits.parquet"
    pq.write_table(table, path)
    return path


def opened(folder: Path, source: str, **options: str) -> Session:
    folder.mkdir()
    told = {"mode": "snapshot", "bounding": "auto"} | options
    (folder / "policy.toml").write_text(POLICY.format(source=source, **told))
    return discreet.open(folder / "policy.toml")


def exact(session: Session) -> list[Any]:
    """The numbers before noise, with the groups they belong to."""
    found = []
    for query in QUERIES:
        aggregates = session.aggregate(session.plan(query, epsilon=1))
        keys = aggregates.keys_at(np.arange(aggregates.groups))
        values = [each.tolist() for each in aggregates.values]
        found.append(sorted(zip(*keys, *values, strict=True), key=repr) if keys else values)
    return found


@pytest.mark.parametrize("bounding", ["auto", "groups"])
def test_all_ways_of_reading_give_the_integers_that_duckdb_gives(spark, rows, tmp_path, bounding):
    with opened(tmp_path / "duckdb", f'"{rows}"', bounding=bounding) as session:
        expected = exact(session)
    source = f'{{ kind = "spark", path = "{rows}", master = "{spark}", reader = "%s" }}'
    for name, mode, reader in (
        ("spark", "snapshot", "spark"),
        ("read by duckdb", "snapshot", "duckdb"),
        ("live", "live", "spark"),
    ):
        folder = tmp_path / name
        (folder / ".discreet").mkdir(mode=0o700, parents=True)
        create(folder / ".discreet" / "ledger.db").close()
        # The same key, so that the same rows of each person are kept.
        shutil.copy(tmp_path / "duckdb" / ".discreet" / "key", folder / ".discreet" / "key")
        policy = POLICY.format(source=source % reader, mode=mode, bounding=bounding)
        (folder / "policy.toml").write_text(policy)
        with discreet.open(folder / "policy.toml") as session:
            assert exact(session) == expected, name


def test_a_session_on_spark_answers_and_answers_again(spark, rows, tmp_path):
    source = f'{{ kind = "spark", path = "{rows}", master = "{spark}" }}'
    with opened(tmp_path / "visits", source) as session:
        first = session.sql(QUERIES[1], epsilon=1)
        again = session.sql(QUERIES[1], epsilon=1)
    assert (first.stored, again.stored) == (False, True)
    assert first.to_json()["rows"] == again.to_json()["rows"]


def test_a_connection_is_named_and_never_told(spark, rows, tmp_path, monkeypatch):
    source = f'{{ kind = "spark", path = "{rows}", connection = "env:SPARK_ADDRESS" }}'
    with pytest.raises(InvalidInput, match="SPARK_ADDRESS"):
        opened(tmp_path / "without", source)
    monkeypatch.setenv("SPARK_ADDRESS", spark)
    with opened(tmp_path / "with", source) as session:
        assert len(session.sql(QUERIES[0], epsilon=1)) == 1
