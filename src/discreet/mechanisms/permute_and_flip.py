"""Permute-and-flip: never worse than the exponential mechanism, often better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Real
from discreet.mechanisms.choice import Choice
from discreet.noise.bernoulli import Bernoulli
from discreet.noise.uniform import below


@dataclass(frozen=True, init=False)
class PermuteAndFlip(Choice):
    """Visits the candidates in random order until one is taken.

    Each is taken with probability exp(-epsilon (best - utility) / 2 sensitivity).

    Guarantee: (epsilon, 0)-differential privacy.
    Sensitivity: the most that one unit changes any one utility.
    Exactness: order and coins are exact. How many candidates were visited is not released, but it
    takes time: on a machine that an analyst can time closely, prefer ``Exponential``.
    Reference: McKenna and Sheldon (2020).

    >>> PermuteAndFlip(sensitivity=1, epsilon=2).release([0, 3, 100])
    2
    """

    mechanism = "permute_and_flip"

    def _choose(self, units: NDArray[np.int64]) -> int:
        gaps = (int(units.max()) - units).tolist()
        waiting = list(range(len(gaps)))
        while True:
            # The next of a random permutation, made as it is needed.
            place = below(len(waiting))
            waiting[place], waiting[-1] = waiting[-1], waiting[place]
            candidate = waiting.pop()
            if gaps[candidate] == 0 or self._taken(gaps[candidate]):
                return candidate

    def _taken(self, gap: int) -> bool:
        return bool(Bernoulli(Real(-self.unit * gap).exp()).sample(1)[0])

    def _miss(self, steps: int, candidates: int) -> Real:
        # Worst when all others lie exactly that far below: the best wins unless one visited before
        # it, each taken with probability p, is.
        p = Real(-self.unit * steps).exp()
        return 1 - (1 - (1 - p) ** candidates) / (candidates * p)
