"""The values a policy may hold, each read by the type of its column."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator

from discreet.errors import InvalidNumber, InvalidValue
from discreet.exact import Rational, rational

Type: TypeAlias = Literal["integer", "real", "text", "boolean", "date", "timestamp"]
Bound: TypeAlias = Fraction | date | datetime
Value: TypeAlias = bool | int | Fraction | str | date | datetime
"""A cell: ``int`` for integer, ``Fraction`` for real, and so on; ``datetime`` has no time zone."""

_Held = TypeVar("_Held")


class Names(Mapping[str, _Held]):
    """A mapping that cannot be changed, so that it has a hash.

    >>> Names({"a": 1}) == {"a": 1}, hash(Names({"a": 1})) == hash(Names({"a": 1}))
    (True, True)
    """

    __slots__ = ("_held",)

    def __init__(self, held: Mapping[str, _Held]) -> None:
        self._held = dict(held)

    def __getitem__(self, name: str) -> _Held:
        return self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __hash__(self) -> int:
        return hash(frozenset(self._held.items()))

    def __repr__(self) -> str:
        return repr(self._held)


Named: TypeAlias = Annotated[Mapping[str, _Held], AfterValidator(Names)]

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  a policy's timestamps are wall clocks
_EXAMPLES: dict[str, str] = {
    "integer": "42",
    "real": "0.5",
    "text": '"A"',
    "boolean": "true",
    "date": "2026-01-31",
    "timestamp": "2026-01-31T12:00:00",
}


def number(raw: Any) -> Rational:
    """A number as a file writes it: 3, 0.1, or text such as "1/3"; not yet read."""
    if isinstance(raw, bool) or not isinstance(raw, int | float | str | Decimal | Fraction):
        raise InvalidNumber(
            f"{shown(raw)} is not a number.", hint='write a number such as 0.5, or "1/3"'
        )
    return raw


def value(kind: Type, raw: Any) -> Value:
    """A value of the column's type, or a refusal; nothing is converted that could mean two things.

    >>> value("real", Decimal("0.1"))
    Fraction(1, 10)
    """
    found: Value | None = None
    match kind:
        case "integer" | "real":
            found = _numeric(kind, raw)
        case "text" if isinstance(raw, str) and "\0" not in raw:
            found = raw
        case "boolean" if isinstance(raw, bool):
            found = raw
        case "date" if isinstance(raw, date) and not isinstance(raw, datetime):
            found = raw
        case "timestamp" if isinstance(raw, datetime) and raw.tzinfo is None:
            found = raw
    if found is None:
        why = f"is not of type {kind}"
        if isinstance(raw, datetime) and raw.tzinfo is not None:
            why = "has a time zone, and timestamps here have none"
        raise InvalidValue(f"{shown(raw)} {why}.", hint=f"write {_EXAMPLES[kind]}")
    return found


def parse(kind: Type, text: str) -> Value:
    """A value written as plain text, in a public table or on a command line.

    >>> parse("date", "2026-01-31")
    datetime.date(2026, 1, 31)
    """
    raw: Any = text
    try:
        match kind:
            case "integer" | "real":
                raw = rational(text)
            case "boolean":
                raw = {"true": True, "false": False}.get(text.lower(), text)
            case "date":
                raw = date.fromisoformat(text)
            case "timestamp":
                raw = datetime.fromisoformat(text)
    except ValueError:
        pass  # still text, which ``value`` refuses in its own words
    return value(kind, raw)


def bound(kind: Type, raw: Any) -> Bound:
    """An end of a range: a number, a date or a timestamp."""
    found = value(kind, raw)
    if isinstance(found, bool | str):
        raise InvalidValue(
            f"a {kind} column has no smallest and largest value.", hint="leave bounds out"
        )
    return Fraction(found) if isinstance(found, int) else found


def steps(at: Bound, step: Fraction) -> Fraction:
    """How many steps of the grid lie between zero (or 1970) and a bound; whole if it is on it.

    Dates count in days, timestamps in microseconds.
    """
    if isinstance(at, datetime):
        return (at - _EPOCH) // timedelta(microseconds=1) / step
    if isinstance(at, date):
        return (at - _EPOCH.date()).days / step
    return at / step


def default_step(low: Fraction, high: Fraction) -> Fraction:
    """A grid for a range: about a millionth of its width, decimal, with both ends on it.

    >>> default_step(Fraction(0), Fraction(500))
    Fraction(1, 10000)
    """
    scale = lcm(low.denominator, high.denominator)
    # Ten to this power is a multiple of every decimal denominator that divides ``scale``.
    decimal = 10 ** scale.bit_length()
    step = Fraction(1) if decimal % scale == 0 else Fraction(1, scale)
    widest = (high - low) / 2**20 or Fraction(1)
    while step * 10 <= widest:
        step *= 10
    while step > widest or (low / step).denominator > 1 or (high / step).denominator > 1:
        step /= 10
    return step


def shown(raw: Any) -> str:
    """A value as a policy would write it."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, str):
        return json.dumps(raw[:60], ensure_ascii=False)
    if isinstance(raw, date | datetime):
        return raw.isoformat()
    if isinstance(raw, Fraction):
        return written(raw)
    if isinstance(raw, int | Decimal | float):
        return str(raw)
    return "a table" if isinstance(raw, Mapping) else "a list"


def written(exact: Fraction) -> str:
    """A number as a policy writes it: a decimal, or text where there is none.

    >>> written(Fraction(21, 2)), written(Fraction(1, 10**9)), written(Fraction(1, 3))
    ('10.5', '1e-9', '"1/3"')
    """
    places = exact.denominator.bit_length() - 1  # as many as a power of two needs
    if 10**places % exact.denominator:
        return f'"{exact}"'
    digits = exact * 10**places
    while places and digits % 10 == 0:
        digits, places = digits / 10, places - 1
    if places > 6:
        return f"{digits}e-{places}"
    if places == 0:
        return str(digits)
    figures = str(abs(digits)).rjust(places + 1, "0")
    return f"{'-' * (digits < 0)}{figures[:-places]}.{figures[-places:]}"


def _numeric(kind: Type, raw: Any) -> int | Fraction | None:
    if isinstance(raw, bool) or not isinstance(raw, int | float | Decimal | Fraction):
        # "1/3" has no decimal, so a real number may be text; an integer never needs to be.
        if kind == "real" and isinstance(raw, str):
            return rational(raw)
        return None
    exact = rational(raw)
    if kind == "real":
        return exact
    return int(exact) if exact.denominator == 1 else None
