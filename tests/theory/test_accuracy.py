from fractions import Fraction
from math import exp, log, pi, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import InvalidValue, TooLarge
from discreet.theory import (
    GaussianNoise,
    GeometricNoise,
    LaplaceNoise,
    Log,
    central_rms_error,
    central_sample_size,
    epsilon_for_error,
    epsilon_for_rms_error,
    local_sample_size,
    table_errors,
)

SCALES = st.fractions(min_value=Fraction(1, 4), max_value=50, max_denominator=8)
BETAS = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(9, 10), max_denominator=1000)
DISTANCES = st.fractions(min_value=0, max_value=100, max_denominator=10)
COORDINATES = st.integers(1, 50)


@given(SCALES, DISTANCES)
def test_laplace_is_what_scipy_says(scale, distance):
    noise = LaplaceNoise(scale)
    oracle = stats.laplace(scale=float(scale))
    assert float(noise.tail(distance)) == pytest.approx(2 * oracle.sf(float(distance)), rel=1e-12)
    assert float(noise.density(distance)) == pytest.approx(oracle.pdf(float(distance)), rel=1e-12)
    assert float(noise.variance()) == pytest.approx(oracle.var(), rel=1e-12)
    assert noise.mean() == 0


@given(SCALES, BETAS)
def test_a_laplace_error_is_exceeded_with_exactly_the_chance_stated(scale, beta):
    noise = LaplaceNoise(scale)
    assert float(noise.tail(noise.error_bound(beta))) == pytest.approx(float(beta), rel=1e-14)
    assert float(noise.error(beta)) == pytest.approx(float(noise.error_bound(beta)), rel=1e-14)


@settings(max_examples=50)
@given(SCALES, BETAS, COORDINATES)
def test_the_largest_of_k_errors(scale, beta, k):
    for noise in (LaplaceNoise(scale), GaussianNoise(scale)):
        exact, bound = noise.error(beta, k), noise.error_bound(beta, k)
        assert exact.float_down() <= bound.float_up()
        assert float(noise.largest_tail(exact, k)) == pytest.approx(float(beta), rel=1e-12)
        assert noise.largest_tail_bound(bound, k).float_down() <= float(beta) * (1 + 1e-12)


@settings(max_examples=50)
@given(SCALES, DISTANCES, COORDINATES)
def test_textbook_bounds_are_bounds(scale, distance, k):
    for noise in (LaplaceNoise(scale), GeometricNoise(scale), GaussianNoise(scale)):
        assert noise.tail(distance).float_down() <= noise.tail_bound(distance).float_up()
        exact, union = noise.largest_tail(distance, k), noise.largest_tail_bound(distance, k)
        assert exact.float_down() <= union.float_up()


def test_moments_of_laplace_noise():
    noise = LaplaceNoise(20)
    assert noise.mean_error() == 20
    assert float(noise.rms_error()) == 20 * sqrt(2)
    assert noise.expected_l1(5) == 100
    assert float(noise.tail(60)) == exp(-3)


def test_the_expected_largest_of_many_laplace_errors():
    noise = LaplaceNoise(1)
    assert noise.expected_largest(3) == Fraction(11, 6)
    for k in (100, 101, 3143):
        harmonic = float(sum(Fraction(1, i) for i in range(1, k + 1)))
        assert float(noise.expected_largest(k)) == harmonic
    for k in (1, 2, 10, 3143):
        assert noise.expected_largest(k).float_up() <= noise.expected_largest_bound(k).float_up()
    # P(max > L (ln d + t)) <= exp(-t)
    for t in (Fraction(1, 2), 1, 3):
        distance = Log(100) + t
        assert noise.largest_tail(distance, 100).float_down() <= exp(-float(t))


@given(SCALES, st.integers(0, 40))
def test_geometric_is_what_scipy_says(scale, distance):
    noise = GeometricNoise(scale)
    oracle = stats.dlaplace(1 / float(scale))
    assert float(noise.probability(distance)) == pytest.approx(oracle.pmf(distance), rel=1e-9)
    assert float(noise.tail(distance)) == pytest.approx(
        2 * oracle.sf(distance), rel=1e-9, abs=1e-14
    )
    assert float(noise.variance()) == pytest.approx(oracle.var(), rel=1e-9)


@settings(max_examples=30)
@given(SCALES, BETAS, st.integers(1, 5))
def test_a_geometric_error_is_the_least_whole_number_that_serves(scale, beta, k):
    noise = GeometricNoise(scale)
    error = noise.error(beta, k)
    assert noise.largest_tail(error, k) <= beta
    assert error == 0 or noise.largest_tail(error - 1, k) > beta


