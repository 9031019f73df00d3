"""Sensitivity by brute force: every neighbouring pair over a small universe, none left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from discreet.errors import InvalidValue, TooLarge
from discreet.exact import Rational, Real, rational
from discreet.theory.adjacency import neighbours_of
from discreet.theory.databases import Rows, all_bags, finite_universe
from discreet.theory.neighbours import Relation, relation

MOST_STEPS = 2_000_000


@dataclass(frozen=True, slots=True)
class BruteForce:
    """The largest distances found, and a pair of neighbours that shows each."""

    l1: Fraction
    l2: Real
    l1_pair: tuple[Rows, Rows]
    l2_pair: tuple[Rows, Rows]


def brute_force(
    function: Callable[[Rows], Any],
    universe: Collection[Hashable],
    relation: str,
    *,
    size: int,
) -> BruteForce:
    """The sensitivity of any function of a database, by trying every pair of neighbours.

    Change-one: all databases of ``size`` rows. Add/remove: all of at most ``size``. The order of
    the rows is taken not to matter.

    >>> brute_force(sum, universe=range(4), relation="change_one", size=3).l1
    Fraction(3, 1)
    >>> brute_force(max, universe=range(4), relation="change_one", size=3).l1_pair
    ((0, 0, 0), (3, 0, 0))
    """
    types, kind = finite_universe(universe), _relation(relation)
    if size < 1:
        raise InvalidValue(f"size = {size}: two neighbours need at least one row.", hint="size=3")
    _within_reach(types, kind, size)
    worst1, worst2 = Fraction(-1), Fraction(-1)
    pair1: tuple[Rows, Rows] = ((), ())
    pair2 = pair1
    known = {rows: _numbers(function(rows)) for rows in _databases(types, kind, size)}
    for rows, here in known.items():
        for near in neighbours_of(rows, types, kind):
            assert isinstance(near, tuple)  # noqa: S101 - for the type checker
            if len(near) > size:
                continue
            there = known.get(near) or _numbers(function(near))
            steps = [abs(a - b) for a, b in zip(here, there, strict=True)]
            l1, squared = sum(steps, Fraction(0)), sum((s * s for s in steps), Fraction(0))
            if l1 > worst1:
                worst1, pair1 = l1, (rows, near)
            if squared > worst2:
                worst2, pair2 = squared, (rows, near)
    return BruteForce(worst1, Real(worst2).sqrt(), pair1, pair2)


_relation = relation  # the function's argument has the same name


def _databases(types: Rows, kind: Relation, size: int) -> Iterator[Rows]:
    for bag in all_bags(types, most=size):
        if kind is Relation.ADD_REMOVE or len(bag) == size:
            yield bag


def _within_reach(types: Rows, kind: Relation, size: int) -> None:
    many = (
        comb(len(types) + size, size)
        if kind is Relation.ADD_REMOVE
        else comb(len(types) + size - 1, size)
    )
    steps = many * (len(types) + size if kind is Relation.ADD_REMOVE else len(types) * size)
    if steps > MOST_STEPS:
        raise TooLarge(
            f"there are {steps:,} pairs of neighbours over {len(types)} types with {size} rows; "
            f"more than {MOST_STEPS:,} would take forever.",
            hint="two or three types and rows usually show the worst case.",
        )


def _numbers(answer: Any) -> tuple[Fraction, ...]:
    many: Collection[Rational] = (
        answer if isinstance(answer, list | tuple) else getattr(answer, "tolist", lambda: answer)()
    )
    return tuple(map(rational, many if isinstance(many, list | tuple) else (many,)))
