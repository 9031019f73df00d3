"""Amplification: a mechanism that sees a secret random sample of the people loses less.

Only for *fresh* samples of *units*, drawn for this one release with cryptographic randomness and
never shown. Keeping each person's first K rows by a keyed rank is not sampling: the same rows are
kept every time.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.accounting.loss import Loss
from discreet.accounting.outward import significant_up
from discreet.errors import InvalidInput, InvalidRelation
from discreet.exact import Rational, Real
from discreet.exact.balls import arb, from_fraction
from discreet.exact.parameters import probability
from discreet.theory.neighbours import Relation


def poisson(loss: Loss, *, rate: Rational) -> Loss:
    """Each unit is in the sample with probability ``rate``, independently: add/remove only.

    (epsilon, delta) becomes (ln(1 + rate (e^epsilon - 1)), rate delta).

    Reference: Balle, Barthe and Gaboardi (2018).

    >>> from discreet.accounting import account
    >>> from discreet.events import Event
    >>> loss = account(Event("geometric", {"scale": 1}, 1), accountant="pure")
    >>> float(poisson(loss, rate=0.01).epsilon)
    0.0170368632361766
    """
    _under(loss, Relation.ADD_REMOVE, "Poisson sampling")
    return _amplified(loss, probability(rate, name="rate"))


def without_replacement(loss: Loss, *, sample: int, population: int) -> Loss:
    """``sample`` units out of ``population``, all subsets alike: change-one only.

    (epsilon, delta) becomes (ln(1 + q (e^epsilon - 1)), q delta) with q = sample / population.

    Reference: Balle, Barthe and Gaboardi (2018).
    """
    _under(loss, Relation.CHANGE_ONE, "sampling without replacement")
    if not 0 < sample <= population:
        raise InvalidInput(
            f"a sample of {sample} units out of {population} is not possible.",
            hint="sample=1000, population=100000",
        )
    return _amplified(loss, Fraction(sample, population))


def _amplified(loss: Loss, rate: Fraction) -> Loss:
    if rate in (0, 1):
        return replace(loss, epsilon=loss.epsilon * rate, delta=loss.delta * rate)

    def grown() -> arb:
        return (from_fraction(loss.epsilon).expm1() * from_fraction(rate)).log1p()

    return replace(
        loss,
        epsilon=significant_up(Real(grown).upper()),
        delta=loss.delta * rate,
        accountant=f"{loss.accountant}, sampled",
        theorem=f"Balle, Barthe and Gaboardi (2018), after {loss.theorem}",
    )


def _under(loss: Loss, relation: Relation, what: str) -> None:
    if loss.relation is not relation:
        raise InvalidRelation(
            f"{what} amplifies a loss under {relation}; this one is under {loss.relation}.",
            hint="poisson(...) for add_remove, without_replacement(...) for change_one.",
        )
