"""How likely an event is at least and at most, given how often it was seen.

Clopper and Pearson (1934): a probability p is too small for k successes in n trials if those and
more would be seen with probability alpha or less. The binomial tail is the regularized incomplete
beta function, enclosed here in a ball, so a bound that is returned has been proved to be one: a
float may propose it, only the ball accepts it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

from discreet.exact import balls

_NORMAL = NormalDist()
_STEPS = 40
_TIGHT = 1e-3  # in standard deviations: closer than this gains nothing
_BITS = 96
_SMALLEST = 1e-280  # beyond it the normal quantile has no float


def least_probability(successes: int, trials: int, alpha: float) -> Fraction:
    """A p that is too large with probability at most ``alpha``.

    >>> float(least_probability(0, 100, 0.01)), float(least_probability(50, 100, 0.01)) > 0.37
    (0.0, True)
    """
    if successes == 0:
        return Fraction(0)
    target = _NORMAL.inv_cdf(min(max(alpha, _SMALLEST), 0.5)) - _TIGHT / 2
    # On the normal scale the tail is nearly a straight line in the log-odds: a few secant steps
    # find where it meets the target, kept between what is proved and what is not.
    odds = math.log(successes) - math.log(max(trials - successes, 0.5))
    slope = math.sqrt(successes * max(trials - successes, 0.5) / trials)
    proved, too_much = odds - 2_000 / slope, odds
    at, best = odds + target / slope, 0.0
    before: tuple[float, float] | None = None
    for _ in range(_STEPS):
        if not proved < at < too_much:
            at = (proved + too_much) / 2
        p = 1 / (1 + math.exp(-at))
        tail = _tail_up(successes, trials, p)
        here = _NORMAL.inv_cdf(min(max(tail, _SMALLEST), 1 - 1e-15))
        if tail <= alpha:
            best, proved = max(best, p), at
            if abs(target - here) < _TIGHT / 2:
                break
        else:
            too_much = at
        if before is not None and before[0] != at and here != before[1]:
            slope = (here - before[1]) / (at - before[0])
        before = (at, here)
        at += (target - here) / slope
    return Fraction(best)


def most_probability(successes: int, trials: int, alpha: float) -> Fraction:
    """A p that is too small with probability at most ``alpha``.

    >>> float(most_probability(100, 100, 0.01)), float(most_probability(0, 1000, 0.001)) < 0.007
    (1.0, True)
    """
    return 1 - least_probability(trials - successes, trials, alpha)


def _tail_up(successes: int, trials: int, p: float) -> float:
    """``P(X >= successes)`` for a binomial X, rounded up."""
    bits = _BITS
    while bits <= 64 * _BITS:
        with balls.precision(bits):
            at = balls.from_fraction(Fraction(p))
            tail = at.beta_lower(successes, trials - successes + 1, True)  # noqa: FBT003
            if tail.is_finite() and tail.rad() < 1e-12 * max(abs(float(tail.mid())), 1e-290):
                return math.nextafter(float(tail.upper()), math.inf)
        bits *= 2
    return 1.0  # not known, so no bound comes of it
