"""Do draws fit a distribution? False alarms: one in a million."""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from scipy.special import chdtrc

from discreet.theory.channels import Channel

ALPHA = 1e-6


def p_value(counts: Mapping[Hashable, int], chances: Mapping[Hashable, float]) -> float:
    """Pearson's chi-squared; outcomes expected less than ten times are taken together."""
    assert set(counts) <= set(chances), "an outcome that cannot be"
    n = sum(counts.values())
    statistic, cells, rare, rare_expected = 0.0, 0, 0, 0.0
    for outcome, chance in chances.items():
        expected, seen = n * chance, counts.get(outcome, 0)
        if expected < 10:
            rare, rare_expected = rare + seen, rare_expected + expected
        else:
            statistic, cells = statistic + (seen - expected) ** 2 / expected, cells + 1
    if rare_expected >= 10:
        statistic, cells = statistic + (rare - rare_expected) ** 2 / rare_expected, cells + 1
    return float(chdtrc(cells - 1, statistic))


def chances_of(channel: Channel, value: int) -> dict[Hashable, float]:
    """The distribution of the reports about one value."""
    return {y: float(p) for y, p in zip(channel.outputs, channel[value], strict=True) if p != 0}


def fits(draws: Counter[Any], channel: Channel, value: int) -> bool:
    """Whether the draws can have come from the channel."""
    return p_value(draws, chances_of(channel, value)) >= ALPHA
