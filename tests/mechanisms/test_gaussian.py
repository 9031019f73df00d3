"""Gaussian: certified, close to the optimum, and private after rounding."""

import random
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.stats import chisquare

from discreet import Gaussian
from discreet.errors import InvalidEpsilon
from discreet.mechanisms import classical_sigma
from discreet.mechanisms.gaussian import smallest_sigma
from discreet.theory.divergences import gaussian_delta
from tests.mechanisms.distances import excess
from tests.mechanisms.every_draw import number

ALPHA = 1e-6


def delta(sigma, sensitivity, epsilon) -> Any:
    """The delta of two normals at a distance, from the definition of the hockey stick."""
    shift = mpf(sensitivity) / sigma
    # P exceeds e^epsilon Q where the log-ratio shift * z - shift^2 / 2 does, z normal under P.
    edge = mpf(epsilon) / shift - shift / 2
    return tail(edge) - mpmath.exp(epsilon) * tail(edge + shift)


def tail(z) -> Any:
    return mpmath.erfc(z / mpmath.sqrt(2)) / 2


def settings(count) -> Any:
    draw = random.Random(count)
    for _ in range(count):
        epsilon = Fraction(draw.choice([1, 3, 10, 100]) * draw.randint(1, 1000), 1000)
        yield epsilon, Fraction(draw.randint(1, 99), 10 ** draw.randint(2, 20))


def check_calibration(count) -> Any:
    for epsilon, wanted in settings(count):
        sigma = number(smallest_sigma(epsilon, wanted))
        exact = mpf(epsilon.numerator) / epsilon.denominator
        with mp.workdps(60):
            assert delta(sigma, 1, exact) <= number(wanted)
            assert delta(sigma / (1 + mpf("1e-6")), 1, exact) > number(wanted)


def test_sigma_is_certified_and_within_a_millionth_of_the_least():
    check_calibration(100)


@pytest.mark.deep
def test_sigma_is_certified_in_a_thousand_settings():
    check_calibration(1000)


def test_delta_is_the_hockey_stick_of_two_normals_by_quadrature():
    for sigma, sensitivity, epsilon in ((1, 1, 1), (3, 2, Fraction(1, 2)), (Fraction(1, 2), 1, 2)):
        s, d, e = (number(Fraction(x)) for x in (sigma, sensitivity, epsilon))
        edge = d / 2 - e * s**2 / d  # where the density at 0 is e^epsilon times that at d
        density = lambda z, at, s=s: mpmath.npdf(z, at, s)  # noqa: E731
        integral = mpmath.quad(
            lambda z, d=d, e=e, f=density: f(z, 0) - mpmath.exp(e) * f(z, d),
            [-mpmath.inf, edge - 5, edge],
        )
        ours = gaussian_delta(
            sigma=Fraction(sigma), sensitivity=Fraction(sensitivity), epsilon=Fraction(epsilon)
        )
        assert abs(number(ours) - integral) < 1e-25


def rounded(mechanism, at, reach) -> Any:
    return {at + k: number(mechanism.noise.pmf(k)) for k in range(-reach, reach + 1)}


@pytest.mark.parametrize("sigma", ["0.4", "1", "3.7"])
@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1), Fraction(3)])
def test_rounding_never_costs_privacy(sigma, shift, epsilon):
    mechanism = Gaussian.from_scale(sensitivity=shift, sigma=sigma)
    reach = int(Fraction(sigma) * 14) + shift + 3
    p, q = rounded(mechanism, 0, reach), rounded(mechanism, shift, reach)
    promised = number(mechanism.delta(epsilon))
    left = 1 - mpmath.fsum(p.values())
    for one, other in ((p, q), (q, p)):
        assert excess(one, other, epsilon) <= promised + left + mpf("1e-45")
    # And the sum is no empty one: at a fine grid it is nearly all of the continuous delta.
    if sigma == "3.7" and shift > 1 and epsilon <= 1:
        assert excess(p, q, epsilon) > promised * mpf("0.9")


