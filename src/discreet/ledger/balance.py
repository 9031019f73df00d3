"""What an account may spend, has spent and has left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting.loss import Budget
from discreet.accounting.measures import measure
from discreet.ledger.accounts import Account, DataSet
from discreet.ledger.units import amounts


@dataclass(frozen=True, slots=True)
class Balance:
    """What one account may spend, has spent and has left; the components are exact."""

    whose: str
    dataset: str
    analyst: str | None
    accountant: str
    budget: Budget
    cap: Mapping[str, Fraction]
    spent: Mapping[str, Fraction]
    revoked: bool

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What is left of each component."""
        return {name: self.cap[name] - self.spent[name] for name in self.cap}

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data with exact numbers as text."""
        return {
            "dataset": self.dataset,
            "analyst": self.analyst,
            "accountant": self.accountant,
            "budget": {"epsilon": str(self.budget.epsilon), "delta": str(self.budget.delta)},
            "cap": texts(self.cap),
            "spent": texts(self.spent),
            "remaining": texts(self.remaining),
            "revoked": self.revoked,
        }


def balance_of(account: Account, terms: DataSet) -> Balance:
    """An account in the accountant's own terms."""
    chosen = measure(terms.accountant)
    return Balance(
        whose=str(account.place),
        dataset=terms.name,
        analyst=account.place.analyst or None,
        accountant=terms.accountant,
        budget=Budget(account.epsilon, account.delta),
        cap=amounts(account.cap, chosen),
        spent=amounts(account.spent, chosen),
        revoked=account.revoked,
    )


def texts(numbers: Mapping[str, Fraction]) -> dict[str, str]:
    """Exact numbers as text, for JSON."""
    return {name: str(number) for name, number in numbers.items()}
