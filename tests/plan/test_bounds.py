"""An expression never leaves the interval that was computed for it before any row was read."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.plan.expressions import Call, Column, Expression, Meaning, literal
from discreet.plan.intervals import Interval, hull
from discreet.plan.operations import call, with_domain
from tests.plan.exact import EXACT, value_of

NUMBERS = st.fractions(-1000, 1000, max_denominator=20)
ENDS = st.one_of(st.none(), NUMBERS)


@st.composite
def intervals(draw) -> Interval:
    low, high = draw(ENDS), draw(ENDS)
    if low is not None and high is not None and low > high:
        low, high = high, low
    return Interval(low, high)


@st.composite
def members(draw) -> tuple[Interval, Fraction]:
    """An interval and a number in it."""
    inside = draw(intervals())
    number = draw(NUMBERS)
    if inside.low is not None:
        number = max(number, inside.low)
    if inside.high is not None:
        number = min(number, inside.high)
    return inside, number


def holds(interval: Interval, number: Fraction) -> bool:
    return (interval.low is None or interval.low <= number) and (
        interval.high is None or number <= interval.high
    )


@given(members(), members())
def test_arithmetic_of_intervals_holds_the_arithmetic_of_their_members(one, other):
    (left, a), (right, b) = one, other
    assert holds(left + right, a + b)
    assert holds(left - right, a - b)
    assert holds(left * right, a * b)
    if b:
        assert holds(left / right, a / b)
    assert holds(-left, -a)
    assert holds(abs(left), abs(a))
    assert holds(hull([left, right]), a)


@given(members(), NUMBERS, NUMBERS)
def test_clamped_intervals_hold_clamped_members(member, low, high):
    inside, number = member
    low, high = min(low, high), max(low, high)
    clamped = inside.clamp(low, high)
    assert holds(clamped, min(max(number, low), high))
    assert holds(Interval(low, high), clamped.low or Fraction(low))


@given(members())
def test_monotone_maps_hold_their_members(member):
    inside, number = member
    assert holds(inside.map(lambda x: x // 1), number // 1)


def test_nothing_is_known_of_no_intervals():
    assert hull([]) == Interval()


def test_products_with_an_unbounded_side_are_unbounded_unless_they_are_zero():
    assert Interval(Fraction(0), None) * Interval.of(1, 2) == Interval()
    assert Interval() * Interval.point(0) == Interval.point(0)


# Whole trees -------------------------------------------------------------------------------------

UNITS: list[tuple[str, Meaning, list[Any]]] = [
    ("n", Meaning("integer", Interval.of(-3, 7)), [None, -3, 0, 1, 7]),
    ("p", Meaning("integer", Interval.of(1, 5), nullable=False), [1, 2, 5]),
    ("q", Meaning("integer", Interval.of(-9, -2), nullable=False), [-9, -3, -2]),
    ("z", Meaning("integer", Interval.of(0, 0), nullable=False), [0]),
    ("m", Meaning("integer", nullable=False), [0, -(10**9), 10**9, 3]),
    (
        "x",
        Meaning("real", Interval(Fraction(-1, 2), Fraction(5, 2))),
        [None, *map(Fraction, (0, 2))],
    ),
    ("y", Meaning("real"), [None, Fraction(0), Fraction(-7, 3), Fraction(10**12)]),
    (
        "w",
        Meaning("real", Interval(Fraction(1, 3), Fraction(4)), nullable=False),
        [Fraction(1, 3), 4],
    ),
    ("b", Meaning("boolean"), [None, True, False]),
    ("c", Meaning("boolean", nullable=False), [True, False]),
]
COLUMNS = [Column(name, with_domain(meaning)) for name, meaning, _ in UNITS]
CONSTANTS = [literal(v) for v in (0, 1, -2, 3, Fraction(1, 2), Fraction(-7, 4), None)]
LEAVES: list[Expression] = [*COLUMNS, *CONSTANTS]
ARITY: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("negate", "abs", "floor", "ceil", "round", "sqrt", "not", "is_null"), (1, 1)),
    **dict.fromkeys(("to_real", "to_integer"), (1, 1)),
    **dict.fromkeys(("and", "or", "coalesce", "least", "greatest"), (1, 3)),
    "in": (2, 4),
    "case": (3, 5),
    "clamp": (3, 3),
}


def tree(pick: random.Random, depth: int) -> Expression:
    """A random expression; what breaks a rule is drawn again."""
    while True:
        if depth == 0:
            return pick.choice(LEAVES)
        operation = pick.choice(sorted(EXACT))
        low, high = ARITY.get(operation, (2, 2))
        count = pick.randint(low, high)
        if operation == "case" and count % 2 == 0:
            count += 1
        arguments = [tree(pick, pick.randrange(depth)) for _ in range(count)]
        if operation == "clamp":
            arguments[1:] = [literal(pick.choice([-2, 0])), literal(pick.choice([0, 3]))]
        if operation == "in":
            arguments[1:] = [pick.choice(CONSTANTS) for _ in arguments[1:]]
        try:
            return call(operation, *arguments)
        except DiscreetError:
            continue


def rows(pick: random.Random) -> list[dict[str, Any]]:
    return [{name: pick.choice(values) for name, _, values in UNITS} for _ in range(25)]


def check(node: Expression, row: dict[str, Any]) -> None:
    meaning, value = node.meaning, value_of(node, row)
    if value is None:
        assert meaning.nullable, node
        assert meaning.domain is None or None in meaning.domain
        return
    if meaning.type in ("integer", "real"):
        assert holds(meaning.bounds, Fraction(value)), (value, meaning)
    if meaning.type == "integer":
        assert value == int(value)
    if meaning.domain is not None:
        assert value in meaning.domain
    if isinstance(node, Call):
        for argument in node.arguments:
            check(argument, row)


@settings(max_examples=400)
@given(st.integers(0, 2**32))
def test_no_value_leaves_its_bounds_its_domain_or_is_missing_unforeseen(seed):
    pick = random.Random(seed)
    node = tree(pick, 4)
    for row in rows(pick):
        check(node, row)


@pytest.mark.deep
@pytest.mark.parametrize("block", range(8))
def test_a_hundred_thousand_trees_stay_in_their_bounds(block):
    for seed in range(12_500 * block, 12_500 * (block + 1)):
        pick = random.Random(-seed)
        node = tree(pick, 5)
        for row in rows(pick)[:10]:
            check(node, row)
