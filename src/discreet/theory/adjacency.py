"""The graph whose edges join neighbouring databases: distances, neighbours, components."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import TypeAlias

from discreet.errors import InvalidRelation, InvalidValue, TooLarge
from discreet.theory.databases import Database, Histogram, Rows, finite_universe
from discreet.theory.neighbours import Relation, relation

Pair: TypeAlias = tuple[Hashable, Hashable]

Neighbours: TypeAlias = Iterable[Pair] | str | None
"""Which inputs are neighbours: pairs (each counts both ways), a relation, or None for all."""

MOST_PAIRS = 4_000_000


def distance(x: Database, y: Database, relation: str) -> float:
    """How many neighbour steps lie between two databases.

    Rows keep their places under change-one and are a bag under add/remove. Databases of different
    sizes are infinitely far apart under change-one.

    >>> distance(("Y", "Y"), ("Y", "N"), "change_one")
    1
    >>> distance(("Y", "Y"), ("Y", "N"), "add_remove")
    2
    >>> distance(("Y",), ("Y", "N"), "change_one")
    inf
    """
    kind = _relation(relation)
    if isinstance(x, Histogram) != isinstance(y, Histogram):
        raise InvalidValue(
            "one database is rows and the other a histogram.",
            hint="to_histogram(rows, universe) makes both histograms.",
        )
    if isinstance(x, Histogram) and isinstance(y, Histogram):
        if x.universe != y.universe:
            raise InvalidValue(
                "the two histograms count different types.",
                hint="use one universe, in one order, for both.",
            )
        moved = sum(abs(a - b) for a, b in zip(x.counts, y.counts, strict=True))
        if kind is Relation.ADD_REMOVE:
            return moved
        return moved // 2 if x.size == y.size else math.inf
    assert isinstance(x, tuple)  # noqa: S101 - for the type checker
    assert isinstance(y, tuple)  # noqa: S101
    if kind is Relation.ADD_REMOVE:
        ours, theirs = Counter(x), Counter(y)
        return (ours - theirs).total() + (theirs - ours).total()
    return sum(a != b for a, b in zip(x, y, strict=True)) if len(x) == len(y) else math.inf


def neighbours_of(
    database: Database, universe: Collection[Hashable], relation: str
) -> Iterator[Database]:
    """Every neighbour of a database over a finite universe, itself left out.

    >>> list(neighbours_of(("a", "b"), "ab", "change_one"))
    [('b', 'b'), ('a', 'a')]
    >>> list(neighbours_of(("a",), "ab", "add_remove"))
    [(), ('a', 'a'), ('a', 'b')]
    """
    types, kind = finite_universe(universe), _relation(relation)
    if isinstance(database, Histogram):
        return _histogram_neighbours(database, kind)
    return _row_neighbours(database, types, kind)


def pairs(databases: Iterable[Database], relation: str) -> list[Pair]:
    """The neighbouring pairs among some databases, each once.

    >>> pairs([(), ("a",), ("a", "a")], "add_remove")
    [((), ('a',)), (('a',), ('a', 'a'))]
    """
    listed = list(databases)
    _few_enough(len(listed) * (len(listed) - 1) // 2)
    return [
        (x, y)
        for index, x in enumerate(listed)
        for y in listed[index + 1 :]
        if distance(x, y, relation) == 1
    ]


def all_pairs(inputs: Collection[Hashable]) -> list[Pair]:
    """Every two inputs: the neighbours of a local randomizer.

    >>> all_pairs("abc")
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    listed = list(inputs)
    _few_enough(len(listed) * (len(listed) - 1) // 2)
    return [(x, y) for index, x in enumerate(listed) for y in listed[index + 1 :]]


def resolve(neighbours: Neighbours, inputs: Collection[Hashable]) -> list[Pair]:
    """The pairs of inputs that ``neighbours`` means."""
    if neighbours is None:
        return all_pairs(inputs)
    if isinstance(neighbours, str):
        databases = [x for x in inputs if isinstance(x, tuple | Histogram)]
        if len(databases) != len(inputs):
            raise InvalidRelation(
                f"{neighbours!r} relates databases, and an input is not one.",
                hint="label the inputs with tuples of rows or Histograms, or give the neighbours "
                "as pairs of inputs.",
            )
        return pairs(databases, neighbours)
    known, given = set(inputs), [(x, y) for x, y in neighbours]
    if any(x not in known or y not in known for x, y in given):
        raise InvalidValue(
            "a pair of neighbours names an input that the channel does not have.",
            hint="use the labels in channel.inputs.",
        )
    return given


def within(neighbours: Iterable[Pair], steps: int) -> list[Pair]:
    """The pairs at most ``steps`` steps apart: what a group of that many people can change.

    >>> within([(0, 1), (1, 2), (2, 3)], 2)
    [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    """
    graph = _graph(neighbours)
    order = {node: place for place, node in enumerate(graph)}
    found = []
    for start in graph:
        reached, frontier = {start}, {start}
        for _ in range(steps):
            frontier = {near for node in frontier for near in graph[node]} - reached
            reached |= frontier
        later = (node for node in reached if order[node] > order[start])
        found += [(start, node) for node in sorted(later, key=order.__getitem__)]
        _few_enough(len(found))
    return found


def components(inputs: Iterable[Hashable], neighbours: Iterable[Pair]) -> list[frozenset[Hashable]]:
    """The connected components of the neighbour graph.

    >>> [sorted(part) for part in components(range(4), [(0, 1), (2, 3)])]
    [[0, 1], [2, 3]]
    """
    graph = _graph(neighbours)
    seen: set[Hashable] = set()
    parts = []
    for start in inputs:
        if start in seen:
            continue
        part, waiting = {start}, [start]
        while waiting:
            fresh = graph.get(waiting.pop(), set()) - part
            part |= fresh
            waiting.extend(fresh)
        seen |= part
        parts.append(frozenset(part))
    return parts


_relation = relation  # several arguments here have the same name


def _graph(neighbours: Iterable[Pair]) -> dict[Hashable, set[Hashable]]:
    graph: dict[Hashable, set[Hashable]] = {}
    for x, y in neighbours:
        graph.setdefault(x, set()).add(y)
        graph.setdefault(y, set()).add(x)
    return graph


def _row_neighbours(rows: Rows, types: Rows, kind: Relation) -> Iterator[Rows]:
    if kind is Relation.ADD_REMOVE:
        # A bag loses each of its distinct rows once, or gains one of any type.
        yield from (
            rows[:place] + rows[place + 1 :]
            for place, row in enumerate(rows)
            if row not in rows[:place]
        )
        yield from ((*rows, kind_of_row) for kind_of_row in types)
        return
    for place, row in enumerate(rows):
        yield from ((*rows[:place], other, *rows[place + 1 :]) for other in types if other != row)


def _histogram_neighbours(histogram: Histogram, kind: Relation) -> Iterator[Histogram]:
    counts, places = histogram.counts, range(len(histogram.counts))

    def moved(*steps: tuple[int, int]) -> Histogram:
        changed = list(counts)
        for place, step in steps:
            changed[place] += step
        return Histogram(histogram.universe, tuple(changed))

    if kind is Relation.ADD_REMOVE:
        yield from (moved((place, -1)) for place in places if counts[place])
        yield from (moved((place, 1)) for place in places)
        return
    for place in places:
        if counts[place]:
            yield from (moved((place, -1), (to, 1)) for to in places if to != place)


def _few_enough(many: int) -> None:
    if many > MOST_PAIRS:
        raise TooLarge(
            f"there are {many:,} pairs to look at; more than {MOST_PAIRS:,} would take forever.",
            hint="give the neighbours as a list of pairs, or fewer databases.",
        )
