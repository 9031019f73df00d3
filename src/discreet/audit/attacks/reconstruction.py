"""An attack on many counts at once: solved together, they are everybody's secret."""

from __future__ import annotations

import numpy as np

from discreet.audit.attacks.game import Outcome, Score
from discreet.audit.claim import Claim
from discreet.mechanisms import Geometric, Laplace
from discreet.noise import bits

_PEOPLE, _COUNTS = 32, 128


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

    return Outcome.against(
        Claim(1),
        "reconstruction",
        f"{_COUNTS} counts over random groups of {_PEOPLE} people, solved for everyone's secret "
        "bit; unsafe: each count has the noise of epsilon 1, and nobody adds them up.",
        score(whole),
        score(each),
    )
