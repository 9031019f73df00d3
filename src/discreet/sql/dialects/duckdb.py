"""DuckDB's words."""

from __future__ import annotations

from types import MappingProxyType

from discreet.plan.expressions import Type
from discreet.plan.letters import CAPITALS, SMALL
from discreet.plan.operations import PARTS, TRUNCATIONS
from discreet.sql.dialects.dialect import SHARED, Dialect


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _signed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _real(digits: str) -> str:
    # With an exponent it is a double, without one a decimal.
    return _signed(digits if "e" in digits else digits + "e0")


# Where Unicode has, or may one day have, letters with capitals.
_CASED = (
    *((0xAA, 0x2B0), (0x345, 0x346), (0x370, 0x590), (0x10A0, 0x1100), (0x13A0, 0x1400)),
    *((0x1C80, 0x1CC0), (0x1D00, 0x2000), (0x2100, 0x2190), (0x24B0, 0x24F0), (0x2C00, 0x2E00)),
    *((0xA640, 0xA6A0), (0xA720, 0xA800), (0xAB30, 0xABC0), (0xFB00, 0xFB20), (0xFF20, 0xFF60)),
    *((0x10400, 0x11000), (0x11800, 0x11900), (0x16E00, 0x16F00), (0x1D400, 0x1EA00)),
)


def _doubtful() -> str:
    """A pattern of the letters that DuckDB may change although they are not on our list."""
    ours = {ord(letter) for letter in CAPITALS + SMALL}
    ranges: list[list[int]] = []
    for code in (code for start, end in _CASED for code in range(start, end) if code not in ours):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges) + "]"


def _cased(function: str, *letters: str) -> str:
    # DuckDB's own function is a hundred times faster than TRANSLATE, which reads its lists anew for
    # each row, and it is right wherever all letters are on the list or have no capitals.
    lists = ", ".join(_quoted(part) for part in letters)
    return (
        f"CASE WHEN STRLEN({{0}}) <> LENGTH({{0}}) AND REGEXP_MATCHES({{0}}, '{_doubtful()}') "
        f"THEN TRANSLATE({{0}}, {lists}) ELSE {function}({{0}}) END"
    )


_TYPES: dict[Type, str] = {
    "integer": "BIGINT",
    "real": "DOUBLE",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}

# What is cut off has the sign of the number, so that no number leaves its type by it.
_WHOLE = "CASE WHEN {0} = TRUNC({0}) THEN TRUNC({0}) END"


def _long_names(word: str) -> str | None:
    if word in ("ubigint", "hugeint", "uhugeint"):
        return "{0}"
    if word.startswith("decimal"):
        return _WHOLE
    return _WHOLE.replace("{0}", "TRY_CAST({0} AS DECIMAL(38, 10))") if word == "varchar" else None


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
    extract=MappingProxyType({part: f"EXTRACT({part} FROM {{0}})" for part in PARTS}),
    date_trunc=MappingProxyType(
        {part: f"CAST(DATE_TRUNC('{part}', {{0}}) AS DATE)" for part in TRUNCATIONS}
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
    long_names=_long_names,
)
