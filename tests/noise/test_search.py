"""Searching for where a monotone statement becomes true."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidScale
from discreet.noise.search import crossing, smallest


@given(st.integers(-100, 10**6), st.integers(-100, 10**6))
def test_the_smallest_is_found_from_any_start(target, start):
    assert smallest(lambda k: k >= target, start=start) == max(target, start)


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_a_crossing_is_bracketed_closely(target):
    low, high = crossing(lambda x: x >= target)
    assert low < target <= high
    assert high <= low * (1 + Fraction(1, 2**29))


def test_a_crossing_that_never_comes_is_refused():
    with pytest.raises(InvalidScale, match="Hint: "):
        crossing(lambda _: False)
    with pytest.raises(InvalidScale, match="Hint: "):
        crossing(lambda _: True)
