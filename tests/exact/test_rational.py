"""Parameters are the rationals they show."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidEpsilon, InvalidNumber
from discreet.exact import rational


@pytest.mark.parametrize(
    ("given_as", "meant"),
    [
        (0.1, Fraction(1, 10)),
        (1e-3, Fraction(1, 1000)),
        (5e-324, Fraction(5, 10**324)),
        (-0.0, Fraction(0)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.int8(-7), Fraction(-7)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (Decimal("0.10"), Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (" 2.5e-3 ", Fraction(1, 400)),
        ("1E+2", Fraction(100)),
        (7, Fraction(7)),
        (10**400, Fraction(10**400)),
        (Fraction(0.1), Fraction(3602879701896397, 2**55)),
    ],
)
def test_a_number_is_taken_as_it_is_written(given_as, meant):
    assert rational(given_as) == meant
    assert type(rational(given_as)) is Fraction


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_shortest_decimal_that_prints_it(x):
    assert rational(x) == Fraction(repr(x))
    assert float(rational(x)) == x


@given(st.decimals(allow_nan=False, allow_infinity=False, places=30))
def test_a_decimal_is_exact(x):
    assert rational(x) == Fraction(x)


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        np.True_,
        float("nan"),
        float("inf"),
        -float("inf"),
        np.float32("nan"),
        Decimal("NaN"),
        Decimal("-Infinity"),
        "nan",
        "inf",
        "",
        "ten",
        "1/0",
        "1e1e1",
        "0x10",
        "1e20001",
        "1e-999999999",
        "1" * 5000,
        None,
        b"1",
        1j,
        [1],
    ],
)
def test_what_is_not_a_finite_number_is_refused(value):
    with pytest.raises(InvalidNumber, match="Hint: "):
        rational(value)


def test_the_refusal_is_of_the_kind_asked_for_and_names_the_parameter():
    with pytest.raises(InvalidEpsilon, match="epsilon = 'x'"):
        rational("x", name="epsilon", error=InvalidEpsilon)
