"""PostgreSQL's words, for version 14 and later, any locale, encoding UTF8.

PostgreSQL asks the locale how text compares, so every text here carries the collation "C", and its
doubles raise where they overflow or underflow, so the plan keeps them away from both ends. It has
no cast that can be tried: cells of another type are looked at before they are cast.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from discreet.plan.expressions import Type
from discreet.plan.letters import CAPITALS, SMALL
from discreet.plan.operations import PARTS, TRUNCATIONS
from discreet.sql.dialects.dialect import SHARED, Dialect, by_kind
from discreet.sql.dialects.patterns import DAY, FALSE, KNOWN_DAY, MOMENT, NUMBER, TRUE


def _quoted(text: str) -> str:
    text = text.replace("'", "''")
    # In E'...' a backslash means the same under every setting of the server.
    return "E'" + text.replace("\\", "\\\\") + "'" if "\\" in text else f"'{text}'"


def _text(text: str) -> str:
    return f'(TEXT {_quoted(text)} COLLATE "C")'


def _cased(function: str, *letters: str) -> str:
    # Under the collation "C" the function knows ASCII alone, and there it is much faster.
    lists = ", ".join(_quoted(part) for part in letters)
    return (
        f"CASE WHEN OCTET_LENGTH({{0}}) = LENGTH({{0}}) "
        f'THEN {function}({{0}} COLLATE "C") ELSE TRANSLATE({{0}}, {lists}) END'
    )


_TYPES: dict[Type, str] = {
    "integer": "BIGINT",
    "real": "FLOAT8",
    "text": "TEXT",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}

_KINDS = {
    **dict.fromkeys(("smallint", "integer", "bigint"), "whole"),
    **dict.fromkeys(("real", "double precision"), "double"),
    "numeric": "decimal",
    **dict.fromkeys(("text", "character varying", "character", "uuid", '"char"', "name"), "text"),
    "boolean": "boolean",
    "date": "date",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "zoned",
    **dict.fromkeys(
        (
            *("bytea", "json", "jsonb", "xml", "interval", "money", "bit", "bit varying", "oid"),
            *("time without time zone", "time with time zone", "inet", "cidr", "macaddr"),
            *("point", "line", "lseg", "box", "path", "polygon", "circle", "tsvector", "tsquery"),
        ),
        "other",
    ),
}


def _kind_of(word: str) -> str | None:
    """What is no type of PostgreSQL's own is taken for an enumeration: its names are text."""
    plain = re.sub(r"\(.*?\)", "", word.lower())
    if plain.endswith("[]"):
        return None
    kind = _KINDS.get(re.sub(r" +", " ", plain).strip(), "text")
    return None if kind == "other" else kind


_TEXT = 'CAST({0} AS TEXT) COLLATE "C"'
_FIT = "{0} BETWEEN -9223372036854775808 AND 9223372036854775807"
# NULL and NaN fail both conditions; LEAST and GREATEST would make numbers of them.
_DOUBLE_OF_DECIMAL = (
    "CASE WHEN ABS({0}) < 1e-300 THEN FLOAT8 '0' WHEN {0} <> NUMERIC 'NaN' "
    "THEN CAST(LEAST(GREATEST({0}, -1e300), 1e300) AS FLOAT8) END"
)
_DECIMAL_OF_TEXT = (
    f"CASE WHEN LENGTH({_TEXT}) <= 400 AND {_TEXT} ~ '{NUMBER}' "
    "THEN CAST(CAST({0} AS TEXT) AS NUMERIC) END"
)
_UTC = "({0} AT TIME ZONE 'UTC')"

