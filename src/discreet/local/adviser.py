"""Which randomizer to use, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidValue
from discreet.local.bitsets import BitSets
from discreet.local.duchi import OneBit
from discreet.local.estimates import share_variance
from discreet.local.hadamard import HadamardResponse
from discreet.local.hashing import LocalHashing
from discreet.local.kary import KaryResponse
from discreet.local.numbers import NumberRandomizer
from discreet.local.piecewise import Piecewise
from discreet.local.randomizer import FrequencyRandomizer, Randomizer, domain_size
from discreet.local.subset import SubsetSelection
from discreet.local.two_coins import TwoCoins
from discreet.local.unary import UnaryEncoding
from discreet.theory.losses import Loss

NEARLY = 1.05
"""A randomizer within five per cent of the least error is as good as the best."""

MOST_WORK = 10**12
"""Local hashing takes a step for each report and option; beyond this many it is left out."""

MOST_BITS = 4096
"""Reports that set a bit for each option are left out beyond this many options."""


@dataclass(frozen=True)
class Candidate:
    """One randomizer, the standard error to expect of a share (or mean), and its report's size."""

    randomizer: Randomizer
    error: float
    bits: int


@dataclass(frozen=True)
class Advice:
    """The randomizer to use, why, and what else was considered, best first."""

    randomizer: Randomizer
    reason: str
    candidates: tuple[Candidate, ...]


def advise(*, size: int, epsilon: Loss, n: int, numbers: bool = False) -> Advice:
    """The randomizer with the least error; of nearly equal ones, that with the smallest report.

    ``numbers``: the answers are points on a scale and their mean is wanted, not their shares.

    >>> advise(size=2, epsilon="ln 3", n=100).randomizer.kind
    'two_coins'
    >>> advise(size=4, epsilon=2, n=10_000).randomizer.kind
    'kary'
    >>> advise(size=1000, epsilon=1, n=1_000_000).randomizer.kind
    'hashing'
    >>> advise(size=101, epsilon=4, n=1000, numbers=True).randomizer.kind
    'piecewise'
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InvalidValue(
            f"n = {n!r} is not a number of people: it must be a whole number, 1 or more.",
            hint="n=1000",
        )
    many = domain_size(size)
    found = _numbers(many, epsilon, n) if numbers else _choices(many, epsilon, n)
    found.sort(key=lambda candidate: candidate.error)
    best = found[0]
    near = [candidate for candidate in found if candidate.error <= NEARLY * best.error]
    chosen = min(near, key=lambda candidate: (candidate.bits, candidate.error))
    return Advice(chosen.randomizer, _reason(chosen, best, found, n), tuple(found))


def typical_error(randomizer: Randomizer, n: int) -> float:
    """The standard error of a mean at its worst, or of a share when all are equally frequent."""
    if isinstance(randomizer, NumberRandomizer):
        return math.sqrt(randomizer.worst_variance / n)
    if not isinstance(randomizer, FrequencyRandomizer):
        raise InvalidValue("this randomizer has no estimator.", hint="use one of discreet.local.")
    share = Fraction(1, randomizer.size)
    return math.sqrt(share_variance(randomizer.moments(0), share, n))


def report_bits(randomizer: Randomizer) -> int:
    """How many bits one report needs."""
    if isinstance(randomizer, BitSets):
        return randomizer.size
    if isinstance(randomizer, LocalHashing):
        coefficients = (randomizer.digits + 1) * (randomizer.prime - 1).bit_length()
        return coefficients + (randomizer.buckets - 1).bit_length()
    if isinstance(randomizer, Piecewise):
        return (randomizer.places - 1).bit_length()
    return max(1, (randomizer.cells - 1).bit_length())


def _choices(size: int, epsilon: Loss, n: int) -> list[Candidate]:
    tried: list[Randomizer] = [
        KaryResponse(size=size, epsilon=epsilon),
        HadamardResponse(size=size, epsilon=epsilon),
    ]
    if size == 2:
        # All others are the same for two options, or worse.
        coins = TwoCoins()
        return [_candidate(coins if tried[0].ratio == coins.ratio else tried[0], n)]
    if size * n <= MOST_WORK:
        tried.append(LocalHashing(size=size, epsilon=epsilon))
    if size <= MOST_BITS:
        tried.append(SubsetSelection(size=size, epsilon=epsilon))
        tried.append(UnaryEncoding(size=size, epsilon=epsilon))
        tried.append(UnaryEncoding(size=size, epsilon=epsilon, symmetric=True))
    return [_candidate(each, n) for each in tried]


def _numbers(size: int, epsilon: Loss, n: int) -> list[Candidate]:
    tried = [OneBit(size=size, epsilon=epsilon), Piecewise(size=size, epsilon=epsilon)]
    return [_candidate(each, n) for each in tried]


def _candidate(randomizer: Randomizer, n: int) -> Candidate:
    return Candidate(randomizer, typical_error(randomizer, n), report_bits(randomizer))


def _reason(chosen: Candidate, best: Candidate, found: list[Candidate], n: int) -> str:
    kind, size = chosen.randomizer.kind, chosen.randomizer.size
    if isinstance(chosen.randomizer, NumberRandomizer):
        what, error = "a mean", chosen.error / (size - 1)
        shown = f"{error:.2%} of the range"
    else:
        what, shown = "a share", f"{chosen.error:.2%}"
        error = chosen.error * math.sqrt(size) if size > 2 else chosen.error
    text = f"{kind}: with {n:,} people and {size:,} answers the standard error of {what} is {shown}"
    if chosen is best:
        text += ", the least of all"
    else:
        text += (
            f", within {NEARLY - 1:.0%} of the least ({best.randomizer.kind}) "
            f"with reports of {chosen.bits} bits instead of {best.bits}"
        )
    other = next((each for each in found if each is not chosen and each is not best), None)
    if other is not None:
        text += f"; {other.randomizer.kind} would give {other.error / chosen.error:.2f} times that"
    if error > 0.5:
        text += ". That is hardly better than guessing: ask more people, or allow a larger epsilon"
    return text + "."
