"""The page of benchmarks, written from the results: `docs/reference/benchmarks.md`."""

import json
from pathlib import Path
from typing import Any

from bench.harness import RESULTS

PAGE = RESULTS.parents[1] / "docs" / "reference" / "benchmarks.md"

HEADER = """\
# Benchmarks

Written by `make bench` from `bench/results/`; do not edit. Each peer runs in an environment of its
own, the sides take turns within one run, and each is judged by its best round. Machines differ:
trust the ratios.

*Times better* is ours over the peer's where more is better (units that end in "/s"), the peer's
over ours where less is better. A target beside it is a ratio to reach; a target in a row without a
peer is a figure in the row's own unit; a row without a target only reports.
"""

COLUMNS = ("What", "Ours", "Peer", "Unit", "Times better", "Target", "Holds")


def figure(x: float | None) -> str:
    """A number as the table shows it.

    >>> figure(1234.0), figure(0.5), figure(None)
    ('1,234', '0.5', '')
    """
    return "" if x is None else f"{x:,.4g}" if abs(x) < 1000 else f"{x:,.0f}"


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    verdict = {True: "yes", False: "**no**", None: ""}[row["holds"]]
    figures = (figure(row["ours"]), figure(row["peer"]), row["unit"])
    cells = (row["name"], *figures, figure(row["ratio"]), figure(row["target"]), verdict)
    return "| " + " | ".join(cells) + " |"


def section(name: str, rows: list[dict[str, Any]]) -> str:
    """One benchmark: a heading and its table."""
    head = "| " + " | ".join(COLUMNS) + " |\n|---|--:|--:|---|--:|--:|---|"
    return "\n".join((f"## {name}", "", head, *map(line, rows), ""))


def page(results: Path = RESULTS) -> str:
    """The whole page."""
    sections = [
        section(path.stem, json.loads(path.read_text())) for path in sorted(results.glob("*.json"))
    ]
    return "\n".join((HEADER, *sections))


def write() -> Path:
    """Bring the page up to date."""
    PAGE.write_text(page())
    return PAGE
