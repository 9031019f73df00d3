"""Probabilities, quantiles and intervals, against brute force over an independent law."""

from fractions import Fraction

import pytest
from mpmath import mp

from discreet.errors import InvalidInput
from discreet.exact import Real
from discreet.noise import GridLaplace, OneSidedGeometric, RoundedGaussian, TwoSidedGeometric
from tests.noise.laws import Gaussian, Geometric, HalfGeometric, exact

SCALES = ["1/5", "1", "10/3", "12"]
CASES = [
    *((TwoSidedGeometric, Geometric, scale) for scale in SCALES),
    *((OneSidedGeometric, HalfGeometric, scale) for scale in SCALES),
    *((RoundedGaussian, Gaussian, scale) for scale in SCALES),
]
CONFIDENCES = ["0.01", "0.3", "0.5", "0.9", "0.95", "0.99", "0.999999"]


def near(ours: Real, theirs: Fraction) -> bool:
    slack = Fraction(1, 10**50)
    return ours.lower(200) - slack <= theirs <= ours.upper(200) + slack


@pytest.mark.parametrize(("kind", "law", "scale"), CASES)
def test_probabilities_are_those_of_the_formulas(kind, law, scale):
    noise, witness = kind(scale), law(scale)
    for k in (-30, -3, -1, 0, 1, 2, 17, 100):
        assert near(noise.pmf(k), exact(witness.pmf(k)))
        assert near(noise.cdf(k), exact(witness.cdf(k)))
        expected = exact(witness.tail(k)) if k > 0 else Fraction(1)
        assert near(noise.tail(k), expected)


@pytest.mark.parametrize(("kind", "law", "scale"), CASES)
def test_moments_are_those_of_the_pmf(kind, law, scale):
    noise, witness = kind(scale), law(scale)
    reach = int(Fraction(scale) * 90) + 30
    with mp.workdps(60):
        pmf = {k: exact(witness.pmf(k)) for k in range(-reach, reach + 1)}
    mean = sum(k * p for k, p in pmf.items())
    variance = sum(k * k * p for k, p in pmf.items()) - mean**2
    assert abs(Real(noise.mean).lower(100) - mean) < Fraction(1, 10**25)
    assert abs(noise.variance.lower(100) - variance) < Fraction(1, 10**25)


@pytest.mark.parametrize("sigma", ["1e-6", "0.05", "0.3", "0.999", "1", "1.5", "4"])
def test_the_variance_of_a_rounded_normal_is_right_in_both_of_its_forms(sigma):
    law = Gaussian(sigma)
    with mp.workdps(60):
        expected = exact(law.moment(2))
    noise = RoundedGaussian(sigma)
    assert abs(noise.variance.lower(150) - expected) <= expected / 10**30
    assert noise.variance.lower(150) <= noise.variance.upper(150)


def test_the_two_forms_of_that_variance_agree_where_they_meet():
    just_below, at = (
        RoundedGaussian(Fraction(10**30 - 1, 10**30)).variance,
        RoundedGaussian(1).variance,
    )
    assert abs(float(at - just_below)) < 1e-29


@pytest.mark.parametrize(("kind", "law", "scale"), CASES)
@pytest.mark.parametrize("p", CONFIDENCES)
def test_a_quantile_is_the_smallest_number_that_reaches_its_probability(kind, law, scale, p):
    k = kind(scale).quantile(p)
    witness = law(scale)
    assert exact(witness.cdf(k - 1)) < Fraction(p) <= exact(witness.cdf(k))


@pytest.mark.parametrize(("kind", "law", "scale"), CASES)
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_no_interval_of_fewer_integers_holds_a_draw_as_often(kind, law, scale, confidence):
    low, high = kind(scale).interval(confidence)
    witness = law(scale)
    wanted = Fraction(confidence)
    width = high - low
    cdf = {k: exact(witness.cdf(k)) for k in range(-2 * width - 9, 2 * width + 9)}
    assert cdf[high] - cdf[low - 1] >= wanted
    shorter = [cdf[k + width - 1] - cdf[k - 1] for k in range(-width - 8, width + 8)]
    assert width == 0 or max(shorter) < wanted


