from fractions import Fraction
from itertools import product
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidEpsilon, InvalidValue
from discreet.theory import Log, Response, central_rms_error


@given(st.integers(1, 1000), st.fractions(0, 1, max_denominator=100))
def test_two_fair_coins(people, fraction):
    coins = Response()
    assert coins.expected_yes(people=people, fraction=fraction) == (
        Fraction(people, 4) + people * fraction / 2
    )
    yes = people // 3
    assert coins.estimate(yes=yes, people=people) == 2 * (Fraction(yes, people) - Fraction(1, 4))


@settings(max_examples=30)
@given(st.lists(st.booleans(), min_size=1, max_size=6), st.sampled_from(["ln 3", "ln 2", "ln 9"]))
def test_estimates_are_right_on_average_and_as_spread_as_the_formula_says(truth, epsilon):
    response, people = Response(epsilon), len(truth)
    honest = response.truth.exact
    assert honest is not None
    fraction = Fraction(sum(truth), people)
    mean = square = Fraction(0)
    for answers in product([True, False], repeat=people):
        chance = Fraction(1)
        for said, true in zip(answers, truth, strict=True):
            chance *= honest if said == true else 1 - honest
        estimate = response.estimate(yes=sum(answers), people=people).exact
        assert estimate is not None
        mean += chance * estimate
        square += chance * (estimate - fraction) ** 2
    assert mean == fraction
    assert response.variance(people=people) == square


def test_the_truth_is_told_with_probability_e_to_the_epsilon_over_one_plus_it():
    assert Response("ln 3").truth == Fraction(3, 4)
    assert float(Response(1).truth) == pytest.approx(0.7310585786300049)
    assert Response("ln 7").channel.epsilon() == Log(7)


def test_no_curator_costs_a_square_root():
    local = [float(Response(1).rms_error(people=n)) for n in (100, 10_000)]
    central = [float(central_rms_error(people=n, epsilon=1)) for n in (100, 10_000)]
    assert local[0] / local[1] == pytest.approx(10)
    assert central[0] / central[1] == pytest.approx(100)
    assert all(a > b for a, b in zip(local, central, strict=True))


def test_a_sample_of_a_population_adds_at_most_a_quarter():
    coins = Response()
    assert coins.variance(people=75) == Fraction(1, 100)
    added = coins.population_variance(people=75, fraction="1/2") - coins.variance(people=75)
    assert added == Fraction(1, 4 * 75)
    assert float(coins.rms_error(people=300)) == pytest.approx(sqrt(0.75 / 300))


def test_faults_are_named():
    with pytest.raises(InvalidEpsilon, match="say nothing"):
        Response(0)
    with pytest.raises(InvalidValue, match="cannot be"):
        Response().estimate(yes=5, people=4)
    with pytest.raises(InvalidValue, match="number of people"):
        Response().variance(people=0)
