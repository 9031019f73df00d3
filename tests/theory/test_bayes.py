from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidProbability, InvalidValue
from discreet.theory import (
    INFINITY,
    Log,
    alike_prior,
    all_rows,
    approaching_prior,
    belief,
    belief_change,
    belief_distance,
    conditional_supremum,
    deterministic,
    epsilon_of_belief_distance,
    families,
    given_others,
    independent_prior,
    joint_supremum,
    largest_belief_distance,
    posterior,
    textbook_epsilon_of_belief_distance,
    two_coins,
)
from tests.theory.strategies import channels, database_channels, distributions

HALF = Fraction(1, 2)


def exclusive_or(rows: Any) -> int:
    return int(rows[0] ^ rows[1])


XOR = deterministic(exclusive_or, list(all_rows((0, 1), 2)))


@settings(max_examples=300)
@given(database_channels(), st.data())
def test_given_the_others_beliefs_move_by_at_most_e_to_the_epsilon(channel, data):
    prior = dict(zip(channel.inputs, data.draw(distributions(len(channel.inputs))), strict=True))
    x = data.draw(st.sampled_from([x for x in channel.inputs if prior[x] > 0]))
    person = data.draw(st.integers(0, len(x) - 1))
    others = (*x[:person], *x[person + 1 :])
    known = given_others(prior, person, others)
    for place, y in enumerate(channel.outputs):
        if not any(channel[z][place] * mass for z, mass in known.items()):
            continue
        moved = belief_change(channel, prior, person, y, others=others)
        assert moved <= channel.likelihood_ratio("change_one")


@settings(max_examples=300)
@given(channels(positive=True))
def test_the_supremum_is_approached_and_not_attained(channel):
    ratio = channel.likelihood_ratio()
    assert conditional_supremum(channel) == ratio
    assume(ratio > 1)
    x, y, output = next(
        (x, y, place)
        for x in channel.inputs
        for y in channel.inputs
        for place in range(len(channel.outputs))
        if ratio == channel[x][place] / channel[y][place]
    )
    previous: Any = Fraction(1)
    for mass in (Fraction(1, 10), Fraction(1, 1000), Fraction(1, 10**6)):
        prior = approaching_prior(x, y, mass)
        up = posterior(channel, prior, output)[x] / mass
        assert previous < up < ratio
        assert up == ratio.exact / (1 + mass * (ratio.exact - 1))
        previous = up
    assert ratio.exact - previous < Fraction(1, 1000) * ratio.exact


def test_people_who_are_alike_break_the_bound_that_holds_given_the_others():
    survey = two_coins().each(3)
    prior = alike_prior(("yes", "no"), people=3, mass="1/1000")
    moved = belief_change(survey, prior, 0, ("yes", "yes", "yes"))
    assert moved > 26  # e^epsilon is 3; e^(3 epsilon) is 27, approached
    assert joint_supremum(survey, 0) == 27
    given = belief_change(survey, prior, 0, ("yes",) * 3, others=("yes", "yes"))
    assert given == 1  # knowing the others says everything beforehand


def test_for_one_fixed_prior_the_two_are_incomparable():
    # The exclusive or of two rows is not private at all, and given the other row it says all;
    # yet under a fair prior nothing is learnt about one row alone.
    fair = independent_prior([{0: HALF, 1: HALF}] * 2)
    assert XOR.epsilon("change_one") == INFINITY
    assert belief_change(XOR, fair, 0, 1) == 1
    assert belief_change(XOR, fair, 0, 1, others=(0,)) == INFINITY
    # The other way round: private, and a joint prior under which one row alone moves further.
    survey = two_coins().each(2)
    assert belief_change(survey, alike_prior(("yes", "no"), 2, "1/100"), 0, ("yes", "yes")) > 3


