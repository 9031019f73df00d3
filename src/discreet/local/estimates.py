"""Estimates from randomized reports: unbiased, with their exact variance and an honest interval.

Two questions are told apart. *Of the people*: what is the share among those who answered? Only the
randomizer's noise stands between it and the estimate. *Of the population*: what is the share among
those they were drawn from at random? The luck of the draw comes on top.

Intervals are of the score kind: all shares that the sum of the scores, half a report more or less,
does not refute. They do not pretend that the variance is known, so they hold for few reports and
for shares near 0 and 1 too. The estimates themselves are left as they are, below 0 and above 1
included: unbiased. True distributions (``consistent``) are something else, and kept apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from discreet.errors import InvalidValue
from discreet.exact import Rational, Real
from discreet.exact import confidence as exact_confidence
from discreet.local.consistent import posterior, project
from discreet.local.numbers import NumberRandomizer
from discreet.local.randomizer import FrequencyRandomizer, Moments


class Target(StrEnum):
    """Whom an estimate speaks of: those who answered, or those they were drawn from."""

    PEOPLE = "people"
    POPULATION = "population"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number estimated: unbiased, exactly; the interval and the standard error as floats."""

    value: Fraction
    low: float
    high: float
    standard_error: float

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True, slots=True)
class Estimates:
    """The shares of all values, estimated from the same reports."""

    n: int
    confidence: Fraction
    target: Target
    shares: tuple[Estimate, ...]

    def __getitem__(self, value: int) -> Estimate:
        return self.shares[value]

    def __len__(self) -> int:
        return len(self.shares)

    def projected(self) -> tuple[float, ...]:
        """The nearest true distribution: no share below 0, and 1 in all. No longer unbiased."""
        return project([float(share) for share in self.shares])

    def posterior(self) -> tuple[float, ...]:
        """The mean of all distributions that explain the reports: the least error on average.

        The most biased of the three where reports are few; with many it is the projection.
        """
        return posterior(
            [float(share) for share in self.shares],
            [share.standard_error for share in self.shares],
        )


def target(name: str) -> Target:
    """Read whom an estimate speaks of."""
    try:
        return Target(name)
    except ValueError:
        raise InvalidValue(
            f"target = {name!r} is not something to estimate.",
            hint='target="people" (those who answered) or target="population" (those they were '
            "drawn from).",
        ) from None


def shares(
    randomizer: FrequencyRandomizer,
    counters: Sequence[int],
    n: int,
    *,
    confidence: Rational = Fraction(95, 100),
    simultaneous: bool = False,
    target: str = "people",
) -> Estimates:
    """Every value's share, from the counters of n reports.

    With ``simultaneous`` all intervals together hold with the confidence (Bonferroni).

    >>> from discreet.local.two_coins import TwoCoins
    >>> yes = shares(TwoCoins(), [400, 600], 1000)[0]
    >>> yes.value  # 2 (400/1000 - 1/4)
    Fraction(3, 10)
    >>> yes.standard_error == math.sqrt(0.75 / 1000)
    True
    """
    about, wanted = _target(target), exact_confidence(confidence)
    enough(n)
    level = 1 - (1 - wanted) / randomizer.size if simultaneous else wanted
    z = quantile(level)
    seen = list(counters)
    moments = randomizer.plug_in(seen, n)
    return Estimates(
        n,
        wanted,
        about,
        tuple(
            estimate(score, n, each, z, about)
            for score, each in zip(randomizer.scores(seen), moments, strict=True)
        ),
    )


def share_variance(
    moments: Moments, share: Fraction, n: int, *, target: str = "people"
) -> Fraction:
    """The exact variance of an estimated share.

    >>> from discreet.local.two_coins import TwoCoins
    >>> share_variance(TwoCoins().moments(0), Fraction(1, 3), 1000)
    Fraction(3, 4000)
    """
    return _spread(moments, share, _target(target)) / (n * moments.slope**2)


