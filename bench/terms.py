"""What is asked, and on which terms the events are opened: words alone, which load nothing."""

from typing import Any

QUERIES = {
    "Q1": "SELECT COUNT(*) FROM events",
    "Q2": "SELECT region, COUNT(*), SUM(amount) FROM events GROUP BY region",
    "Q3": "SELECT category, COUNT(*), AVG(amount) FROM events GROUP BY category",
    "Q4": "SELECT day, COUNT(DISTINCT user_id) FROM events GROUP BY day",
}

TERMS: dict[str, Any] = {
    "unit": "user_id",
    "rows_per_unit": 20,
    "bounds": {"amount": (0, 500)},
    "missing": {"amount": 0},
    "keys": {"region": list(range(50)), "day": list(range(365))},
    "epsilon": 10**6,
    "delta": "1e-3",
    "delta_per_query": "1e-9",
    "name": "events",
    "grids": {"amount": "0.01"},
}