@settings(max_examples=200)
@given(database_channels(positive=True), st.data())
def test_over_independent_priors_the_two_are_equivalent(channel, data):
    size = len(channel.inputs[0])
    values = sorted({value for x in channel.inputs for value in x})
    marginals = [
        dict(zip(values, data.draw(distributions(len(values))), strict=True)) for _ in range(size)
    ]
    prior = independent_prior(marginals)
    ratio = channel.likelihood_ratio("change_one")
    for person in range(size):
        for y in channel.outputs:
            assert belief_change(channel, prior, person, y) <= ratio
    # A prior that is sure of the others is independent too: so nothing less would do.
    assert conditional_supremum(channel) == ratio


@settings(max_examples=100)
@given(database_channels(positive=True))
def test_over_all_joint_priors_it_is_stronger(channel):
    people = range(len(channel.inputs[0]))
    worst = max((joint_supremum(channel, person) for person in people), key=float)
    ratio = channel.likelihood_ratio("change_one")
    assert ratio <= worst
    assert worst <= ratio ** len(channel.inputs[0])


@settings(max_examples=200)
@given(channels(positive=True), st.data())
def test_statistical_distance_is_the_same_definition(channel, data):
    prior = dict(zip(channel.inputs, data.draw(distributions(len(channel.inputs))), strict=True))
    most = largest_belief_distance(channel.epsilon())
    for y in channel.outputs:
        moved = belief_distance(channel, prior, 0, y)
        assert moved.float_down() <= most.float_up()


def test_the_largest_belief_distance_is_attained():
    # e^epsilon = 9, so t = 1/2, at the prior mass 1/4.
    channel = two_coins().with_(two_coins())
    prior = {"yes": Fraction(1, 4), "no": Fraction(3, 4)}
    assert largest_belief_distance(channel.epsilon()) == HALF
    assert belief_distance(channel, prior, 0, ("yes", "yes")) == HALF


@given(st.fractions(min_value=0, max_value=Fraction(99, 100), max_denominator=100))
def test_the_two_formulas_for_the_statistical_distance(t):
    exact, textbook = epsilon_of_belief_distance(t), textbook_epsilon_of_belief_distance(t)
    assert largest_belief_distance(exact) == t
    assert exact <= textbook
    if t > 0:
        assert exact < textbook
    assert (textbook == INFINITY) == (2 * t >= 1)


def test_numbers_of_the_two_formulas():
    assert epsilon_of_belief_distance("1/4") == 2 * Log(Fraction(5, 3))
    assert textbook_epsilon_of_belief_distance("1/4") == Log(3)


def test_marginals_and_conditioning():
    joint = {("a", "b"): Fraction(1, 4), ("b", "b"): Fraction(1, 4), ("a", "a"): HALF}
    assert belief(joint, 0) == {"a": Fraction(3, 4), "b": Fraction(1, 4)}
    assert given_others(joint, 0, ("b",)) == {("a", "b"): HALF, ("b", "b"): HALF}


def test_everybodys_family_is_listed():
    assert families(XOR)[0, (1,)] == [(0, 1), (1, 1)]


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ({"yes": 0, "no": 0}, "no mass"),
        ({}, "no mass"),
        ({"yes": "1/2"}, "sums to 0.5"),
        ({"yes": "3/2", "no": "-1/2"}, "must lie between 0 and 1"),
    ],
)
def test_priors_that_are_not_distributions_are_refused(prior, words):
    with pytest.raises(InvalidProbability, match=words):
        posterior(two_coins(), prior, "yes")


def test_there_must_be_something_to_condition_on():
    sure = {(0, 0): 1}
    with pytest.raises(InvalidProbability, match="probability 0"):
        posterior(XOR, sure, 1)
    with pytest.raises(InvalidProbability, match="no mass"):
        given_others(sure, 0, (1,))
    with pytest.raises(InvalidValue, match="not an output"):
        posterior(XOR, sure, 7)
    with pytest.raises(InvalidValue, match="not an input"):
        posterior(XOR, {"x": 1}, 1)
