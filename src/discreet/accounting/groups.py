"""Several people at once: group privacy, and from add/remove to change-one."""

from __future__ import annotations

from fractions import Fraction

from discreet.accounting.outward import log, significant_up
from discreet.errors import InvalidDelta, InvalidInput, InvalidRelation
from discreet.events import Event
from discreet.exact import Real
from discreet.theory.neighbours import Relation


def group(event: Event, size: int) -> Event:
    """The same release as it looks to ``size`` people together.

    Additive noise keeps its scale and meets ``size`` times the sensitivity, so an event that is
    rho-zCDP becomes size**2 rho-zCDP. What is only known to be (epsilon, delta)-private becomes
    (size epsilon, delta (e^(size epsilon) - 1) / (e^epsilon - 1)).

    Reference: Dwork and Roth (2014); Vadhan (2017).

    >>> group(Event("laplace", {"scale": 10, "grid": 1}, 1), 3).sensitivity
    Fraction(3, 1)
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InvalidInput(f"size = {size!r} is not a number of people.", hint="group(event, 2)")
    given = dict(event.parameters)
    sensitivity = event.sensitivity
    if "grid" in given and event.mechanism == "laplace":
        # Each person may move the value by whole steps.
        sensitivity = -(-sensitivity // given["grid"]) * given["grid"]
    elif event.mechanism == "geometric":
        sensitivity = Fraction(-(-sensitivity // 1))
    if "delta" in given:
        given["delta"] = group_delta(given["epsilon"], given["delta"], size)
    if "epsilon" in given:
        given["epsilon"] *= size
    return Event(event.mechanism, given, sensitivity * size, event.relation)


def group_delta(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    """delta for a group, rounded up; refused when it would not be below 1.

    >>> float(group_delta(Fraction(1), Fraction(1, 10**6), 2))
    3.71828182845905e-06
    """
    if delta == 0 or size == 1:
        return delta
    factor = Real(size * epsilon).expm1() / Real(epsilon).expm1()
    hopeless = float((size - 1) * epsilon) + log(delta) > 1  # and too long to be written down
    grown = delta if hopeless else significant_up((factor * delta).upper())
    if hopeless or grown >= 1:
        raise InvalidDelta(
            f"delta = {float(delta):g} grows to 1 or more for a group of {size}: nothing is "
            "promised to so many people together.",
            hint="a smaller delta, or a smaller group.",
        )
    return grown


def to_change_one(event: Event) -> Event:
    """An add/remove event restated under change-one: removing one person and adding another.

    >>> to_change_one(Event("geometric", {"scale": 10}, 1)).sensitivity
    Fraction(2, 1)
    """
    if event.relation is Relation.CHANGE_ONE:
        raise InvalidRelation(
            "the event is under change_one already, and nothing follows from it for add_remove.",
            hint="use it as it is.",
        )
    pair = group(event, 2)
    return Event(pair.mechanism, pair.parameters, pair.sensitivity, "change_one")
