"""Answers with their intervals, from plain rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from discreet.errors import InvalidValue
from discreet.pictures.picture import Picture, Spec
from discreet.pictures.plus_minus import plus_minus
from discreet.pictures.style import BLUE, FAINT, INK, WIDTH, drawn, from_zero

MOST_BARS = 200


class Row(TypedDict):
    """One row, as it is drawn."""

    key: str
    value: float | None
    low: float | None
    high: float | None
    text: str


def error_bars(
    rows: Sequence[Mapping[str, Any]],
    *,
    key: str,
    value: str,
    low: str,
    high: str,
    title: str,
    subtitle: str | Sequence[str] = "dots are noisy answers; lines reach as far as their intervals",
    percent: bool = False,
) -> Picture:
    """A dot for each row, and a line over its interval; ``key`` and the others name fields.

    A bound that is missing (None) leaves the row without a line, a value that is missing leaves
    it without a dot. ``percent`` writes the numbers as percentages.

    >>> rows = [{"ward": "north", "n": 120, "low": 112, "high": 128}]
    >>> error_bars(rows, key="ward", value="n", low="low", high="high", title="Visits").title
    'Visits'
    """
    if not 1 <= len(rows) <= MOST_BARS:
        raise InvalidValue(
            f"{len(rows)} rows cannot be drawn: from 1 to {MOST_BARS}.",
            hint="LIMIT 20, or draw fewer of them.",
        )
    data = [
        _row(
            _field(row, key),
            *(_number(_field(row, name)) for name in (value, low, high)),
            percent=percent,
            whole=isinstance(_field(row, value), int),
        )
        for row in rows
    ]
    keys = [row["key"] for row in data]
    if len(set(keys)) < len(keys):
        raise InvalidValue(
            f"two rows have the same {key!r}: one would hide the other.",
            hint="join all keys of a row into one.",
        )
    form = "~%" if percent else ",~f"
    y: Spec = {
        "field": "key",
        "type": "nominal",
        "sort": None,
        "scale": {"domain": keys},
        "title": key,
        "axis": {
            "domain": False,
            "ticks": False,
            "labelPadding": 8,
            "labelLimit": 320,
            "titleAngle": 0,
            "titleAlign": "right",
            "titleAnchor": "end",
            "titleX": -8,
            "titleY": -10,
        },
    }
    return drawn(
        title,
        subtitle,
        width=WIDTH,
        height={"step": 26},
        data={"values": data},
        encoding={"y": y},
        layer=[_line(value, form), _dot(value, form), _text()],
    )


def _line(value: str, form: str) -> Spec:
    return {
        "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
        "mark": {"type": "rule", "strokeWidth": 3, "color": BLUE, "opacity": 0.55},
        "encoding": {"x": from_zero("low", value, form=form), "x2": {"field": "high"}},
    }


def _dot(value: str, form: str) -> Spec:
    return {
        "transform": [{"filter": "isValid(datum.value)"}],
        "mark": {"type": "point", "filled": True, "size": 80, "color": INK, "opacity": 1},
        "encoding": {"x": from_zero("value", value, form=form)},
    }


def _text() -> Spec:
    return {
        "transform": [{"calculate": "max(datum.high, datum.value, 0)", "as": "end"}],
        "mark": {"type": "text", "align": "left", "dx": 9, "color": FAINT},
        "encoding": {"x": {"field": "end", "type": "quantitative"}, "text": {"field": "text"}},
    }


def _field(row: Mapping[str, Any], name: str) -> Any:
    if name not in row:
        raise InvalidValue(
            f"a row has no field {name!r}; it has {', '.join(map(repr, row))}.",
            hint='error_bars(rows, key="ward", value="n", low="low", high="high", title="Visits")',
        )
    return row[name]


def _row(
    key: object,
    value: float | None,
    low: float | None,
    high: float | None,
    *,
    percent: bool,
    whole: bool,
) -> Row:
    label = "NULL" if key is None else str(key)
    text = _words(value, low, high, percent=percent, whole=whole)
    return Row(key=label, value=value, low=low, high=high, text=text)


def _words(
    value: float | None, low: float | None, high: float | None, *, percent: bool, whole: bool
) -> str:
    """A number and its interval."""
    if value is None:
        return "no number"
    unit, sign = (100, " %") if percent else (1, "")
    if low is None or high is None:
        return f"{unit * value:,.12g}{sign}, no interval"
    # Rounded, since a hundred times 0.29 is a little less than 29.
    numbers = (round(unit * each, 12) for each in (value, low, high))
    return plus_minus(*numbers, whole=whole and not percent) + sign


def _number(value: Any) -> float | None:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise InvalidValue("a value or bound is not a number.", hint="give numbers, or None.")
    return number if math.isfinite(number) else None
