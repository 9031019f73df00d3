"""Budgets as whole numbers: charges rounded up, caps rounded down.

A store compares and adds integers, which no database gets wrong. One unit is 1e-12 of epsilon, rho
or a Rényi divergence, and 1e-18 of delta. The exact event stays in the entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.accounting.loss import LEAST, MOST
from discreet.accounting.measures import Cost, Measure
from discreet.errors import InvalidCharge, InvalidInput

Units = tuple[int, int]
"""The loss that is summed, then delta; delta is 0 for a measure that has none."""

STEPS = (LEAST, Fraction(1, 10**18))

LARGEST = int(MOST / LEAST)
"""No cap lies above it, so that the sum of two amounts still fits into 64 bits."""


def units_up(cost: Cost, names: Sequence[str] = ("loss", "delta")) -> Units:
    """A charge in units, rounded up; ``names`` are those of its components.

    >>> units_up((Fraction(1, 3), Fraction(1, 10**9)))
    (333333333334, 1000000000)
    """
    for name, amount, step in zip(names, cost, STEPS, strict=False):
        if 0 < amount < step:
            # What was asked for is met up to a few parts in a thousand: the digits are not its own.
            raise InvalidCharge(
                f"{name} {float(amount):.2g} is too small to be counted: a ledger counts {name} in "
                f"units of {float(step):g}.",
                hint=f"{name}={float(1000 * step):g}, or anything from {float(step):g} up.",
            )
    if not any(cost):
        raise InvalidCharge("a charge of nothing cannot be counted.", hint="epsilon=0.01")
    if any(amount < 0 for amount in cost):
        raise InvalidCharge("a charge cannot be negative.", hint="epsilon=0.01")
    main, delta = (*cost, Fraction(0))[:2]
    return int(-(-main // STEPS[0])), int(-(-delta // STEPS[1]))


def units_down(cap: Cost) -> Units:
    """A cap in units, rounded down."""
    main, delta = (*cap, Fraction(0))[:2]
    units = int(main // STEPS[0]), int(delta // STEPS[1])
    if not 0 < units[0] <= LARGEST or units[1] > LARGEST:
        raise InvalidInput(
            f"a cap of {_shown(cap)} cannot be kept: it must lie between 1e-12 and {MOST:,}.",
            hint="epsilon=1",
        )
    return units


def amounts(units: Units, chosen: Measure) -> dict[str, Fraction]:
    """Units as exact amounts, by the names of a measure's components.

    >>> from discreet.accounting.measures import measure
    >>> amounts((250_000_000_000, 0), measure("pure"))
    {'epsilon': Fraction(1, 4)}
    """
    return {
        name: count * step
        for name, count, step in zip(chosen.components, units, STEPS, strict=False)
    }


def _shown(cost: Cost) -> str:
    return " and ".join(f"{float(amount):g}" for amount in cost)
