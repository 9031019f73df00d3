"""How every picture looks: one palette, one set of fonts, axes that name their units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from discreet.pictures.picture import Picture, Spec

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"

BLUE, VERMILION, GREEN, PURPLE, BLACK = "#0072B2", "#D55E00", "#009E73", "#AA4499", "#111111"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, BLACK)
"""Told apart by readers with any of the usual kinds of colour vision (after Okabe and Ito)."""

DASHES = ([1, 0], [8, 3], [2, 2], [8, 3, 2, 3], [1, 5])
"""The second mark of a line, for those who print without colour."""

INK, FAINT, GRID = "#222222", "#666666", "#e6e6e6"
WIDTH, HEIGHT = 560, 340

CONFIG: Spec = {
    "background": "white",
    "font": "Arial, Liberation Sans, Helvetica, sans-serif",
    "padding": 12,
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "frame": "group",
        "color": INK,
        "fontSize": 17,
        "subtitleColor": FAINT,
        "subtitleFontSize": 13,
        "subtitlePadding": 5,
        "subtitleLineHeight": 17,
        "offset": 14,
    },
    "axis": {
        "labelColor": INK,
        "labelFontSize": 13,
        "titleColor": INK,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "gridColor": GRID,
        "labelFlush": False,
        "labelPadding": 5,
        "domainColor": FAINT,
        "tickColor": FAINT,
    },
    "legend": {
        "labelColor": INK,
        "labelFontSize": 13,
        "labelLimit": 400,
        "titleColor": INK,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "symbolStrokeWidth": 2.5,
        "symbolSize": 500,
        "rowPadding": 6,
    },
    "line": {"strokeWidth": 2.5},
    "bar": {"tooltip": True},
    "point": {"tooltip": True},
    "text": {"fontSize": 13, "color": INK},
}


def drawn(title: str, subtitle: str | Sequence[str], **parts: Any) -> Picture:
    """A picture with a title that says what to see, and a subtitle that says for which numbers."""
    lines = subtitle if isinstance(subtitle, str) else list(subtitle)
    size: Spec = {} if "vconcat" in parts else {"width": WIDTH, "height": HEIGHT}
    return Picture(
        {
            "$schema": SCHEMA,
            "title": {"text": title, "subtitle": lines},
            "config": CONFIG,
            **size,
            **parts,
        }
    )


def quantity(
    field: str,
    title: str,
    *,
    domain: tuple[float, float] | None = None,
    ticks: Sequence[float] | None = None,
    form: str | None = None,
    log: bool = False,
) -> Spec:
    """An axis of numbers: what they are and in which unit, and where it begins and ends."""
    scale: Spec = {"type": "log"} if log else {"zero": False}
    if domain is not None:
        scale |= {"domain": list(domain), "nice": False}
    axis: Spec = {"tickCount": 8}
    if ticks is not None:
        axis["values"] = list(ticks)
    if form is not None:
        axis["format"] = form
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def lines(field: str, names: Sequence[str], title: str | None = None) -> Spec:
    """The colour and the dashes of several lines, in the order given, with one legend for both."""
    many = range(len(names))
    colours = [COLOURS[place % len(COLOURS)] for place in many]
    dashes = [list(DASHES[place % len(DASHES)]) for place in many]
    named: Spec = {"field": field, "type": "nominal", "sort": list(names), "title": title}
    domain = list(names)
    return {
        "color": {**named, "scale": {"domain": domain, "range": colours}},
        "strokeDash": {**named, "scale": {"domain": domain, "range": dashes}},
    }


def decades(field: str, title: str, values: Sequence[float], *, form: str) -> Spec:
    """A logarithmic axis that begins and ends at powers of ten, and is marked at each."""
    # A value just beside a power of ten does not open another decade.
    low = math.floor(math.log10(min(values)) + 0.01)
    high = math.ceil(math.log10(max(values)) - 0.01)
    ticks = [float(f"1e{power}") for power in range(low, high + 1)]
    return quantity(field, title, domain=(ticks[0], ticks[-1]), ticks=ticks, form=form, log=True)


def from_zero(field: str, title: str, *, form: str) -> Spec:
    """An axis for lengths that are compared: it holds zero, and marks it."""
    zero = {"condition": {"test": "datum.value === 0", "value": FAINT}, "value": GRID}
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": True},
        "axis": {"format": form, "tickCount": 6, "grid": True, "gridColor": zero},
    }
