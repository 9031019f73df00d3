"""OpenDP's Polars queries, with at most so many rows of each person, epsilon 1, delta 1e-9."""

from collections.abc import Callable
from typing import Any

import opendp.prelude as dp
import polars as pl

from bench.peers.worker import serve

LONGEST = 300_000_000


def query(name: str, path: str, rows_per_unit: int) -> Callable[[], object]:
    """One of the four queries, ready to run."""
    return lambda: QUERIES[name](path, rows_per_unit)


def _context(path: str, margins: list[Any]) -> Any:
    return dp.Context.compositor(
        data=pl.scan_parquet(path),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("user_id")),
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-9),
        split_evenly_over=1,
        margins=margins,
    ).query()


def _amount() -> Any:
    # Whole amounts: OpenDP's noise on sums of floats grows with the longest table it must allow.
    filled = pl.col("amount").fill_null(0.0).fill_nan(0.0)
    return filled.cast(pl.Int64).fill_null(0).dp.sum((0, 500))


def _count(path: str, rows: int) -> object:
    return (
        _context(path, []).truncate_per_group(rows).select(dp.len(signed=True)).release().collect()
    )


def _regions(path: str, rows: int) -> object:
    keys = pl.DataFrame({"region": pl.Series(range(50), dtype=pl.Int32)})
    margin = dp.polars.Margin(by=["region"], max_length=LONGEST)
    grouped = _context(path, [margin]).truncate_per_group(rows).group_by("region")
    return grouped.agg(dp.len(signed=True), _amount()).with_keys(keys).release().collect()


def _categories(path: str, rows: int) -> object:
    margin = dp.polars.Margin(by=["category"], max_length=LONGEST)
    grouped = _context(path, [margin]).truncate_per_group(rows).group_by("category")
    released = grouped.agg(dp.len(signed=True), _amount()).release().collect()
    return {"groups": len(released)}


def _days(path: str, rows: int) -> object:
    keys = pl.DataFrame({"day": pl.Series(range(365), dtype=pl.Int32)})
    margin = dp.polars.Margin(by=["day"], max_length=LONGEST)
    grouped = _context(path, [margin]).truncate_per_group(rows).group_by("day")
    counted = grouped.agg(pl.col("user_id").dp.n_unique(signed=True))
    return counted.with_keys(keys).release().collect()


QUERIES = {"Q1": _count, "Q2": _regions, "Q3": _categories, "Q4": _days}

if __name__ == "__main__":
    dp.enable_features("contrib")
    serve({"query": query})