def test_half_the_noise_is_refuted():
    wanted = Fraction(1, 10**5)
    mechanism = Gaussian.from_epsilon(sensitivity=1, epsilon=1, delta=wanted)
    halved = Gaussian.from_scale(sensitivity=1, sigma=mechanism.sigma / 2)
    p, q = rounded(halved, 0, 40), rounded(halved, 1, 40)
    assert excess(p, q, 1) > 100 * number(wanted)


def test_a_vector_is_private_by_its_l2_distance():
    # Two coordinates that move by (3, 4) on a grid of 1/5 are at the distance 1.
    mechanism = Gaussian.from_epsilon(sensitivity=1, epsilon=1, delta="1e-3", grid="1/5")
    noise = mechanism.noise
    reach = int(noise.sigma * 6)
    with mp.workdps(20):
        masses = {k: number(noise.pmf(k)) for k in range(-reach - 4, reach + 5)}
        cells = [(i, j) for i in range(-reach, reach + 1) for j in range(-reach, reach + 1)]
        ratio = mpmath.e
        far, near = (
            mpmath.fsum(
                max(mpf(0), masses[i] * masses[j] - ratio * masses[i - a] * masses[j - b])
                for i, j in cells
            )
            for a, b in ((3, 4), (3, 3))
        )
    assert far <= mpf("1e-3")
    assert far > mpf("0.9e-3")  # the distance is met, and the noise is not too much
    assert near < far


def test_the_classical_formula_is_for_comparison_and_refused_above_1():
    for epsilon in ("1/100", "1/2", "1"):
        theirs = classical_sigma(sensitivity=2, epsilon=epsilon, delta="1e-6")
        expected = mpmath.sqrt(2 * mpmath.log(mpf("1.25e6"))) * 2 / number(Fraction(epsilon))
        assert abs(number(theirs) - expected) < 1e-40
        ours = Gaussian.from_epsilon(sensitivity=2, epsilon=epsilon, delta="1e-6")
        assert ours.sigma < theirs
    for epsilon in ("1.01", "2", "1.0000001"):
        with pytest.raises(InvalidEpsilon, match=r"epsilon = .*\n\nHint: Gaussian.from_epsilon"):
            classical_sigma(sensitivity=1, epsilon=epsilon, delta="1e-6")


def test_epsilon_and_delta_of_a_scale_belong_together():
    mechanism = Gaussian.from_scale(sensitivity=1, sigma=4)
    epsilon = mechanism.epsilon("1e-6")
    assert mechanism.delta(epsilon) <= Fraction(1, 10**6)
    assert mechanism.delta(epsilon - Fraction(1, 10**6)) > Fraction(1, 10**6)


@pytest.mark.parametrize(("relation", "factor"), [("add_remove", 1), ("change_one", 2**0.5)])
def test_a_histogram_moves_by_the_rows_of_a_unit_in_one_bin(relation, factor):
    mechanism = Gaussian.for_histogram(epsilon=1, delta=1e-6, rows_per_unit=3, relation=relation)
    assert float(mechanism.sensitivity) == pytest.approx(3 * factor, rel=1e-12)
    assert mechanism.sensitivity**2 >= (9 if relation == "add_remove" else 18)
    assert mechanism.event.relation == relation


@pytest.mark.parametrize("sigma", ["2/5", "6", "900"])
def test_releases_follow_the_rounded_normal(sigma):
    # Chi-square over up to 40 cells; false alarms: one in a million.
    n = 100_000
    mechanism = Gaussian.from_scale(sensitivity=1, sigma=sigma)
    released = mechanism.release(np.full(n, -3)) + 3
    edges = sorted({mechanism.noise.quantile(Fraction(i, 40)) for i in range(1, 40)})
    for wrong in (False, True):
        spread = number(Fraction(sigma)) * (mpf("1.1") if wrong else 1)
        cdf = [float(mpmath.ncdf((mpf(k) + mpf("0.5")) / spread)) for k in edges]
        cells = np.bincount(np.searchsorted(edges, released), minlength=len(edges) + 1)
        fit = chisquare(cells, n * np.diff([0.0, *cdf, 1.0])).pvalue
        assert (fit < ALPHA) == wrong
