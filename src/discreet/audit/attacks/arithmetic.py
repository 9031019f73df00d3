"""Attacks on the noise itself: the bits of floats, and many counts of secret bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.attacks.game import Outcome, Score, duel
from discreet.audit.claim import Claim
from discreet.audit.features import lowest_bit
from discreet.mechanisms import Geometric, Laplace
from discreet.noise import bits

_PEOPLE, _COUNTS = 32, 128


def floating_point(games: int = 50_000) -> Outcome:
    """Which floats an answer can be tells more than where it lies."""
    claim = Claim(1)
    steps = 2**20
    mechanism = Laplace.from_epsilon(sensitivity=1, epsilon=1, grid=f"1/{steps}")

    def ours(world: int, n: int) -> NDArray[Any]:
        drawn = mechanism.noise.sample(n)
        return _cell((world * steps + drawn) / steps)

    def unsafe(world: int, n: int) -> NDArray[Any]:
        return _cell(world + textbook_laplace(n))

    return duel(
        "floating-point",
        "A count of 0 or 1 with Laplace noise; the attacker looks at the last bits of the answer.",
        ours=ours,
        control=unsafe,
        guess=None,
        claim=claim,
        games=games,
    )


def textbook_laplace(n: int) -> NDArray[np.float64]:
    """Laplace noise as textbooks write it, in doubles: never to be used."""
    uniform = (bits.words(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53 - 0.5
    inside = np.maximum(1 - 2 * np.abs(uniform), 2.0**-53)
    return np.asarray(-np.sign(uniform) * np.log(inside))


def _cell(answers: NDArray[np.float64]) -> NDArray[Any]:
    """Where an answer lies, roughly, and the grid that it lies on."""
    where = np.clip(np.floor(8 * answers), -40, 40).astype(np.int64)
    return np.asarray(where * 256 + np.clip(lowest_bit(answers), -80, 0))


def reconstruction(games: int = 200) -> Outcome:
    """Many counts over random groups, solved for the bits of everyone."""
    subsets = (bits.words(_COUNTS * _PEOPLE) & np.uint64(1)).reshape(_COUNTS, _PEOPLE)
    solve = np.linalg.pinv(subsets.astype(np.float64))
    whole = Geometric.from_epsilon(sensitivity=_COUNTS, epsilon=1)
    each = Geometric.from_epsilon(sensitivity=1, epsilon=1)

    def score(mechanism: Laplace) -> Score:
        secrets = (bits.words(games * _PEOPLE) & np.uint64(1)).reshape(_PEOPLE, games)
        exact = (subsets.astype(np.int64) @ secrets.astype(np.int64)).astype(np.float64)
        noisy = exact + mechanism.noise.sample(exact.size).reshape(exact.shape)
        right = ((solve @ noisy > 0.5) == secrets.astype(bool)).mean(axis=0)
        # Bits of one game stand or fall together, so games are counted, not bits.
        return Score.of(float(right.sum()), games)

    claim = Claim(1)
    return Outcome(
        "reconstruction",
        f"{_COUNTS} counts over random groups of {_PEOPLE} people, solved for everyone's secret "
        "bit; unsafe: each count has the noise of epsilon 1, and nobody adds them up.",
        score(whole),
        score(each),
        claim.ceiling,
        str(claim.epsilon),
        str(claim.delta),
    )
