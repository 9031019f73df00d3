"""DuckDB's words."""

from __future__ import annotations

from types import MappingProxyType

from discreet.plan.expressions import Type
from discreet.plan.letters import CAPITALS, SMALL
from discreet.sql.dialects.dialect import SHARED, Dialect


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _signed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _real(digits: str) -> str:
    # With an exponent it is a double, without one a decimal.
    return _signed(digits if "e" in digits else digits + "e0")


def _cased(function: str, *letters: str) -> str:
    # DuckDB's own function is several times faster, and right where there is ASCII alone.
    lists = ", ".join(_quoted(part) for part in letters)
    return (
        f"CASE WHEN STRLEN({{0}}) = LENGTH({{0}}) THEN {function}({{0}}) "
        f"ELSE TRANSLATE({{0}}, {lists}) END"
    )


_TYPES: dict[Type, str] = {
    "integer": "BIGINT",
    "real": "DOUBLE",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}

DUCKDB = Dialect(
    name="duckdb",
    quote='"',
    types=MappingProxyType(_TYPES),
    templates=MappingProxyType(
        {
            **SHARED,
            "floor_to_integer": "CAST(FLOOR({0}) AS BIGINT)",
            "ceil_to_integer": "CAST(CEIL({0}) AS BIGINT)",
            "lower": _cased("LOWER", CAPITALS, SMALL),
            "upper": _cased("UPPER", SMALL, CAPITALS),
            # Without a list of characters TRIM takes away every kind of space.
            "trim": "TRIM({0}, ' ')",
            "to_text": "CAST({0} AS VARCHAR)",
            "date_to_text": "CAST({0} AS VARCHAR)",
            "not_nan": "NOT ISNAN({0})",
            "hash": "CAST(MD5({0}) AS UUID)",
            "unit_to_text": "REPLACE(CAST({0} AS VARCHAR), '-', '')",
            "long_total": "SUM({0})",
        }
    ),
    extract=MappingProxyType(
        {
            part: f"EXTRACT({part} FROM {{0}})"
            for part in ("year", "quarter", "month", "day", "isodow", "hour", "minute")
        }
    ),
    date_trunc=MappingProxyType(
        {
            part: f"CAST(DATE_TRUNC('{part}', {{0}}) AS DATE)"
            for part in ("year", "quarter", "month", "week", "day")
        }
    ),
    canonical=MappingProxyType(
        {
            "integer": "CAST({0} AS VARCHAR)",
            "real": "CAST(CAST(FLOOR({0}) AS BIGINT) AS VARCHAR)",
            "text": "{0}",
            "boolean": "CAST(CAST({0} AS INTEGER) AS VARCHAR)",
            "date": "CAST({0} - DATE '1970-01-01' AS VARCHAR)",
            "timestamp": "CAST(EPOCH_US({0}) AS VARCHAR)",
        }
    ),
    integer=lambda value: f"{_signed(str(value))}::BIGINT",
    real=_real,
    text=_quoted,
    moment="TIMESTAMP '{0}'",
    reading=MappingProxyType(
        {(kind, "any"): f"TRY_CAST({{0}} AS {word})" for kind, word in _TYPES.items()}
    ),
    kind_of=lambda word: "any",  # noqa: ARG005  # every cast can be tried
)
