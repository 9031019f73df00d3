"""Tumult Analytics' queries on Spark, with at most so many rows of each person.

Every aggregate is an evaluation of its own that pays with a share of the one budget: epsilon 1,
delta 1e-9.
"""

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxRowsPerID,
    QueryBuilder,
    Session,
)

from bench.peers.worker import repeated, serve

EPSILON, DELTA = 1, 1e-9


@cache
def spark() -> SparkSession:
    """One local Spark on two cores, as the machine that the others run on."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = {
        "spark.driver.memory": "8g",
        "spark.sql.shuffle.partitions": "8",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@cache
def table(path: str) -> DataFrame:
    """A Parquet file."""
    return spark().read.parquet(path)


def query(name: str, path: str, rows_per_unit: int) -> Callable[[], object]:
    """One of the four queries, ready to run; Spark is running and the file is open."""
    frame = table(path)

    def work() -> dict[str, Any]:
        session = Session.from_dataframe(
            privacy_budget=ApproxDPBudget(EPSILON, DELTA),
            source_id="events",
            dataframe=frame,
            protected_change=AddRowsWithID(id_column="user_id"),
        )
        rows = QueryBuilder("events").enforce(MaxRowsPerID(rows_per_unit)).replace_null_and_nan()
        released = QUERIES[name](session, rows)
        return {"groups": len(released), "rows": released}

    return work


def _count(session: Session, rows: Any) -> list[list[float]]:
    return _values(session, rows.count(), EPSILON)


def _regions(session: Session, rows: Any) -> list[list[float]]:
    grouped = rows.groupby(KeySet.from_dict({"region": list(range(50))}))
    return _joined(
        _values(session, grouped.count(), EPSILON / 2),
        _values(session, grouped.sum("amount", 0.0, 500.0), EPSILON / 2),
    )


def _categories(session: Session, rows: Any) -> list[list[float]]:
    third = EPSILON / 3
    found = session.evaluate(rows.get_groups(["category"]), ApproxDPBudget(third, DELTA))
    grouped = rows.groupby(KeySet.from_dataframe(found))
    return _joined(
        _values(session, grouped.count(), third),
        _values(session, grouped.average("amount", 0.0, 500.0), third),
    )


def _days(session: Session, rows: Any) -> list[list[float]]:
    grouped = rows.groupby(KeySet.from_dict({"day": list(range(365))}))
    return _values(session, grouped.count_distinct(["user_id"]), EPSILON)


def _values(session: Session, asked: Any, epsilon: float) -> list[list[float]]:
    answer = session.evaluate(asked, ApproxDPBudget(epsilon, 0))
    return [list(row) for row in answer.collect()]


def _joined(left: list[list[float]], right: list[list[float]]) -> list[list[float]]:
    more = {row[0]: row[1] for row in right}
    return [[key, value, more[key]] for key, value in left]


QUERIES = {"Q1": _count, "Q2": _regions, "Q3": _categories, "Q4": _days}

if __name__ == "__main__":
    serve({"query": query, "answers": repeated(query)})
