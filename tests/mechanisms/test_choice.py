"""Exponential, noisy max, permute-and-flip: their guarantees by exact enumeration."""

from fractions import Fraction
from functools import lru_cache, partial
from itertools import permutations, product
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.stats import chisquare

from discreet import Exponential, NoisyMax, PermuteAndFlip
from discreet.errors import InvalidValue
from discreet.noise import Selection
from tests.mechanisms.distances import e_to, is_private
from tests.mechanisms.every_draw import distribution, number, scripted

ALPHA = 1e-6
KINDS = [Exponential, NoisyMax, PermuteAndFlip]
EPSILON = 4
REACH = 15  # noise beyond it has a mass below 1e-12 at the epsilons used here
UTILITIES = list(product(range(3), repeat=3))


@lru_cache(maxsize=1024)
def law(mechanism, utilities) -> Any:
    found, leftover = distribution(lambda: mechanism.release(utilities), reach=REACH)
    assert leftover < 1e-12
    return found


def neighbours(*, monotone) -> Any:
    for u, v in product(UTILITIES, repeat=2):
        steps = [b - a for a, b in zip(u, v, strict=True)]
        if max(map(abs, steps)) <= 1 and not (monotone and min(steps) < 0 < max(steps)):
            yield u, v


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("monotone", [False, True])
def test_no_pair_of_neighbours_is_further_apart_than_epsilon(kind, monotone):
    # Half of epsilon where utilities move one way: the same noise, so the same reach.
    epsilon = Fraction(EPSILON, 2 if monotone else 1)
    mechanism = kind(sensitivity=1, epsilon=epsilon, monotone=monotone)
    for u, v in neighbours(monotone=monotone):
        assert is_private(law(mechanism, u), law(mechanism, v), epsilon, slack=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_the_enumeration_refutes_a_quarter_less_noise(kind):
    mechanism = kind(sensitivity=1, epsilon=Fraction(EPSILON * 4, 3))
    assert not all(
        is_private(law(mechanism, u), law(mechanism, v), EPSILON, slack=1e-11)
        for u, v in neighbours(monotone=False)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_enumeration_refutes_monotone_noise_where_utilities_are_not(kind):
    mechanism = kind(sensitivity=1, epsilon=2, monotone=True)
    assert not all(
        is_private(law(mechanism, u), law(mechanism, v), 2, slack=1e-11)
        for u, v in neighbours(monotone=False)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_sensitivity_between_grid_points_counts_as_the_next_one(kind):
    mechanism = kind(sensitivity="0.3", epsilon=1, grid="1/4")
    assert mechanism.sensitivity == Fraction(1, 2)
    assert mechanism.event.sensitivity == Fraction(1, 2)
    assert mechanism.unit == Fraction(1, 4)  # epsilon / (2 * 2 steps)


@pytest.mark.parametrize("utilities", [(0, 1, 2), (2, 2, 0), (0, 0, 0), (1, 0, 2, 2)])
def test_the_exponential_mechanism_has_the_probabilities_of_its_definition(utilities):
    mechanism = Exponential(sensitivity=2, epsilon=3)
    weights = [mpmath.exp(mpf(3) * u / 4) for u in utilities]
    for i, mass in law(mechanism, utilities).items():
        assert abs(mass - weights[i] / mpmath.fsum(weights)) < 1e-40


def test_the_exponential_mechanism_is_private_by_the_pmf_that_is_sampled():
    mechanism = Exponential(sensitivity=1, epsilon=1)
    for u, v in neighbours(monotone=False):
        ours = Selection(u, unit=mechanism.unit)
        theirs = Selection(v, unit=mechanism.unit)
        for i in range(3):
            assert number(ours.pmf(i)) <= e_to(1) * number(theirs.pmf(i))


@pytest.mark.parametrize("utilities", [(0, 1, 2), (2, 2, 0), (0, 0, 0), (0, 3, 1, 3)])
def test_permute_and_flip_is_a_walk_through_a_random_permutation(utilities):
    mechanism = PermuteAndFlip(sensitivity=1, epsilon=1)
    taken = [mpmath.exp(-mpf(max(utilities) - u) / 2) for u in utilities]
    size = len(utilities)
    expected = [mpf(0)] * size
    for order in permutations(range(size)):
        reached = 1 / mpmath.factorial(size)
        for candidate in order:
            expected[candidate] += reached * taken[candidate]
            reached *= 1 - taken[candidate]
        # The best is always taken, so no walk goes on for ever.
        assert reached == 0
    for i, mass in law(mechanism, utilities).items():
        assert abs(mass - expected[i]) < 1e-40


def test_noisy_max_gives_ties_to_the_first():
    mechanism = NoisyMax(sensitivity=1, epsilon=1)
    assert scripted(lambda: mechanism.release([5, 5, 5]), [0, 0, 0]) == 0
    assert scripted(lambda: mechanism.release([4, 5, 3]), [1, 0, 2]) == 0
    assert scripted(lambda: mechanism.release([4, 5, 3]), [1, 0, 3]) == 2


def test_permute_and_flip_is_never_worse_than_the_exponential_mechanism():
    for utilities in UTILITIES:
        best = max(utilities)
        expected = [
            mpmath.fsum(
                mass * (best - utilities[i])
                for i, mass in law(kind(sensitivity=1, epsilon=EPSILON), utilities).items()
            )
            for kind in (PermuteAndFlip, Exponential)
        ]
        assert expected[0] <= expected[1] + mpf("1e-40")


@pytest.mark.parametrize("kind", KINDS)
def test_releases_follow_the_enumerated_law(kind):
    # Chi-square over 3 outcomes; false alarms: one in a million.
    utilities, n = (0, 1, 3), 4000
    mechanism = kind(sensitivity=1, epsilon=2)
    masses, _ = distribution(lambda: mechanism.release(utilities), reach=18)
    counts = np.bincount([mechanism.release(utilities) for _ in range(n)], minlength=3)
    expected = np.array([float(masses[i]) for i in range(3)])
    assert chisquare(counts, n * expected / expected.sum()).pvalue > ALPHA
    wrong, _ = distribution(lambda: kind(sensitivity=2, epsilon=2).release(utilities), reach=18)
    other = np.array([float(wrong[i]) for i in range(3)])
    assert chisquare(counts, n * other / other.sum()).pvalue < ALPHA


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("candidates", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [EPSILON])
def test_the_error_is_not_exceeded_whatever_the_utilities(kind, candidates, epsilon):
    mechanism = kind(sensitivity=1, epsilon=epsilon)
    confidence = Fraction(9, 10)
    error = mechanism.error(confidence, candidates=candidates)
    for utilities in product(range(0, 6, 5 if candidates == 3 else 1), repeat=candidates):
        found, leftover = distribution(partial(mechanism.release, utilities), reach=REACH)
        missed = mpmath.fsum(
            mass for i, mass in found.items() if max(utilities) - utilities[i] > error.exact
        )
        assert missed <= number(1 - confidence) + leftover


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_one_step_less_than_the_error_is_exceeded_by_some_utilities(kind):
    mechanism = kind(sensitivity=1, epsilon=1)
    steps = int(mechanism.error("0.9", candidates=4).exact)
    found = law(mechanism, (steps, 0, 0, 0))
    assert mpmath.fsum(mass for i, mass in found.items() if i) > mpf("0.1")


@pytest.mark.parametrize("kind", KINDS)
def test_the_textbook_bound_is_the_logarithm(kind):
    error = kind(sensitivity=3, epsilon="1/2").error("0.99", candidates=50)
    assert error.textbook == pytest.approx(2 * 3 / 0.5 * np.log(50 / 0.01), rel=1e-12)
    assert error.exact <= error.textbook


@pytest.mark.parametrize("kind", KINDS)
def test_the_candidate_itself_is_released_where_a_list_is_given(kind):
    mechanism = kind(sensitivity=1, epsilon=1)
    assert mechanism.release([0, 1000], candidates=["a", "b"]) == "b"
    assert mechanism.release(np.array([1000.0, 0.0]), candidates=("a", "b")) == "a"
    assert mechanism.release([-7]) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("utilities", "candidates"),
    [([], None), ([[1, 2]], None), (3, None), ([1, 2], ["a"]), ([1], {"a"}), ([1], 5)],
)
def test_what_is_not_one_utility_for_each_candidate_is_refused(kind, utilities, candidates):
    with pytest.raises(InvalidValue, match=r"\n\nHint: "):
        kind(sensitivity=1, epsilon=1).release(utilities, candidates=candidates)


@pytest.mark.parametrize("kind", KINDS)
def test_utilities_at_the_limit_of_64_bits_do_not_wrap(kind):
    mechanism = kind(sensitivity=1, epsilon="1e-3")
    assert mechanism.release([-(2**61) + 1, 2**61 - 1]) == 1
    assert mechanism.release([2**61 - 1, -(2**61) + 1]) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_monotone_is_refused_where_units_are_changed(kind):
    with pytest.raises(InvalidValue, match="monotone = True"):
        kind(sensitivity=1, epsilon=1, monotone=True, relation="change_one")
    with pytest.raises(InvalidValue, match="monotone = 'no'"):
        kind(sensitivity=1, epsilon=1, monotone="no")
    event = kind(sensitivity=1, epsilon=1, relation="change_one").event
    assert (event.relation, event.parameters["epsilon"]) == ("change_one", 1)
