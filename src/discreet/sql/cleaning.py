"""One cell cleaned: total, so that no cell, whatever it holds, can make it raise.

What cannot be read as the declared type becomes NULL (or the column's ``missing``), numbers are
clamped to their bounds and put on their grid, so that later queries add up whole numbers. Reals
without bounds keep away from both ends of what doubles can hold: see ``plan/scale``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from fractions import Fraction

from discreet.errors import InvalidInput
from discreet.plan.expressions import LARGEST, Value
from discreet.plan.lengths import LONGEST_TEXT
from discreet.plan.schema import column as planned
from discreet.policy.columns import Column
from discreet.sql.dialects import Dialect
from discreet.sql.emit import apply, constant, identifier, real
from discreet.sql.hashing import keyed_name

_FIRST_DAY, _LAST_DAY = date(1, 1, 1), date(9999, 12, 31)


def clean(declared: Column, dialect: Dialect, types: Mapping[str, str] | None = None) -> str:
    """One column of one row, cleaned."""
    text = read(declared, dialect, types)
    match declared.type:
        case "integer":
            text = _clamped(text, declared.limits, dialect)
        case "real":
            text = _real(declared, text, dialect)
        case "date" | "timestamp":
            text = _date(declared, text, dialect)
        case "text":
            # So that no single cell decides how long a query takes.
            text = apply("substring", text, "1", str(LONGEST_TEXT), dialect=dialect)
    if declared.missing is None:
        return text
    return f"COALESCE({text}, {constant(_stored(declared, declared.missing), dialect)})"


def clean_unit(
    declared: Column, key: str | None, dialect: Dialect, types: Mapping[str, str] | None = None
) -> str:
    """Who a row is about: a whole number, or 128 keyed bits of a name.

    Two names fall together with probability below n^2 / 2^129. Of numbers only whole ones are
    somebody: rounded, two people would become one, who has twice the rows. Numbers beyond 64 bits
    stay what they are where the source's type can hold such: read as less, they would be nobody.
    """
    text = read(declared, dialect, types)
    if declared.type != "integer":
        return keyed_name(key, text, dialect)
    if types is not None:
        if dialect.kind_of(types[declared.name]) in ("whole", "boolean"):
            return text
        long = dialect.long_names(types[declared.name])
        if long is not None:
            return long.format(identifier(declared.name, dialect))
    number = read(declared.model_copy(update={"type": "real"}), dialect, types)
    return f"CASE WHEN {number} = FLOOR({number}) THEN {text} END"


def read(declared: Column, dialect: Dialect, types: Mapping[str, str] | None) -> str:
    """A cell of the source as the declared type, or NULL where it cannot be read as that."""
    kind: str | None = "any"
    word = ""
    if types is not None:
        if declared.name not in types:
            raise InvalidInput(
                f"the source has no column {declared.name!r}.",
                hint=f"its columns are: {', '.join(sorted(types))}.",
            )
        word = types[declared.name]
        kind = dialect.kind_of(word)
    template = dialect.reading.get((declared.type, kind or ""))
    if template is None:
        raise InvalidInput(
            f"the column {declared.name!r} is {word or 'of a type that was not given'} in the "
            f"source and is declared as {declared.type}: there is no way to read every such cell.",
            hint="declare another type, or cast the column in a view of the source.",
        )
    return template.format(identifier(declared.name, dialect))


def _real(declared: Column, double: str, dialect: Dialect) -> str:
    step, limits = planned(declared).step, declared.limits
    zero = real(Fraction(0), dialect)
    if step is None or limits is None:
        large, small = real(LARGEST, dialect), real(1 / LARGEST, dialect)
        # NaN is larger than any number to all engines.
        return (
            f"CASE WHEN ABS({double}) < {small} THEN {zero} "
            f"WHEN ABS({double}) <= {large} THEN {double} END"
        )
    low, high = (real(limit * step, dialect) for limit in limits)
    scaled = f"LEAST(GREATEST({double}, {low}), {high})"
    if step.numerator == 1:
        scaled = f"{scaled} * {real(Fraction(step.denominator), dialect)}"
    else:
        # A quotient may not underflow, and so small a number is 0 on any grid.
        small = real(1 / LARGEST, dialect)
        scaled = f"CASE WHEN ABS({double}) < {small} THEN {zero} ELSE {scaled} END"
        scaled = f"{scaled} / {real(step, dialect)}"
    steps = apply(
        "floor_to_integer", f"{scaled} + {real(Fraction(1, 2), dialect)}", dialect=dialect
    )
    bounded = f"LEAST(GREATEST({steps}, {limits[0]}), {limits[1]})"
    is_number = apply("not_nan", double, dialect=dialect)
    return f"CASE WHEN {double} IS NOT NULL AND {is_number} THEN {bounded} END"


def _date(declared: Column, text: str, dialect: Dialect) -> str:
    first: Value = _FIRST_DAY
    last: Value = _LAST_DAY
    if declared.type == "timestamp":
        first = datetime(1, 1, 1)  # noqa: DTZ001  # timestamps here have no zone
        last = datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001
    readable = f"{text} BETWEEN {constant(first, dialect)} AND {constant(last, dialect)}"
    value = text
    if declared.bounds is not None:
        low, high = (constant(bound, dialect) for bound in declared.bounds)
        value = f"LEAST(GREATEST({text}, {low}), {high})"
    return f"CASE WHEN {readable} THEN {value} END"


def _clamped(text: str, limits: tuple[int, int] | None, dialect: Dialect) -> str:
    if limits is None:
        return text
    low, high = (constant(limit, dialect) for limit in limits)
    return f"CASE WHEN {text} IS NOT NULL THEN LEAST(GREATEST({text}, {low}), {high}) END"


def _stored(declared: Column, value: Value) -> Value:
    step = planned(declared).step
    return int(value / step) if step is not None and isinstance(value, Fraction) else value
