"""The questions the other way round: how much noise, which epsilon, how many queries."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.accounting.accountants import account
from discreet.accounting.loss import Budget
from discreet.accounting.outward import significant_down, significant_up
from discreet.errors import InvalidInput, TooLarge
from discreet.events import Event
from discreet.exact import Rational, rational
from discreet.exact.parameters import positive
from discreet.exact.parameters import sensitivity as exact_sensitivity

# Scales and epsilons are found to this many decimal digits, on the safe side.
DIGITS = 6
_DOUBLINGS = 400


def noise_for(
    mechanism: str,
    *,
    queries: int,
    budget: Budget,
    accountant: str = "rdp",
    sensitivity: Rational = 1,
    grid: Rational = 1,
    relation: str = "add_remove",
) -> Event:
    """The least noise with which ``queries`` equal releases fit into a budget.

    The answer is the event of one release; its scale has six digits and is rounded up.

    >>> event = noise_for("gaussian", queries=100, budget=Budget(1, 1e-6), accountant="gdp")
    >>> float(event.parameters["sigma"])
    42.2468
    """
    name = {"laplace": "scale", "geometric": "scale", "gaussian": "sigma"}.get(mechanism)
    if name is None:
        raise InvalidInput(
            f"mechanism = {mechanism!r} has no scale to look for.",
            hint='"laplace", "geometric" or "gaussian"; epsilon_each(...) for the others.',
        )
    width = exact_sensitivity(sensitivity)
    step = {} if mechanism == "geometric" else {"grid": rational(grid, name="grid")}

    def event(scale: Fraction) -> Event:
        return Event(mechanism, {name: scale, **step}, width, relation)

    def fits(scale: Fraction) -> bool:
        return _fits(event(scale), queries, budget, accountant)

    # More noise means less loss, so the scale may be rounded up.
    least = 1 / _largest(lambda inverse: fits(1 / inverse), start=1 / width)
    return event(significant_up(least, DIGITS))


def epsilon_each(
    *,
    queries: int,
    budget: Budget,
    accountant: str = "rdp",
    mechanism: str = "geometric",
    relation: str = "add_remove",
) -> Fraction:
    """The largest epsilon that each of ``queries`` equal releases may have, rounded down.

    >>> epsilon_each(queries=10, budget=Budget(1), accountant="pure")
    Fraction(1, 10)
    >>> float(epsilon_each(queries=1000, budget=Budget(1, 1e-6), accountant="rdp"))
    0.00699238
    """

    def event(epsilon: Fraction) -> Event:
        if mechanism == "geometric":
            return Event(mechanism, {"scale": 1 / epsilon}, 1, relation)
        return Event(mechanism, {"epsilon": epsilon}, 1, relation)

    start = budget.epsilon / _whole(queries)
    if accountant == "pure":
        return start
    most = _largest(lambda epsilon: _fits(event(epsilon), queries, budget, accountant), start=start)
    return significant_down(most, DIGITS)


def queries_for(event: Event, *, budget: Budget, accountant: str = "rdp") -> int:
    """How often an event fits into a budget, as a batch fixed beforehand.

    >>> noise = Event("gaussian", {"sigma": 50, "grid": 1}, 1)
    >>> queries_for(noise, budget=Budget(1, 1e-6), accountant="gdp")
    140
    """
    if not _fits(event, 1, budget, accountant):
        return 0
    high = 1
    for _ in range(_DOUBLINGS):
        if not _fits(event, 2 * high, budget, accountant):
            break
        high *= 2
    else:  # pragma: no cover
        raise _endless()
    low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(event, middle, budget, accountant) else (low, middle)
    return low


def _fits(event: Event, queries: int, budget: Budget, accountant: str) -> bool:
    loss = account({event: _whole(queries)}, accountant=accountant, delta=budget.delta)
    return loss.epsilon <= budget.epsilon and loss.delta <= budget.delta


def _largest(fits: Callable[[Fraction], bool], *, start: Fraction) -> Fraction:
    """About the largest positive amount that fits, if every smaller one does."""
    low = positive(start, name="start")
    for _ in range(_DOUBLINGS):
        if fits(low):
            break
        low /= 2
    else:
        raise _endless()
    high = 2 * low
    for _ in range(_DOUBLINGS):
        if not fits(high):
            break
        low, high = high, 2 * high
    else:
        raise _endless()
    while high - low > low / 10 ** (DIGITS + 1):
        middle = significant_down((low + high) / 2, DIGITS + 3)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _whole(queries: int) -> int:
    if isinstance(queries, bool) or not isinstance(queries, int) or queries < 1:
        raise InvalidInput(f"queries = {queries!r} is not a number of queries.", hint="queries=100")
    return queries


def _endless() -> TooLarge:
    return TooLarge(
        "no amount of noise that can be written down answers this.",
        hint="a larger epsilon or delta, or fewer queries.",
    )
