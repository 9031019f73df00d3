from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.outward import Sum, significant_down, significant_up

amounts = st.fractions(min_value=0, max_value=10**9, max_denominator=10**30)
positive = st.fractions(min_value=Fraction(1, 10**40), max_value=10**40)


def test_a_million_tenths_are_exactly_a_hundred_thousand():
    total = Sum()
    for _ in range(1_000_000):
        total.add(Fraction(1, 10))
    assert total.value == 100_000


@given(st.lists(amounts, max_size=60))
def test_a_sum_is_never_below_and_hardly_above(values):
    total = Sum()
    for value in values:
        total.add(value)
    assert sum(values) <= total.value <= sum(values) + len(values) * Fraction(1, 2**255)


def test_a_sum_of_unrelated_rationals_stays_short():
    total = Sum()
    for bottom in range(10**12, 10**12 + 500):
        total.add(Fraction(1, bottom))
    assert total.value.denominator.bit_length() < 1000


@given(positive, st.integers(min_value=1, max_value=20))
def test_digits_are_cut_on_the_side_that_the_name_says(value, digits):
    low, high = significant_down(value, digits), significant_up(value, digits)
    assert low <= value <= high
    assert high - low <= value * Fraction(10) ** (1 - digits) * 2
