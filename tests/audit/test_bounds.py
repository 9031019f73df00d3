"""Clopper-Pearson bounds are bounds, and nearly the best ones."""

from fractions import Fraction

import pytest
from scipy.special import betaincinv

from discreet.audit.bounds import least_probability, most_probability

SEEN = [(1, 10), (7, 10), (10, 10), (3, 10**6), (259_000, 10**6), (999_999, 10**6), (40, 10**7)]


@pytest.mark.parametrize("alpha", [0.05, 5e-4, 1e-9])
@pytest.mark.parametrize(("seen", "trials"), SEEN)
def test_the_least_probability_is_at_or_just_below_the_beta_quantile(seen, trials, alpha):
    best = float(betaincinv(seen, trials - seen + 1, alpha))
    found = float(least_probability(seen, trials, alpha))
    assert found <= best * (1 + 1e-9)
    assert found >= best * 0.995 - 1e-3 * (seen / trials - best)


def test_with_few_trials_the_tail_is_below_alpha_as_an_exact_sum():
    for seen in range(1, 9):
        p = least_probability(seen, 8, 0.01)
        tail = sum(
            Fraction([1, 8, 28, 56, 70, 56, 28, 8, 1][k]) * p**k * (1 - p) ** (8 - k)
            for k in range(seen, 9)
        )
        assert Fraction(99, 10000) < tail <= Fraction(0.01)


def test_what_was_never_seen_may_still_happen_and_what_always_happened_may_fail():
    assert least_probability(0, 100, 0.01) == 0
    assert most_probability(100, 100, 0.01) == 1
    assert 0.045 < most_probability(0, 100, 0.01) < 0.0455
