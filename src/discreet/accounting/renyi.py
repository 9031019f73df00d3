"""RDP of a batch: NumPy proposes an order, ball arithmetic certifies the loss there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.batch import Batch
from discreet.accounting.convert import order_prices, rdp_to_epsilon
from discreet.accounting.curves import BoundedRange, Geometric
from discreet.accounting.outward import significant_up
from discreet.exact import Real
from discreet.exact.balls import arb, from_fraction

Floats = NDArray[np.float64]

ORDERS = 1 + np.exp2(np.arange(-6, 40, 0.5))
"""The orders that are looked at first; then those between the neighbours of the best."""

_CHUNK = 2048
_NEAR = [np.exp2(np.linspace(-reach, reach, 9)) for reach in (1 / 2, 1 / 8)]


def rdp_epsilon(batch: Batch, delta: Fraction) -> tuple[Fraction, Fraction]:
    """epsilon at delta, rounded up, and the order that gave it.

    Each order is a valid bound by itself, so the choice among them needs no certificate.
    """
    losses = _Losses.of(batch)
    best = losses.best(ORDERS - 1, delta)
    for near in _NEAR:
        best = losses.best(best * near, delta)
    order = 1 + significant_up(Fraction(best), 6)
    return rdp_to_epsilon(certified(batch, order), order=order, delta=delta), order


def certified(batch: Batch, order: Fraction) -> Real:
    """The divergence of the whole batch at one order."""

    def total() -> arb:
        losses = (known.rdp(order) * count for known, count in batch.others)
        return sum(losses, from_fraction(batch.square / 2 * order))

    return Real(total)


@dataclass(frozen=True, slots=True)
class _Losses:
    """The batch in floats, one row for each loss that is not normal."""

    square: float
    rate: Floats
    epsilon: Floats
    count: Floats
    ranged: NDArray[np.bool_]

    @classmethod
    def of(cls, batch: Batch) -> _Losses:
        losses = [known for known, _ in batch.others]
        epsilon = [float(known.epsilon) for known in losses]
        rate = [
            float(known.rate) if isinstance(known, Geometric) else pure
            for known, pure in zip(losses, epsilon, strict=True)
        ]
        return cls(
            square=float(batch.square),
            rate=np.array(rate),
            epsilon=np.array(epsilon),
            count=np.array([float(count) for _, count in batch.others]),
            ranged=np.array([isinstance(known, BoundedRange) for known in losses], dtype=bool),
        )

    def best(self, less: Floats, delta: Fraction) -> float:
        """Which of the orders, given as order - 1, promises the least epsilon."""
        bounds = self.divergences(less) + order_prices(less, delta)
        return float(less[int(np.argmin(bounds))])

    def divergences(self, less: Floats) -> Floats:
        """About the divergence of the batch at each order."""
        total: Floats = self.square / 2 * (1 + less)
        for start in range(0, len(self.rate), _CHUNK):
            total += self._part(slice(start, start + _CHUNK), less)
        return total

    def _part(self, rows: slice, less: Floats) -> Floats:
        shift = 2 * less + 1
        rate, epsilon = self.rate[rows, None], self.epsilon[rows, None]
        a = np.exp(-rate)
        lost = a * np.expm1(-2 * less * rate) / (1 + a)
        lost *= np.expm1(-shift * epsilon) / np.expm1(-shift * rate)
        divergence = epsilon + np.log1p(lost) / less
        # Where the sum above cancels, the divergence is close to order * epsilon**2 / 2.
        small = (1 + less) * epsilon**2 / 2
        divergence = np.where(small < 1e-9 * epsilon, small, divergence)
        ranged = self.ranged[rows]
        if ranged.any():
            divergence[ranged] = np.minimum(divergence[ranged], small[ranged] / 4)
        answer: Floats = self.count[rows] @ divergence
        return answer