def test_geometric_noise_of_a_rational_ratio_is_rational():
    noise = GeometricNoise.for_privacy(sensitivity=1, epsilon="ln 2")
    assert noise.probability(-3) == Fraction(1, 24)
    assert noise.mean_error() == Fraction(4, 3)
    assert noise.variance() == 4
    assert noise.tail("1.5") == Fraction(1, 3)


def test_gaussian_moments():
    noise = GaussianNoise(3)
    assert noise.rms_error() == 3
    assert float(noise.mean_error()) == pytest.approx(3 * sqrt(2 / pi), rel=1e-15)
    assert float(noise.density(1)) == pytest.approx(stats.norm(scale=3).pdf(1), rel=1e-14)
    assert float(noise.error("1/20")) == pytest.approx(3 * 1.959963984540054, rel=1e-14)


def test_mean_age_of_the_text():
    noise = LaplaceNoise.for_privacy(sensitivity="1.5", epsilon="1/2")
    for z in (0, 1, -4):
        # (eps/3) exp(-abs(z - y) eps / 1.5)
        assert float(noise.density(z)) == pytest.approx(0.5 / 3 * exp(-abs(z) * 0.5 / 1.5))


@pytest.mark.parametrize(
    ("relation", "expected", "largest"), [("change_one", 20, 181.06), ("add_remove", 10, 90.53)]
)
def test_counties(relation, expected, largest):
    counties = table_errors(counts=3143, epsilon="0.1", relation=relation)
    assert counties.expected == expected
    assert round(float(counties.expected_largest_bound), 2) == largest
    # Exactly, it is a little less: the harmonic sum instead of ln k + 1.
    assert counties.expected_largest < counties.expected_largest_bound


def test_sample_sizes():
    assert float(central_sample_size(error="0.01", epsilon=1).formula) == sqrt(2) / 0.01
    assert local_sample_size(error="0.01", epsilon="ln 3").formula == Fraction(3, 4) * 10**4
    assert local_sample_size(error="0.01", epsilon="ln 3", population=True).people == 10_000
    assert central_sample_size(error="0.01", epsilon=1).people == 142


@pytest.mark.parametrize("epsilon", ["1/100", "1/1000"])
def test_halving_the_error_or_a_small_epsilon_doubles_one_and_quadruples_the_other(epsilon):
    half = Fraction(epsilon) / 2
    central = [
        float(central_sample_size(error=e, epsilon=x).formula)
        for e, x in [("0.1", epsilon), ("0.05", epsilon), ("0.1", half)]
    ]
    local = [
        float(local_sample_size(error=e, epsilon=x).formula)
        for e, x in [("0.1", epsilon), ("0.05", epsilon), ("0.1", half)]
    ]
    assert central[1] / central[0] == pytest.approx(2)
    assert local[1] / local[0] == pytest.approx(4)
    assert central[2] / central[0] == pytest.approx(2)
    assert local[2] / local[0] == pytest.approx(4, rel=1e-4)


@pytest.mark.parametrize("people", [10, 1000, 10**6])
def test_at_epsilon_one_over_n_nothing_is_learnt(people):
    error = central_rms_error(people=people, epsilon=Fraction(1, people))
    assert float(error) == sqrt(2)
    assert error > 1  # more than any fraction


@given(BETAS, st.integers(1, 100), st.integers(1, 10))
def test_the_epsilon_for_an_error_gives_that_error(beta, error, k):
    epsilon = epsilon_for_error(error=error, beta=beta, k=k)
    noise = LaplaceNoise(1 / epsilon.lower(128))
    assert float(noise.error(beta, k)) == pytest.approx(error, rel=1e-12)
    rms = epsilon_for_rms_error(error=error, sensitivity=2)
    assert float(rms) == pytest.approx(2 * sqrt(2) / error)


def test_more_coordinates_cost_a_logarithm():
    one, many = (epsilon_for_error(error=10, beta="0.05", k=k) for k in (1, 1000))
    assert float(many) / float(one) == pytest.approx(log(1000 / 0.05) / log(1 / 0.05), rel=0.01)


def test_faults_are_named():
    for bad in (0, 1):
        with pytest.raises(InvalidValue, match="beta"):
            LaplaceNoise(1).error(bad)
    with pytest.raises(InvalidValue, match="coordinates"):
        LaplaceNoise(1).error("1/2", k=0)
    with pytest.raises(InvalidValue, match="negative"):
        LaplaceNoise(1).tail(-1)
    with pytest.raises(TooLarge, match="10,000,000"):
        LaplaceNoise(1).expected_largest(10**7)
