"""The table that a user holds: values, an interval for each number, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.errors import InvalidInput
from discreet.pictures.plus_minus import number, plus_minus
from discreet.pictures.visible import visible
from discreet.plan.expressions import Type

if TYPE_CHECKING:
    from discreet.pictures import Picture

SWAMPED = " (?)"
"""Behind a number whose error is larger than itself."""
NO_NUMBER = "?"
"""Where there is no number: the average of too few rows, or what is divided by zero."""

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

    @property
    def threshold(self) -> int | None:
        """The noisy count below which a private group is left out; None where keys are public."""
        found: int | None = self.facts["threshold"]
        return found

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
            "confidence": float(self.confidence),
            "threshold": self.threshold,
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
            subtitle=f"dots are noisy answers; lines are {percent(self.confidence)} intervals",
        )

    # For people --------------------------------------------------------------------------------

    def text(self, column: Column, row: int) -> str:
        """One cell as people read it: the value ± the longer side of its interval.

        An interval that is clearly skewed is shown from end to end: ``231 (-152 to 875)``. Both are
        rounded outward. ``(?)`` is behind a number that its error swamps.
        """
        value = column.values[row]
        if value is None:
            return "NULL" if column.low is None else NO_NUMBER
        if column.low is None or column.high is None:
            return str(value)
        low, high = column.low[row], column.high[row]
        if low is None or high is None:
            return f"{number(float(value))} ± ?{SWAMPED}"  # type: ignore[arg-type]
        shown = plus_minus(value, low, high, whole=column.type == "integer")  # type: ignore[arg-type]
        return shown + SWAMPED * (column.flag(row) is not None)

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

    def notes(self) -> list[str]:
        """What stands below the table: what its marks mean, what is not in it, and the cost."""
        found = []
        if self.threshold is not None:
            none = "no group is large enough to be shown: " if len(self) == 0 else ""
            found.append(f"{none}groups with a noisy count below {self.threshold:,} are left out.")
        elif len(self) == 0:
            found.append("no row is left.")
        numbers = [column for column in self.columns if column.low is not None]
        if any(None in column.values for column in numbers):
            found.append(f"{NO_NUMBER} too few rows to say, or a division by zero.")
        if any(
            c.values[row] is not None and c.flag(row) for c in numbers for row in range(len(self))
        ):
            found.append(f"{SWAMPED.strip()} the error is larger than the number.")
        return [*found, f"± at {percent(self.confidence)} confidence; {self.cost_line()}"]

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
        return "\n".join([shown[0], rule, *shown[1:], "", *self.notes()])

    def _repr_html_(self) -> str:
        head, *body = self.lines()
        cells = "".join(f"<th>{escape(name)}</th>" for name in head)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in body
        )
        return (
            f"<table><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table>"
            f"<p>{'<br>'.join(escape(note) for note in self.notes())}</p>"
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
            "At most one row of each unit was used."
            if facts["rows_per_unit"] == 1
            else f"At most {facts['rows_per_unit']} rows of each unit were used.",
        ]
        if facts.get("groups_per_unit") is not None:
            lines.append(
                f"Each unit was counted in at most {facts['groups_per_unit']} of the groups, with "
                f"at most {facts['rows_in_group']} of its rows in each."
            )
        lines.append(f"Noise: {facts['noise']}.")
        if facts["bounds"]:
            lines.append(f"Values were clamped to public ranges: {facts['bounds']}.")
        if facts.get("averaged_over") is not None:
            lines.append(f"Averages are over {facts['averaged_over']} people, a public number.")
        if facts["threshold"]:
            lines.append(f"Groups with a noisy count below {facts['threshold']} are not shown.")
        lines.append(
            f"Each interval holds the value that these bounded data give with a confidence of "
            f"{percent(self.confidence)}; it covers the noise, not what bounding left out."
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


def percent(confidence: Fraction) -> str:
    """A confidence as people say it.

    >>> percent(Fraction(95, 100)), percent(1 - Fraction(1, 10**6))
    ('95 %', '99.9999 %')
    """
    return f"{float(100 * confidence):.12g} %"


def _plain(value: Cell) -> Any:
    return value.isoformat() if isinstance(value, date | datetime) else value
