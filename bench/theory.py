"""A channel of a million floats: certified epsilon and delta against NumPy's bare log-ratio.

NumPy's side is one pass that certifies nothing: the largest absolute difference between the
logarithms of consecutive rows. Ours encloses epsilon, and delta at 100 epsilons, over the same
pairs both ways; "at most 100 times as long" is one such pass per epsilon.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bench.harness import Row, Sheet, timed
from discreet.theory import BallChannel

SIZE = 1000
EPSILONS = [Fraction(step, 20) for step in range(100)]
ROUNDS = 10
HUNDRED_PASSES = 0.01


def matrix() -> NDArray[np.float64]:
    """Rows of positive weights, normalized."""
    weights = np.random.default_rng().random((SIZE, SIZE)) + 0.01
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def run(sheet: Sheet, *, long: bool) -> None:  # noqa: ARG001 - nothing here takes long
    """Both sides over the same pairs of rows."""
    floats = matrix()
    channel = BallChannel(floats, tolerance="1e-12")

    def plain() -> float:
        logarithms = np.log(floats)
        return float(np.abs(logarithms[1:] - logarithms[:-1]).max())

    found, seen = channel.epsilon(), plain()
    assert found.low <= seen <= found.high, "the two sides measure different things"

    sides = [
        timed(channel.epsilon),
        timed(lambda: channel.delta(EPSILONS)),
        timed(lambda: (channel.epsilon(), channel.delta(EPSILONS))),
        timed(plain),
    ]
    what = f"channel of {SIZE:,} x {SIZE:,} floats"
    epsilon, delta, both, numpy = sheet.best(what, sides, [ROUNDS] * 4)
    for name, ours, target in (
        ("epsilon", epsilon, None),
        ("delta at 100 epsilons", delta, None),
        ("both, at most 100 plain passes", both, HUNDRED_PASSES),
    ):
        row = Row.of(
            f"{what}: {name}, against NumPy's log-ratio maximum",
            ours=ours,
            peer=numpy,
            unit="s",
            target=target,
        )
        sheet.add(row)
