"""The operations that an expression may use, each with its rule for types, bounds and NULLs.

Nothing outside this table exists. Every operation is total: where SQL engines would raise (a
division by zero, a cast that fails, an overflow) it gives NULL or is computed in doubles, so that
no row can make a query fail. How an engine computes it is written in ``sql/emit``.
"""

from discreet.plan.operations import casts, logic, text
from discreet.plan.operations.aggregates import STAGE_AGGREGATES, has_stage_aggregate
from discreet.plan.operations.arithmetic import flushed, half_up
from discreet.plan.operations.checks import common_type
from discreet.plan.operations.dates import PARTS, TRUNCATIONS, truncate
from discreet.plan.operations.table import call, names, with_domain

__all__ = [
    "PARTS",
    "STAGE_AGGREGATES",
    "TRUNCATIONS",
    "call",
    "common_type",
    "flushed",
    "half_up",
    "has_stage_aggregate",
    "names",
    "truncate",
    "with_domain",
]

ENTERED = (casts, logic, text)
"""Modules that nothing is taken from: they have entered their operations into the table."""
