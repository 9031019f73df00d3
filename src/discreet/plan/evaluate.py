"""Expressions computed on arrays: post-processing of the noisy table, without any engine.

A vector's last axis is rows. The noisy table itself has one axis; replicas of it, in which the
noise was drawn again, have one more in front, and the same code serves both. Numbers are doubles,
NULL is a mask.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.plan.expressions import LARGEST, Call, Column, Expression, Literal, Value
from discreet.plan.letters import CAPITALS, SMALL
from discreet.plan.operations import STAGE_AGGREGATES, truncate


@dataclass(frozen=True, slots=True)
class Vector:
    """Values, and which of them are there at all."""

    data: NDArray[Any]
    valid: NDArray[np.bool_]

    @staticmethod
    def of(values: Sequence[Value]) -> Vector:
        """Values from Python, None for NULL."""
        valid = np.array([value is not None for value in values], dtype=np.bool_)
        if all(value is None or _is_number(value) for value in values):
            data = np.array([0.0 if v is None else float(v) for v in values])  # type: ignore[arg-type]
        else:
            data = np.empty(len(values), dtype=object)
            data[:] = values
        return Vector(data, valid)

    def take(self, rows: NDArray[Any]) -> Vector:
        """Some of the rows, by place or by mask."""
        return Vector(self.data[..., rows], self.valid[..., rows])

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.data.shape[-1])


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which rows belong together: rows in the order of their groups, and where each begins."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]

    @staticmethod
    def by(keys: Sequence[Vector], rows: int) -> Grouping:
        """Group rows of equal keys, in the order in which the groups first appear."""
        places: dict[tuple[Any, ...], int] = {}
        numbers = np.zeros(rows, dtype=np.intp)
        for row in range(rows):
            key = tuple(k.data[row] if k.valid[row] else None for k in keys)
            numbers[row] = places.setdefault(key, len(places))
        order = np.argsort(numbers, kind="stable")
        count = len(places)
        return Grouping(order, np.searchsorted(numbers[order], np.arange(count)))

    @staticmethod
    def everything(rows: int) -> Grouping:
        """One group of all rows."""
        return Grouping(np.arange(rows), np.zeros(1, dtype=np.intp))

    @property
    def first(self) -> NDArray[np.intp]:
        """The first row of each group."""
        return self.order[self.starts] if len(self.order) else self.order


def evaluate(
    node: Expression, columns: Mapping[str, Vector], grouping: Grouping | None = None
) -> Vector:
    """The value of an expression in every row, or, with a grouping, in every group."""
    if isinstance(node, Column):
        vector = columns[node.name]
        return vector if grouping is None else vector.take(grouping.first)
    if isinstance(node, Literal):
        return _constant(node.value, columns, grouping)
    if node.operation in STAGE_AGGREGATES:
        assert grouping is not None  # noqa: S101  # the reader groups wherever it aggregates
        return _reduce(node.operation, evaluate(node.arguments[0], columns), grouping)
    arguments = [evaluate(argument, columns, grouping) for argument in node.arguments]
    return _apply(node, arguments)


def _constant(value: Value, columns: Mapping[str, Vector], grouping: Grouping | None) -> Vector:
    if grouping is not None:
        rows = len(grouping.starts)
    else:
        rows = next((vector.rows for vector in columns.values()), 1)
    single = Vector.of([value])
    return Vector(np.repeat(single.data, rows), np.repeat(single.valid, rows))


def _reduce(operation: str, vector: Vector, grouping: Grouping) -> Vector:
    data, valid = vector.data[..., grouping.order], vector.valid[..., grouping.order]
    if data.shape[-1] == 0:
        shape = (*data.shape[:-1], len(grouping.starts))
        return Vector(np.zeros(shape), np.full(shape, operation == "tally"))
    count = np.add.reduceat(valid.astype(np.float64), grouping.starts, axis=-1)
    if operation == "tally":
        return Vector(count, np.ones_like(count, dtype=np.bool_))
    if operation in ("total", "average"):
        total = np.add.reduceat(np.where(valid, data, 0.0), grouping.starts, axis=-1)
        if operation == "average":
            total = total / np.maximum(count, 1)
        return Vector(total, count > 0)
    if data.dtype == object:
        return _object_extremes(operation, data, valid, grouping)
    pick = np.minimum if operation == "minimum" else np.maximum
    filler = math.inf if operation == "minimum" else -math.inf
    return Vector(pick.reduceat(np.where(valid, data, filler), grouping.starts, axis=-1), count > 0)


def _object_extremes(
    operation: str, data: NDArray[Any], valid: NDArray[np.bool_], grouping: Grouping
) -> Vector:
    pick = min if operation == "minimum" else max
    ends = [*grouping.starts[1:].tolist(), len(data)]
    found: list[Value] = []
    for start, end in zip(grouping.starts.tolist(), ends, strict=True):
        present = [data[i] for i in range(start, end) if valid[i]]
        found.append(pick(present) if present else None)
    return Vector.of(found)


def _apply(node: Call, arguments: list[Vector]) -> Vector:
    operation = node.operation
    if operation in _NUMERIC:
        with np.errstate(all="ignore"):
            data = _NUMERIC[operation](*(vector.data for vector in arguments))
        both = node.meaning.bounds.bounded
        if operation in _TO_WHOLE and node.meaning.type == "integer" and both is not None:
            data = np.clip(data, float(both[0]), float(both[1]))  # as engines must
        valid = np.logical_and.reduce(np.broadcast_arrays(*(v.valid for v in arguments)))
        finite = np.isfinite(data) if data.dtype.kind == "f" else np.ones_like(valid)
        return Vector(data, valid & finite)
    if operation in _ROWWISE:
        return _rowwise(_ROWWISE[operation], arguments)
    return _SPECIAL[operation](arguments)


_LARGEST = float(LARGEST)


def _half_up(x: NDArray[Any]) -> NDArray[Any]:
    return np.floor(x + 0.5)


_NUMERIC: dict[str, Callable[..., NDArray[Any]]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,  # what is not finite becomes NULL, as 1/0 must
    "modulo": np.fmod,
    "negate": np.negative,
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": _half_up,
    "sqrt": np.sqrt,
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "limit": lambda x: np.where(np.abs(x) <= _LARGEST, x, np.nan),  # NaN is NULL
    "flush": lambda x: np.where(np.abs(x) < 1 / _LARGEST, 0.0, x),
    "to_real": lambda x: x.astype(np.float64),
    "to_integer": lambda x: _half_up(x.astype(np.float64)),
}
_TO_WHOLE = frozenset({"floor", "ceil", "round", "to_integer"})


# Comparison and logic, where NULL has rules of its own ------------------------------------------


def _compare(function: Callable[[Any, Any], Any]) -> Callable[[list[Vector]], Vector]:
    def compare(arguments: list[Vector]) -> Vector:
        left, right = arguments
        valid = left.valid & right.valid
        if object in (left.data.dtype, right.data.dtype):
            pairs = np.broadcast_arrays(left.data, right.data, valid)
            flat = [
                bool(function(*_same_kind(a, b))) if there else False
                for a, b, there in zip(*(p.ravel().tolist() for p in pairs), strict=True)
            ]
            return Vector(np.array(flat, dtype=np.bool_).reshape(valid.shape), valid)
        return Vector(np.asarray(function(left.data, right.data)), valid)

    return compare


def _same_kind(left: Any, right: Any) -> tuple[Any, Any]:
    """A day beside a moment is that day's first moment."""
    moments = isinstance(left, datetime), isinstance(right, datetime)
    if moments == (True, False) and isinstance(right, date):
        return left, datetime(right.year, right.month, right.day)  # noqa: DTZ001
    if moments == (False, True) and isinstance(left, date):
        return datetime(left.year, left.month, left.day), right  # noqa: DTZ001
    return left, right


