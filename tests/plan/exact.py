"""Operations on one row in exact arithmetic: what SQL would mean if numbers were numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from discreet.plan.expressions import LARGEST, Call, Column, Expression, Literal


def value_of(node: Expression, row: Mapping[str, Any]) -> Any:
    """The value of an expression in a row; None is NULL.

    Square roots are only known to lie between two rationals: the lower one is taken.
    """
    if isinstance(node, Column):
        return row[node.name]
    if isinstance(node, Literal):
        return node.value
    return _apply(node, [value_of(argument, row) for argument in node.arguments])


def _apply(node: Call, values: list[Any]) -> Any:
    if node.operation in _ALWAYS:
        return _ALWAYS[node.operation](*values)
    if any(value is None for value in values):
        return None
    return _STRICT[node.operation](*values)


def _divide(top: Fraction, bottom: Fraction) -> Fraction | None:
    return None if bottom == 0 else Fraction(top) / bottom


def _modulo(top: int, bottom: int) -> int | None:
    return None if bottom == 0 else int(math.fmod(top, bottom))


def _root(value: Fraction) -> Fraction | None:
    if value < 0:
        return None
    # Sixty binary places, rounded down.
    return Fraction(math.isqrt(math.floor(Fraction(value) * 4**60)), 2**60)


def _half_up(value: Fraction) -> int:
    return math.floor(Fraction(value) + Fraction(1, 2))


def _and(*values: Any) -> Any:
    if False in values:
        return False
    return None if None in values else True


def _or(*values: Any) -> Any:
    if True in values:
        return True
    return None if None in values else False


def _in(value: Any, *listed: Any) -> Any:
    return _or(*(None if value is None or each is None else value == each for each in listed))


def _case(*values: Any) -> Any:
    *pairs, default = values
    for condition, value in zip(pairs[0::2], pairs[1::2], strict=True):
        if condition is True:
            return value
    return default


def _coalesce(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _nullif(value: Any, other: Any) -> Any:
    return None if value is not None and value == other else value


def _extreme(pick: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*values: Any) -> Any:
        present = [value for value in values if value is not None]
        return pick(present) if present else None

    return extreme


_ALWAYS: dict[str, Callable[..., Any]] = {
    "and": _and,
    "or": _or,
    "in": _in,
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
    "least": _extreme(min),
    "greatest": _extreme(max),
    "is_null": lambda value: value is None,
}

_STRICT: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": _divide,
    "modulo": _modulo,
    "negate": lambda a: -a,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": _half_up,
    "sqrt": _root,
    "limit": lambda a: a if abs(a) <= LARGEST else None,
    "flush": lambda a: a if abs(a) >= 1 / LARGEST else Fraction(0),
    "clamp": lambda a, low, high: min(max(a, low), high),
    "equal": lambda a, b: a == b,
    "differs": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b,
    "not": lambda a: not a,
    "to_real": lambda a: Fraction(int(a) if isinstance(a, bool) else a),
    "to_integer": _half_up,
}

EXACT = frozenset(_ALWAYS) | frozenset(_STRICT)
"""The operations that are defined here: those on numbers and conditions."""
