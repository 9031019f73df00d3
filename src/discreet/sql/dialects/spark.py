"""Spark's words, for version 4 in ANSI mode with the session's time zone UTC."""

from __future__ import annotations

import re
from types import MappingProxyType

from discreet.plan.expressions import Type
from discreet.plan.letters import CAPITALS, SMALL
from discreet.plan.operations import PARTS, TRUNCATIONS
from discreet.sql.dialects.dialect import SHARED, Dialect, by_kind
from discreet.sql.dialects.patterns import DAY, FALSE, KNOWN_DAY, MOMENT, NUMBER, TRUE

# To Java "$" is also the place before a last line break; to nobody is there a character after this.
_END = "(?![ -~]|[^ -~])"
_NUMBER, _DAY, _MOMENT = (pattern.removesuffix("$") + _END for pattern in (NUMBER, DAY, MOMENT))

_WORDS = {"isodow": "DAYOFWEEK_ISO"}
_PLAIN = frozenset(" _.,:;()<>=%*/+|~^[]-")


def _text(text: str) -> str:
    """Text in quotes only where nothing in it could mean anything to Spark, else its bytes.

    Settings decide what backslashes, doubled quotes and ${...} mean between quotes.
    """
    if all(character in _PLAIN or character.isalnum() for character in text):
        return f"'{text}'"
    return f"CAST(X'{text.encode().hex().upper()}' AS STRING)"


def _signed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _cased(function: str, *letters: str) -> str:
    lists = ", ".join(_text(part) for part in letters)
    return (
        f"CASE WHEN OCTET_LENGTH({{0}}) = LENGTH({{0}}) THEN {function}({{0}}) "
        f"ELSE TRANSLATE({{0}}, {lists}) END"
    )


# FLOOR and CEIL make whole numbers of doubles, and doubles from here on have no fraction.
_WHOLE_FROM = "4503599627370496D"

_TYPES: dict[Type, str] = {
    "integer": "BIGINT",
    "real": "DOUBLE",
    "text": "STRING",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP_NTZ",
}

_KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "whole"),
    **dict.fromkeys(("float", "double"), "double"),
    "decimal": "decimal",
    **dict.fromkeys(("string", "char", "varchar"), "text"),
    "boolean": "boolean",
    "date": "date",
    "timestamp_ntz": "timestamp",
    "timestamp": "zoned",
}


def _kind_of(word: str) -> str | None:
    return _KINDS.get(re.split(r"[( ]", word.lower().strip(), maxsplit=1)[0])


# Bytes that are no text, and other ways to compare it, end here.
_TEXT = "COLLATE(TRY_VALIDATE_UTF8(CAST({0} AS STRING)), 'UTF8_BINARY')"
_NUMERIC_TEXT = f"CASE WHEN LENGTH({{0}}) <= 400 AND {{0}} RLIKE '{_NUMBER}' THEN {{0}} END"

_READING: dict[tuple[Type, str], str] = {
    ("integer", "whole"): "CAST({0} AS BIGINT)",
    ("integer", "boolean"): SHARED["boolean_to_integer"],
    ("integer", "decimal"): "TRY_CAST(ROUND({0}, 0) AS BIGINT)",
    # The first double that does not fit would be taken for the last number that does.
    ("integer", "double"): (
        "CASE WHEN {0} >= -9223372036854775808D AND {0} < 9223372036854775808D "
        "THEN CAST(RINT({0}) AS BIGINT) END"
    ),
    ("integer", "text"): (
        f"TRY_CAST(ROUND(TRY_CAST({_NUMERIC_TEXT} AS DECIMAL(38, 10)), 0) AS BIGINT)"
    ),
    ("real", "whole"): "CAST({0} AS DOUBLE)",
    ("real", "boolean"): "CAST({0} AS DOUBLE)",
    ("real", "double"): "CAST({0} AS DOUBLE)",
    ("real", "decimal"): "CAST({0} AS DOUBLE)",
    ("real", "text"): f"TRY_CAST({_NUMERIC_TEXT} AS DOUBLE)",
    ("text", "text"): _TEXT,
    ("text", "whole"): "CAST({0} AS STRING)",
    ("text", "boolean"): "CAST({0} AS STRING)",
    ("text", "date"): f"CASE WHEN {KNOWN_DAY} THEN CAST({{0}} AS STRING) END",
    ("boolean", "boolean"): "{0}",
    ("boolean", "whole"): "({0} <> 0)",
    ("boolean", "text"): (
        f"CASE WHEN LOWER({{0}}) IN ({TRUE}) THEN TRUE WHEN LOWER({{0}}) IN ({FALSE}) "
        "THEN FALSE END"
    ),
    ("date", "date"): "{0}",
    ("date", "timestamp"): "CAST({0} AS DATE)",
    ("date", "zoned"): "CAST({0} AS DATE)",
    ("date", "text"): f"CASE WHEN {{0}} RLIKE '{_DAY}' THEN TRY_CAST({{0}} AS DATE) END",
    ("timestamp", "date"): f"CASE WHEN {KNOWN_DAY} THEN CAST({{0}} AS TIMESTAMP_NTZ) END",
    ("timestamp", "timestamp"): "{0}",
    ("timestamp", "zoned"): "CAST({0} AS TIMESTAMP_NTZ)",
    ("timestamp", "text"): (
        f"CASE WHEN {{0}} RLIKE '{_MOMENT}' THEN TRY_CAST({{0}} AS TIMESTAMP_NTZ) END"
    ),
    **{(kind, "any"): f"TRY_CAST({{0}} AS {word})" for kind, word in _TYPES.items()},
}

