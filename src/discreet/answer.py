"""The table that a user holds: values, an interval for each number, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.errors import InvalidInput
from discreet.pictures.visible import visible
from discreet.plan.expressions import Type

if TYPE_CHECKING:
    from discreet.pictures import Picture

Cell = int | float | str | bool | date | datetime | None


@dataclass(frozen=True)
class Column:
    """One column: its values, and where the true ones lie (None for keys)."""

    name: str
    type: Type
    values: tuple[Cell, ...]
    low: tuple[float | None, ...] | None = None
    high: tuple[float | None, ...] | None = None
    """Bounds of the intervals; None where there is no bound on that side."""

    def flag(self, row: int) -> str | None:
        """``unreliable`` where the interval is wider than the value is large."""
        if self.low is None or self.high is None:
            return None
        value, low, high = self.values[row], self.low[row], self.high[row]
        if value is None or low is None or high is None:
            return "unreliable"
        return "unreliable" if high - low > 2 * abs(float(value)) else None  # type: ignore[arg-type]

    def cell(self, row: int) -> dict[str, Any]:
        """One value, with its interval and flag."""
        return {
            "value": self.values[row],
            "low": self.low[row] if self.low else None,
            "high": self.high[row] if self.high else None,
            "flag": self.flag(row),
        }


@dataclass(frozen=True)
class Cost:
    """What the analyst's own cap was charged: exact."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Answer:
    """The answer to one query.

    The intervals cover the noise: with the given confidence each holds the value that the bounded
    data give. What bounding left out is not in them.
    """

    columns: tuple[Column, ...]
    cost: Cost
    left: Mapping[str, Fraction]
    """What the analyst has left, by component of the accountant."""
    stored: bool
    """Whether it was bought before: by this analyst, and then it is free, or by another."""
    snapshot: str
    confidence: Fraction
    facts: Mapping[str, Any]
    """What a privacy statement says: unit, relation, bounds, mechanisms."""
    shared: bool = False
    """Whether the analyst's own cap alone was charged, since another analyst had bought it."""
    dataset: str = ""
    """The data set that was asked."""

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def __getitem__(self, name: str) -> tuple[Cell, ...]:
        """The values of a column."""
        return self.column(name).values

    def column(self, name: str) -> Column:
        """A column by name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"no column {name!r}; there are {[c.name for c in self.columns]}")

    def rows(self) -> Iterator[dict[str, dict[str, Any]]]:
        """Row by row: for each column its value, low, high and flag."""
        for row in range(len(self)):
            yield {column.name: column.cell(row) for column in self.columns}

    # Other forms -------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "columns": [column.name for column in self.columns],
            "rows": [
                {name: {**cell, "value": _plain(cell["value"])} for name, cell in row.items()}
                for row in self.rows()
            ],
            "cost": {"epsilon": float(self.cost.epsilon), "delta": float(self.cost.delta)},
            "left": {name: float(amount) for name, amount in self.left.items()},
            "stored": self.stored,
            "shared": self.shared,
            "dataset": self.dataset,
            "snapshot": self.snapshot,
        }

    def to_arrow(self) -> pa.Table:
        """An Arrow table; a number ``n`` is followed by ``n_low`` and ``n_high``.

        Where the answer has a column of such a name itself, both have one underscore more, or as
        many as it takes: ``n__low`` and ``n__high``. No two columns have one name.
        """
        names: list[str] = []
        arrays: list[pa.Array] = []
        for column, ends in zip(self.columns, self._ends(), strict=True):
            names.append(column.name)
            arrays.append(pa.array(column.values, type=_ARROW.get(column.type)))
            for end, bounds in zip(ends, (column.low, column.high), strict=True):
                if bounds is not None:
                    names.append(end)
                    arrays.append(pa.array(bounds, type=pa.float64()))
        return pa.Table.from_arrays(arrays, names=names)

    def _ends(self) -> list[tuple[str, str]]:
        """For each column, names for the ends of its intervals that nothing else has."""
        taken = {column.name.lower() for column in self.columns}
        found: list[tuple[str, str]] = []
        for column in self.columns:
            gap = "_"
            while taken & {f"{column.name}{gap}{end}".lower() for end in ("low", "high")}:
                gap += "_"
            found.append((f"{column.name}{gap}low", f"{column.name}{gap}high"))
            taken |= {end.lower() for end in found[-1]} if column.low is not None else set()
        return found

    def to_pandas(self) -> Any:
        """A pandas DataFrame, where pandas is installed."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A Polars DataFrame, where Polars is installed."""
        import polars as pl

        return pl.from_arrow(self.to_arrow())

    def plot(self, column: str | None = None) -> Picture:
        """One column of numbers with error bars, by default the first; a line for each row."""
        from discreet.pictures import error_bars

        numbers = [each.name for each in self.columns if each.low is not None]
        chosen = column if column is not None else next(iter(numbers), None)
        if chosen not in numbers:
            raise InvalidInput(
                "there is no such column of numbers to draw.",
                hint=f"one of: {', '.join(numbers) or 'none in this answer'}.",
            )
        keys = [each for each in self.columns if each.low is None]
        drawn = self.column(chosen)
        low, high = self._ends()[self.columns.index(drawn)]
        key = ", ".join(each.name for each in keys) or " "
        names = [
            ", ".join(self.text(each, row) for each in keys) or "all" for row in range(len(self))
        ]
        if len(set(names)) < len(names):  # a query need not show what it groups by
            names = [f"{place}. {name}" for place, name in enumerate(names, 1)]
        rows = []
        for row, name in enumerate(names):
            cell = drawn.cell(row)
            rows.append({key: name, chosen: cell["value"], low: cell["low"], high: cell["high"]})
        return error_bars(
            rows,
            key=key,
            value=chosen,
            low=low,
            high=high,
            title=f"{chosen} by {key}" if keys else chosen,
            subtitle=f"dots are noisy answers; lines are {float(self.confidence):.4g} intervals",
        )

    # For people --------------------------------------------------------------------------------

    def text(self, column: Column, row: int) -> str:
        """One cell as people read it: the value, +- half of its interval."""
        value = column.values[row]
        if value is None:
            return "NULL" if column.low is None else "? (too few)"
        if column.low is None or column.high is None:
            return str(value)
        low, high = column.low[row], column.high[row]
        if low is None or high is None:
            return f"{number(float(value))} ± ?"  # type: ignore[arg-type]
        half = (high - low) / 2
        if column.type == "integer":
            return f"{value:,} ± {math.ceil(half):,}"
        return f"{number(float(value), half)} ± {number(half, half)}"  # type: ignore[arg-type]

    def lines(self) -> list[list[str]]:
        """The whole table as text that any terminal can show, a header first."""
        header = [column.name for column in self.columns]
        body = [[self.text(c, row) for c in self.columns] for row in range(len(self))]
        return [[visible(cell) for cell in line] for line in (header, *body)]

    def cost_line(self) -> str:
        """What it cost and what is left, in one line."""
        left = ", ".join(f"{name} {float(amount):.6g}" for name, amount in self.left.items())
        if self.stored and not self.shared:
            return f"free: this answer was bought before. Left: {left}."
        spent = f"epsilon {float(self.cost.epsilon):.6g}"
        if self.cost.delta:
            spent += f", delta {float(self.cost.delta):.3g}"
        if self.shared:
            spent += (
                " of your own cap; another analyst had bought this answer, so the data set's "
                "budget was not charged again"
            )
        return f"cost: {spent}. Left: {left}."

    def __str__(self) -> str:
        lines = self.lines()
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        numeric = [column.low is not None for column in self.columns]
        shown = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, numeric, strict=True)
            ).rstrip()
            for line in lines
        ]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([shown[0], rule, *shown[1:], "", self.cost_line()])

    def _repr_html_(self) -> str:
        head, *body = self.lines()
        cells = "".join(f"<th>{escape(name)}</th>" for name in head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in body
        )
        return (
            f"<table><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table>"
            f"<p>{escape(self.cost_line())}</p>"
        )

    def statement(self) -> str:
        """What can be published beside the numbers about how they protect people."""
        facts = self.facts
        spent = f"epsilon = {float(facts['epsilon']):g}"
        if facts["delta"]:
            spent += f", delta = {float(facts['delta']):g}"
        lines = [
            f"These numbers are differentially private with {spent}.",
            f"Protected unit: {facts['unit']}. Neighbouring data sets: {facts['neighbours']}.",
            f"At most {facts['rows_per_unit']} rows of each unit were used.",
            f"Noise: {facts['noise']}.",
        ]
        if facts["bounds"]:
            lines.append(f"Values were clamped to public ranges: {facts['bounds']}.")
        if facts["threshold"]:
            lines.append(f"Groups with a noisy count below {facts['threshold']} are not shown.")
        lines.append(
            f"Each interval holds the value that these bounded data give with a confidence of "
            f"{float(self.confidence):.0%}; it covers the noise, not what bounding left out."
        )
        return "\n".join(lines)


_ARROW: dict[str, pa.DataType] = {
    "integer": pa.int64(),
    "real": pa.float64(),
    "text": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


def number(value: float, half_width: float | None = None) -> str:
    """A number with as many digits as its interval leaves meaningful: two of the interval's.

    >>> number(1234.5678, 20.0), number(0.123456, 0.015), number(1.9349, 1.05)
    ('1,235', '0.123', '1.9')
    """
    if half_width is None or half_width == 0:
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    places = 0
    while places < 12 and half_width * 10**places < 10:
        places += 1
    return f"{value:,.{places}f}"


def _plain(value: Cell) -> Any:
    return value.isoformat() if isinstance(value, date | datetime) else value
