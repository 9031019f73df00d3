"""How each engine spells an operation. Every template gives the same value on every engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_SHARED: dict[str, str] = {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "({0} / NULLIF({1}, 0e0))",
    "modulo": "({0} % NULLIF({1}, 0))",
    "negate": "(-{0})",
    "abs": "ABS({0})",
    "floor": "FLOOR({0})",
    "ceil": "CEIL({0})",
    "round": "FLOOR({0} + 0.5e0)",
    "sqrt": "SQRT(CASE WHEN {0} >= 0 THEN {0} END)",
    "equal": "({0} = {1})",
    "differs": "({0} <> {1})",
    "less": "({0} < {1})",
    "less_equal": "({0} <= {1})",
    "greater": "({0} > {1})",
    "greater_equal": "({0} >= {1})",
    "not": "(NOT {0})",
    "is_null": "({0} IS NULL)",
    "nullif": "NULLIF({0}, {1})",
    "lower": "LOWER({0})",
    "upper": "UPPER({0})",
    "trim": "TRIM({0})",
    "length": "LENGTH({0})",
    "substring": "SUBSTRING({0}, {1}, {2})",
    "like": "({0} LIKE {1})",
    "clamp": "CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END",
    "to_text": "CAST({0} AS VARCHAR)",
    "to_date": "CAST({0} AS DATE)",
    "tally": "COUNT({0})",
    "total": "SUM({0})",
    "average": "AVG({0})",
    "minimum": "MIN({0})",
    "maximum": "MAX({0})",
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine's words."""

    name: str
    templates: Mapping[str, str]
    real: str
    whole: str
    is_finite: str
    """Whether a double is neither infinite nor NaN."""
    extract: str
    date_trunc: str


DUCKDB = Dialect(
    name="duckdb",
    # Without a list of characters TRIM takes away every kind of space.
    templates=MappingProxyType(_SHARED | {"trim": "TRIM({0}, ' ')"}),
    real="DOUBLE",
    whole="BIGINT",
    is_finite="ISFINITE({0})",
    extract="EXTRACT({part} FROM {0})",
    date_trunc="CAST(DATE_TRUNC('{part}', {0}) AS DATE)",
)
