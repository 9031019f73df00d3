from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidEpsilon
from discreet.exact import Real
from discreet.theory import INFINITY, Log, ln, loss
from discreet.theory.losses import largest

RATIOS = st.fractions(min_value=Fraction(1, 20), max_value=20, max_denominator=20)


@given(RATIOS, RATIOS)
def test_logarithms_of_rationals_order_as_their_arguments_do(a, b):
    assert (Log(a) < Log(b)) == (a < b)
    assert (Log(a) == Log(b)) == (a == b)
    assert (Log(a) >= Log(b)) == (a >= b)


@given(RATIOS, RATIOS)
def test_sums_of_logarithms_are_logarithms_of_products(a, b):
    assert Log(a) + Log(b) == Log(a * b)
    assert Log(a) - Log(b) == Log(a / b)
    assert (Log(a) + Log(b)).exp().exact == a * b


@given(RATIOS, st.fractions(min_value=-3, max_value=3, max_denominator=6))
def test_a_multiple_of_a_logarithm_is_enclosed_where_it_should_be(a, times):
    value = Log(a) * times
    assert value.float_down() <= float(Real(a).log() * times) <= value.float_up()


def test_half_a_logarithm_of_a_square_is_the_logarithm_of_the_root():
    assert Log(9) / 2 == Log(3)
    assert (Log(9) / 2).exp().exact == 3
    assert Log(4, Fraction(1, 3)) == Log(16, Fraction(1, 6))


def test_a_logarithm_compares_with_rationals_and_reals():
    assert Fraction(1) < Log(3) < Fraction(11, 10)
    assert Log(3) < Real(2).sqrt()
    assert Log(1) == 0


def test_infinity_is_above_everything():
    assert Log(3) < INFINITY
    assert Real(10**9).sqrt() < INFINITY
    assert Fraction(7) < INFINITY
    assert INFINITY == INFINITY  # noqa: PLR0124
    assert Log(3) != INFINITY
    assert Log(3) > -INFINITY
    assert not Log(3) >= INFINITY
    assert not INFINITY < INFINITY  # noqa: PLR0124
    assert INFINITY + Log(3) == INFINITY
    assert Log(3) + INFINITY == INFINITY
    assert 3 * INFINITY == INFINITY
    assert ln(INFINITY) == INFINITY
    assert float(INFINITY) == float("inf")


def test_the_largest_loss_is_found_without_deciding_ties():
    root = Real(3).sqrt()
    assert largest([Log(2), Log(3), Log(3)]) == Log(3)
    assert largest([Log(2), INFINITY]) == INFINITY
    assert float(largest([root, Real(3).sqrt()])) == float(root)
    assert largest([]) == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ln 3", Log(3)),
        ("ln(3/2)", Log(Fraction(3, 2))),
        ("0.5", Fraction(1, 2)),
        ("inf", INFINITY),
    ],
)
def test_losses_are_read_as_they_are_written(text, value):
    assert loss(text) == value


@pytest.mark.parametrize("bad", ["-1", -0.5, "ln(1/2)", "nan", "ln -3", "many", None])
def test_what_is_not_a_loss_is_refused(bad):
    with pytest.raises(InvalidEpsilon, match="Hint"):
        loss(bad)
