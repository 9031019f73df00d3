"""Guarantees as values, and what becomes of them: composed, for groups, under another relation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidDelta, InvalidValue, MixedRelations
from discreet.exact import Rational, Real, rational
from discreet.theory.losses import Infinity, Loss, largest, loss
from discreet.theory.neighbours import Relation, relation


@dataclass(frozen=True, slots=True, init=False)
class Guarantee:
    """(epsilon, delta)-privacy under a named relation.

    >>> Guarantee("ln 3", relation="change_one").epsilon
    ln(3)
    """

    epsilon: Real
    delta: Real
    relation: Relation

    def __init__(
        self, epsilon: Loss, delta: Rational | Real = 0, *, relation: str = "add_remove"
    ) -> None:
        exact = delta if isinstance(delta, Real) else Real(rational(delta, error=InvalidDelta))
        if exact.exact is not None and exact.exact < 0:
            raise InvalidDelta(f"delta = {delta} is not allowed: it is negative.", hint="delta=0")
        object.__setattr__(self, "epsilon", loss(epsilon))
        object.__setattr__(self, "delta", exact)
        object.__setattr__(self, "relation", _relation(relation))

    def for_group(self, people: int) -> Guarantee:
        """What holds for k people together: (k epsilon, delta (e^(k epsilon) - 1)/(e^epsilon - 1)).

        >>> Guarantee("ln 2", "1/100").for_group(3).delta
        Real(Fraction(7, 100))
        """
        if people < 1:
            raise InvalidValue(f"people = {people} is not a group.", hint="people=4")
        if isinstance(self.epsilon, Infinity) or self.delta.exact == 0:
            return Guarantee(people * self.epsilon, self.delta, relation=self.relation)
        ratio = self.epsilon.exp()
        # The quotient as a sum of powers, which also serves at epsilon = 0.
        grown = Real.sum_of(ratio**step for step in range(people))
        return Guarantee(people * self.epsilon, self.delta * grown, relation=self.relation)

    def under_change_one(self) -> Guarantee:
        """The same mechanism under change-one: one unit leaves and another comes.

        (2 epsilon, (1 + e^epsilon) delta). There is no way back: under change-one the size may be
        printed, under add/remove it may not.

        >>> Guarantee("1/2").under_change_one().epsilon
        Real(Fraction(1, 1))
        """
        if self.relation is Relation.CHANGE_ONE:
            return self
        pair = self.for_group(2)
        return Guarantee(pair.epsilon, pair.delta, relation=Relation.CHANGE_ONE)


def compose(*guarantees: Guarantee) -> Guarantee:
    """All of them on the same people, each chosen after seeing the others' answers or not.

    >>> compose(Guarantee("1/2"), Guarantee("1/3", "1/10")).epsilon
    Real(Fraction(5, 6))
    """
    kind = _one_relation(guarantees)
    epsilon: Real = sum((each.epsilon for each in guarantees[1:]), guarantees[0].epsilon)
    return Guarantee(epsilon, Real.sum_of(each.delta for each in guarantees), relation=kind)


def compose_parts(*guarantees: Guarantee) -> Guarantee:
    """Each on its own part, the parts a partition of the *units* by a rule fixed beforehand.

    Disjoint rows are not enough: a person with rows in two parts takes part in both. Each guarantee
    is that of the mechanism on everybody, which looks at its part only. Under add/remove the
    largest counts; under change-one a person may leave one part for another, and the two largest
    add up.

    >>> parts = [Guarantee(e, relation="change_one") for e in (1, 2, 3)]
    >>> compose_parts(*parts).epsilon
    Real(Fraction(5, 1))
    """
    kind = _one_relation(guarantees)
    if kind is Relation.ADD_REMOVE or len(guarantees) == 1:
        epsilon = largest(each.epsilon for each in guarantees)
        delta = largest(each.delta for each in guarantees)
        return Guarantee(epsilon, delta, relation=kind)
    # (epsilon, delta) that serves every pair of parts, and every part on its own.
    pairs = [compose(a, b) for i, a in enumerate(guarantees) for b in guarantees[i + 1 :]]
    return Guarantee(
        largest(pair.epsilon for pair in pairs),
        largest(pair.delta for pair in pairs),
        relation=kind,
    )


def compose_advanced(guarantee: Guarantee, times: int, *, delta: Rational) -> Guarantee:
    """The same guarantee ``times`` over, at the price of a further ``delta``.

    ``epsilon sqrt(2 k ln(1/delta)) + k epsilon (e^epsilon - 1)``, and k delta_0 + delta.

    Reference: Dwork, Rothblum and Vadhan (2010), Theorem III.3.

    >>> hundred = compose_advanced(Guarantee("1/10"), 100, delta="1e-6")
    >>> round(float(hundred.epsilon), 3), "against", 10
    (6.308, 'against', 10)
    """
    spare = _spare(delta)
    epsilon = guarantee.epsilon
    spread = (Real(1 / spare).log() * (2 * times)).sqrt()
    total = epsilon * spread + times * epsilon * epsilon.expm1()
    return Guarantee(total, guarantee.delta * times + spare, relation=guarantee.relation)


def rho_of_pure(epsilon: Loss) -> Real:
    """The zCDP parameter that pure epsilon-privacy gives: epsilon^2 / 2.

    Reference: Bun and Steinke (2016), Proposition 1.4.

    >>> rho_of_pure("1/10")
    Real(Fraction(1, 200))
    """
    return loss(epsilon) ** 2 / 2


def rho_for_group(rho: Rational, people: int) -> Fraction:
    """rho for k people: k^2 rho; so 4 rho under change-one.

    >>> rho_for_group("1/10", 2)
    Fraction(2, 5)
    """
    return rational(rho, name="rho") * people**2


def guarantee_of_rho(
    rho: Rational | Real, *, delta: Rational, relation: str = "add_remove"
) -> Guarantee:
    """(rho + 2 sqrt(rho ln(1/delta)), delta), which rho-zCDP implies for every delta.

    Reference: Bun and Steinke (2016), Proposition 1.3.

    >>> round(float(guarantee_of_rho("1/2", delta="1e-6").epsilon), 3)
    5.757
    """
    spare = _spare(delta)
    exact = rho if isinstance(rho, Real) else Real(rational(rho, name="rho"))
    epsilon = exact + 2 * (exact * Real(1 / spare).log()).sqrt()
    return Guarantee(epsilon, spare, relation=relation)


_relation = relation  # the constructor's argument has the same name


def _one_relation(guarantees: tuple[Guarantee, ...]) -> Relation:
    kinds = {each.relation for each in guarantees}
    if len(kinds) != 1:
        raise MixedRelations(
            "guarantees under different relations do not add up (or there is none at all).",
            hint="guarantee.under_change_one() restates each under change_one.",
        )
    return kinds.pop()


def _spare(delta: Rational) -> Fraction:
    spare = rational(delta, name="delta", error=InvalidDelta)
    if not 0 < spare < 1:
        raise InvalidDelta(
            f"delta = {delta} is not allowed: it must lie strictly between 0 and 1.",
            hint="delta=1e-6",
        )
    return spare
