"""How much has been lost, by which theorem, and whether more may be.

Accountants read events and nothing else. Exact rationals go in; what comes out is exact or rounded
up. For queries that are chosen one after another there are filters (``Filter``, ``cost``,
``guarantee``); for a batch that was fixed beforehand every accountant may judge it.
"""

from discreet.accounting.filters import Filter, cost, guarantee
from discreet.accounting.loss import Budget, Loss
from discreet.accounting.measures import (
    Approximate,
    Concentrated,
    Cost,
    Measure,
    Pure,
    Renyi,
    measure,
)

__all__ = [
    "Approximate",
    "Budget",
    "Concentrated",
    "Cost",
    "Filter",
    "Loss",
    "Measure",
    "Pure",
    "Renyi",
    "cost",
    "guarantee",
    "measure",
]
