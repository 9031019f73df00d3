"""PipelineDP's aggregations on its local backend, epsilon 1, delta 1e-9.

It bounds the rows of a person where keys are public. Where they are private it must know how many
groups a person is in: 10, with 2 rows in each.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import pipeline_dp
import pyarrow.parquet as pq
from pipeline_dp import AggregateParams, Metrics, NoiseKind

from bench.peers.worker import repeated, serve

GROUPS, ROWS_IN_GROUP = 10, 2
COLUMNS = {name: place for place, name in enumerate(("user_id", "region", "day", "category"))}
AMOUNT = len(COLUMNS)
NAMES = {
    Metrics.COUNT: "count",
    Metrics.SUM: "sum",
    Metrics.MEAN: "mean",
    Metrics.PRIVACY_ID_COUNT: "privacy_id_count",
}


@cache
def table(path: str) -> list[tuple[Any, ...]]:
    """The rows as tuples, which is what it reads."""
    columns = pq.read_table(path).select([*COLUMNS, "amount"]).columns
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def query(name: str, path: str, rows_per_unit: int) -> Callable[[], object]:
    """One of the four queries, ready to run."""
    rows = table(path)
    return lambda: QUERIES[name](rows, rows_per_unit)


def _aggregate(
    rows: list[tuple[Any, ...]],
    column: str | None,
    metrics: list[Any],
    public: list[int] | None,
    **settings: Any,
) -> dict[str, Any]:
    budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-9)
    engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
    place = None if column is None else COLUMNS[column]
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: 0 if place is None else row[place],
        value_extractor=lambda row: row[AMOUNT],
    )
    settings = {"noise_kind": NoiseKind.LAPLACE, **settings}
    params = AggregateParams(metrics=metrics, **settings)
    lazy = engine.aggregate(rows, params, extractors, public_partitions=public)
    budget.compute_budgets()
    released = [[key, *(getattr(values, NAMES[m]) for m in metrics)] for key, values in lazy]
    return {"groups": len(released), "rows": released}


def _count(rows: list[tuple[Any, ...]], most: int) -> dict[str, Any]:
    return _aggregate(rows, None, [Metrics.COUNT], [0], max_contributions=most)


def _regions(rows: list[tuple[Any, ...]], most: int) -> dict[str, Any]:
    bounds = {"min_value": 0, "max_value": 500}
    metrics = [Metrics.COUNT, Metrics.SUM]
    return _aggregate(rows, "region", metrics, list(range(50)), max_contributions=most, **bounds)


def _categories(rows: list[tuple[Any, ...]], most: int) -> dict[str, Any]:
    assert most == GROUPS * ROWS_IN_GROUP
    return _aggregate(
        rows,
        "category",
        [Metrics.COUNT, Metrics.MEAN],
        None,
        max_partitions_contributed=GROUPS,
        max_contributions_per_partition=ROWS_IN_GROUP,
        min_value=0,
        max_value=500,
    )


def _days(rows: list[tuple[Any, ...]], most: int) -> dict[str, Any]:
    return _aggregate(
        rows,
        "day",
        [Metrics.PRIVACY_ID_COUNT],
        list(range(365)),
        noise_kind=NoiseKind.GAUSSIAN,
        max_partitions_contributed=most,
        max_contributions_per_partition=1,
    )


QUERIES = {"Q1": _count, "Q2": _regions, "Q3 by groups": _categories, "Q4": _days}

if __name__ == "__main__":
    serve({"query": query, "answers": repeated(query)})