def _and(arguments: list[Vector]) -> Vector:
    data, valid = arguments[0].data.astype(np.bool_), arguments[0].valid
    for other in arguments[1:]:
        right = other.data.astype(np.bool_)
        # False AND NULL is False; True AND NULL is NULL.
        settled = (valid & ~data) | (other.valid & ~right)
        data, valid = data & right & ~settled, settled | (valid & other.valid)
    return Vector(data, valid)


def _or(arguments: list[Vector]) -> Vector:
    flipped = [Vector(~v.data.astype(np.bool_), v.valid) for v in arguments]
    result = _and(flipped)
    return Vector(~result.data, result.valid)


def _not(arguments: list[Vector]) -> Vector:
    return Vector(~arguments[0].data.astype(np.bool_), arguments[0].valid)


def _is_null(arguments: list[Vector]) -> Vector:
    return Vector(~arguments[0].valid, np.ones_like(arguments[0].valid))


def _in(arguments: list[Vector]) -> Vector:
    equal = _compare(lambda a, b: a == b)
    return _or([equal([arguments[0], other]) for other in arguments[1:]])


def _case(arguments: list[Vector]) -> Vector:
    *pairs, result = arguments
    for condition, value in reversed(list(zip(pairs[0::2], pairs[1::2], strict=True))):
        result = _choose(condition.valid & condition.data.astype(np.bool_), value, result)
    return result


