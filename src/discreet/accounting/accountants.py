"""What a batch fixed beforehand has lost, by each accountant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from discreet.accounting import pld
from discreet.accounting.advanced import advanced
from discreet.accounting.batch import Batch, Events, batch
from discreet.accounting.convert import normal_to_epsilon, zcdp_to_epsilon
from discreet.accounting.curves import Normal
from discreet.accounting.loss import Loss, small_delta
from discreet.accounting.outward import Sum, significant_up
from discreet.accounting.renyi import rdp_epsilon
from discreet.errors import InvalidDelta, InvalidInput, Refused, UnknownEvent
from discreet.exact import Rational, Real
from discreet.exact.balls import arb, from_fraction

BASIC = "basic composition: Dwork and Roth (2014), Theorem 3.16"
CKS = "Canonne, Kamath and Steinke (2020)"


def account(
    events: Events,
    *,
    accountant: str = "rdp",
    delta: Rational = 0,
    relation: str | None = None,
) -> Loss:
    """The loss of a batch that was fixed beforehand.

    For queries chosen one after another use ``Filter``: only some accountants allow for that.

    >>> from discreet.events import Event
    >>> tenth = Event("geometric", {"scale": 10}, 1)
    >>> account([tenth] * 1_000_000, accountant="pure").epsilon
    Fraction(100000, 1)
    >>> print(account([tenth] * 100, accountant="rdp", delta=1e-6))
    epsilon 5.07315, delta 1e-06 (rdp, add_remove)
    """
    chosen = ACCOUNTANTS.get(accountant)
    if chosen is None:
        raise InvalidInput(
            f"accountant = {accountant!r} is not known here.",
            hint=f"one of: {', '.join(ACCOUNTANTS)}.",
        )
    return chosen(batch(events, relation=relation), small_delta(delta))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every accountant's loss for one batch, least epsilon first, and why others have none."""

    losses: tuple[Loss, ...]
    refused: Mapping[str, str]

    @property
    def cheapest(self) -> Loss:
        """The certified loss with the least epsilon.

        Each bound holds for the batch by itself, and which is least depends on the events alone,
        so picking it afterwards is sound for a batch that was fixed beforehand.
        """
        return next(loss for loss in self.losses if loss.certified)

    def __str__(self) -> str:
        lines = [str(loss) for loss in self.losses]
        return "\n".join(lines + [f"{name}: {why}" for name, why in self.refused.items()])


def compare(events: Events, *, delta: Rational, relation: str | None = None) -> Comparison:
    """All accountants side by side, for a batch that was fixed beforehand.

    >>> from discreet.events import Event
    >>> noise = Event("gaussian", {"sigma": 100, "grid": 1}, 1)
    >>> [loss.accountant for loss in compare([noise] * 100, delta=1e-6).losses if loss.certified]
    ['gdp', 'zcdp', 'rdp', 'advanced', 'approximate']
    """
    counted, most = batch(events, relation=relation), small_delta(delta)
    losses, refused = [], {}
    for name, chosen in ACCOUNTANTS.items():
        try:
            losses.append(chosen(counted, most))
        except (Refused, InvalidDelta) as why:
            refused[name] = why.message
    if not any(loss.certified for loss in losses):
        raise UnknownEvent(
            f"no accountant can bound this batch at delta = {delta}: "
            + " ".join(dict.fromkeys(refused.values())),
            hint="delta=1e-6",
        )
    losses.sort(key=lambda loss: loss.epsilon)
    return Comparison(tuple(losses), MappingProxyType(refused))


def _pure(counted: Batch, delta: Fraction) -> Loss:  # noqa: ARG001
    if counted.gaussians or counted.delta:
        raise UnknownEvent(
            "some of these events have no finite epsilon at delta = 0.",
            hint='accountant="rdp", delta=1e-6',
        )
    total = Sum()
    for known, count in counted.others:
        total.add(known.epsilon, times=count)
    return Loss(total.value, Fraction(0), counted.relation, "pure", BASIC)


