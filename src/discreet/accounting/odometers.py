"""Odometers: what has been lost so far, when nobody fixed beforehand where to stop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from discreet.accounting.filters import cost, require
from discreet.accounting.loss import Loss
from discreet.accounting.measures import Cost, Measure, Pure, measure
from discreet.accounting.outward import Sum
from discreet.errors import UnknownEvent
from discreet.events import Event
from discreet.exact import Rational
from discreet.exact.parameters import delta as exact_delta
from discreet.exact.parameters import positive
from discreet.theory.neighbours import relation as as_relation

THEOREM = (
    "odometers made of filters of doubling size: Rogers, Roth, Ullman and Vadhan (2016), "
    "Lécuyer (2021)"
)


class Odometer:
    """A running bound that holds at whatever moment one looks and stops.

    The sums (``spent``) alone are a guarantee only for a stop that was fixed in advance. So the
    odometer keeps filters of sizes unit, 2 unit, 4 unit ..., and level k may fail with probability
    delta / ((k + 1)(k + 2)); these add up to delta. What it shows is the guarantee of the
    smallest level that holds the sums: for every set of transcripts y, ``P(y) <= sum of
    e^loss(y) Q(y) + delta``. Pure sums need none of this and are shown as they are.

    Events with a delta of their own are refused. Reference: see ``THEOREM``.

    >>> meter = Odometer("zcdp", delta=1e-6, unit="1/1000")
    >>> for _ in range(10):
    ...     _ = meter.charge(Event("gaussian", {"sigma": 20, "grid": 1}, 1))
    >>> meter.spent
    (Fraction(1, 80), Fraction(0, 1))
    >>> print(meter.loss())
    epsilon 0.922417, delta 1e-06 (zcdp, add_remove)
    """

    def __init__(
        self,
        accountant: str | Measure,
        *,
        delta: Rational,
        unit: Rational = "1/1000",
        relation: str = "add_remove",
    ) -> None:
        self.measure = measure(accountant) if isinstance(accountant, str) else accountant
        self.delta = exact_delta(delta)
        self.unit = positive(unit, name="unit")
        self.relation = as_relation(relation)
        self._spent = tuple(Sum() for _ in self.measure.components)

    @property
    def spent(self) -> Cost:
        """The sums so far."""
        return tuple(total.value for total in self._spent)

    def charge(self, events: Event | Iterable[Event]) -> Cost:
        """Add events, and return what they cost; an odometer never refuses for want of budget."""
        batch = [events] if isinstance(events, Event) else list(events)
        require(batch, self.relation)
        asked = cost(batch, self.measure)
        if sum(asked[1:]) > 0:
            raise UnknownEvent(
                "an event with a delta of its own has no place in an odometer: the levels would "
                "each have to pay for it.",
                hint="Filter(accountant, Budget(epsilon, delta)) takes it, under a fixed cap.",
            )
        for total, amount in zip(self._spent, asked, strict=True):
            total.add(amount)
        return asked

    def loss(self) -> Loss:
        """A bound that holds now, and would have held at any other moment."""
        spent = self.spent
        if isinstance(self.measure, Pure):
            return self.measure.guarantee(spent, delta=Fraction(0), relation=self.relation)
        level, size = 0, self.unit
        while size < spent[0]:
            level, size = level + 1, 2 * size
        share = self.delta / ((level + 1) * (level + 2))
        loss = self.measure.guarantee((size, Fraction(0)), delta=share, relation=self.relation)
        return replace(loss, delta=self.delta, theorem=THEOREM)
