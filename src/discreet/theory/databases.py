"""Databases in their two forms: rows, and a count per type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import comb
from typing import Any, TypeAlias

from discreet.errors import InvalidValue, TooLarge, UnboundedUniverse

Rows: TypeAlias = tuple[Hashable, ...]
"""A database as rows: one entry per unit, in a fixed order."""

MOST_DATABASES = 200_000
"""Enumerations that would pass through more databases than this are refused."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """A database as counts: how many rows there are of each type of the universe.

    >>> Histogram(("Y", "N"), (3, 1)).size
    4
    """

    universe: Rows
    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "universe", finite_universe(self.universe))
        object.__setattr__(self, "counts", tuple(self.counts))
        if len(self.universe) != len(self.counts):
            raise InvalidValue(
                f"{len(self.counts)} counts were given for {len(self.universe)} types.",
                hint="give one count per type, in the order of the universe.",
            )
        if any(not isinstance(count, int) or count < 0 for count in self.counts):
            raise InvalidValue(
                "a count is not a whole number that is 0 or more.",
                hint='Histogram(("Y", "N"), (3, 1))',
            )

    @property
    def size(self) -> int:
        """How many rows it stands for."""
        return sum(self.counts)


Database: TypeAlias = Rows | Histogram


def to_histogram(rows: Iterable[Hashable], universe: Collection[Hashable]) -> Histogram:
    """Rows as counts; the order of the rows is forgotten.

    >>> to_histogram(["Y", "Y", "N", "Y"], universe=("Y", "N")).counts
    (3, 1)
    """
    types = finite_universe(universe)
    counts = Counter(rows)
    if not set(counts) <= set(types):
        raise InvalidValue(
            "a row is of a type that the universe does not have.",
            hint="list every type that a row may have, from public knowledge, in universe=...",
        )
    return Histogram(types, tuple(counts[kind] for kind in types))


def to_rows(histogram: Histogram) -> Rows:
    """Counts as rows, in the order of the universe.

    >>> to_rows(Histogram(("Y", "N"), (3, 1)))
    ('Y', 'Y', 'Y', 'N')
    """
    pairs = zip(histogram.universe, histogram.counts, strict=True)
    return tuple(kind for kind, count in pairs for _ in range(count))


def finite_universe(types: Collection[Hashable]) -> Rows:
    """The types that a row may have, each once; refused where they cannot be listed.

    >>> finite_universe(range(3))
    (0, 1, 2)
    """
    if not isinstance(types, Collection):
        raise UnboundedUniverse(
            f"a universe must be a collection whose types can be counted, not {types!r}.",
            hint='list the types, for example universe=("Y", "N") or universe=range(111).',
        )
    if len(types) > MOST_DATABASES:
        raise TooLarge(
            f"the universe has {len(types):,} types; more than {MOST_DATABASES:,} would take "
            "forever to go through.",
            hint="use a coarser universe, for example ages in decades, or a rule instead of a "
            "search: Sum(bounds=(0, 110)).l1(relation).",
        )
    listed = tuple(types)
    if len(set(listed)) != len(listed):
        raise InvalidValue(
            "the universe lists a type twice.", hint="universe=tuple(dict.fromkeys(types))"
        )
    return listed


def all_rows(universe: Collection[Hashable], size: int) -> Iterator[Rows]:
    """Every database of ``size`` rows, order kept.

    >>> list(all_rows("ab", 2))
    [('a', 'a'), ('a', 'b'), ('b', 'a'), ('b', 'b')]
    """
    types = finite_universe(universe)
    _within_reach(len(types) ** size, f"databases of {size} rows over {len(types)} types")
    return product(types, repeat=size)


def all_bags(universe: Collection[Hashable], *, most: int) -> list[Rows]:
    """Every database of at most ``most`` rows, order forgotten: one tuple for each.

    >>> all_bags("ab", most=2)
    [(), ('a',), ('b',), ('a', 'a'), ('a', 'b'), ('b', 'b')]
    """
    types = finite_universe(universe)
    many = comb(len(types) + most, most)
    _within_reach(many, f"databases of at most {most} rows over {len(types)} types")
    return [bag for size in range(most + 1) for bag in combinations_with_replacement(types, size)]


def unit_universe(universe: Collection[Hashable], *, rows_per_unit: int) -> Rows:
    """The universe of units that own 0 to ``rows_per_unit`` rows each: a type is a bag of rows.

    Databases, neighbours and sensitivities over it speak of people instead of rows.

    >>> unit_universe(("tea", "milk"), rows_per_unit=1)
    ((), ('tea',), ('milk',))
    """
    return tuple(all_bags(universe, most=rows_per_unit))


def by_unit(rows: Iterable[Hashable], unit: Callable[[Any], Hashable]) -> Rows:
    """Rows gathered by the unit that owns them, one entry per unit, in order of appearance.

    >>> by_unit([("ann", 3), ("bob", 5), ("ann", 4)], unit=lambda row: row[0])
    ((('ann', 3), ('ann', 4)), (('bob', 5),))
    """
    owned: dict[Hashable, list[Hashable]] = {}
    for row in rows:
        owned.setdefault(unit(row), []).append(row)
    return tuple(map(tuple, owned.values()))


def _within_reach(many: int, what: str) -> None:
    if many > MOST_DATABASES:
        raise TooLarge(
            f"there are {many:,} {what}; more than {MOST_DATABASES:,} would take forever.",
            hint="ask for fewer rows or fewer types: a worst case usually shows with 2 of each.",
        )