def _coalesce(arguments: list[Vector]) -> Vector:
    result = arguments[-1]
    for value in reversed(arguments[:-1]):
        result = _choose(value.valid, value, result)
    return result


def _nullif(arguments: list[Vector]) -> Vector:
    left, right = arguments
    same = _compare(lambda a, b: a == b)([left, right])
    return Vector(left.data, left.valid & ~(same.valid & same.data))


def _choose(mask: NDArray[np.bool_], yes: Vector, no: Vector) -> Vector:
    if yes.data.dtype != no.data.dtype:
        kinds = {yes.data.dtype, no.data.dtype}
        target = object if np.dtype(object) in kinds else np.float64
        yes, no = (Vector(v.data.astype(target), v.valid) for v in (yes, no))
    return Vector(np.where(mask, yes.data, no.data), np.where(mask, yes.valid, no.valid))


def _extreme(pick: Callable[..., NDArray[Any]], filler: float) -> Callable[[list[Vector]], Vector]:
    def extreme(arguments: list[Vector]) -> Vector:
        data = pick([np.where(v.valid, v.data, filler) for v in _broadcast(arguments)], axis=0)
        return Vector(data, np.isfinite(data))

    return extreme


def _broadcast(arguments: list[Vector]) -> list[Vector]:
    data = np.broadcast_arrays(*(v.data for v in arguments))
    valid = np.broadcast_arrays(*(v.valid for v in arguments))
    return [Vector(d, v) for d, v in zip(data, valid, strict=True)]


_SPECIAL: dict[str, Callable[[list[Vector]], Vector]] = {
    "equal": _compare(lambda a, b: a == b),
    "differs": _compare(lambda a, b: a != b),
    "less": _compare(lambda a, b: a < b),
    "less_equal": _compare(lambda a, b: a <= b),
    "greater": _compare(lambda a, b: a > b),
    "greater_equal": _compare(lambda a, b: a >= b),
    "and": _and,
    "or": _or,
    "not": _not,
    "is_null": _is_null,
    "in": _in,
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
    "least": _extreme(np.min, math.inf),
    "greatest": _extreme(np.max, -math.inf),
}


# Text and dates, row by row: keys alone have them, and there are few ----------------------------


def _rowwise(function: Callable[..., Value], arguments: list[Vector]) -> Vector:
    columns = _broadcast(arguments)
    shape = columns[0].data.shape
    flat = [Vector(column.data.ravel(), column.valid.ravel()) for column in columns]
    found: list[Value] = []
    for row in range(flat[0].rows):
        there = all(bool(column.valid[row]) for column in flat)
        found.append(function(*(column.data[row] for column in flat)) if there else None)
    vector = Vector.of(found)
    return Vector(vector.data.reshape(shape), vector.valid.reshape(shape))


def like(text: str, pattern: str) -> bool:
    """SQL's LIKE: % for any text, _ for one character.

    Only the last % is ever tried again, so no pattern takes longer than their lengths' product.
    """
    at = place = 0
    retry: tuple[int, int] | None = None
    while at < len(text):
        if place < len(pattern) and pattern[place] == "%":
            retry = (at, place)
            place += 1
        elif place < len(pattern) and pattern[place] in ("_", text[at]):
            at, place = at + 1, place + 1
        elif retry is not None:
            retry = (retry[0] + 1, retry[1])
            at, place = retry[0], retry[1] + 1
        else:
            return False
    return not pattern[place:].strip("%")


def _substring(text: str, start: float, length: float) -> str:
    first = max(int(start), 1) - 1
    return text[first : max(int(start) - 1 + int(length), first)]


def _to_text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _extract(part: str, day: date) -> int:
    if part == "quarter":
        return (day.month - 1) // 3 + 1
    if part == "isodow":
        return day.isoweekday()
    return int(getattr(day, part))


def _date_trunc(part: str, day: date) -> date:
    return truncate(_to_date(day), part)


def _to_date(day: date) -> date:
    return day.date() if isinstance(day, datetime) else day


_LOWER = str.maketrans(CAPITALS, SMALL)
_UPPER = str.maketrans(SMALL, CAPITALS)

_ROWWISE: dict[str, Callable[..., Value]] = {
    "lower": lambda text: text.translate(_LOWER),
    "upper": lambda text: text.translate(_UPPER),
    "trim": lambda text: text.strip(" "),
    "length": len,
    "substring": _substring,
    "concat": lambda *texts: "".join(texts),
    "like": like,
    "extract": _extract,
    "date_trunc": _date_trunc,
    "to_text": _to_text,
    "to_date": _to_date,
}


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)
