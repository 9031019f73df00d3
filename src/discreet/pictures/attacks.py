"""Attacks against their ceilings, from plain rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.errors import InvalidValue
from discreet.pictures.picture import Picture, Spec
from discreet.pictures.points import shown
from discreet.pictures.style import BLUE, FAINT, INK, VERMILION, WIDTH, drawn, quantity

_OURS, _UNSAFE, _CEILING = "this system", "an unsafe one", "the most that theory allows"
_TITLE = "games that the attacker wins"
_MOST = 50
_DEVIATIONS = 3

FIELDS = (
    "attack",
    "ceiling",
    "success",
    "standard_error",
    "control_success",
    "control_standard_error",
)
"""What a row says: the shares are between 0 and 1."""


def attacks(rows: Sequence[Mapping[str, Any]]) -> Picture:
    """How often each attacker wins here, against an unsafe system, and at most by theory.

    >>> row = {"attack": "averaging", "ceiling": 0.731, "success": 0.7, "standard_error": 0.01,
    ...        "control_success": 1.0, "control_standard_error": 0.001}
    >>> attacks([row])
    <Picture: Attackers against their ceilings>
    """
    if not 1 <= len(rows) <= _MOST:
        raise InvalidValue(
            f"{len(rows)} attacks cannot be drawn: from 1 to {_MOST}.",
            hint="the rows of `discreet audit attack --all --json`.",
        )
    for row in rows:
        for name in FIELDS:
            if name not in row:
                raise InvalidValue(
                    f"a row has no {name!r}; it has {', '.join(map(repr, row))}.",
                    hint="the rows of `discreet audit attack --all --json`.",
                )
    names = [str(row["attack"]) for row in rows]
    points = [
        _point(row, whom, row[share], row[error])
        for row in rows
        for whom, share, error in (
            (_UNSAFE, "control_success", "control_standard_error"),
            (_OURS, "success", "standard_error"),
        )
    ]
    ceilings = [
        {"attack": str(row["attack"]), "whom": _CEILING, "share": shown(row["ceiling"])}
        for row in rows
    ]
    return drawn(
        "Attackers against their ceilings",
        [
            "which of two worlds is it? Guessing blindly wins half of the games; where the",
            f"ceiling is 0 nothing may ever succeed. Lines reach {_DEVIATIONS} standard errors",
        ],
        width=WIDTH,
        height={"step": 30},
        encoding={"y": _places(names)},
        layer=[
            {"data": {"values": ceilings}, **_ceiling()},
            {"data": {"values": points}, **_reach()},
            {"data": {"values": points}, **_dot()},
        ],
    )


def _point(row: Mapping[str, Any], whom: str, share: float, error: float) -> Spec:
    reach = _DEVIATIONS * error if row["ceiling"] else 0.0
    return {
        "attack": str(row["attack"]),
        "whom": whom,
        "share": shown(share),
        "low": shown(max(share - reach, 0)),
        "high": shown(min(share + reach, 1)),
    }


def _places(names: Sequence[str]) -> Spec:
    return {
        "field": "attack",
        "type": "nominal",
        "sort": list(names),
        "title": None,
        "axis": {"domain": False, "ticks": False, "labelPadding": 10, "grid": True},
    }


def _shares(field: str) -> Spec:
    return quantity(field, _TITLE, domain=(0, 1), ticks=[0, 0.25, 0.5, 0.75, 1], form="~%")


def _whom() -> dict[str, Spec]:
    named: Spec = {"field": "whom", "type": "nominal", "title": None}
    legend: Spec = {"orient": "bottom", "columns": 3, "symbolSize": 150, "symbolStrokeWidth": 2}
    domain = [_OURS, _CEILING, _UNSAFE]
    return {
        "color": {
            **named,
            "scale": {"domain": domain, "range": [BLUE, INK, VERMILION]},
            "legend": legend,
        },
        "shape": {
            **named,
            "scale": {"domain": domain, "range": ["circle", "M0,-1L0,1", "square"]},
            "legend": legend,
        },
    }


def _ceiling() -> Spec:
    return {
        "mark": {"type": "point", "size": 420, "strokeWidth": 3, "opacity": 1},
        "encoding": {"x": _shares("share"), **_whom()},
    }


def _reach() -> Spec:
    return {
        "mark": {"type": "rule", "strokeWidth": 2, "color": FAINT},
        "encoding": {"x": _shares("low"), "x2": {"field": "high"}},
    }


def _dot() -> Spec:
    return {
        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
        "encoding": {"x": _shares("share"), **_whom()},
    }