_WHOLE = "CASE WHEN {0} % 1 = 0 THEN TRY_CAST({0} AS DECIMAL(38, 0)) END"


SPARK = Dialect(
    name="spark",
    quote="`",
    types=MappingProxyType(_TYPES),
    templates=MappingProxyType(
        {
            **SHARED,
            "floor": f"CASE WHEN ABS({{0}}) < {_WHOLE_FROM} THEN CAST(FLOOR({{0}}) AS DOUBLE) "
            "ELSE {0} END",
            "ceil": f"CASE WHEN ABS({{0}}) < {_WHOLE_FROM} THEN CAST(CEIL({{0}}) AS DOUBLE) "
            "ELSE {0} END",
            "floor_to_integer": "FLOOR({0})",
            "ceil_to_integer": "CEIL({0})",
            "lower": _cased("LOWER", CAPITALS, SMALL),
            "upper": _cased("UPPER", SMALL, CAPITALS),
            "trim": "TRIM(BOTH ' ' FROM {0})",
            "to_text": "CAST({0} AS STRING)",
            "date_to_text": "CAST({0} AS STRING)",
            "not_nan": "NOT ISNAN({0})",
            "hash": "MD5({0})",
            "unit_to_text": "REPLACE(CAST({0} AS STRING), '-', '')",
            # A sum of 64 bits would raise where it overflows.
            "long_total": "SUM(CAST({0} AS DECIMAL(20, 0)))",
        }
    ),
    extract=MappingProxyType(
        {
            part: f"CAST(EXTRACT({_WORDS.get(part, part.upper())} FROM {{0}}) AS BIGINT)"
            for part in PARTS
        }
    ),
    date_trunc=MappingProxyType(
        {
            **{part: f"TRUNC(CAST({{0}} AS DATE), '{part.upper()}')" for part in TRUNCATIONS},
            "day": "CAST({0} AS DATE)",
        }
    ),
    canonical=MappingProxyType(
        {
            "integer": "CAST({0} AS STRING)",
            "real": "CAST(FLOOR({0}) AS STRING)",
            "text": "{0}",
            "boolean": "CAST(CAST({0} AS INTEGER) AS STRING)",
            "date": "CAST(DATEDIFF({0}, DATE '1970-01-01') AS STRING)",
            "timestamp": "CAST(UNIX_MICROS(CAST({0} AS TIMESTAMP)) AS STRING)",
        }
    ),
    integer=lambda value: _signed(f"{value}L"),
    real=lambda digits: _signed(f"{digits}D"),
    text=_text,
    moment="TIMESTAMP_NTZ '{0}'",
    reading=MappingProxyType(_READING),
    kind_of=_kind_of,
    long_names=by_kind(
        _kind_of,
        decimal=_WHOLE,
        text=_WHOLE.replace("{0}", f"TRY_CAST({_NUMERIC_TEXT} AS DECIMAL(38, 10))"),
    ),
    # Left to itself, Spark would send the hashes over the network with the rows.
    gathered=" DISTRIBUTE BY {0}",
)
