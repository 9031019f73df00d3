"""What an analyst's query can name: the declared columns of a data set, typed and bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from types import MappingProxyType

from discreet.plan.expressions import Column, Meaning
from discreet.plan.intervals import Interval
from discreet.plan.operations import with_domain
from discreet.plan.scale import ANY, CLEANED, Scale
from discreet.policy.columns import Column as Declared
from discreet.policy.model import Dataset
from discreet.theory.neighbours import Relation


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of one data set, by lower-case name, and the name of its unit."""

    dataset: str
    columns: Mapping[str, Column]
    unit: str | None
    rows: int | None = None
    """How many rows there are, where that is public: one for each of a fixed number of people."""

    @staticmethod
    def of(dataset: Dataset) -> Schema:
        """Everything that is declared, but the unit: a unit can only be counted."""
        return Schema(
            dataset.name,
            MappingProxyType(
                {
                    name.lower(): column(declared)
                    for name, declared in dataset.columns.items()
                    if name != dataset.unit
                }
            ),
            dataset.unit,
            _public_rows(dataset),
        )


def _public_rows(dataset: Dataset) -> int | None:
    fixed = dataset.relation is Relation.CHANGE_ONE and dataset.rows_per_unit == 1
    return dataset.people if fixed else None


def column(declared: Declared) -> Column:
    """A declared column as the planner sees it."""
    keys = declared.public_keys
    step = declared.step if declared.type == "real" and declared.bounds is not None else None
    bounds = _bounds(declared)
    scale = None
    if declared.type == "real":
        scale = CLEANED
        if step is not None and bounds.magnitude is not None:
            # A number on the grid is 0 or not much smaller than a step.
            scale = Scale(Scale.of(step / 2).finest, ANY.largest).within(bounds.magnitude)
    meaning = Meaning(declared.type, bounds, declared.nullable, keys, scale)
    return Column(declared.name, with_domain(meaning), step)


def _bounds(declared: Declared) -> Interval:
    if declared.bounds is None:
        return Interval()
    low, high = declared.bounds
    return Interval(_number(low), _number(high))


def _number(bound: Fraction | date | datetime) -> Fraction:
    """A bound as a number; for dates the day's ordinal, as ``date.fromordinal`` takes it."""
    return bound if isinstance(bound, Fraction) else Fraction(bound.toordinal())
