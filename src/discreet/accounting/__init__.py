"""How much has been lost, by which theorem, and whether more may be.

Accountants read events and nothing else. Exact rationals go in; what comes out is exact or rounded
up. For queries that are chosen one after another there are filters (``Filter``, ``cost``,
``guarantee``) and an ``Odometer``; a batch that was fixed beforehand may be judged by every
accountant (``account``, ``compare``).
"""

from discreet.accounting.accountants import ACCOUNTANTS, Comparison, account, compare
from discreet.accounting.filters import Filter, cost, guarantee
from discreet.accounting.groups import group, to_change_one
from discreet.accounting.inverse import epsilon_each, noise_for, queries_for
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
from discreet.accounting.odometers import Odometer
from discreet.accounting.parallel import parallel, parallel_cost
from discreet.accounting.sampling import poisson, without_replacement

__all__ = [
    "ACCOUNTANTS",
    "Approximate",
    "Budget",
    "Comparison",
    "Concentrated",
    "Cost",
    "Filter",
    "Loss",
    "Measure",
    "Odometer",
    "Pure",
    "Renyi",
    "account",
    "compare",
    "cost",
    "epsilon_each",
    "group",
    "guarantee",
    "measure",
    "noise_for",
    "parallel",
    "parallel_cost",
    "poisson",
    "queries_for",
    "to_change_one",
    "without_replacement",
]