def mean(
    randomizer: NumberRandomizer,
    counters: Sequence[int],
    n: int,
    *,
    confidence: Rational = Fraction(95, 100),
    target: str = "people",
) -> Estimate:
    """The mean of everybody's point, from the counters of n reports.

    One bit cannot tell its noise from the spread of the points: for the people themselves the
    interval is then that for the population, which is a little wide.
    """
    about = _target(target)
    enough(n)
    z = quantile(exact_confidence(confidence))
    total, squares = randomizer.sums(list(counters))
    offset, slope = randomizer.offset, randomizer.slope
    value = (Fraction(total, n) - offset) / slope
    last = randomizer.size - 1
    noise = randomizer.noise(total, squares, n)
    if noise is None:
        # The variance of one bit is a function of its mean, and so the score interval serves.
        coin = Moments.of_support(offset + slope * last, offset)
        middle, half = _score(coin, total, n, z, Target.POPULATION)
        low, high = (middle - half) * last, (middle + half) * last
        inside = min(max(value / last, Fraction(0)), Fraction(1))
        spread = _spread(coin, inside, Target.POPULATION)
    else:
        seen = Fraction(squares, n) - Fraction(total, n) ** 2
        spread = noise if about is Target.PEOPLE else seen * Fraction(n, max(n - 1, 1))
        half = z * math.sqrt(spread / n) / float(slope)
        low, high = float(value) - half, float(value) + half
    return Estimate(
        value,
        min(max(low, 0.0), float(last)),
        min(max(high, 0.0), float(last)),
        math.sqrt(spread / n) / float(slope),
    )


def mean_variance(randomizer: NumberRandomizer, points: Sequence[int]) -> Fraction:
    """The exact variance of the estimated mean for these people's points."""
    total = sum((randomizer.variance(point) for point in points), Fraction(0))
    return total / (len(points) ** 2 * randomizer.slope**2)


@lru_cache(maxsize=64)
def quantile(confidence: Fraction) -> float:
    """How many standard errors on each side hold a normal variable with the confidence.

    >>> round(quantile(Fraction(95, 100)), 3)
    1.96
    """
    return Real((1 + confidence) / 2).normal_quantile().float_up()


def enough(n: int) -> None:
    """Refuse to estimate from nothing."""
    if n < 1:
        raise InvalidValue(
            "there are no reports to estimate from.", hint="collect at least one report first."
        )


_target = target  # the functions' argument has the same name


def estimate(score: int, n: int, moments: Moments, z: float, about: Target) -> Estimate:
    """One value's share, from its score in n reports; z standard errors on each side."""
    value = (Fraction(score, n) - moments.offset) / moments.slope
    middle, half = _score(moments, score, n, z, about)
    inside = min(max(value, Fraction(0)), Fraction(1))
    error = math.sqrt(_spread(moments, inside, about) / n) / float(moments.slope)
    low, high = min(max(middle - half, 0.0), 1.0), min(max(middle + half, 0.0), 1.0)
    return Estimate(value, low, high, error)


def _spread(moments: Moments, share: Fraction, about: Target) -> Fraction:
    """The variance of one report's score, averaged over the people or the population."""
    return _line(moments, share) - _known(moments, share, about)


def _line(moments: Moments, share: Fraction) -> Fraction:
    return moments.square + moments.square_slope * share


def _known(moments: Moments, share: Fraction, about: Target) -> Fraction:
    holder, other = moments.offset + moments.slope, moments.offset
    if about is Target.POPULATION:
        return (other + moments.slope * share) ** 2
    return share * holder**2 + (1 - share) * other**2


def _score(moments: Moments, score: int, n: int, z: float, about: Target) -> tuple[float, float]:
    """The middle and half the width of the score interval.

    All f with (|score/n - offset - slope f| - 1/(2n))^2 <= z^2 variance(f) / n. Dropping the half
    report, it is a quadratic inequality in f; the half report is added to the width afterwards.
    """
    offset, slope = float(moments.offset), float(moments.slope)
    d = score / n - offset
    weight = z * z / n
    # variance(f) = v0 + v1 f + v2 f^2
    if about is Target.POPULATION:
        v0 = float(moments.square) - offset**2
        v1 = float(moments.square_slope) - 2 * offset * slope
        v2 = -(slope**2)
    else:
        v0 = float(moments.square) - offset**2
        v1 = float(moments.square_slope) - slope**2 - 2 * offset * slope
        v2 = 0.0
    a = slope**2 - weight * v2
    b = -2 * d * slope - weight * v1
    c = d * d - weight * v0
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    return -b / (2 * a), root / (2 * a) + 1 / (2 * n * slope)
