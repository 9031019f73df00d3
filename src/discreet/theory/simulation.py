"""The definition by simulation: someone who never saw a row could have printed the same.

A channel is epsilon-simulation-private if, for each person i and the other rows, one distribution S
is within max-divergence epsilon, both ways, of every output distribution that the values of row i
lead to. S is told i and the other rows, and may do anything with them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from discreet.errors import InvalidValue, Undecided
from discreet.exact import Real
from discreet.theory.channels import Channel
from discreet.theory.databases import Rows
from discreet.theory.distributions import Distribution, simplest
from discreet.theory.losses import INFINITY, Log

Place: TypeAlias = tuple[int, Rows]
"""A person's number, and the rows of all others in order."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """The least epsilon of any simulator, and for each place a simulator that has it."""

    epsilon: Real
    simulators: Mapping[Place, Distribution]


def families(channel: Channel) -> dict[Place, list[Hashable]]:
    """The inputs that differ in one row only, by that row's number and the other rows.

    Inputs that are not tuples are taken as databases of one row.

    >>> families(Channel([[1], [1]], inputs=["yes", "no"]))
    {(0, ()): ['yes', 'no']}
    """
    found: dict[Place, list[Hashable]] = {}
    for x in channel.inputs:
        rows = x if isinstance(x, tuple) else (x,)
        for place in range(len(rows)):
            others = (*rows[:place], *rows[place + 1 :])
            found.setdefault((place, others), []).append(x)
    if len({len(x) if isinstance(x, tuple) else 1 for x in channel.inputs}) != 1:
        raise InvalidValue(
            "simulation is defined under change-one, where all databases have the same size.",
            hint="keep the inputs of one size only.",
        )
    return found


def simulate(channel: Channel) -> Simulation:
    """The best simulators of a channel under change-one, and the epsilon they reach.

    With U(y) and L(y) the largest and smallest probability of y over the values of row i, the least
    epsilon is the largest of half of ln(U(y)/L(y)), of ln of the sum of U, and of -ln of the sum of
    L; the simulator mixes U / e^epsilon and L e^epsilon so that it sums to 1.

    >>> from discreet.theory.randomizers import two_coins
    >>> best = simulate(two_coins())
    >>> best.epsilon, best.simulators[0, ()]
    (ln(2), (Fraction(1, 2), Fraction(1, 2)))
    """
    if not all(isinstance(p, Fraction) for row in channel.rows for p in row):
        raise Undecided(
            "the best simulator is found exactly, for rational probabilities only.",
            hint='give the channel a rational ratio, for example epsilon="ln 3".',
        )
    worst: Real = Log(1)
    simulators: dict[Place, Distribution] = {}
    for place, inputs in families(channel).items():
        columns = list(zip(*(_rationals(channel[x]) for x in inputs), strict=True))
        most, least = [max(column) for column in columns], [min(column) for column in columns]
        squared = squared_ratio(most, least)
        if squared is None:
            worst = INFINITY
            continue
        worst = max(worst, Log(squared, Fraction(1, 2)))
        simulators[place] = _simulator(most, least, Real(squared).sqrt())
    return Simulation(worst, MappingProxyType(simulators))


def squared_ratio(most: list[Fraction], least: list[Fraction]) -> Fraction | None:
    """e^(2 epsilon) of the best simulator, which is rational; None if there is none at all."""
    if any(low == 0 < high for high, low in zip(most, least, strict=True)):
        return None
    apart = max(high / low for high, low in zip(most, least, strict=True) if high > 0)
    return max(apart, sum(most, Fraction(0)) ** 2, 1 / sum(least, Fraction(0)) ** 2)


def _simulator(most: list[Fraction], least: list[Fraction], ratio: Real) -> Distribution:
    # Any S with most / ratio <= S <= least * ratio will do; mix the two ends until it sums to 1.
    low = sum(most, Fraction(0)) / ratio
    high = sum(least, Fraction(0)) * ratio
    if ratio.exact is not None and high == low:
        return tuple(simplest(share / ratio) for share in most)
    mix = (1 - low) / (high - low)
    return tuple(
        simplest((1 - mix) * (a / ratio) + mix * (b * ratio))
        for a, b in zip(most, least, strict=True)
    )


def _rationals(row: Distribution) -> list[Fraction]:
    return [p for p in row if isinstance(p, Fraction)]
