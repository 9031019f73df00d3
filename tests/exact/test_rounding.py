"""Rounding goes outward, and no farther than it must."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.exact import float_down, float_up, fraction_down, fraction_up

MOST = Fraction(math.nextafter(math.inf, 0))
LEAST = Fraction(5e-324)

fractions = st.one_of(
    st.fractions(),
    st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
    st.builds(
        lambda x, n: Fraction(x) * (1 + Fraction(n, 2**200)),
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(-1, 1),
    ),
    st.builds(lambda n, e: n * Fraction(10) ** e, st.integers(-9, 9), st.integers(-400, 400)),
)


@given(fractions)
def test_a_float_rounded_up_is_the_smallest_at_or_above(x):
    up = float_up(x)
    assert up == math.inf or Fraction(up) >= x
    assert x > MOST if up == math.inf else True
    below = math.nextafter(up, -math.inf)
    assert below == -math.inf or Fraction(below) < x


@given(fractions)
def test_rounding_down_mirrors_rounding_up(x):
    assert float_down(x) == -float_up(-x)
    assert float_down(x) <= float_up(x)
    assert (float_down(x) == float_up(x)) == (abs(x) <= MOST and Fraction(float_up(x)) == x)


def test_the_ends_of_the_line():
    assert float_up(10**400) == math.inf
    assert float_up(-(10**400)) == -float(MOST)
    assert float_up(MOST + 1) == math.inf
    assert float_down(MOST + 1) == float(MOST)
    assert float_up(LEAST / 2) == 5e-324
    assert float_down(LEAST / 2) == 0.0


def test_there_is_no_negative_zero():
    for rounded in (float_down(0), float_up(0), float_down(LEAST / 2), float_up(-LEAST / 2)):
        assert math.copysign(1, rounded) == 1


@given(st.fractions(), st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_multiples_of_a_step_enclose_the_number(x, step):
    low, high = fraction_down(x, step=step), fraction_up(x, step=step)
    assert low <= x <= high
    assert (low / step).denominator == (high / step).denominator == 1
    assert high - low == (0 if (x / step).denominator == 1 else step)
