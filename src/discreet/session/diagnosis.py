"""What no interval shows: private, priced counts of what bounding and cleaning leave out."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import Unsupported
from discreet.plan.expressions import Column, Expression, Meaning, literal
from discreet.plan.intervals import Interval
from discreet.plan.operations import call
from discreet.plan.query import Aggregate, Core, Query, Stage
from discreet.plan.schema import column as planned
from discreet.policy.columns import Column as Declared
from discreet.policy.model import Dataset
from discreet.sql.snapshot import ROWS


def over_the_cap(dataset: Dataset) -> Query:
    """The number of people, how many of them have more rows than are kept, and their share."""
    if dataset.unit is None:
        raise Unsupported(
            "where each row is a person nobody has more rows than are kept.",
            hint="there is nothing to diagnose.",
        )
    rows = Column(ROWS, Meaning("integer", Interval(Fraction(1), None), nullable=False))
    over = call("greater", rows, literal(dataset.rows_per_unit))
    core = Core(
        dataset.name,
        None,
        (),
        (
            Aggregate("count_units", None, over, "people over the cap"),
            Aggregate("count_units", None, None, "people"),
        ),
    )
    some, everyone = (Column(name, Meaning("integer")) for name in ("a0", "a1"))
    stage = Stage(
        (
            ("over_the_cap", some),
            ("people", everyone),
            ("share", call("divide", some, everyone)),
        )
    )
    return Query(core, (stage,))


def unfit_cells(dataset: Dataset) -> Query:
    """The number of rows, and for each column how many cells are NULL or none of its keys.

    A cell that cannot be read as its type is NULL by then, like one that was empty. Every cell can
    be read as text, so of text only the keys are counted.
    """
    found = [
        (declared, condition)
        for name, declared in dataset.columns.items()
        if name != dataset.unit and (condition := _unfit(declared)) is not None
    ]
    if not found:
        raise Unsupported(
            "whatever a cell of this data set holds, it fits.",
            hint="there is nothing to diagnose.",
        )
    counts = [
        Aggregate("count_rows", None, condition, f"cells of {declared.name}")
        for declared, condition in found
    ]
    core = Core(dataset.name, None, (), (Aggregate("count_rows", None, None, "rows"), *counts))
    names = ["rows"] + [
        f"{declared.name}_{'null' if declared.keys is None else 'undeclared'}"
        for declared, _ in found
    ]
    stage = Stage(
        tuple((name, Column(f"a{i}", Meaning("integer"))) for i, name in enumerate(names))
    )
    return Query(core, (stage,))


def _unfit(declared: Declared) -> Expression | None:
    """What is true of a cell that is left out; None where no cell is."""
    cell = planned(declared)
    if declared.keys is None:
        fits = declared.type == "text" or not declared.nullable
        return None if fits else call("is_null", cell)
    values = [literal(key) for key in declared.keys if key is not None]
    other = call("not", call("in", cell, *values)) if values else call("not", call("is_null", cell))
    if None in declared.keys or not declared.nullable:
        return other
    return call("or", call("is_null", cell), other)
