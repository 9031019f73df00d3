"""OpenDP's Polars queries, with at most so many rows of each person, epsilon 1, delta 1e-9.

Where groups are bounded too, a person has at most 10 of them with 2 rows in each.
"""

from collections.abc import Callable
from typing import Any

import opendp.prelude as dp
import polars as pl

from bench.peers.worker import serve

LONGEST = 300_000_000
GROUPS, ROWS_IN_GROUP = 10, 2


def query(name: str, path: str, rows_per_unit: int) -> Callable[[], object]:
    """One of the four queries, ready to run."""

    def work() -> object:
        rows = _rows(QUERIES[name](path, rows_per_unit).release().collect())
        return {"groups": len(rows), "rows": rows}

    return work


def answers(name: str, path: str, rows_per_unit: int, runs: int) -> Callable[[], object]:
    """The rows of many answers. The noise is calibrated once, which is most of a query's time."""

    def work() -> object:
        measurement = QUERIES[name](path, rows_per_unit).resolve()
        frame = pl.scan_parquet(path)
        return {"answers": [_rows(measurement(frame).collect()) for _ in range(runs)]}

    return work


def _rows(released: Any) -> list[list[float]]:
    if "category" in released.columns:
        # Their mean is this quotient: a noisy sum over the noisy count.
        released = released.with_columns(pl.col("amount") / pl.col("len"))
    return [list(row) for row in released.rows()]


def _context(path: str, margins: list[Any]) -> Any:
    return dp.Context.compositor(
        data=pl.scan_parquet(path),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user_id")),
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-9),
        split_evenly_over=1,
        margins=margins,
    ).query()


def _margin(column: str) -> Any:
    return dp.polars.Margin(by=[column], max_length=LONGEST)


def _amount() -> Any:
    # Whole amounts: OpenDP's noise on sums of floats grows with the longest table it must allow.
    filled = pl.col("amount").fill_null(0.0).fill_nan(0.0)
    return filled.cast(pl.Int64).fill_null(0).dp.sum((0, 500))


def _count(path: str, rows: int) -> Any:
    return _context(path, []).truncate_per_group(rows).select(dp.len(signed=True))


def _regions(path: str, rows: int) -> Any:
    keys = pl.DataFrame({"region": pl.Series(range(50), dtype=pl.Int32)})
    grouped = _context(path, [_margin("region")]).truncate_per_group(rows).group_by("region")
    return grouped.agg(dp.len(signed=True), _amount()).with_keys(keys)


def _categories(path: str, rows: int) -> Any:
    return _by_category(_context(path, [_margin("category")]).truncate_per_group(rows))


def _few_categories(path: str, rows: int) -> Any:
    assert rows == GROUPS * ROWS_IN_GROUP
    few = _context(path, [_margin("category")])
    few = few.truncate_per_group(ROWS_IN_GROUP, by=["category"], keep="first")
    # It keeps one group less than it is told.
    few = few.truncate_num_groups(GROUPS + 1, by=["category"], keep="first")
    return _by_category(few)


def _by_category(rows: Any) -> Any:
    return rows.group_by("category").agg(dp.len(signed=True), _amount())


def _days(path: str, rows: int) -> Any:
    keys = pl.DataFrame({"day": pl.Series(range(365), dtype=pl.Int32)})
    grouped = _context(path, [_margin("day")]).truncate_per_group(rows).group_by("day")
    return grouped.agg(pl.col("user_id").dp.n_unique(signed=True)).with_keys(keys)


QUERIES = {
    "Q1": _count,
    "Q2": _regions,
    "Q3": _categories,
    "Q3 by groups": _few_categories,
    "Q4": _days,
}

if __name__ == "__main__":
    dp.enable_features("contrib")
    serve({"query": query, "answers": answers})
