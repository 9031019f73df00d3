"""Whoever asks for more than is left is told what would have fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction

from discreet.accounting.filters import cost
from discreet.errors import DiscreetError, InsufficientBudget
from discreet.plan.query import Query
from discreet.policy.model import Dataset
from discreet.session.terms import Terms, noise_on

_HALVINGS = 40


@contextmanager
def offering(
    terms: Terms,
    query: Query,
    dataset: Dataset,
    *,
    accountant: str,
    left: Callable[[], Mapping[str, Fraction]],
) -> Iterator[None]:
    """Put an epsilon that would fit into the hint of a refusal.

    A ledger may sum something else than epsilon, of which nobody knows by heart what it is. The
    offer follows from the query, the policy and what is left, which the analyst may see anyway.
    """
    try:
        yield
    except InsufficientBudget as refusal:
        epsilon = fitting(terms, query, dataset, accountant=accountant, left=left())
        if epsilon is None:
            raise
        raise InsufficientBudget(
            refusal.message,
            asked=refusal.asked,
            remaining=refusal.remaining,
            whose=refusal.whose,
            hint=f"epsilon={float(epsilon):g} would fit; or ask the curator for a larger budget.",
        ) from None


def fitting(
    terms: Terms, query: Query, dataset: Dataset, *, accountant: str, left: Mapping[str, Fraction]
) -> Fraction | None:
    """An epsilon of two digits that fits, at least nine tenths of the largest; None if none does.

    An error target has no smaller price.
    """
    given = terms.get("epsilon")
    if given is None or terms.get("within") is not None:
        return None

    def fits(epsilon: Fraction) -> bool:
        noise = noise_on({**terms, "epsilon": epsilon}, query, dataset)
        charge = cost(noise.events, accountant)
        return all(part <= rest for part, rest in zip(charge, left.values(), strict=True))

    try:
        price = noise_on(terms, query, dataset).epsilon
        for _ in range(_HALVINGS):
            price /= 2
            if fits(_two_digits(price)):
                break
        else:
            return None
        tenths = (Fraction(n, 10) for n in range(19, 9, -1))
        return next(e for each in tenths if fits(e := _two_digits(price * each)))
    except DiscreetError:
        return None


def _two_digits(value: Fraction) -> Fraction:
    """Rounded down to two digits.

    >>> _two_digits(Fraction(2, 3)), _two_digits(Fraction(12345))
    (Fraction(33, 50), Fraction(12000, 1))
    """
    power = Fraction(1)
    while value < 10 * power:
        power /= 10
    while value >= 100 * power:
        power *= 10
    return value // power * power
