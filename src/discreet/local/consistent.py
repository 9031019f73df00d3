"""From unbiased estimates to true distributions: no share below 0, and 1 in all.

Both ways are post-processing, so they cost no privacy, and both are biased. ``project`` takes the
nearest distribution. ``posterior`` takes the mean of all of them, each weighted by how well it
explains the estimates, and so has the least squared error on average where nothing is known
beforehand. Where most shares are known to be nearly 0, the projection is the better one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_NOISELESS = 1e-9  # standard errors below this are no noise to speak of


def project(estimates: Sequence[float]) -> tuple[float, ...]:
    """The distribution nearest to the estimates (Euclid's distance): the simplex projection.

    All estimates are lowered by the same amount, those that would fall below 0 set to 0, so that
    the sum is 1.

    >>> project([0.7, 0.5, -0.1])
    (0.6, 0.4, 0.0)
    """
    ordered = sorted(estimates, reverse=True)
    running, lowered = 0.0, 0.0
    for place, value in enumerate(ordered, start=1):
        running += value
        if value > (running - 1) / place:
            lowered = (running - 1) / place
    return tuple(round(max(value - lowered, 0.0), 15) for value in estimates)


def posterior(estimates: Sequence[float], errors: Sequence[float]) -> tuple[float, ...]:
    """The mean of all distributions, weighted by how well they explain the estimates.

    Before the reports every distribution is as likely as any other; each estimate is its share plus
    normal noise with its standard error. The shares are treated as independent exponential ones
    whose common rate makes the means sum to 1, as they do nearly when there are many.

    >>> posterior([0.4, 0.3, 0.2, 0.1], errors=[0.0001] * 4)  # hardly any noise
    (0.4, 0.3, 0.2, 0.1)
    >>> [round(share, 2) for share in posterior([0.4, 0.3, 0.2, 0.1], errors=[10.0] * 4)]
    [0.25, 0.25, 0.25, 0.25]
    """
    if min(errors) < _NOISELESS:
        return project(estimates)

    def means(rate: float) -> list[float]:
        # A normal density times an exponential one is a normal density, moved.
        return [
            _above_zero(value - rate * error**2, error)
            for value, error in zip(estimates, errors, strict=True)
        ]

    low, high = -1.0, 1.0
    while sum(means(low)) < 1:
        low *= 2
    while sum(means(high)) > 1:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if sum(means(middle)) > 1 else (low, middle)
    found = means(high)
    total = sum(found)
    return tuple(round(share / total, 15) for share in found)


def _above_zero(mean: float, error: float) -> float:
    """The mean of a normal variable, given that it is not below 0.

    >>> _above_zero(0.0, 1.0) == math.sqrt(2 / math.pi)
    True
    """
    t = mean / error
    if t < -30:
        # Far in the tail the normal density falls off like an exponential one.
        return error * (1 - 2 / t**2 + 10 / t**4) / -t
    density = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
    return mean + error * density / (math.erfc(-t / math.sqrt(2)) / 2)
