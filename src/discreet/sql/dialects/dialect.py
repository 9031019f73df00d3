"""What a dialect is, and the spellings that all of them share.

A template's ``{0}``, ``{1}`` are arguments of the types that the operation works on: whole numbers
are 64 bits wide, reals are doubles, text compares by its bytes, moments have no time zone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from discreet.plan.expressions import Type

SHARED: Mapping[str, str] = MappingProxyType(
    {
        "add": "({0} + {1})",
        "subtract": "({0} - {1})",
        "multiply": "({0} * {1})",
        "divide": "({0} / NULLIF({1}, 0))",
        "modulo": "({0} % NULLIF({1}, 0))",
        "negate": "(-{0})",
        "abs": "ABS({0})",
        "sqrt": "SQRT(CASE WHEN {0} >= 0 THEN {0} END)",
        "floor": "FLOOR({0})",
        "ceil": "CEIL({0})",
        "equal": "({0} = {1})",
        "differs": "({0} <> {1})",
        "less": "({0} < {1})",
        "less_equal": "({0} <= {1})",
        "greater": "({0} > {1})",
        "greater_equal": "({0} >= {1})",
        "not": "(NOT {0})",
        "is_null": "({0} IS NULL)",
        "nullif": "NULLIF({0}, {1})",
        "length": "CAST(LENGTH({0}) AS BIGINT)",
        "substring": "SUBSTRING({0}, {1}, {2})",
        "like": "({0} LIKE {1})",
        # LEAST and GREATEST pass over NULL, which would become the lower bound.
        "kept": "CASE WHEN {0} IS NOT NULL THEN LEAST(GREATEST({0}, {1}), {2}) END",
        "clamp": "CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END",
        "limit": "CASE WHEN ABS({0}) <= {1} THEN {0} END",
        "flush": "CASE WHEN ABS({0}) < {1} THEN {2} ELSE {0} END",
        "boolean_to_integer": "CAST(CAST({0} AS INTEGER) AS BIGINT)",
        "total": "SUM({0})",
    }
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One engine's words."""

    name: str
    quote: str
    """What stands around a name, and twice for itself inside one."""
    types: Mapping[Type, str]
    templates: Mapping[str, str]
    extract: Mapping[str, str]
    """Each part of a date, as a whole number."""
    date_trunc: Mapping[str, str]
    """The first day of each part, as a date."""
    canonical: Mapping[Type, str]
    """Values as text that is the same on every engine; reals only to a fraction of their digits."""
    integer: Callable[[int], str]
    """A constant of 64 bits."""
    real: Callable[[str], str]
    """A constant double, from Python's shortest spelling of it."""
    text: Callable[[str], str]
    """A constant text, whatever it holds."""
    moment: str
    """A constant timestamp."""
    reading: Mapping[tuple[Type, str], str]
    """Cells of a source as the declared type, by the type and what kind of cells they are.

    Each is total: no cell can make it raise. The kind is "any" where the engine can try any cast.
    """
    kind_of: Callable[[str], str | None]
    """The kind of cells that the engine's word for a type stands for."""
    long_names: Callable[[str], str | None]
    """Who a row is about, by the engine's word for a type of whole numbers beyond 64 bits.

    Each is total and exact: no number is lost for its length, and none is rounded to another.
    None where 64 bits hold whatever the type holds, or where it holds no exact numbers.
    """
    gathered: str = ""
    """Said after a SELECT that cleans rows, so that each unit's come together before ranking."""


def by_kind(kind_of: Callable[[str], str | None], **spellings: str) -> Callable[[str], str | None]:
    """What is said of a type by the kind of its cells; None for the kinds that are not named."""
    return lambda word: spellings.get(kind_of(word) or "")
