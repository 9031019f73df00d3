"""What engines call their types, in a policy's words."""

from __future__ import annotations

import re

from discreet.policy.values import Type

_TYPES: dict[Type, str] = {
    "integer": r"u?(tiny|small|big|huge)?int(eger)?|u?int(8|16|32|64|128)?|int[248]|"
    r"(byte|short|long)(type)?|integertype|(big|small)?serial",
    "real": r"double( precision)?|real|float|half_?float|float(16|32|64|4|8)|decimal(128|256)?|"
    r"numeric|(double|float|decimal)type",
    "text": r"text|varchar|char|character|character varying|bpchar|(large_)?string(_view)?|"
    r"utf8|uuid|enum|stringtype",
    "boolean": r"bool(ean)?(type)?",
    "date": r"date(32|type)?",
    "timestamp": r"timestamp(_s|_ms|_ns|_ntz|_ltz|tz|type|ntztype)?|datetime|"
    r"timestamp with(out)? time zone",
}


def type_of(engine_type: str) -> Type | None:
    """The policy's type for an engine's, or None: such a column stays out of reach.

    A moment with a time zone is that moment in UTC, whoever asks.

    >>> type_of("BIGINT"), type_of("DECIMAL(10,2)"), type_of("timestamp[us]"), type_of("BLOB")
    ('integer', 'real', 'timestamp', None)
    """
    text = engine_type.strip().lower()
    if re.search(r"\[[0-9]*\]$", text):  # a list of values is no value
        return None
    dictionary = re.fullmatch(r"dictionary<values=(\w+),.*", text)
    name = dictionary[1] if dictionary else re.sub(r"\s*[(\[].*?[)\]]", "", text)
    return next((kind for kind, pattern in _TYPES.items() if re.fullmatch(pattern, name)), None)


def unit_type_of(engine_type: str) -> Type | None:
    """The same for the column that names people: decimals without a fraction are whole numbers.

    >>> unit_type_of("DECIMAL(20,0)"), unit_type_of("numeric(20)"), unit_type_of("DECIMAL(20,2)")
    ('integer', 'integer', 'real')
    """
    whole = re.fullmatch(
        r"(decimal(128|256)?|numeric)\(\d+(, ?0)?\)", engine_type.strip(), re.IGNORECASE
    )
    return "integer" if whole else type_of(engine_type)
