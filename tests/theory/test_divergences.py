from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidProbability
from discreet.exact import Real
from discreet.theory import (
    INFINITY,
    GeometricNoise,
    LaplaceNoise,
    Log,
    gaussian_delta,
    hockey_stick,
    kl_divergence,
    laplace_delta,
    likelihood_ratio,
    max_divergence,
    statistical_difference,
)

POSITIVE = st.fractions(min_value=Fraction(1, 8), max_value=8, max_denominator=8)
FAIR, BIASED = ["1/2", "1/2"], ["3/4", "1/4"]


def test_two_coins_by_every_measure():
    assert likelihood_ratio(FAIR, BIASED) == 2
    assert max_divergence(FAIR, BIASED) == Log(2)
    assert max_divergence(BIASED, FAIR) == Log(Fraction(3, 2))
    assert statistical_difference(FAIR, BIASED) == Fraction(1, 4)
    assert hockey_stick(FAIR, BIASED, "ln(3/2)") == Fraction(1, 8)
    assert float(kl_divergence(FAIR, BIASED)) == pytest.approx(0.14384103622589045)


def test_what_only_one_gives_is_infinite_one_way_round():
    assert max_divergence(["1/2", "1/2"], [1, 0]) == INFINITY
    assert kl_divergence(["1/2", "1/2"], [1, 0]) == INFINITY
    assert max_divergence([1, 0], ["1/2", "1/2"]) == Log(2)
    assert hockey_stick(["1/2", "1/2"], [1, 0], "inf") == Fraction(1, 2)


def test_a_distribution_is_no_distance_from_itself():
    third = ["1/3"] * 3
    assert max_divergence(third, third) == 0
    assert kl_divergence(third, third) == 0
    assert hockey_stick(third, third, 0) == 0


@given(POSITIVE, POSITIVE, POSITIVE)
def test_laplace_noise_is_purely_private_from_sensitivity_over_scale_on(scale, sensitivity, less):
    pure = sensitivity / scale
    assert laplace_delta(scale=scale, sensitivity=sensitivity, epsilon=pure) == 0
    below = pure * Fraction(9, 10)
    assert laplace_delta(scale=scale, sensitivity=sensitivity, epsilon=below) > 0
    # Any upper bound on the sensitivity serves: a smaller true one is covered as well.
    smaller = min(sensitivity, less)
    assert laplace_delta(scale=scale, sensitivity=smaller, epsilon=pure) == 0


def test_laplace_delta_is_the_limit_of_finer_and_finer_geometric_noise():
    # Noise on multiples of 1/steps, two values 1 apart: half of the mass lies beyond the midpoint.
    steps = 4000
    noise = GeometricNoise(steps)
    tail = float(noise.tail(steps // 2)) / 2
    wanted = 1 - 2 * tail  # statistical difference: what lies on the near side, less the far side
    assert float(
        laplace_delta(scale=Fraction(1), sensitivity=Fraction(1), epsilon=Fraction(0))
    ) == (pytest.approx(wanted, abs=1e-3))


@given(POSITIVE, POSITIVE)
def test_gaussian_noise_has_a_positive_delta_at_every_epsilon(sigma, epsilon):
    delta = gaussian_delta(sigma=sigma, sensitivity=Fraction(1), epsilon=epsilon)
    assert 0 < delta < 1


def test_the_l1_norm_of_five_ones_is_five():
    assert sum(map(abs, (1, 1, 1, 1, 1))) == 5
    assert sum(map(abs, (1, 0, -3))) == 4


def test_the_quotient_of_two_laplace_densities_is_never_above_e_to_the_epsilon():
    # A quotient of exponentials, not a difference: exactly e^epsilon outside the two values.
    noise = LaplaceNoise.for_privacy(sensitivity=10, epsilon=1)
    outside = noise.density(30 - 20) / noise.density(30 - 10)
    between = noise.density(12 - 10) / noise.density(12 - 20)
    e = Real(1).exp()
    assert float(outside) == pytest.approx(float(e), rel=1e-15)
    assert between < e


def test_distributions_must_match():
    with pytest.raises(InvalidProbability, match="2 and 3 outputs"):
        max_divergence(FAIR, ["1/3"] * 3)
