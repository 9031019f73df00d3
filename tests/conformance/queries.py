"""Whole queries: aggregates of every kind, over every kind of group, filtered and not."""

from __future__ import annotations

from itertools import product

_KEYS = [
    *("w", "v", "f", "n", "m", "d", "s", "y", "x", "COALESCE(w, 'none')", "LOWER(v)", "w || v"),
    *("EXTRACT(month FROM d)", "EXTRACT(isodow FROM s)", "DATE_TRUNC('week', s)", "y > 0"),
    *("SUBSTRING(v, 1, 1)", "FLOOR(y / 10)", "ROUND(x)", "-y", "CEIL(x)", "CAST(f AS VARCHAR)"),
    *("CASE WHEN n > 3 THEN 0.1 ELSE 0.5 END", "CAST(CLAMP(y, -3, 3) AS INTEGER)", "LENGTH(v)"),
]
_SUMS = [
    *("n", "x", "n * x", "x * x - n", "-x", "ABS(n)", "n / 7", "LEAST(n, x)", "f", "n > 3"),
    *("CLAMP(y, -1, 9)", "CLAMP(m, 0, 9007199254740992)", "CLAMP(y * y, 0, 1e50)"),
    *("CLAMP(y / n, -1e100, 1e100)", "CLAMP(SQRT(m), 0, 1e9)", "COALESCE(x, 1)", "CLAMP(x, 0, 1)"),
    *("CASE WHEN f THEN x ELSE 0 END", "CLAMP(LENGTH(v), 0, 300)"),
    *("CLAMP(1 / y, -1e-100, 1e-100)", "EXTRACT(year FROM d)", "n % 7", "ROUND(x * 3)"),
]
_CONDITIONS = [
    *("f", "v LIKE '%a%'", "d < DATE '2026-02-01' OR s IS NULL", "n BETWEEN 0 AND 50 AND y <> 0"),
    *("LOWER(v) = 'é'", "NOT (x > 0 AND m < 0)", "v < 'b'", "w IN ('a', '') OR w IS NULL"),
]

QUERIES = [
    "SELECT COUNT(*) FROM t",
    "SELECT COUNT(DISTINCT u) FROM t",
    *(f"SELECT {key}, COUNT(*), COUNT(DISTINCT u), SUM(x) FROM t GROUP BY 1" for key in _KEYS),
    *(f"SELECT SUM({each}), AVG({each}), COUNT({each}) FROM t" for each in _SUMS),
    *(f"SELECT COUNT(*), SUM(n) FROM t WHERE {each}" for each in _CONDITIONS),
    *(
        f"SELECT {key}, COUNT(*) FILTER (WHERE {condition}), AVG(n) FILTER (WHERE {condition}) "
        "FROM t GROUP BY 1"
        for key, condition in product(("w", "y"), _CONDITIONS[:4])
    ),
    "SELECT w, v, COUNT(*), AVG(x) FROM t GROUP BY w, v",
    "SELECT f, n, d, COUNT(DISTINCT u) FROM t WHERE n IS NOT NULL GROUP BY 1, 2, 3",
    "SELECT COUNT(DISTINCT u) FILTER (WHERE f), COUNT(v), SUM(x * n) FROM t",
    "SELECT COUNT(*) FILTER (WHERE NULL), SUM(n) FILTER (WHERE n = NULL), COUNT(DISTINCT u) FROM t",
    "SELECT AVG(n) FILTER (WHERE CASE WHEN f THEN NULL END), COUNT(*) FROM t",
    "SELECT COUNT(*), SUM(n) FROM t WHERE CASE WHEN f THEN NULL END",
    "SELECT COUNT(CAST(CASE WHEN f THEN NULL END AS DATE)), COUNT(*) FROM t",
    "SELECT DISTINCT v FROM t",
    "SELECT g, COUNT(*) FROM (SELECT FLOOR(n / 10) AS g FROM t WHERE y > 0) AS i GROUP BY 1",
    "SELECT SUM(n) + 2 * AVG(x) AS both FROM t HAVING COUNT(*) > 3",
]
