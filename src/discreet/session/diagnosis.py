"""What bounding leaves out: a private, priced share of people who have more rows than are kept."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import Unsupported
from discreet.plan.expressions import Column, Meaning, literal
from discreet.plan.intervals import Interval
from discreet.plan.operations import call
from discreet.plan.query import Aggregate, Core, Query, Stage
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
