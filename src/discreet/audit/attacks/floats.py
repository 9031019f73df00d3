"""Attacks on floating-point numbers: which floats an answer can be, and how a sum is rounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.audit.attacks.data import neighbours
from discreet.audit.attacks.game import Guess, Outcome, duel
from discreet.audit.claim import Claim
from discreet.mechanisms import Laplace
from discreet.noise import TwoSidedGeometric, bits

Floats = NDArray[np.float64]
Possible = Callable[[Floats, int], NDArray[np.bool_]]
"""Whether each answer can come of a count that is 0 or 1 at all."""

_COUNTS = 8  # a person is in all of them, or in none: together they cost epsilon 1
_SCALE = float(_COUNTS)
_STEPS = 2**20
_UNIFORM = 2.0**-53
"""What uniform numbers between 0 and 1 are multiples of."""
_AROUND = range(-4, 5)
"""Multiples to try beside the nearest: more than the rounding of exp, log and sum can move it."""


def floating_point(games: int = 20_000) -> Outcome:
    """Which floats an answer can be tells more than where it lies.

    Reference: Mironov (2012), On significance of the least significant bits.
    """
    mechanism = Laplace.from_epsilon(sensitivity=_COUNTS, epsilon=1, grid=f"1/{_STEPS}")

    def ours(world: int, n: int) -> NDArray[Any]:
        drawn = mechanism.noise.sample(n * _COUNTS).reshape(n, _COUNTS)
        return np.asarray((world * _STEPS + drawn) / _STEPS)

    def unsafe(world: int, n: int) -> NDArray[Any]:
        return np.asarray(world + textbook(_uniform(n * _COUNTS)).reshape(n, _COUNTS))

    return duel(
        "floating-point",
        f"{_COUNTS} counts, each 0 or each 1, with Laplace noise, together epsilon 1. The attacker "
        "asks of every answer from which count it can come at all. Unsafe: the textbook's noise "
        "in doubles.",
        ours=ours,
        control=unsafe,
        guess=(by_support(on_our_grid), by_support(of_formula(textbook))),
        claim=Claim(1),
        games=games,
    )


def by_support(possible: Possible) -> Guess:
    """Whoever is impossible for one answer is ruled out; else the likelier one is said."""

    def say(answers: NDArray[Any]) -> NDArray[np.bool_]:
        zero, one = (possible(answers, world).all(axis=1) for world in (0, 1))
        likelier = (np.abs(answers) - np.abs(answers - 1)).sum(axis=1) > 0
        return np.where(zero == one, likelier, one)

    return say


def on_our_grid(answers: Floats, world: int) -> NDArray[np.bool_]:
    """Every multiple of the grid can come of every count."""
    steps = (answers - world) * _STEPS
    return np.asarray(steps == np.rint(steps))


def of_formula(laplace: Callable[[Floats], Floats]) -> Possible:
    """Whether some uniform number, by the sampler's own formula, gives an answer to the last bit.

    The formula is that of Laplace noise with the scale of this attack.

    >>> answers = 1 + textbook(_uniform(1000))
    >>> [bool(of_formula(textbook)(answers, world).all()) for world in (0, 1)]
    [False, True]
    """

    def possible(answers: Floats, world: int) -> NDArray[np.bool_]:
        noise = answers - world
        tail = np.exp(-np.abs(noise) / _SCALE) / 2
        nearest = np.rint(np.where(noise < 0, tail, 1 - tail) / _UNIFORM)
        found = np.zeros(answers.shape, dtype=bool)
        for step in _AROUND:
            uniform = np.clip(nearest + step, 1, 1 / _UNIFORM - 1) * _UNIFORM
            found |= world + laplace(uniform) == answers
        return found

    return possible


def textbook(uniform: Floats) -> Floats:
    """Laplace noise as textbooks write it, in doubles: never to be used."""
    centred = uniform - 0.5
    return np.asarray(-_SCALE * np.sign(centred) * np.log(1 - 2 * np.abs(centred)))


def _uniform(n: int) -> Floats:
    drawn = (bits.words(n) >> np.uint64(11)).astype(np.float64) * _UNIFORM
    return np.maximum(drawn, _UNIFORM)


# Sums --------------------------------------------------------------------------------------------

_FULL = 2**14  # a power of two: from here on single precision rounds twice as coarsely
_TILTED = 2**15


def rounding(games: int = 20_000) -> Outcome:
    """A running sum of floats, on whose rounding one person decides for everybody after.

    Reference: Casacuberta, Shoate, Vadhan and Wagaman (2022), Widespread underestimation of
    sensitivity.
    """
    sums = [running_sum(tilting(person=present)) for present in (False, True)]
    one, other = (_table(tilting(person=present)) for present in (False, True))
    noise = TwoSidedGeometric(1)  # the sum is claimed to move by 1 at most
    with neighbours(one, other, "SELECT SUM(x) FROM t", bounds={"x": (-1, 1)}) as found:
        return duel(
            "rounding",
            f"The sum of {len(one):,} numbers between -1 and 1; someone's 1 is among them or "
            f"is not. Unsafe: a running sum in single precision, which moves by "
            f"{abs(sums[1] - sums[0]):.0f}, with the noise for 1.",
            ours=lambda world, n: found.release(world, n)[:, 0],
            control=lambda world, n: sums[world] + noise.sample(n),
            guess=None,
            claim=Claim(1),
            games=games,
        )


def tilting(*, person: bool) -> NDArray[np.float32]:
    """Values that a running sum takes to just below a power of two, and then gently down.

    Below the power each step down is rounded to a whole one; above it, where the person's 1 takes
    the sum, each is rounded away.
    """
    up = np.ones(_FULL, dtype=np.float32)
    up[0] = 0.5
    down = np.full(_TILTED, -0.75 * _FULL * 2.0**-24, dtype=np.float32)
    return np.concatenate([up, np.ones(int(person), dtype=np.float32), down])


def running_sum(values: NDArray[np.float32]) -> float:
    """One value after another, in single precision.

    >>> running_sum(tilting(person=True)) - running_sum(tilting(person=False))
    33.0
    """
    return float(np.cumsum(values, dtype=np.float32)[-1])


def _table(values: NDArray[np.float32]) -> pa.Table:
    return pa.table({"person": pa.array(np.arange(len(values))), "x": pa.array(values)})
