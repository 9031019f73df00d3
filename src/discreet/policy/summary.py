"""What a policy promises, in words a curator can check."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.policy.model import AnalystCap, Column, Dataset, Policy
from discreet.policy.values import shown
from discreet.theory.neighbours import Relation


def summary(policy: Policy) -> str:
    """Each data set: whom it protects, how much may be learned, what is public; then notes."""
    return "\n\n".join(
        "\n".join([*_dataset(dataset), *(f"  note       {note}" for note in notes(dataset))])
        for dataset in policy.datasets.values()
    )


def notes(dataset: Dataset) -> Iterator[str]:
    """What is allowed, and worth a second look."""
    deltas = [dataset.budget.delta, dataset.delta_per_query or 0]
    if dataset.people is None and any(deltas):
        yield (
            "people is not declared, so nobody checked that delta is far below 1 in the number "
            "of people."
        )
    for analyst, cap in dataset.analysts.items():
        if cap.epsilon > dataset.budget.epsilon or cap.delta > dataset.budget.delta:
            yield f'"{analyst}" may spend more than there is; the data set\'s budget is what holds.'
    if not dataset.analysts:
        yield "no analyst has a cap yet, so nobody can ask."
    bare = [
        name
        for name, column in dataset.columns.items()
        if column.type in ("integer", "real") and column.bounds is None and name != dataset.unit
    ]
    if bare:
        yield f"no bounds for {', '.join(bare)}: SUM and AVG of them need CLAMP(x, low, high)."


def _dataset(dataset: Dataset) -> Iterator[str]:
    source = dataset.source
    where = " of ".join(each for each in (source.table, source.path) if each)
    yield f"{dataset.name}: {source.kind}, {where}"
    yield f"  protects   {_whom(dataset)}"
    if dataset.refresh is not None:
        yield f"  snapshot   made anew {dataset.refresh} (UTC)"
    budget = dataset.budget
    shared = f', shared by the pool "{dataset.pool}"' if dataset.pool else ""
    yield f"  budget     {_cap(budget)} in all, counted by {budget.accountant}{shared}"
    for name, cap in dataset.analysts.items():
        yield f"  analyst    {name}: {_cap(cap)}"
    for name, column in dataset.columns.items():
        yield f"  column     {name}: {'the unit' if name == dataset.unit else _column(column)}"


def _whom(dataset: Dataset) -> str:
    whom = "each row, as a person"
    if dataset.unit is not None:
        many = dataset.rows_per_unit
        rows = "1 row is used" if many == 1 else f"{many} rows are used"
        whom = f"each {dataset.unit}, of whom at most {rows}"
    if dataset.relation is Relation.ADD_REMOVE:
        return f"{whom}: nobody can tell whether they are in the data"
    return f"{whom}: nobody can tell what their data are (how many people there are is public)"


def _cap(cap: AnalystCap) -> str:
    delta = f", delta {shown(cap.delta)}" if cap.delta else ""
    return f"epsilon {shown(cap.epsilon)}{delta}"


def _column(column: Column) -> str:
    parts: list[str] = [column.type]
    if column.bounds is not None:
        parts.append(f"from {shown(column.bounds[0])} to {shown(column.bounds[1])}")
    if column.type == "real" and column.step is not None:
        parts.append(f"in steps of {shown(column.step)}")
    if column.keys is not None:
        keys = f"{len(column.keys)} public key{'s' * (len(column.keys) != 1)}"
        parts.append(keys + (f" from {column.keys_from.path}" if column.keys_from else ""))
    if column.missing is not None:
        parts.append(f"missing counts as {shown(column.missing)}")
    return ", ".join(parts)
