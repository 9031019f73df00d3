"""Report noisy max: the index of the largest noisy utility."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Real
from discreet.mechanisms.choice import Choice
from discreet.noise.geometric import OneSidedGeometric


@dataclass(frozen=True, init=False)
class NoisyMax(Choice):
    """Adds one-sided geometric noise to every utility and releases the index of the largest.

    Guarantee: (epsilon, 0)-differential privacy of the index; the noisy maximum is not released.
    Sensitivity: the most that one unit changes any one utility.
    Exactness: noise P(k) proportional to exp(-k epsilon / 2 sensitivity); the first of equal ones
    wins. Given the other draws, candidate i wins exactly when its own noise reaches some whole
    number r; on a neighbour r grows by at most twice the sensitivity, and the noise reaches the
    larger number with probability at least exp(-epsilon) times that of the smaller. This needs
    integer noise and a fixed order for ties, both of which hold.
    Reference: Dwork and Roth (2014), Claim 3.9; Ding et al. (2021) for one-sided noise.

    >>> NoisyMax(sensitivity=1, epsilon=2).release([0, 100, 3])
    1
    """

    mechanism = "noisy_max"

    def _choose(self, units: NDArray[np.int64]) -> int:
        noise = OneSidedGeometric(1 / self.unit).sample(units.size)
        # Utilities keep within 2**61 and noise within 3 * 2**61, so this cannot wrap round.
        return int(np.argmax(units + noise))

    def _miss(self, steps: int, candidates: int) -> Real:
        # A union over the others of P(their noise exceeds the best's by that much).
        step = Real(-self.unit).exp()
        return (candidates - 1) * Real(-self.unit * steps).exp() / (1 + step)
