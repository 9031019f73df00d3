"""What a history would have cost under other accountants: a report, never a refund."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting.accountants import Comparison, compare
from discreet.accounting.loss import Loss
from discreet.accounting.measures import measure
from discreet.errors import InvalidInput
from discreet.exact import Rational
from discreet.exact.parameters import delta as exact_delta
from discreet.ledger.ledger import Ledger
from discreet.theory.neighbours import relation


@dataclass(frozen=True, slots=True)
class Report:
    """The loss that the ledger's own accountant certifies, and every other's beside it.

    The others hold for a batch that was fixed beforehand. The history of a ledger was not: they
    say what the same events would have cost, and give nothing back.
    """

    dataset: str
    events: int
    kept: Loss
    others: Comparison

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "dataset": self.dataset,
            "events": self.events,
            "ledger": self.kept.to_json(),
            "others": [loss.to_json() for loss in self.others.losses],
            "refused": dict(self.others.refused),
        }


def reaccount(ledger: Ledger, dataset: str, *, delta: Rational | None = None) -> Report:
    """Read the events of a data set again, with every accountant there is."""
    balance = ledger.balance(dataset)
    events = ledger.events(dataset)
    if not events:
        raise InvalidInput(
            f"nothing has been charged to {dataset!r} yet, so there is nothing to account for.",
            hint=f"discreet ledger status LEDGER shows the budget of {dataset}.",
        )
    most = balance.budget.delta if delta is None else exact_delta(delta)
    kept = measure(balance.accountant).guarantee(
        tuple(balance.spent.values()), delta=most, relation=relation(events[0].relation)
    )
    return Report(dataset, len(events), kept, compare(events, delta=most or Fraction(1, 10**6)))
