"""Computable reals agree with mpmath at high precision, and say when they cannot decide."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import TooLarge, Undecided
from discreet.exact import Real, balls

positives = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)
modest = st.fractions(min_value=-50, max_value=50)


def exact(x: mpmath.mpf) -> Fraction:
    """The rational that an mpf is."""
    sign, mantissa, exponent, _ = x._mpf_
    return Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** int(exponent)


def mp(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


FUNCTIONS = {
    "exp": (Real.exp, mpmath.exp, modest),
    "expm1": (Real.expm1, mpmath.expm1, modest),
    "log": (Real.log, mpmath.log, positives),
    "sqrt": (Real.sqrt, mpmath.sqrt, positives),
    "normal_cdf": (Real.normal_cdf, lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2, modest),
    "normal_quantile": (
        Real.normal_quantile,
        lambda p: mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1),
        st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000)),
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=40)
@given(data=st.data())
def test_a_function_agrees_with_mpmath_to_200_bits(name, data):
    ours, theirs, arguments = FUNCTIONS[name]
    x = data.draw(arguments)
    with mpmath.workprec(500):
        truth = exact(theirs(mp(x)))
    slack = Fraction(1, 2**380) * (1 + abs(truth))
    result = ours(Real(x))
    low, high = result.lower(200), result.upper(200)
    assert low - slack <= truth <= high + slack
    assert high - low <= abs(truth) / 2**198


@settings(max_examples=60)
@given(positives, positives)
def test_arithmetic_agrees_with_mpmath(a, b):
    ours = (Real(a).log() - Real(b).sqrt()) * 3 + Fraction(1, 7) / (Real(a).exp() + b)
    with mpmath.workprec(400):
        x, y = mp(a), mp(b)
        truth = exact((mpmath.log(x) - mpmath.sqrt(y)) * 3 + 1 / (7 * (mpmath.exp(x) + y)))
    slack = Fraction(1, 2**300)
    assert ours.lower(100) - slack <= truth <= ours.upper(100) + slack


@given(modest)
def test_floats_bracket_the_number_and_the_nearest_lies_between(x):
    number = Real(x).exp()
    low, near, high = number.float_down(), float(number), number.float_up()
    assert Fraction(low) <= number <= Fraction(high)
    assert low <= near <= high
    assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)
    with mpmath.workprec(300):
        truth = exact(mpmath.exp(mp(x)))
    other = [math.nextafter(near, way) for way in (-math.inf, math.inf)]
    assert all(abs(Fraction(near) - truth) <= abs(Fraction(o) - truth) for o in other)


@given(st.fractions(), st.fractions())
def test_rationals_stay_rational(a, b):
    assert (Real(a) + b).exact == a + b
    assert (Real(a) - b).exact == a - b
    assert (Real(a) * b).exact == a * b
    assert (a - Real(b)).exact == a - b
    assert abs(Real(a)).exact == abs(a)
    if b:
        assert (Real(a) / b).exact == a / b
        assert (a / Real(b)).exact == a / b
    assert (Real(a) < b) == (a < b)
    assert (Real(a) >= b) == (a >= b)
    assert (Real(a) == b) == (a == b)
    assert Real(a).floor() == math.floor(a)


@given(positives, positives)
def test_comparison_is_that_of_the_numbers(a, b):
    assume(a != b)
    assert (Real(a).log() < Real(b).log()) == (a < b)
    assert (Real(a).log() >= Real(b).log()) == (a > b)


@given(st.integers(1, 10**30))
def test_the_floor_of_a_logarithm(n):
    whole = (Real(n) + Fraction(1, 3)).log().floor()
    assert Real(whole).exp() <= n + Fraction(1, 3) < Real(whole + 1).exp()


def test_numbers_a_hair_apart_are_told_apart():
    root = Real(2).sqrt()
    hair = Fraction(1, 10**2000)
    assert root < root + hair
    assert (root - hair).sign() == 1
    near = Fraction(math.isqrt(2 * 10**4000), 10**2000)
    assert near < root < near + hair


def test_equal_irrationals_are_refused_not_guessed():
    with pytest.raises(Undecided, match="Hint: "):
        _ = Real(4).log() == 2 * Real(2).log()
    with pytest.raises(Undecided):
        (Real(8).log() / Real(2).log()).floor()


def test_the_square_root_of_a_square_is_rational():
    assert Real(Fraction(9, 4)).sqrt().exact == Fraction(3, 2)
    assert Real(2).sqrt().exact is None


def test_zero_annihilates_and_the_identities_are_exact():
    assert (Real(2).log() * 0).exact == 0
    assert Real(0).exp().exact == 1
    assert Real(0).expm1().exact == 0
    assert Real(1).log().exact == 0


def test_numbers_beyond_floats_become_infinite_or_outermost():
    for huge in (Real(10**400), Real(1000).exp()):
        assert float(huge) == math.inf
        assert float(-huge) == -math.inf
        assert huge.float_up() == math.inf
        assert huge.float_down() == math.nextafter(math.inf, 0)
    for exponent in (1000, 10**12, 10**40):
        tiny = Real(-exponent).exp()
        assert (tiny.float_down(), float(tiny), tiny.float_up()) == (0.0, 0.0, 5e-324)
        assert 0 <= tiny.lower() < tiny.upper() < Fraction(1, 10**300)
        assert (-tiny).upper() <= 0
        huge = Real(exponent).exp()
        assert (float(huge), huge.float_up()) == (math.inf, math.inf)
        assert huge.float_down() == -(-huge).float_up() == math.nextafter(math.inf, 0)
    with pytest.raises(TooLarge, match="Hint: "):
        Real(10**12).exp().upper()


def test_the_largest_of_several_needs_no_decision():
    equal = Real.max_of(Real(4).log(), 2 * Real(2).log())
    assert float(equal) == math.log(4)
    assert Real.max_of(1, Fraction(3, 2)).exact == Fraction(3, 2)
    assert float(Real.max_of(Real(2).log(), 1)) == 1.0


def test_a_long_sum_does_not_nest():
    total = Real.sum_of(Real(1).exp() for _ in range(20_000))
    assert abs(float(total) - 20_000 * math.e) < 1e-8
    assert Real.sum_of([1, Fraction(1, 2)]).exact == Fraction(3, 2)


def test_a_ball_has_the_bits_asked_for():
    for bits in (10, 64, 1000):
        ball = (Real(2).log() - Real(2).sqrt() / 2).ball(bits)
        assert ball.rel_accuracy_bits() >= bits
        assert balls.lower(ball) < balls.upper(ball)


def test_a_real_is_made_of_numbers_not_of_floats():
    with pytest.raises(TypeError, match="not float"):
        Real(0.5)  # type: ignore[arg-type]


def test_a_real_has_no_hash():
    with pytest.raises(TypeError):
        hash(Real(1))
