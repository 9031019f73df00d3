"""What one person changes before noise, held against what the noise was made for.

An observer, handed over in code and reachable in no other way, is told of every noise call of a
query: the mechanism, the declared sensitivity, the scale, and the exact number in each group. Two
neighbouring data sets must give the same calls, with numbers no further apart than declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Unpack

from discreet.session import Session
from discreet.session.measure import Aggregates
from discreet.session.request import Request
from discreet.session.terms import Terms


@dataclass(frozen=True)
class NoiseCall:
    """One primitive of a query on its way to the noise. Private: it holds exact numbers."""

    primitive: str
    mechanism: str
    scale: Fraction
    l0: int
    l1: Fraction
    l2: Fraction
    exact: Mapping[Any, int]
    """For each group."""
    public: bool
    """Whether every group is shown, whoever is in it."""
    rows: int | None
    """For the count that selects private keys: the most rows that one unit brings to one."""


Observer = Callable[[NoiseCall], None]


def observe(session: Session, text: str, observer: Observer, **terms: Unpack[Terms]) -> None:
    """Tell an observer of every noise call that a query would make. No noise is drawn."""
    request = session.plan(text, **terms)
    for call in noise_calls(request, session.aggregate(request)):
        observer(call)


def noise_calls(request: Request, aggregates: Aggregates) -> tuple[NoiseCall, ...]:
    """The noise calls of a request with these exact numbers."""
    noise, dataset = request.noise, request.dataset
    units = 1 if str(noise.relation) == "add_remove" else 2
    groups = groups_of(aggregates)
    return tuple(
        NoiseCall(
            repr(primitive),
            noise.kind if index != noise.selector else "key_selection",
            noise.scales[index],
            units * dataset.rows_per_unit,
            noise.sensitivities[index].l1,
            noise.sensitivities[index].l2,
            dict(zip(groups, aggregates.values[index].tolist(), strict=True)),
            request.query.core.keys_are_public,
            dataset.rows_per_unit if index == noise.selector else None,
        )
        for index, primitive in enumerate(noise.lowered.primitives)
    )


def violations(here: Sequence[NoiseCall], there: Sequence[NoiseCall]) -> tuple[str, ...]:
    """Where two neighbours contradict what was declared; numbers stay out of it."""
    if len(here) != len(there):
        return ("the number of noise calls differs",)
    found = []
    for one, other in zip(here, there, strict=True):
        named = f"{one.mechanism} noise on {one.primitive}"
        declared = ("primitive", "mechanism", "scale", "l0", "l1", "l2", "public")
        found += [
            f"{named}: {name} differs"
            for name in declared
            if getattr(one, name) != getattr(other, name)
        ]
        every = one.exact.keys() | other.exact.keys()
        if one.public and list(one.exact) != list(other.exact):
            found.append(f"{named}: the public groups differ")
        moved = [abs(one.exact.get(g, 0) - other.exact.get(g, 0)) for g in every]
        changed = [change for change in moved if change]
        if len(changed) > one.l0:
            found.append(f"{named}: more groups change than declared")
        if sum(changed) > one.l1:
            found.append(f"{named}: the l1 change is more than declared")
        if sum(change * change for change in changed) > one.l2**2:
            found.append(f"{named}: the l2 change is more than declared")
        if one.rows is not None:
            alone = one.exact.keys() ^ other.exact.keys()
            if any(max(one.exact.get(g, 0), other.exact.get(g, 0)) > one.rows for g in alone):
                found.append(f"{named}: a key that only one person has holds too many rows")
    return tuple(found)


def groups_of(aggregates: Aggregates) -> list[Any]:
    """The keys of each group; without keys there is one group."""
    columns = [
        column if isinstance(column, tuple) else column.to_pylist() for column in aggregates.keys
    ]
    return list(zip(*columns, strict=True)) if columns else [()]
