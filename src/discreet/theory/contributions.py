"""Sensitivity in practice: a person owns several rows, some filtered, some missing.

The databases here are rows of *units*: each entry is the bag of rows that one person owns, of
which 0 to K are kept (see ``unit_universe``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidValue
from discreet.exact import Rational, Real, positive, rational
from discreet.theory.databases import Rows, finite_universe
from discreet.theory.neighbours import Relation
from discreet.theory.queries import Answer, Query, identity


@dataclass(frozen=True, slots=True, init=False)
class RowBounded(Query):
    """Sums of values in [a, b] over at most K rows of each unit, in groups or not.

    With M = max(abs a, abs b) and R = max(b, 0) - min(a, 0): under add/remove l1 = l2 = K M, since
    all K rows may share one group; under change-one K R without groups, and with them l1 = 2 K M
    and l2 = max(sqrt(2) K M, K R). A count is the case a = b = 1.

    >>> RowBounded(rows_per_unit=20, bounds=(1, 1)).l1("change_one")
    Fraction(20, 1)
    >>> ages = RowBounded(rows_per_unit=20, bounds=(0, 110), groups=("north", "south"))
    >>> ages.l1("add_remove"), ages.l1("change_one")
    (Fraction(2200, 1), Fraction(4400, 1))
    """

    rows_per_unit: int
    low: Fraction
    high: Fraction
    groups: tuple[Hashable, ...] | None
    value: Callable[[Any], Rational]
    group: Callable[[Any], Hashable]

    def __init__(
        self,
        *,
        rows_per_unit: int,
        bounds: tuple[Rational, Rational],
        groups: Collection[Hashable] | None = None,
        value: Callable[[Any], Rational] = identity,
        group: Callable[[Any], Hashable] = identity,
    ) -> None:
        low, high = (rational(bound, name="a bound") for bound in bounds)
        if rows_per_unit < 1 or low > high:
            raise InvalidValue(
                f"rows_per_unit = {rows_per_unit} and bounds = ({low}, {high}) bound nothing.",
                hint="rows_per_unit=20, bounds=(0, 110)",
            )
        listed = None if groups is None else finite_universe(groups)
        object.__setattr__(self, "rows_per_unit", rows_per_unit)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "groups", listed)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "group", group)

    @property
    def magnitude(self) -> Fraction:
        """M: the most that one row adds or takes away."""
        return max(abs(self.low), abs(self.high))

    @property
    def spread(self) -> Fraction:
        """R: the range of what one row adds, where it may also be missing."""
        return max(self.high, Fraction(0)) - min(self.low, Fraction(0))

    def __call__(self, rows: Rows) -> Answer:
        sums: dict[Hashable, Fraction] = defaultdict(Fraction)
        for unit in rows:
            for row in _kept(unit, self.rows_per_unit):
                number = min(max(rational(self.value(row)), self.low), self.high)
                sums[None if self.groups is None else self.group(row)] += number
        return tuple(sums[name] for name in (self.groups or (None,)))

    def _l1(self, kind: Relation) -> Fraction:
        if kind is Relation.ADD_REMOVE:
            return self.rows_per_unit * self.magnitude
        if self.groups is None:
            return self.rows_per_unit * self.spread
        return 2 * self.rows_per_unit * self.magnitude

    def _l2(self, kind: Relation) -> Real:
        if kind is Relation.ADD_REMOVE or self.groups is None:
            return Real(self._l1(kind))
        # Two units in two groups, or two units at opposite ends of one: the larger square.
        apart = 2 * (self.rows_per_unit * self.magnitude) ** 2
        across = (self.rows_per_unit * self.spread) ** 2
        return Real(max(apart, across)).sqrt()


@dataclass(frozen=True, slots=True, init=False)
class GroupBounded(Query):
    """Sums in groups, each unit in at most G of them, its sum in each clipped to [-C, C].

    Under add/remove l1 = G C and l2 = sqrt(G) C; under change-one twice that.

    >>> sums = GroupBounded(groups_per_unit=4, clip=10, groups=range(50))
    >>> sums.l1("add_remove"), sums.l2("add_remove")
    (Fraction(40, 1), Real(Fraction(20, 1)))
    """

    groups_per_unit: int
    clip: Fraction
    groups: tuple[Hashable, ...]
    value: Callable[[Any], Rational]
    group: Callable[[Any], Hashable]

    def __init__(
        self,
        *,
        groups_per_unit: int,
        clip: Rational,
        groups: Collection[Hashable],
        value: Callable[[Any], Rational] = identity,
        group: Callable[[Any], Hashable] = identity,
    ) -> None:
        if groups_per_unit < 1:
            raise InvalidValue(
                f"groups_per_unit = {groups_per_unit} keeps nothing.", hint="groups_per_unit=4"
            )
        object.__setattr__(self, "groups_per_unit", groups_per_unit)
        object.__setattr__(self, "clip", positive(clip, name="clip"))
        object.__setattr__(self, "groups", finite_universe(groups))
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "group", group)

    def __call__(self, rows: Rows) -> Answer:
        sums: dict[Hashable, Fraction] = defaultdict(Fraction)
        for unit in rows:
            own: dict[Hashable, Fraction] = defaultdict(Fraction)
            for row in unit if isinstance(unit, tuple) else (unit,):
                own[self.group(row)] += rational(self.value(row))
            for name in list(own)[: self.groups_per_unit]:
                sums[name] += min(max(own[name], -self.clip), self.clip)
        return tuple(sums[name] for name in self.groups)

    def _l1(self, kind: Relation) -> Fraction:
        return self._units(kind) * self.groups_per_unit * self.clip

    def _l2(self, kind: Relation) -> Real:
        return Real(self.groups_per_unit).sqrt() * (self._units(kind) * self.clip)

    def _units(self, kind: Relation) -> int:
        return 1 if kind is Relation.ADD_REMOVE else 2


@dataclass(frozen=True, slots=True, init=False)
class GroupedRows(Query):
    """Sums of values in [a, b] over at most K rows of each unit, C of them in each of G groups.

    With M = max(abs a, abs b), the sums of one unit have l1 at most min(K, G C) M. Their l2 is
    largest where as many groups as possible are full: sqrt(m C^2 + r^2) M, where m full groups and
    a rest of r rows make up min(K, G C) rows. Changing a unit takes one such vector away and adds
    another: at most twice the l1, and sqrt(2) times the l2 if all values have one sign (then no
    group differs by more than one of the two vectors alone makes it), else twice the l2.

    >>> people = GroupedRows(rows_per_unit=20, groups_per_unit=4, rows_per_group=1, bounds=(1, 1),
    ...                      groups=range(50))
    >>> people.l1("add_remove"), people.l2("add_remove")
    (Fraction(4, 1), Real(Fraction(2, 1)))
    """

    rows_per_unit: int
    groups_per_unit: int
    rows_per_group: int
    low: Fraction
    high: Fraction
    groups: tuple[Hashable, ...]
    value: Callable[[Any], Rational]
    group: Callable[[Any], Hashable]

    def __init__(
        self,
        *,
        rows_per_unit: int,
        groups_per_unit: int,
        rows_per_group: int,
        bounds: tuple[Rational, Rational],
        groups: Collection[Hashable],
        value: Callable[[Any], Rational] = identity,
        group: Callable[[Any], Hashable] = identity,
    ) -> None:
        low, high = (rational(bound, name="a bound") for bound in bounds)
        if min(rows_per_unit, groups_per_unit, rows_per_group) < 1 or low > high:
            raise InvalidValue(
                "rows_per_unit, groups_per_unit and rows_per_group must be 1 or more, and bounds "
                "in order.",
                hint="rows_per_unit=20, groups_per_unit=4, rows_per_group=5, bounds=(0, 110)",
            )
        object.__setattr__(self, "rows_per_unit", rows_per_unit)
        object.__setattr__(self, "groups_per_unit", groups_per_unit)
        object.__setattr__(self, "rows_per_group", rows_per_group)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "groups", finite_universe(groups))
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "group", group)

    def __call__(self, rows: Rows) -> Answer:
        sums: dict[Hashable, Fraction] = defaultdict(Fraction)
        for unit in rows:
            own: dict[Hashable, list[Fraction]] = defaultdict(list)
            for row in _kept(unit, self.rows_per_unit):
                number = min(max(rational(self.value(row)), self.low), self.high)
                own[self.group(row)].append(number)
            for name in list(own)[: self.groups_per_unit]:
                sums[name] += sum(own[name][: self.rows_per_group], Fraction(0))
        return tuple(sums[name] for name in self.groups)

    @property
    def _rows(self) -> int:
        return min(self.rows_per_unit, self.groups_per_unit * self.rows_per_group)

    def _l1(self, kind: Relation) -> Fraction:
        units = 1 if kind is Relation.ADD_REMOVE else 2
        return units * self._rows * max(abs(self.low), abs(self.high))

    def _l2(self, kind: Relation) -> Real:
        full, rest = divmod(self._rows, self.rows_per_group)
        rows = full * self.rows_per_group**2 + rest**2
        square = rows * max(abs(self.low), abs(self.high)) ** 2
        if kind is Relation.CHANGE_ONE:
            square *= 2 if self.low >= 0 or self.high <= 0 else 4
        return Real(square).sqrt()


def _kept(unit: Hashable, most: int) -> Rows:
    return unit[:most] if isinstance(unit, tuple) else (unit,)
