"""What a ledger can be asked to write, and what it replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.ledger.accounts import DataSet
from discreet.ledger.units import Units


@dataclass(frozen=True, slots=True)
class Reserve:
    """Charge the data set and the analyst for events, before anything is computed."""

    dataset: str
    analyst: str
    key: str | None
    request: str
    cost: Units
    events: str  # their JSON, as it will stand in the entry


@dataclass(frozen=True, slots=True)
class Settle:
    """Keep the answer of a reservation; the first one stays."""

    reserved: int
    request: str
    answer: bytes


@dataclass(frozen=True, slots=True)
class Cap:
    """What an account may spend: in units, and in the curator's own words."""

    units: Units
    epsilon: str
    delta: str


@dataclass(frozen=True, slots=True)
class Declare:
    """Open a data set with its accountant and caps, or find them unchanged."""

    dataset: str
    people: str
    relation: str
    accountant: str
    cap: Cap
    analysts: Mapping[str, Cap]
    basis: str = ""  # JSON, as it will stand in the entry; empty: nothing is said about it
    asking: str | None = None  # whose cap must be the one stated; None: everybody's

    @property
    def terms(self) -> DataSet:
        """What is fixed for good, and the basis."""
        return DataSet(self.dataset, self.people, self.relation, self.accountant, self.basis)


@dataclass(frozen=True, slots=True)
class Grant:
    """Set a cap anew: the data set's, or one analyst's."""

    dataset: str
    analyst: str | None
    cap: Cap
    new_basis: bool = False  # whoever opens the data set next states it anew


@dataclass(frozen=True, slots=True)
class Revoke:
    """Close the budget of a data set or of one analyst."""

    dataset: str
    analyst: str | None


@dataclass(frozen=True, slots=True)
class Reopen:
    """Go on with a ledger that is older than its anchor; nothing is left until it is granted."""

    lost: int


@dataclass(frozen=True, slots=True)
class Anchoring:
    """Give the ledger an anchor, or another one."""

    path: str


Request = Reserve | Settle | Declare | Grant | Revoke | Reopen | Anchoring


@dataclass(frozen=True, slots=True)
class Reserved:
    """The charge is durable; compute now."""

    seq: int
    shared: bool = False
    """Whether the analyst's own cap alone was charged, for what another analyst bought."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The bytes that every asker gets."""

    seq: int
    answer: bytes
    shared: bool = False
    """Whether the analyst's own cap was charged for it just now; the data set never is."""


@dataclass(frozen=True, slots=True)
class Done:
    """The curator's wish is on record."""

    seq: int


Reply = Reserved | Answered | Done
