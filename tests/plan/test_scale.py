"""Products and quotients keep away from both ends of what doubles can hold."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.plan.expressions import LARGEST, Call, Column, Expression, Literal, Meaning, literal
from discreet.plan.operations import call
from discreet.plan.scale import ANY, CLEANED, SAFE, Scale, exponent

TINY, HUGE = Fraction(2) ** -1022, Fraction(2) ** 1024
LARGE = float(LARGEST)
SIGNED = [0.0, 1.0, 0.1, 3.0, LARGE, 1 / LARGE, math.nextafter(LARGE, 0), 7e-119, 1.5e119]
CELLS: dict[str, list[float]] = {
    "y": [value * sign for value in SIGNED for sign in (1, -1)],
    "z": [5e-324, 1e308, -1.7976931348623157e308, 2.5, 0.0, 1e-310],
    "n": [0.0, 1.0, -7.0, 2.0**53, -(2.0**63)],
}
COLUMNS: list[Expression] = [
    Column("y", Meaning("real", scale=CLEANED)),
    Column("z", Meaning("real", scale=ANY)),
    Column("n", Meaning("integer")),
]
CONSTANTS: list[Expression] = [
    literal(value) for value in (1, -3, Fraction(1, 10), Fraction(10**100), Fraction(1, 10**100))
]


def made(parts: tuple[str, Expression | None, Expression | None]) -> Expression | None:
    operation, left, right = parts
    if left is None or right is None:
        return None
    try:
        return call(operation, left) if operation == "sqrt" else call(operation, left, right)
    except DiscreetError:
        return None


TREES: st.SearchStrategy[Expression | None] = st.recursive(
    st.sampled_from([*COLUMNS, *CONSTANTS]),
    lambda inner: st.tuples(
        st.sampled_from(["add", "subtract", "multiply", "divide", "multiply", "divide", "sqrt"]),
        inner,
        inner,
    ).map(made),
    max_leaves=12,
)


def value_of(node: Expression, row: dict[str, float]) -> float | None:
    """What an engine computes; fails where PostgreSQL would."""
    if isinstance(node, Column):
        return row[node.name]
    if isinstance(node, Literal):
        assert isinstance(node.value, int | Fraction)
        return float(node.value)
    values = [value_of(argument, row) for argument in node.arguments]
    if any(value is None for value in values):
        return None
    return check(node, compute(node, [value for value in values if value is not None]))


def compute(node: Call, values: list[float]) -> float | None:
    exact = [Fraction(value) for value in values]
    match node.operation:
        case "limit":
            return values[0] if abs(exact[0]) <= LARGEST else None
        case "flush":
            return values[0] if abs(exact[0]) >= 1 / LARGEST else 0.0
        case "sqrt":
            return math.sqrt(values[0]) if values[0] >= 0 else None
        case "divide" if exact[1] == 0:
            return None
        case "divide":
            result = exact[0] / exact[1]
        case "multiply":
            result = exact[0] * exact[1]
        case operation:
            result = exact[0] + exact[1] if operation == "add" else exact[0] - exact[1]
    assert abs(result) < HUGE, node
    if node.operation in ("multiply", "divide"):
        assert result == 0 or abs(result) >= TINY, node
    return float(result)


def check(node: Call, value: float | None) -> float | None:
    """What is promised of the doubles holds for them."""
    extent = node.meaning.extent
    if value is None:
        assert node.meaning.nullable
    elif value and node.meaning.type == "real":
        assert abs(Fraction(value)) <= Fraction(2) ** extent.largest, node
        if extent.finest > -1074:
            assert (Fraction(value) / Fraction(2) ** extent.finest).denominator == 1, node
    return value


@settings(max_examples=500)
@given(TREES, st.data())
def test_no_operation_overflows_or_underflows(tree, data):
    if tree is None:
        return
    row = {name: data.draw(st.sampled_from(cells)) for name, cells in CELLS.items()}
    value_of(tree, row)


@given(st.fractions().filter(bool))
def test_an_exponent_is_the_power_of_two_below(number):
    power = exponent(abs(number))
    assert Fraction(2) ** power <= abs(number) < Fraction(2) ** (power + 1)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e100, max_value=1e100))
def test_the_scale_of_a_constant_holds_the_double(number):
    scale = Scale.of(Fraction(number))
    assert abs(number) <= 2.0**scale.largest
    if abs(number) > 1e-200:
        assert (Fraction(number) / Fraction(2) ** scale.finest).denominator == 1


def test_what_is_known_to_be_safe_is_left_as_it_is():
    y, z, n = COLUMNS
    for node in (call("multiply", y, y), call("divide", n, y), call("add", y, n)):
        assert node.arguments[0] in (y, n)
        assert node.meaning.extent.largest <= SAFE
    tamed = call("multiply", z, y).arguments[0]
    assert isinstance(tamed, Call)
    assert tamed.operation == "flush"
