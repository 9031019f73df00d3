"""SmartNoise SQL over pandas.

Its epsilon is that of one column, its delta that of one threshold: both are set so that a whole
query spends an epsilon of 1 and a delta of at most 1e-9, by its own account.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import snsql

from bench.peers.worker import repeated, serve

# The query, and the share of the budget that one column may spend.
QUERIES = {
    "Q1": ("SELECT COUNT(*) AS n FROM S.T", 1),
    "Q2": ("SELECT region, COUNT(*) AS n, SUM(amount) AS s FROM S.T GROUP BY region", 2),
    "Q3": ("SELECT category, COUNT(*) AS n, AVG(amount) AS a FROM S.T GROUP BY category", 4),
    "Q4": ("SELECT dy, COUNT(DISTINCT user_id) AS n FROM S.T GROUP BY dy", 1),
}
DELTA = 1e-9 / 1.51


@cache
def table(path: str) -> pd.DataFrame:
    """A Parquet file; `day` cannot be the name of a column."""
    return pd.read_parquet(path).rename(columns={"day": "dy"})


def query(name: str, path: str, rows_per_unit: int) -> Callable[[], object]:
    """One of the four queries, ready to run."""
    text, columns = QUERIES[name]
    metadata = {
        "row_privacy": False,
        "max_ids": rows_per_unit,
        "sample_max_ids": True,
        "censor_dims": name == "Q3",
        "rows": 0,
        "user_id": {"type": "int", "private_id": True},
        "region": {"type": "int", "lower": 0, "upper": 49},
        "dy": {"type": "int", "lower": 0, "upper": 364},
        "category": {"type": "int"},
        "amount": {"type": "float", "lower": 0.0, "upper": 500.0},
    }
    frame = table(path)

    def work() -> dict[str, Any]:
        reader = snsql.from_connection(
            frame,
            privacy=snsql.Privacy(epsilon=1 / columns, delta=DELTA),
            metadata={"": {"S": {"T": metadata}}},
            engine="pandas",
        )
        epsilon, delta = reader.get_privacy_cost(text)
        if epsilon > 1 + 1e-9 or delta > 1e-9:
            raise ValueError(f"this spends {epsilon}, {delta}")
        released = [[_plain(cell) for cell in row] for row in reader.execute(text)[1:]]
        return {"groups": len(released), "rows": released}

    return work


def _plain(cell: Any) -> float | None:
    return None if cell is None else float(cell)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    serve({"query": query, "answers": repeated(query)})
