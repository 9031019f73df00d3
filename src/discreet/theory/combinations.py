"""Queries made of queries: several at once, after a step row by row, before a function."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.exact import Rational, Real, positive, rational
from discreet.theory.databases import Rows
from discreet.theory.neighbours import Relation
from discreet.theory.queries import Answer, Query


@dataclass(frozen=True, slots=True)
class Together(Query):
    """Several queries answered at once: k arbitrary counts have l1 sensitivity k.

    >>> from discreet.theory.queries import Count
    >>> three = Together(Count(), Count(), Count())
    >>> three.l1("add_remove"), float(three.l2("add_remove")) == 3 ** 0.5
    (Fraction(3, 1), True)
    """

    queries: tuple[Query, ...]

    def __init__(self, *queries: Query) -> None:
        object.__setattr__(self, "queries", queries)

    def __call__(self, rows: Rows) -> Answer:
        return tuple(number for query in self.queries for number in query(rows))

    def _l1(self, kind: Relation) -> Fraction:
        return sum((query.l1(kind) for query in self.queries), Fraction(0))

    def _l2(self, kind: Relation) -> Real:
        return Real.sum_of(query.l2(kind) ** 2 for query in self.queries).sqrt()


@dataclass(frozen=True, slots=True)
class After(Query):
    """A query of rows that were first changed one by one: its sensitivity does not grow.

    >>> from discreet.theory.queries import Sum
    >>> After(lambda age: min(age, 90), Sum(bounds=(0, 90))).l1("add_remove")
    Fraction(90, 1)
    """

    step: Callable[[Any], Hashable]
    query: Query

    def __call__(self, rows: Rows) -> Answer:
        return self.query(tuple(self.step(row) for row in rows))

    def _l1(self, kind: Relation) -> Fraction:
        return self.query.l1(kind)

    def _l2(self, kind: Relation) -> Real:
        return self.query.l2(kind)


@dataclass(frozen=True, slots=True)
class Before(Query):
    """A query whose single number then goes through a function of known Lipschitz constant.

    >>> from discreet.theory.queries import Count
    >>> Before(Count(), lambda n: n / 2, lipschitz="1/2").l1("add_remove")
    Fraction(1, 2)
    """

    query: Query
    function: Callable[[Fraction], Rational]
    lipschitz: Rational = field(kw_only=True)

    def __call__(self, rows: Rows) -> Answer:
        (number,) = self.query(rows)
        return (rational(self.function(number)),)

    def _l1(self, kind: Relation) -> Fraction:
        return positive(self.lipschitz, name="lipschitz") * self.query.l1(kind)
