"""What is summed: the measures of privacy whose sums bound adaptively chosen queries.

A measure gives each event a *cost*, a tuple of exact rationals. Fix a cap on each component before
the first query; then let an analyst choose every query after seeing the answers to those before.
As long as no sum passes its cap, the whole interaction has the guarantee of the cap.

That is a theorem for the measures here and for no others: advanced composition, PLD and "whichever
accountant is cheapest" hold for batches that were fixed beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

from discreet.accounting.convert import (
    cheapest_order,
    epsilon_to_rdp,
    epsilon_to_zcdp,
    normal_to_epsilon,
    rdp_to_epsilon,
    zcdp_to_epsilon,
)
from discreet.accounting.curves import Normal, curve, rdp_up, rho_up
from discreet.accounting.loss import Budget, Loss
from discreet.accounting.outward import significant_up
from discreet.errors import InvalidDelta, InvalidInput, UnknownEvent
from discreet.events import Event
from discreet.exact import Real, rational
from discreet.exact.parameters import delta as exact_delta
from discreet.theory.neighbours import Relation

Cost = tuple[Fraction, ...]
"""One amount for each component of a measure."""


class Measure(Protocol):
    """A measure of privacy that a filter or a ledger can sum."""

    @property
    def name(self) -> str:
        """How it is written down, such as ``"rdp:16"``; ``measure`` reads it back."""

    @property
    def components(self) -> tuple[str, ...]:
        """What the amounts of a cost are called."""

    @property
    def theorem(self) -> str:
        """Why the sums bound queries that are chosen adaptively."""

    def cost(self, event: Event) -> Cost:
        """What one event costs, exact or rounded up."""

    def cap(self, budget: Budget) -> Cost:
        """The largest cap that keeps a budget."""

    def guarantee(self, cap: Cost, *, delta: Fraction, relation: Relation) -> Loss:
        """The (epsilon, delta) that a cap promises."""


@dataclass(frozen=True, slots=True)
class Pure:
    """Sums of epsilon, for events without any delta."""

    name: ClassVar[str] = "pure"
    components: ClassVar[tuple[str, ...]] = ("epsilon",)
    theorem: ClassVar[str] = (
        "basic composition is a filter: Rogers, Roth, Ullman and Vadhan (2016); interleaved "
        "interactive mechanisms: Vadhan and Wang (2021), Haney et al. (2023)"
    )

    def cost(self, event: Event) -> Cost:
        """The event's epsilon, exactly."""
        known = curve(event)
        if isinstance(known, Normal) or known.delta > 0:
            raise UnknownEvent(
                f"a {event.mechanism} event has no finite epsilon at delta = 0, "
                "so a pure budget cannot pay for it.",
                hint='accountant="zcdp" takes it, or use laplace noise instead.',
            )
        return (known.epsilon,)

    def cap(self, budget: Budget) -> Cost:
        """epsilon itself."""
        return (budget.epsilon,)

    def guarantee(self, cap: Cost, *, delta: Fraction, relation: Relation) -> Loss:  # noqa: ARG002
        """(epsilon, 0), whatever delta was allowed."""
        return Loss(cap[0], Fraction(0), relation, self.name, self.theorem)


@dataclass(frozen=True, slots=True)
class Approximate:
    """Sums of (epsilon, delta).

    A Gaussian has one epsilon for each delta: ``gaussian_delta`` says which delta each of them is
    charged.
    """

    gaussian_delta: Fraction | None = None

    components: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    theorem: ClassVar[str] = (
        "sums of (epsilon, delta) are a filter: Rogers, Roth, Ullman and Vadhan (2016); "
        "interleaved interactive mechanisms: Lyu (2022), Haney et al. (2023)"
    )

    @property
    def name(self) -> str:
        """``approximate``, or with the Gaussians' delta: ``approximate:1/1000000``."""
        return "approximate" + (f":{self.gaussian_delta}" if self.gaussian_delta else "")

    def cost(self, event: Event) -> Cost:
        """The event's (epsilon, delta)."""
        known = curve(event)
        if not isinstance(known, Normal):
            return known.epsilon, known.delta
        if self.gaussian_delta is None:
            raise UnknownEvent(
                "a gaussian event has one epsilon for each delta, and none was chosen.",
                hint='accountant="approximate:1e-9" charges each of them delta = 1e-9; '
                'accountant="zcdp" needs no choice and is tighter.',
            )
        return normal_to_epsilon(known.square, self.gaussian_delta), self.gaussian_delta

    def cap(self, budget: Budget) -> Cost:
        """The budget itself."""
        return budget.epsilon, budget.delta

    def guarantee(self, cap: Cost, *, delta: Fraction, relation: Relation) -> Loss:
        """The cap itself."""
        _enough(delta, cap[1])
        return Loss(cap[0], cap[1], relation, self.name, self.theorem)


