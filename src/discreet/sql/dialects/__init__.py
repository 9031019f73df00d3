"""How each engine spells an operation. Every spelling gives the same value on every engine."""

from discreet.sql.dialects.dialect import Dialect
from discreet.sql.dialects.duckdb import DUCKDB
from discreet.sql.dialects.postgres import POSTGRES
from discreet.sql.dialects.spark import SPARK

__all__ = ["DUCKDB", "POSTGRES", "SPARK", "Dialect", "dialect_of"]


def dialect_of(kind: str) -> Dialect:
    """The dialect of the engine that reads a kind of source.

    >>> dialect_of("parquet").name, dialect_of("spark").name
    ('duckdb', 'spark')
    """
    return {"postgres": POSTGRES, "spark": SPARK}.get(kind, DUCKDB)
