"""Answers on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.exact import float_down, float_up

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from discreet.answer import Answer


def console(*, stderr: bool = False) -> Console:
    """Where to print; what is piped elsewhere is never folded to a terminal's width."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False)
    if not made.is_terminal:
        made = Console(stderr=stderr, highlight=False, width=10_000)
    return made


def table(answer: Answer, *, title: str | None = None) -> Table:
    """The answer with ± on every number; those that their error swamps are dim and marked."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    names, *lines = answer.lines()
    for column, name in zip(answer.columns, names, strict=True):
        numeric = column.low is not None
        made.add_column(Text(name), justify="right" if numeric else "left", no_wrap=numeric)
    for row, line in enumerate(lines):
        cells = []
        for column, cell in zip(answer.columns, line, strict=True):
            swamped = column.flag(row) is not None
            cells.append(Text(cell, style="dim" if swamped else ""))
        made.add_row(*cells)
    return made


def show(answer: Answer, out: Console) -> None:
    """The table, what its marks mean, and the cost."""
    from rich.text import Text

    out.print(table(answer))
    *marks, last = answer.notes()
    for each in marks:
        out.print(Text(each, style="dim"))
    out.print(Text(last))


def plain_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Rows of text without a frame."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def amounts(numbers: Mapping[str, Fraction], *, up: bool) -> str:
    """The components of a budget, rounded the safe way."""
    shown = float_up if up else float_down
    return ", ".join(f"{name} {shown(number):.6g}" for name, number in numbers.items())
