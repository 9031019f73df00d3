"""Filters: sums that refuse the query which would pass a cap fixed beforehand."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from fractions import Fraction

from discreet.accounting.loss import Budget, Loss
from discreet.accounting.measures import Cost, Measure, measure
from discreet.accounting.outward import Sum, shown_down, shown_up
from discreet.errors import InsufficientBudget, MixedRelations
from discreet.events import Event
from discreet.theory.neighbours import Relation
from discreet.theory.neighbours import relation as as_relation


def cost(events: Event | Iterable[Event], accountant: str | Measure) -> Cost:
    """What events cost under a measure: exact rationals, one for each of its components.

    >>> event = Event("laplace", {"scale": 10, "grid": 1}, 1)
    >>> cost(event, "pure")
    (Fraction(1, 10),)
    >>> cost([event] * 3, "approximate")
    (Fraction(3, 10), Fraction(0, 1))
    """
    chosen = measure(accountant) if isinstance(accountant, str) else accountant
    if isinstance(events, Event):
        return chosen.cost(events)
    sums = [Sum() for _ in chosen.components]
    for event in events:
        for total, amount in zip(sums, chosen.cost(event), strict=True):
            total.add(amount)
    return tuple(total.value for total in sums)


def require(events: Iterable[Event], relation: Relation) -> None:
    """Refuse events that speak of other neighbours than ``relation``."""
    for event in events:
        if event.relation is not relation:
            raise MixedRelations(
                f"a {event.mechanism} event under {event.relation} cannot be charged where losses "
                f"are summed under {relation}.",
                hint="discreet.accounting.to_change_one(event) states an add_remove event under "
                "change_one, at twice the epsilon; there is no converse.",
            )


class Filter:
    """A budget that adaptively chosen queries are charged to.

    Everything is fixed here, before the first query: the measure, the cap, the relation.

    >>> budget = Filter("pure", Budget(1))
    >>> count = Event("laplace", {"scale": 4, "grid": 1}, 1)
    >>> for _ in range(4):
    ...     _ = budget.charge(count)
    >>> budget.would_fit(count), budget.remaining
    (False, (Fraction(0, 1),))
    """

    def __init__(
        self,
        accountant: str | Measure,
        budget: Budget,
        *,
        relation: str = "add_remove",
        whose: str = "this filter",
    ) -> None:
        self.measure = measure(accountant) if isinstance(accountant, str) else accountant
        self.budget = budget
        self.cap = self.measure.cap(budget)
        self.relation = as_relation(relation)
        self.whose = whose
        self._spent = tuple(Sum() for _ in self.cap)
        self._lock = threading.Lock()

    @property
    def spent(self) -> Cost:
        """The sums so far."""
        return tuple(total.value for total in self._spent)

    @property
    def remaining(self) -> Cost:
        """What is left under the cap."""
        return tuple(most - used for most, used in zip(self.cap, self.spent, strict=True))

    @property
    def guarantee(self) -> Loss:
        """What the cap promises for the whole interaction, whenever it stops."""
        return self.measure.guarantee(self.cap, delta=self.budget.delta, relation=self.relation)

    def cost(self, events: Event | Iterable[Event]) -> Cost:
        """What events would cost; those under another relation are refused."""
        batch = [events] if isinstance(events, Event) else list(events)
        require(batch, self.relation)
        return cost(batch, self.measure)

    def would_fit(self, events: Event | Iterable[Event]) -> bool:
        """Whether events could be charged now."""
        return fits(self.cost(events), self.remaining)

    def charge(self, events: Event | Iterable[Event]) -> Cost:
        """Charge events, all or none, and return what they cost."""
        asked = self.cost(events)
        with self._lock:
            remaining = self.remaining
            if not fits(asked, remaining):
                raise insufficient(self.measure, asked, remaining, whose=self.whose)
            for total, amount in zip(self._spent, asked, strict=True):
                total.add(amount)
        return asked


def fits(asked: Cost, remaining: Cost) -> bool:
    """Whether every component is covered."""
    return all(amount <= left for amount, left in zip(asked, remaining, strict=True))


def insufficient(
    chosen: Measure, asked: Cost, remaining: Cost, *, whose: str
) -> InsufficientBudget:
    """The error that says what was asked, what remains and whose cap it was."""
    names = chosen.components
    words = " and ".join(
        f"{name} {shown_up(amount)} of {shown_down(left)} left"
        for name, amount, left in zip(names, asked, remaining, strict=True)
        if amount > left
    )
    return InsufficientBudget(
        f"the budget of {whose} does not cover this: it asks for {words}. Nothing was charged.",
        asked=dict(zip(names, asked, strict=True)),
        remaining=dict(zip(names, remaining, strict=True)),
        whose=whose,
        hint="ask with a smaller epsilon, or ask the curator for a larger budget.",
    )


def guarantee(accountant: str | Measure, cap: Cost, *, delta: Fraction, relation: Relation) -> Loss:
    """The (epsilon, delta) that holds as long as sums of costs stay at or under ``cap``.

    >>> tenth = (Fraction(1, 10), Fraction(0))
    >>> loss = guarantee("zcdp", tenth, delta=Fraction(1, 10**6), relation=Relation.ADD_REMOVE)
    >>> float(loss.epsilon)
    2.14193892838548
    """
    chosen = measure(accountant) if isinstance(accountant, str) else accountant
    return chosen.guarantee(cap, delta=delta, relation=relation)
