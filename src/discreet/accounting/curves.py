"""The privacy loss of one event, as a function: what every accountant reads.

Each event of ``discreet.events`` has the loss of one of four curves, the worst over all
neighbours:

===============  ======================================  ==========================================
curve            events                                  why
===============  ======================================  ==========================================
``Geometric``    laplace, geometric                      they *are* two-sided geometric noise on
                                                         their grid; all steps in one coordinate is
                                                         the worst way to spread them
``Normal``       gaussian                                rounding is post-processing of the normal
``BoundedRange`` exponential, quantile                   the exponential mechanism's log-ratio lies
                                                         in an interval of length epsilon
``Response``     noisy_max, permute_and_flip,            randomized response dominates everything
                 above_threshold, key_selection,         that is (epsilon, delta)-private
                 declared
===============  ======================================  ==========================================

The proofs are in docs/explanation/accounting.md. Balls have the precision of the caller's
``balls.precision``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from discreet.accounting.outward import significant_up
from discreet.errors import UnknownEvent
from discreet.events import Event
from discreet.exact import Real
from discreet.exact.balls import arb, from_fraction

ZERO = Fraction(0)


class Curve(Hashable, Protocol):
    """What is known of one event's loss."""

    @property
    def epsilon(self) -> Fraction | None:
        """The event is (epsilon, delta)-private; None if that needs a delta of one's choice."""

    @property
    def delta(self) -> Fraction:
        """The part of the guarantee that fails outright."""

    def rho(self) -> Fraction:
        """The event is delta-approximately rho-zCDP; rounded up."""

    def rdp(self, order: Fraction) -> arb:
        """The Rényi divergence of an order above 1, apart from the part of mass delta."""


@dataclass(frozen=True, slots=True)
class Geometric:
    """Two-sided geometric noise, ``P(z) ~ exp(-rate * abs(z))``, at a distance of ``steps``.

    With e = rate * steps: e-DP; ``rho = e - rate (1 - exp(-e)) / sinh(rate)``, which is the
    Kullback-Leibler divergence; and ``exp((order - 1) rdp) = A exp((order - 1) e) + B exp(-order
    e)`` with A + B = 1. For one step this is randomized response, for rate -> 0 Laplace.

    Reference: Harrison and Manurangsi (2026), or the proof in docs/explanation/accounting.md.
    """

    rate: Fraction
    steps: int

    @property
    def epsilon(self) -> Fraction:
        return self.rate * self.steps

    @property
    def delta(self) -> Fraction:
        return ZERO

    def rho(self) -> Fraction:
        return geometric_rho(self.rate, self.steps)

    def rdp(self, order: Fraction) -> arb:
        rate = from_fraction(self.rate)
        loss = rate * self.steps
        less, twice = from_fraction(order - 1), from_fraction(2 * order - 1)
        a = (-rate).exp()
        # No difference of near numbers: a - r and 1 - a r are written with expm1.
        below = (1 + a) * (-twice * rate).expm1()
        up = (-from_fraction(2 * order) * rate).expm1() / below
        down = a * (-2 * less * rate).expm1() / below
        gain = up * (less * loss).expm1() + down * (-from_fraction(order) * loss).expm1()
        return gain.log1p() / less


@dataclass(frozen=True, slots=True)
class Normal:
    """Normal noise: ``square = (sensitivity / sigma)**2``, rdp = order * square / 2.

    Reference: Mironov (2017), Proposition 7; Bun and Steinke (2016), Proposition 1.6.
    """

    square: Fraction

    @property
    def epsilon(self) -> None:
        return None

    @property
    def delta(self) -> Fraction:
        return ZERO

    def rho(self) -> Fraction:
        return self.square / 2

    def rdp(self, order: Fraction) -> arb:
        return from_fraction(order * self.square / 2)


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """A log-ratio within an interval of length epsilon: epsilon-DP and epsilon**2/8-zCDP.

    Reference: Cesar and Rogers (2021), Lemma 3.4, after Dong, Durfee and Rogers (2020).
    """

    epsilon: Fraction

    @property
    def delta(self) -> Fraction:
        return ZERO

    def rho(self) -> Fraction:
        rho = self.epsilon**2 / 8
        # For large epsilon the pure guarantee alone says more.
        return min(rho, Response(self.epsilon).rho()) if self.epsilon > 7 else rho

    def rdp(self, order: Fraction) -> arb:
        bounded = from_fraction(order * self.epsilon**2 / 8)
        return bounded.min(Response(self.epsilon).rdp(order))


@dataclass(frozen=True, slots=True)
class Response:
    """Anything (epsilon, delta)-private: at worst randomized response, but for a mass of delta.

    ``rho = epsilon * tanh(epsilon / 2)``.

    Reference: Kairouz, Oh and Viswanath (2015) for the domination; Bun and Steinke (2016),
    Lemma 8.8, for the mass of delta; the proof of rho is in docs/explanation/accounting.md.
    """

    epsilon: Fraction
    delta: Fraction = ZERO

    def rho(self) -> Fraction:
        return geometric_rho(self.epsilon, 1)

    def rdp(self, order: Fraction) -> arb:
        return Geometric(self.epsilon, 1).rdp(order)


@lru_cache(maxsize=4096)
def geometric_rho(rate: Fraction, steps: int) -> Fraction:
    """rho of two-sided geometric noise, rounded up to 15 digits.

    >>> float(geometric_rho(Fraction(1), 1))  # tanh(1/2)
    0.46211715726001
    """

    def exact() -> arb:
        step = from_fraction(rate)
        loss = step * steps
        return loss + step * (-loss).expm1() / step.sinh()

    return significant_up(Real(exact).upper(64))


def curve(event: Event) -> Curve:
    """The loss of one event; an event without a theorem is refused.

    >>> curve(Event("laplace", {"scale": 2, "grid": "1/4"}, 1))
    Geometric(rate=Fraction(1, 8), steps=4)
    """
    given = event.parameters
    match event.mechanism:
        case "laplace" | "geometric":
            grid = given.get("grid", Fraction(1))
            steps = -(-event.sensitivity // grid)
            return Geometric(grid / given["scale"], steps)
        case "gaussian":
            return Normal((event.sensitivity / given["sigma"]) ** 2)
        case "exponential" | "quantile":
            return BoundedRange(given["epsilon"])
        case "noisy_max" | "permute_and_flip" | "above_threshold":
            return Response(given["epsilon"])
        case "key_selection" | "declared":
            return Response(given["epsilon"], given["delta"])
        case unknown:
            raise UnknownEvent(
                f"a {unknown} event has no theorem here, so its loss is not known.",
                hint="a newer release may know it; nothing is guessed. What was proved elsewhere "
                'can be given as Event("declared", {"epsilon": ..., "delta": ...}, 1).',
            )