@dataclass(frozen=True, slots=True)
class Concentrated:
    """Sums of rho, zero-concentrated privacy, beside a sum of deltas.

    A cap made from a budget gives half of its delta to events that need one and half to the
    conversion back to (epsilon, delta).
    """

    name: ClassVar[str] = "zcdp"
    components: ClassVar[tuple[str, ...]] = ("rho", "delta")
    theorem: ClassVar[str] = (
        "approximate zCDP is a filter: Whitehouse, Ramdas, Rogers and Wu (2023); to "
        "(epsilon, delta): Canonne, Kamath and Steinke (2020); interleaved "
        "interactive mechanisms: Haney et al. (2023)"
    )

    def cost(self, event: Event) -> Cost:
        """The event's rho, and its delta."""
        known = curve(event)
        return rho_up(known), known.delta

    def cap(self, budget: Budget) -> Cost:
        """The most rho that keeps the budget, and half of its delta."""
        half = _half(budget)
        return epsilon_to_zcdp(budget.epsilon, half), half

    def guarantee(self, cap: Cost, *, delta: Fraction, relation: Relation) -> Loss:
        """rho turned into epsilon at what the events leave of delta."""
        epsilon = zcdp_to_epsilon(cap[0], _left(delta, cap[1]))
        return Loss(epsilon, delta, relation, self.name, self.theorem)


@dataclass(frozen=True, slots=True)
class Renyi:
    """Sums of the Rényi divergence of one order, fixed in advance, beside a sum of deltas."""

    order: Fraction

    components: ClassVar[tuple[str, ...]] = ("rdp", "delta")
    theorem: ClassVar[str] = (
        "RDP of an order fixed in advance is a filter: Feldman and Zrnic (2021), and "
        "with deltas order by order Whitehouse, Ramdas, Rogers and Wu (2023); to "
        "(epsilon, delta): Canonne, Kamath and Steinke (2020), Proposition 12; interleaved "
        "interactive mechanisms: Haney et al. (2023)"
    )

    def __post_init__(self) -> None:
        if self.order <= 1:
            raise InvalidInput(
                f"order = {self.order} is not allowed: a Rényi order lies above 1.",
                hint='accountant="rdp:16"',
            )

    @classmethod
    def for_budget(cls, budget: Budget) -> Renyi:
        """The order at which the most Gaussian queries fit into a budget.

        >>> Renyi.for_budget(Budget(1, 1e-6)).name
        'rdp:23.3'
        """
        best = cheapest_order(budget.epsilon, _half(budget))
        return cls(significant_up(best, 3))

    @property
    def name(self) -> str:
        """``rdp:`` and the order."""
        decimal = f"{float(self.order):g}"
        return f"rdp:{decimal if rational(decimal) == self.order else self.order}"

    def cost(self, event: Event) -> Cost:
        """The event's divergence at the order, and its delta."""
        known = curve(event)
        return rdp_up(known, self.order), known.delta

    def cap(self, budget: Budget) -> Cost:
        """The largest divergence that keeps the budget, and half of its delta."""
        half = _half(budget)
        most = epsilon_to_rdp(budget.epsilon, order=self.order, delta=half)
        if most <= 0:
            raise InvalidInput(
                f"order {self.order} is too small: no loss at all of that order gives "
                f"epsilon = {budget.epsilon} at delta = {half}.",
                hint=f'accountant="{Renyi.for_budget(budget).name}"',
            )
        return most, half

    def guarantee(self, cap: Cost, *, delta: Fraction, relation: Relation) -> Loss:
        """The divergence turned into epsilon at what the events leave of delta."""
        left = _left(delta, cap[1])
        epsilon = rdp_to_epsilon(Real(cap[0]), order=self.order, delta=left)
        return Loss(epsilon, delta, relation, self.name, self.theorem)


def measure(name: str) -> Measure:
    """Read a measure by name.

    >>> measure("pure").components, measure("zcdp").components, measure("rdp:16").components
    (('epsilon',), ('rho', 'delta'), ('rdp', 'delta'))
    """
    kind, _, option = name.partition(":")
    match kind, option:
        case "pure", "":
            return Pure()
        case "approximate", "":
            return Approximate()
        case "approximate", _:
            return Approximate(exact_delta(option, name="the delta of each gaussian"))
        case "zcdp", "":
            return Concentrated()
        case "rdp", _ if option:
            return Renyi(rational(option, name="order"))
    raise InvalidInput(
        f"accountant = {name!r} cannot be a filter for queries that are chosen adaptively.",
        hint='one of "pure", "approximate", "approximate:1e-9" (the delta of each gaussian), '
        '"zcdp", "rdp:16" (an order fixed in advance). Others can judge a batch fixed beforehand: '
        "discreet.accounting.account(events, accountant=...).",
    )


def _half(budget: Budget) -> Fraction:
    if budget.delta == 0:
        raise InvalidDelta(
            "a budget with delta = 0 can only be kept by the accountant 'pure'.",
            hint='accountant="pure", or Budget(epsilon, delta=1e-6).',
        )
    return budget.delta / 2


def _left(delta: Fraction, used: Fraction) -> Fraction:
    _enough(delta, used)
    if delta == used:
        raise InvalidDelta(
            f"delta = {delta} is all used by the events; the conversion needs some too.",
            hint=f"delta={float(2 * used) or 1e-6:g}",
        )
    return delta - used


def _enough(delta: Fraction, used: Fraction) -> None:
    if delta < used:
        raise InvalidDelta(
            f"delta = {float(delta):g} is less than the {float(used):g} that the events use.",
            hint=f"delta={float(2 * used):g}",
        )
