"""Queries as values: what they compute, and how far one person can move them.

Each has ``l1(relation)`` and ``l2(relation)``, the most that two neighbouring databases can differ
in the l1 and the l2 norm, and can be called on the rows of a database. Every rule here is for one
value per unit, never filtered and never missing; ``contributions`` has the rules for units that own
several rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from discreet.errors import InvalidValue, NoSensitivity, UnboundedSensitivity
from discreet.exact import Rational, Real, rational
from discreet.theory.databases import Rows, finite_universe
from discreet.theory.neighbours import Relation, relation

Answer: TypeAlias = tuple[Fraction, ...]
Bounds: TypeAlias = tuple[Rational, Rational] | None


def identity(row: Any) -> Any:
    """The row itself, where rows are numbers."""
    return row


def everything(row: Hashable) -> bool:  # noqa: ARG001 - a predicate
    """True of every row."""
    return True


class Query(ABC):
    """A function of a database whose sensitivity is known by a rule."""

    def l1(self, relation: str) -> Fraction:
        """The l1 sensitivity under a relation, or a refusal that says why and what to do."""
        return self._l1(_relation(relation))

    def l2(self, relation: str) -> Real:
        """The l2 sensitivity under a relation; the same as l1 for a single number."""
        return self._l2(_relation(relation))

    @abstractmethod
    def __call__(self, rows: Rows) -> Answer:
        """The answer on a database, exactly: one number or several."""

    @abstractmethod
    def _l1(self, kind: Relation) -> Fraction: ...

    def _l2(self, kind: Relation) -> Real:
        return Real(self._l1(kind))

    def __mul__(self, factor: Rational) -> Scaled:
        return Scaled(self, rational(factor, name="factor"))

    __rmul__ = __mul__


@dataclass(frozen=True, slots=True)
class Count(Query):
    """How many rows satisfy a predicate.

    >>> Count().l1("add_remove"), Count().l1("change_one")
    (Fraction(1, 1), Fraction(1, 1))
    """

    where: Callable[[Any], bool] = everything

    def __call__(self, rows: Rows) -> Answer:
        return (Fraction(sum(bool(self.where(row)) for row in rows)),)

    def _l1(self, kind: Relation) -> Fraction:  # noqa: ARG002
        return Fraction(1)


@dataclass(frozen=True, slots=True)
class Proportion(Query):
    """The fraction of rows that satisfy a predicate, where the number of rows is public.

    >>> Proportion(size=50).l1("change_one")
    Fraction(1, 50)
    """

    size: int
    where: Callable[[Any], bool] = everything

    def __post_init__(self) -> None:
        _positive_size(self.size)

    def __call__(self, rows: Rows) -> Answer:
        return (Count(self.where)(rows)[0] / _same_size(rows, self.size),)

    def _l1(self, kind: Relation) -> Fraction:
        _needs_public_size(kind, "a fraction", "Count(where)")
        return Fraction(1, self.size)


@dataclass(frozen=True, slots=True)
class Linear(Query):
    """The sum of a weight in [0, 1] given to each row: a statistical query.

    >>> Linear(lambda age: Fraction(age, 150)).l1("add_remove")
    Fraction(1, 1)
    """

    weight: Callable[[Any], Rational] = identity

    def __call__(self, rows: Rows) -> Answer:
        return (sum((_within(self.weight(row), (0, 1)) for row in rows), Fraction(0)),)

    def _l1(self, kind: Relation) -> Fraction:  # noqa: ARG002
        return Fraction(1)


@dataclass(frozen=True, slots=True)
class LinearAverage(Query):
    """The average of a weight in [0, 1], where the number of rows is public."""

    size: int
    weight: Callable[[Any], Rational] = identity

    def __post_init__(self) -> None:
        _positive_size(self.size)

    def __call__(self, rows: Rows) -> Answer:
        return (Linear(self.weight)(rows)[0] / _same_size(rows, self.size),)

    def _l1(self, kind: Relation) -> Fraction:
        _needs_public_size(kind, "an average", "Linear(weight)")
        return Fraction(1, self.size)


class _Bounded(Query):
    """Shared by the queries of numbers that lie in public bounds."""

    __slots__ = ()
    what: ClassVar[str]
    bounds: Bounds
    value: Callable[[Any], Rational]

    def range(self) -> tuple[Fraction, Fraction]:
        """The bounds, refused where there are none."""
        if self.bounds is None:
            raise UnboundedSensitivity(
                f"the {self.what} of values without bounds has no finite sensitivity: one person "
                "could move it as far as they like.",
                hint="clamp the values to a public range, for example bounds=(0, 150), or ask for "
                "a quantile by the exponential mechanism.",
            )
        low, high = (rational(bound, name="a bound") for bound in self.bounds)
        if low > high:
            raise InvalidValue(
                f"bounds = ({low}, {high}) are the wrong way round.", hint=f"bounds=({high}, {low})"
            )
        return low, high

    def _values(self, rows: Rows) -> list[Fraction]:
        limits = self.range()
        return [_within(self.value(row), limits) for row in rows]


@dataclass(frozen=True, slots=True)
class Sum(_Bounded):
    """The sum of values that lie in bounds.

    >>> Sum(bounds=(-2, 5)).l1("add_remove"), Sum(bounds=(-2, 5)).l1("change_one")
    (Fraction(5, 1), Fraction(7, 1))
    """

    what = "sum"
    bounds: Bounds = None
    value: Callable[[Any], Rational] = identity

    def __call__(self, rows: Rows) -> Answer:
        return (sum(self._values(rows), Fraction(0)),)

    def _l1(self, kind: Relation) -> Fraction:
        low, high = self.range()
        return max(abs(low), abs(high)) if kind is Relation.ADD_REMOVE else high - low


@dataclass(frozen=True, slots=True)
class Mean(_Bounded):
    """The mean of values that lie in bounds, of at least ``size`` rows, their number public.

    >>> Mean(size=100, bounds=(0, 150)).l1("change_one")
    Fraction(3, 2)
    """

    what = "mean"
    size: int
    bounds: Bounds = None
    value: Callable[[Any], Rational] = identity

    def __post_init__(self) -> None:
        _positive_size(self.size)

    def __call__(self, rows: Rows) -> Answer:
        if len(rows) < self.size:
            raise _wrong_size(f"at least {self.size}")
        return (sum(self._values(rows), Fraction(0)) / len(rows),)

    def _l1(self, kind: Relation) -> Fraction:
        low, high = self.range()
        _needs_public_size(kind, "a mean", "Sum(bounds) and Count() apart, and divide")
        return (high - low) / self.size


@dataclass(frozen=True, slots=True)
class Maximum(_Bounded):
    """The largest of values that lie in bounds; of no rows, the lower bound.

    >>> Maximum(bounds=(0, 150)).l1("add_remove")
    Fraction(150, 1)
    """

    what = "maximum"
    bounds: Bounds = None
    value: Callable[[Any], Rational] = identity

    def __call__(self, rows: Rows) -> Answer:
        return (max(self._values(rows), default=self.range()[0]),)

    def _l1(self, kind: Relation) -> Fraction:  # noqa: ARG002
        low, high = self.range()
        return high - low


@dataclass(frozen=True, slots=True)
class Minimum(_Bounded):
    """The smallest of values that lie in bounds; of no rows, the upper bound."""

    what = "minimum"
    bounds: Bounds = None
    value: Callable[[Any], Rational] = identity

    def __call__(self, rows: Rows) -> Answer:
        return (min(self._values(rows), default=self.range()[1]),)

    def _l1(self, kind: Relation) -> Fraction:  # noqa: ARG002
        low, high = self.range()
        return high - low


@dataclass(frozen=True, slots=True)
class Median(_Bounded):
    """The plain median, whose sensitivity is always refused; the lower one of an even number."""

    what = "median"
    bounds: Bounds = None
    value: Callable[[Any], Rational] = identity

    def __call__(self, rows: Rows) -> Answer:
        values = sorted(self._values(rows)) or [self.range()[0]]
        return (values[(len(values) - 1) // 2],)

    def _l1(self, kind: Relation) -> Fraction:  # noqa: ARG002
        low, high = self.range()
        raise UnboundedSensitivity(
            f"the plain median can move by the whole range, {high - low}, when one person changes: "
            "noise of that size would drown it.",
            hint="ask for the quantile 1/2 by the exponential mechanism, whose error depends on "
            "the data and not on the range.",
        )


@dataclass(frozen=True, slots=True)
class Bins(Query):
    """A histogram: how many rows fall into each of some disjoint bins.

    >>> Bins(("0-19", "20-39", "40-59", "60+")).l1("add_remove"), Bins("ab").l1("change_one")
    (Fraction(1, 1), Fraction(2, 1))
    """

    bins: Collection[Hashable]
    bin: Callable[[Any], Hashable] = field(default=identity)

    def __post_init__(self) -> None:
        object.__setattr__(self, "bins", finite_universe(self.bins))

    def __call__(self, rows: Rows) -> Answer:
        found = [self.bin(row) for row in rows]
        return tuple(Fraction(found.count(name)) for name in self.bins)

    def _l1(self, kind: Relation) -> Fraction:
        # With one bin a change can only take a row out of it, or bring one in.
        return Fraction(2 if kind is Relation.CHANGE_ONE and len(self.bins) > 1 else 1)

    def _l2(self, kind: Relation) -> Real:
        return Real(self._l1(kind)).sqrt()


@dataclass(frozen=True, slots=True)
class Scaled(Query):
    """A query multiplied by a public number, written ``query * 3``."""

    query: Query
    factor: Fraction

    def __call__(self, rows: Rows) -> Answer:
        return tuple(self.factor * number for number in self.query(rows))

    def _l1(self, kind: Relation) -> Fraction:
        return abs(self.factor) * self.query.l1(kind)

    def _l2(self, kind: Relation) -> Real:
        return abs(self.factor) * self.query.l2(kind)


_relation = relation  # the methods' argument has the same name


def _within(value: Rational, bounds: tuple[Rational, Rational]) -> Fraction:
    number = rational(value)
    if not bounds[0] <= number <= bounds[1]:  # type: ignore[operator]
        raise InvalidValue(
            f"a value lies outside the bounds {bounds[0]} to {bounds[1]} that the sensitivity "
            "rests on.",
            hint="clamp first: After(lambda row: min(max(row, low), high), query).",
        )
    return number


def _positive_size(size: int) -> None:
    if size < 1:
        raise InvalidValue(f"size = {size} is not a number of rows to divide by.", hint="size=100")


def _same_size(rows: Rows, size: int) -> int:
    if len(rows) != size:
        raise _wrong_size(str(size))
    return size


def _wrong_size(expected: str) -> InvalidValue:
    return InvalidValue(
        f"the database has another number of rows than the {expected} that the query names.",
        hint="the size is public here; give the true one.",
    )


def _needs_public_size(kind: Relation, what: str, instead: str) -> None:
    if kind is Relation.ADD_REMOVE:
        raise NoSensitivity(
            f"{what} divides by the number of rows, which is private under add_remove.",
            hint=f'relation="change_one" makes the number public; or ask for {instead}.',
        )
