"""How each engine spells constants and names, and which letters are each other's capitals."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

import pytest

from discreet.plan.letters import CAPITALS, SMALL
from discreet.plan.operations import PARTS, TRUNCATIONS
from discreet.sql.dialects import DUCKDB, POSTGRES, SPARK, dialect_of
from discreet.sql.emit import constant, identifier

DIALECTS = [DUCKDB, POSTGRES, SPARK]
MOMENT = datetime(2026, 1, 31, 12, 0, 0, 500000)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (7, ("7::BIGINT", "BIGINT '7'", "7L")),
        (-7, ("(-7)::BIGINT", "BIGINT '-7'", "(-7L)")),
        (
            2**63,
            ("9.223372036854776e+18", "FLOAT8 '9.223372036854776e+18'", "9.223372036854776e+18D"),
        ),
        (Fraction(-1, 2), ("(-0.5e0)", "FLOAT8 '-0.5'", "(-0.5D)")),
        (None, ("NULL",) * 3),
        (True, ("TRUE",) * 3),
        ("north", ("'north'", "(TEXT 'north' COLLATE \"C\")", "'north'")),
        ("it's", ("'it''s'", "(TEXT 'it''s' COLLATE \"C\")", "CAST(X'69742773' AS STRING)")),
        ("a\\", ("'a\\'", "(TEXT E'a\\\\' COLLATE \"C\")", "CAST(X'615C' AS STRING)")),
        ("${x}", ("'${x}'", "(TEXT '${x}' COLLATE \"C\")", "CAST(X'247B787D' AS STRING)")),
        (date(1, 1, 1), ("DATE '0001-01-01'",) * 3),
        (
            MOMENT,
            (
                *("TIMESTAMP '2026-01-31 12:00:00.500000'",) * 2,
                "TIMESTAMP_NTZ '2026-01-31 12:00:00.500000'",
            ),
        ),
    ],
    ids=str,
)
def test_constants(value, written):
    assert tuple(constant(value, dialect) for dialect in DIALECTS) == written


def test_names():
    name = 'a"b`c'
    assert [identifier(name, dialect) for dialect in DIALECTS] == [
        '"a""b`c"',
        '"a""b`c"',
        '`a"b``c`',
    ]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, "duckdb") for kind in ("parquet", "csv", "duckdb")),
        *((kind, kind) for kind in ("postgres", "spark")),
    ],
)
def test_every_kind_of_source_has_a_dialect(kind, name):
    assert dialect_of(kind).name == name


def test_all_dialects_spell_the_same_things():
    for dialect in DIALECTS:
        assert set(dialect.templates) == set(DUCKDB.templates)
        assert set(dialect.extract) == set(PARTS)
        assert set(dialect.date_trunc) == set(TRUNCATIONS)
        assert set(dialect.canonical) == set(dialect.types) == set(DUCKDB.types)


def test_letters_lead_to_their_capitals_and_back():
    assert len(set(CAPITALS)) == len(set(SMALL)) == len(CAPITALS) == len(SMALL)
    assert not set(CAPITALS) & set(SMALL)
    for capital, small in zip(CAPITALS, SMALL, strict=True):
        assert capital.lower() == small
        assert small.upper() == capital
    assert set("ABZÉÑÖŁŠΣΩЖЯԱ") <= set(CAPITALS)
    assert not set("ßİıſςŉǅ") & (set(CAPITALS) | set(SMALL))


def test_the_letters_are_those_that_every_python_knows():
    # A later Unicode may add letters; a snapshot would then mean something else than before.
    assert len(CAPITALS) == 586