_READING: dict[tuple[Type, str], str] = {
    ("integer", "whole"): "CAST({0} AS BIGINT)",
    ("integer", "boolean"): SHARED["boolean_to_integer"],
    ("integer", "decimal"): f"CASE WHEN {_FIT} THEN CAST({{0}} AS BIGINT) END",
    ("integer", "double"): (
        "CASE WHEN {0} >= FLOAT8 '-9223372036854775808' AND {0} < FLOAT8 '9223372036854775808' "
        "THEN CAST({0} AS BIGINT) END"
    ),
    ("real", "whole"): "CAST({0} AS FLOAT8)",
    ("real", "boolean"): "CAST(CAST({0} AS INTEGER) AS FLOAT8)",
    ("real", "double"): "CAST({0} AS FLOAT8)",
    ("real", "decimal"): _DOUBLE_OF_DECIMAL,
    ("text", "text"): _TEXT,
    ("text", "whole"): _TEXT,
    ("text", "boolean"): _TEXT,
    ("text", "date"): f"CASE WHEN {KNOWN_DAY} THEN TO_CHAR({{0}}, 'YYYY-MM-DD') END COLLATE \"C\"",
    ("boolean", "boolean"): "{0}",
    ("boolean", "whole"): "({0} <> 0)",
    ("boolean", "text"): (
        f"CASE WHEN LOWER({_TEXT}) IN ({TRUE}) THEN TRUE "
        f"WHEN LOWER({_TEXT}) IN ({FALSE}) THEN FALSE END"
    ),
    ("date", "date"): "{0}",
    ("date", "timestamp"): "CAST({0} AS DATE)",
    ("date", "zoned"): f"CAST({_UTC} AS DATE)",
    ("date", "text"): f"CASE WHEN {_TEXT} ~ '{DAY}' THEN CAST(CAST({{0}} AS TEXT) AS DATE) END",
    ("timestamp", "date"): f"CASE WHEN {KNOWN_DAY} THEN CAST({{0}} AS TIMESTAMP) END",
    ("timestamp", "timestamp"): "CAST({0} AS TIMESTAMP)",
    ("timestamp", "zoned"): _UTC,
    ("timestamp", "text"): (
        f"CASE WHEN {_TEXT} ~ '{MOMENT}' THEN CAST(CAST({{0}} AS TEXT) AS TIMESTAMP) END"
    ),
}
for _declared in ("integer", "real"):
    _READING[_declared, "text"] = _READING[_declared, "decimal"].replace(
        "{0}", f"({_DECIMAL_OF_TEXT})"
    )

# To PostgreSQL NaN is above infinity.
_WHOLE = "CASE WHEN ABS({0}) < NUMERIC 'Infinity' AND {0} = TRUNC({0}) THEN TRUNC({0}) END"


POSTGRES = Dialect(
    name="postgres",
    quote='"',
    types=MappingProxyType(_TYPES),
    templates=MappingProxyType(
        {
            **SHARED,
            "floor_to_integer": "CAST(FLOOR({0}) AS BIGINT)",
            "ceil_to_integer": "CAST(CEIL({0}) AS BIGINT)",
            "lower": _cased("LOWER", CAPITALS, SMALL),
            "upper": _cased("UPPER", SMALL, CAPITALS),
            "trim": "BTRIM({0}, ' ')",
            "to_text": '(CAST({0} AS TEXT) COLLATE "C")',
            # How a date is cast to text is a setting of the session.
            "date_to_text": "(TO_CHAR({0}, 'YYYY-MM-DD') COLLATE \"C\")",
            "not_nan": "{0} <> FLOAT8 'NaN'",
            "hash": "CAST(MD5({0}) AS UUID)",
            "unit_to_text": "REPLACE(CAST({0} AS TEXT), '-', '')",
            "long_total": "SUM({0})",
        }
    ),
    extract=MappingProxyType(
        {part: f"CAST(EXTRACT({part} FROM {{0}}) AS BIGINT)" for part in PARTS}
    ),
    date_trunc=MappingProxyType(
        {
            # Of a date it would make a moment in the session's time zone.
            part: f"CAST(DATE_TRUNC('{part}', CAST({{0}} AS TIMESTAMP)) AS DATE)"
            for part in TRUNCATIONS
        }
    ),
    canonical=MappingProxyType(
        {
            "integer": "CAST({0} AS TEXT)",
            "real": "CAST(CAST(FLOOR({0}) AS BIGINT) AS TEXT)",
            "text": "{0}",
            "boolean": "CAST(CAST({0} AS INTEGER) AS TEXT)",
            "date": "CAST({0} - DATE '1970-01-01' AS TEXT)",
            "timestamp": "CAST(CAST(EXTRACT(EPOCH FROM {0}) * 1000000 AS BIGINT) AS TEXT)",
        }
    ),
    integer=lambda value: f"BIGINT '{value}'",
    real=lambda digits: f"FLOAT8 '{digits}'",
    text=_text,
    moment="TIMESTAMP '{0}'",
    reading=MappingProxyType(_READING),
    kind_of=_kind_of,
    long_names=by_kind(
        _kind_of, decimal=_WHOLE, text=_WHOLE.replace("{0}", f"({_DECIMAL_OF_TEXT})")
    ),
)