def _pairs(counted: Batch, left: Fraction) -> list[tuple[Fraction, int]]:
    """Each event's epsilon, the Gaussians sharing what is left of delta."""
    pairs: dict[Fraction, int] = {}
    for known, count in counted.counts:
        if isinstance(known, Normal):
            epsilon = normal_to_epsilon(known.square, left / counted.gaussians)
        else:
            epsilon = known.epsilon
        pairs[epsilon] = pairs.get(epsilon, 0) + count
    return list(pairs.items())


def _approximate(counted: Batch, delta: Fraction) -> Loss:
    used = counted.delta
    left = _left(counted, delta) if counted.gaussians else Fraction(0)
    if used > delta:
        _left(counted, delta)
    total = Sum()
    for epsilon, count in _pairs(counted, left):
        total.add(epsilon, times=count)
    return Loss(total.value, used + left, counted.relation, "approximate", BASIC)


def _advanced(counted: Batch, delta: Fraction) -> Loss:
    left = _left(counted, delta)
    # The Gaussians take half of what is left, the theorem's own slack the rest.
    slack = left / 2 if counted.gaussians else left
    epsilon, theorem = advanced(_pairs(counted, left - slack), slack)
    return Loss(epsilon, delta, counted.relation, "advanced", theorem)


def _zcdp(counted: Batch, delta: Fraction) -> Loss:
    def total() -> arb:
        losses = (known.rho() * count for known, count in counted.others)
        return sum(losses, from_fraction(counted.square / 2))

    rho = significant_up(Real(total).upper())
    epsilon = zcdp_to_epsilon(rho, _left(counted, delta))
    theorem = f"zCDP: Bun and Steinke (2016); {CKS}"
    return Loss(epsilon, delta, counted.relation, "zcdp", theorem)


def _rdp(counted: Batch, delta: Fraction) -> Loss:
    epsilon, order = rdp_epsilon(counted, _left(counted, delta))
    theorem = f"RDP of order {float(order):g}: Mironov (2017), Proposition 1; {CKS}, Proposition 12"
    return Loss(epsilon, delta, counted.relation, "rdp", theorem)


def _gdp(counted: Batch, delta: Fraction) -> Loss:
    """Normal noise composes to normal noise; what is epsilon-private is at most normal, too."""

    def total() -> arb:
        square = from_fraction(counted.square)
        for known, count in counted.others:
            # Through the corner of randomized response: mu / sqrt(8) is either of these two.
            loss = from_fraction(known.epsilon)
            near = (
                (loss / 2).tanh().erfinv()
                if known.epsilon < 1
                else (2 / (1 + loss.exp())).erfcinv()
            )
            square += 8 * count * near * near
        return square

    square = significant_up(Real(total).upper()) if counted.others else counted.square
    epsilon = normal_to_epsilon(square, _left(counted, delta))
    theorem = "Gaussian DP: Dong, Roth and Su (2022); Balle and Wang (2018)"
    return Loss(epsilon, delta, counted.relation, "gdp", theorem)


def _pld(counted: Batch, delta: Fraction) -> Loss:
    _left(counted, delta)
    return Loss(
        pld.epsilon(counted, delta), delta, counted.relation, "pld", pld.THEOREM, certified=False
    )


def _left(counted: Batch, delta: Fraction) -> Fraction:
    """What the events' own deltas leave of the total."""
    if counted.delta < delta:
        return delta - counted.delta
    raise InvalidDelta(
        f"delta = {float(delta):g} is not above the {float(counted.delta):g} that the events use "
        "by themselves, and this accountant needs some of its own.",
        hint=f"delta={float(2 * counted.delta) or 1e-6:g}",
    )


ACCOUNTANTS: Mapping[str, Callable[[Batch, Fraction], Loss]] = MappingProxyType(
    {
        "pure": _pure,
        "approximate": _approximate,
        "advanced": _advanced,
        "zcdp": _zcdp,
        "rdp": _rdp,
        "gdp": _gdp,
        "pld": _pld,
    }
)
"""Who can judge a batch."""
