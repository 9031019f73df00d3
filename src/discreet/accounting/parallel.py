"""Parallel composition: losses on parts that partition the units."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.accounting.loss import Loss
from discreet.accounting.measures import Cost
from discreet.errors import InvalidInput, MixedRelations
from discreet.theory.neighbours import Relation
from discreet.theory.neighbours import relation as as_relation

THEOREM = "parallel composition: McSherry (2009)"


def parallel_cost(parts: Iterable[Cost], *, relation: str) -> Cost:
    """What losses on disjoint sets of *people* cost together, component by component.

    The parts must partition the units by a rule that was fixed beforehand and looks at one unit
    alone; parts that merely share no rows are not enough. Under add/remove one person is in one
    part: the largest. Under change-one the person may leave one part and enter another: the two
    largest, where each part's loss is stated for the whole data set under change-one.

    >>> from fractions import Fraction
    >>> parts = [(Fraction(1),), (Fraction(1, 2),), (Fraction(1, 4),)]
    >>> parallel_cost(parts, relation="add_remove"), parallel_cost(parts, relation="change_one")
    ((Fraction(1, 1),), (Fraction(3, 2),))
    """
    costs = list(parts)
    if not costs or len({len(cost) for cost in costs}) != 1:
        raise InvalidInput(
            "parallel composition needs at least one part, all priced by the same measure.",
            hint='parallel_cost([cost(part, "pure") for part in parts], relation="add_remove")',
        )
    touched = 1 if as_relation(relation) is Relation.ADD_REMOVE else 2
    return tuple(
        sum(sorted(amounts, reverse=True)[:touched], start=amounts[0] * 0)
        for amounts in zip(*costs, strict=True)
    )


def parallel(losses: Iterable[Loss]) -> Loss:
    """The loss of all parts together; see ``parallel_cost`` for what the parts must be."""
    parts = list(losses)
    relations = {part.relation for part in parts}
    if len(relations) > 1:
        raise MixedRelations(
            "these parts speak of different neighbours.",
            hint="account for every part with the same relation=...",
        )
    pairs = [(part.epsilon, part.delta) for part in parts]
    epsilon, delta = parallel_cost(pairs, relation=str(next(iter(relations), "add_remove")))
    names = ", ".join(sorted({part.accountant for part in parts}))
    certified = all(part.certified for part in parts)
    return Loss(epsilon, delta, parts[0].relation, f"parallel of {names}", THEOREM, certified)