@pytest.mark.parametrize("kind", [TwoSidedGeometric, RoundedGaussian])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("draws", [1, 2, 10, 1000])
def test_within_is_the_smallest_bound_that_all_draws_keep(kind, scale, draws):
    noise = kind(scale)
    law = Geometric(scale) if kind is TwoSidedGeometric else Gaussian(scale)
    t = noise.within("0.95", draws=draws)
    wanted = Fraction(95, 100)
    assert (1 - exact(law.tail(t + 1))) ** draws >= wanted
    assert t == 0 or (1 - exact(law.tail(t))) ** draws < wanted


@pytest.mark.parametrize("draws", [-1, True, 1.5, "2"])
def test_within_takes_a_whole_number_of_draws(draws):
    with pytest.raises(InvalidInput):
        TwoSidedGeometric(1).within("0.95", draws=draws)


@pytest.mark.parametrize("kind", [TwoSidedGeometric, OneSidedGeometric, RoundedGaussian])
@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, float("nan"), True, "x"])
def test_a_confidence_lies_strictly_between_0_and_1(kind, p):
    noise = kind(3)
    for ask in (noise.interval, noise.quantile):
        with pytest.raises(InvalidInput, match="Hint: "):
            ask(p)


@pytest.mark.parametrize("kind", [TwoSidedGeometric, OneSidedGeometric, RoundedGaussian])
@pytest.mark.parametrize("scale", ["1e-6", "1e15"])
def test_the_farthest_scales_have_intervals_too(kind, scale):
    noise = kind(scale)
    low, high = noise.interval("0.95")
    assert noise.cdf(high) - noise.cdf(low - 1) >= Fraction(95, 100)
    assert 0 <= float(noise.variance) <= 2.0001 * float(Fraction(scale)) ** 2 + 1e-300
    assert noise.quantile("0.5") >= 0


def test_the_ratio_of_neighbouring_probabilities_is_that_of_the_mechanism():
    noise = TwoSidedGeometric("7/3")
    step = Real(Fraction(-3, 7)).exp()
    for k in (0, 1, 5, 40):
        assert abs((noise.pmf(k + 1) / noise.pmf(k) - step).upper()) < Fraction(1, 10**15)


# Laplace noise on a grid is the geometric law in other units --------------------------------------


def test_laplace_noise_counts_in_steps_of_its_grid():
    noise, steps = GridLaplace(2, grid="0.1"), TwoSidedGeometric(20)
    assert noise.steps == steps
    for k in (-7, 0, 3):
        z = Fraction(k, 10)
        assert float(noise.pmf(z)) == float(steps.pmf(k))
        assert float(noise.cdf(z)) == float(steps.cdf(k))
        assert float(noise.cdf(z + Fraction(1, 20))) == float(steps.cdf(k))
        assert float(noise.tail(abs(z))) == float(steps.tail(abs(k)))
        assert float(noise.tail(abs(z) - Fraction(1, 20))) == float(steps.tail(abs(k)))
        assert noise.pmf(z + Fraction(1, 20)).exact == 0
    assert noise.quantile("0.9") == Fraction(steps.quantile("0.9"), 10)
    assert noise.interval("0.9") == tuple(Fraction(end, 10) for end in steps.interval("0.9"))
    assert float(noise.variance) == float(steps.variance / 100)
    assert noise.mean == 0


def test_a_point_of_a_decimal_grid_may_be_given_as_a_float():
    noise = GridLaplace(2, grid=0.1)
    for k in range(-20, 20):
        assert float(noise.pmf(k / 10)) == float(noise.steps.pmf(k))
        assert float(noise.cdf(k / 10)) == float(noise.steps.cdf(k))
        assert float(noise.tail(k / 10)) == float(noise.steps.tail(k))
    with pytest.raises(InvalidInput, match="Hint: "):
        noise.pmf("x")


def test_the_density_is_the_limit_of_fine_grids():
    fine = GridLaplace(2, grid="1/1048576")
    for z in (0, 1, -3):
        assert abs(float(fine.pmf(z)) * 2**20 / float(fine.pdf(z)) - 1) < 1e-6
