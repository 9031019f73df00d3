"""The exponential mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Real
from discreet.mechanisms.choice import Choice
from discreet.noise.selection import Selection


@dataclass(frozen=True, init=False)
class Exponential(Choice):
    """Chooses a candidate with probability proportional to exp(epsilon utility / 2 sensitivity).

    Guarantee: (epsilon, 0)-differential privacy.
    Sensitivity: the most that one unit changes any one utility.
    Exactness: the probabilities are as written, to the last bit.
    Reference: McSherry and Talwar (2007), Theorem 6.

    >>> mechanism = Exponential(sensitivity=1, epsilon=2)
    >>> mechanism.release([100, 2, 3], candidates=["red", "green", "blue"])
    'red'
    >>> error = mechanism.error(0.95, candidates=10)
    >>> float(error.exact), round(error.textbook, 2)
    (5.0, 5.3)
    """

    mechanism = "exponential"

    def _choose(self, units: NDArray[np.int64]) -> int:
        return int(Selection(units, unit=self.unit).sample(1)[0])

    def _miss(self, steps: int, candidates: int) -> Real:
        # Worst when all others lie exactly that far below the best.
        others = (candidates - 1) * Real(-self.unit * steps).exp()
        return others / (1 + others)
