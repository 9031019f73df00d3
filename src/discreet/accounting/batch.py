"""A batch of events fixed beforehand: counted, and all under one relation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.accounting.curves import Bounded, Curve, Normal, curve
from discreet.accounting.groups import to_change_one
from discreet.accounting.outward import Sum
from discreet.errors import InvalidInput, InvalidValue, MixedRelations
from discreet.events import Event
from discreet.theory.neighbours import Relation
from discreet.theory.neighbours import relation as as_relation

Events = Event | Iterable[Event] | Mapping[Event, int]
"""One event, several, or how often each occurs."""


@dataclass(frozen=True)
class Batch:
    """How often each loss occurs, in the order of first appearance."""

    counts: tuple[tuple[Curve, int], ...]
    relation: Relation

    @cached_property
    def delta(self) -> Fraction:
        """The sum of the deltas that the events themselves need."""
        total = Sum()
        for known, count in self.counts:
            total.add(known.delta, times=count)
        return total.value

    @cached_property
    def gaussians(self) -> int:
        """How many events have normal noise."""
        return sum(count for known, count in self.counts if isinstance(known, Normal))

    @cached_property
    def square(self) -> Fraction:
        """The sum of (sensitivity / sigma)**2 over the events with normal noise."""
        total = Sum()
        for known, count in self.counts:
            if isinstance(known, Normal):
                total.add(known.square, times=count)
        return total.value

    @cached_property
    def others(self) -> tuple[tuple[Bounded, int], ...]:
        """The events whose noise is not normal; each has an epsilon."""
        return tuple(
            (known, count) for known, count in self.counts if not isinstance(known, Normal)
        )


def batch(events: Events, *, relation: str | None = None) -> Batch:
    """Count events by their loss.

    Events under two relations are refused, unless ``relation="change_one"`` asks for those under
    add/remove to be restated: each then counts as a group of two.

    >>> tenth = Event("geometric", {"scale": 10}, 1)
    >>> batch([tenth] * 1_000_000).counts
    ((Geometric(rate=Fraction(1, 10), steps=1), 1000000),)
    """
    counted = _counted(events)
    if not counted:
        raise InvalidInput(
            "there are no events in this batch.", hint="account([event, ...], delta=1e-6)"
        )
    wanted = _relation({event.relation for event, _ in counted}, relation)
    counts: dict[Curve, int] = {}
    for event, count in counted:
        known = curve(event if event.relation is wanted else to_change_one(event))
        counts[known] = counts.get(known, 0) + count
    return Batch(tuple(counts.items()), wanted)


def _counted(events: Events) -> list[tuple[Event, int]]:
    """The events with their counts; equal ones may still be listed apart."""
    if isinstance(events, Event):
        return [(events, 1)]
    if isinstance(events, Mapping):
        for count in events.values():
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise InvalidValue(
                    f"an event cannot occur {count!r} times.", hint="{event: 3} for three times."
                )
        return [(_check(event), count) for event, count in events.items() if count]
    # The same object over and over is counted without being looked into; holding it in
    # ``objects`` keeps its identity its own.
    objects: dict[int, Event] = {}
    times: dict[int, int] = {}
    for event in events:
        identity = id(event)
        if identity in times:
            times[identity] += 1
        else:
            objects[identity] = _check(event)
            times[identity] = 1
    return [(event, times[identity]) for identity, event in objects.items()]


def _check(event: object) -> Event:
    if isinstance(event, Event):
        return event
    raise InvalidValue(
        f"a {type(event).__name__} is not an event.",
        hint='Event("laplace", {"scale": 10, "grid": 1}, 1)',
    )


def _relation(found: set[Relation], wanted: str | None) -> Relation:
    if wanted is None and len(found) == 1:
        return found.pop()
    asked = None if wanted is None else as_relation(wanted)
    if asked is not None and (asked is Relation.CHANGE_ONE or found == {asked}):
        return asked
    raise MixedRelations(
        "these events speak of different neighbours: some of one person more or less, some of one "
        "person's data changed. Their losses have no sum."
        if asked is None
        else "a guarantee under change_one says nothing about add_remove.",
        hint='relation="change_one" restates the add_remove events at twice their epsilon; '
        "there is no converse.",
    )
