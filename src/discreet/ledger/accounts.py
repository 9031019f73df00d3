"""Accounts: who may spend how much, and has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from discreet.ledger.units import Units


class Place(NamedTuple):
    """Whose account it is.

    ``people``: everybody in one or several data sets, whom the data-set cap protects.
    ``analyst``: one analyst on one data set.
    """

    kind: Literal["people", "analyst"]
    name: str
    analyst: str = ""

    def __str__(self) -> str:
        if self.kind == "people":
            return f"the data set {self.name!r}"
        return f"the analyst {self.analyst!r} on {self.name!r}"


@dataclass(slots=True)
class Account:
    """A cap and what is spent of it; it changes only inside a transaction."""

    place: Place
    cap: Units
    spent: Units
    epsilon: str  # the cap in the curator's own words
    delta: str
    revoked: bool = False

    @property
    def remaining(self) -> Units:
        """What is left, in units."""
        return self.cap[0] - self.spent[0], self.cap[1] - self.spent[1]

    def covers(self, cost: Units) -> bool:
        """Whether a charge fits under the cap."""
        spent, cap = self.spent, self.cap
        return spent[0] + cost[0] <= cap[0] and spent[1] + cost[1] <= cap[1]

    def spend(self, cost: Units) -> None:
        """Add a charge; whoever calls has asked ``covers``."""
        self.spent = self.spent[0] + cost[0], self.spent[1] + cost[1]


@dataclass(frozen=True, slots=True)
class DataSet:
    """What was fixed when the data set was declared."""

    name: str
    people: str
    relation: str
    accountant: str
    basis: str = ""
    """What else the guarantee rests on, as JSON; it is fixed when it is first stated."""

    @property
    def place(self) -> Place:
        """The account that all analysts of the data set share."""
        return Place("people", self.people)
