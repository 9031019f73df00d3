"""How much one unit can change: the bounds that a query may have, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.plan.primitives import Primitive
from discreet.plan.query import Core
from discreet.policy.model import Dataset
from discreet.theory.contributions import GroupedRows, RowBounded
from discreet.theory.queries import Query


@dataclass(frozen=True, slots=True)
class GroupBounding:
    """At most so many groups of a query for each unit, and so many of its rows in each."""

    groups: int
    rows: int


Bounding = GroupBounding | None
"""None: a unit's rows are bounded, and nothing else."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What one unit can change, in steps, over all groups together."""

    l1: Fraction
    l2: Fraction


def boundings(core: Core, dataset: Dataset) -> tuple[Bounding, ...]:
    """The ways in which the policy lets a query be bounded, the one that keeps more rows first."""
    if not core.keys or dataset.bounding == "rows" or dataset.groups_per_unit is None:
        return (None,)
    by_groups = GroupBounding(
        dataset.groups_per_unit, dataset.rows_in_group or dataset.rows_per_unit
    )
    return (by_groups,) if dataset.bounding == "groups" else (None, by_groups)


def sensitivity(
    primitive: Primitive, core: Core, dataset: Dataset, bounding: Bounding
) -> Sensitivity:
    """What one unit can change of a primitive, by the rules of the theory."""
    rows, relation = dataset.rows_per_unit, dataset.relation
    people = primitive.kind == "units"
    if people and not core.keys:
        return Sensitivity(Fraction(1), Fraction(1))
    if people or bounding is not None:
        # A person is counted once in each group: one row of value 1 there.
        reach = rows if bounding is None else bounding.groups
        query: Query = GroupedRows(
            rows_per_unit=rows,
            groups_per_unit=min(reach, _number_of_groups(core) or reach),
            rows_per_group=1 if people or bounding is None else bounding.rows,
            bounds=primitive.bounds,
            groups=("any",),
        )
    else:
        groups = ("any",) if core.keys else None
        query = RowBounded(rows_per_unit=rows, bounds=primitive.bounds, groups=groups)
    # Rounding a sensitivity of 0 up keeps the noise defined; the sum is then a constant.
    l1 = max(query.l1(relation), Fraction(1))
    return Sensitivity(l1, max(query.l2(relation).upper(48), Fraction(1)))


def _number_of_groups(core: Core) -> int | None:
    total = 1
    for key in core.keys:
        if key.values is None:
            return None
        total *= len(key.values)
    return total
