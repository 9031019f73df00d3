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

The proofs are in docs/explanation/accounting.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, TypeAlias

from discreet.accounting.outward import significant_up
from discreet.errors import UnknownEvent
from discreet.events import Event
from discreet.exact import Real
from discreet.exact.balls import arb, from_fraction


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

    delta: ClassVar[Fraction] = Fraction(0)

    @property
    def epsilon(self) -> Fraction:
        """The pure loss."""
        return self.rate * self.steps

    def rho(self) -> arb:
        """The loss in zCDP."""
        rate = from_fraction(self.rate)
        loss = rate * self.steps
        return loss + rate * (-loss).expm1() / rate.sinh()

    def rdp(self, order: Fraction) -> arb:
        """The Rényi divergence of an order above 1."""
        rate = from_fraction(self.rate)
        less = from_fraction(order - 1)
        shift = 2 * less + 1
        loss = rate * self.steps
        a = (-rate).exp()
        # B (exp(-shift * loss) - 1), written without a difference of near numbers.
        lost = a * (-2 * less * rate).expm1() / (1 + a)
        if self.steps > 1:
            lost *= (-shift * loss).expm1() / (-shift * rate).expm1()
        return loss + lost.log1p() / less


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """A log-ratio within an interval of length epsilon: epsilon-DP and epsilon**2/8-zCDP.

    Reference: Cesar and Rogers (2021), after Dong, Durfee and Rogers (2020).
    """

    epsilon: Fraction

    delta: ClassVar[Fraction] = Fraction(0)

    def rho(self) -> arb:
        """The loss in zCDP; for large epsilon the pure guarantee alone says more."""
        return from_fraction(self.epsilon**2 / 8).min(Response(self.epsilon).rho())

    def rdp(self, order: Fraction) -> arb:
        """The Rényi divergence of an order above 1."""
        return from_fraction(order * self.epsilon**2 / 8).min(Response(self.epsilon).rdp(order))


@dataclass(frozen=True, slots=True)
class Response:
    """Anything (epsilon, delta)-private: at worst randomized response, but for a mass of delta.

    ``rho = epsilon * tanh(epsilon / 2)``.

    Reference: Kairouz, Oh and Viswanath (2015) for the domination; Bun and Steinke (2016)
    for the mass of delta; the proof of rho is in docs/explanation/accounting.md.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def rho(self) -> arb:
        """The loss in zCDP, apart from the mass of delta."""
        loss = from_fraction(self.epsilon)
        return loss * (loss / 2).tanh()

    def rdp(self, order: Fraction) -> arb:
        """The Rényi divergence of an order above 1, apart from the mass of delta."""
        return Geometric(self.epsilon, 1).rdp(order)


@dataclass(frozen=True, slots=True)
class Normal:
    """Normal noise: ``square = (sensitivity / sigma)**2``, rdp = order * square / 2.

    It is private for every epsilon > 0, each with its own delta.

    Reference: Mironov (2017), Proposition 7; Bun and Steinke (2016), Proposition 1.6.
    """

    square: Fraction

    delta: ClassVar[Fraction] = Fraction(0)


Bounded: TypeAlias = Geometric | BoundedRange | Response
"""The curves of what is (epsilon, delta)-private as it stands."""

Curve: TypeAlias = Bounded | Normal
"""What is known of one event's loss. Balls have the caller's ``balls.precision``."""


@lru_cache(maxsize=4096)
def rho_up(known: Curve) -> Fraction:
    """rho of delta-approximate zCDP: exact for normal noise, else rounded up to 15 digits.

    >>> float(rho_up(Response(Fraction(1))))  # tanh(1/2)
    0.46211715726001
    >>> rho_up(BoundedRange(Fraction(1, 10)))
    Fraction(1, 800)
    """
    if isinstance(known, Normal):
        return known.square / 2
    if isinstance(known, BoundedRange) and known.epsilon <= 7:
        return known.epsilon**2 / 8
    return significant_up(Real(known.rho).upper(64))


@lru_cache(maxsize=4096)
def rdp_up(known: Curve, order: Fraction) -> Fraction:
    """The Rényi divergence: exact for normal noise, else rounded up to 15 digits."""
    if isinstance(known, Normal):
        return known.square / 2 * order
    return significant_up(Real(lambda: known.rdp(order)).upper(64))


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
