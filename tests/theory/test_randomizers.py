from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidValue, TooLarge
from discreet.theory import (
    INFINITY,
    Channel,
    Log,
    all_rows,
    components,
    deterministic,
    machine_laplace,
    pairs,
    prints_random_row,
    randomized_response,
    subsample_release,
    truncated_geometric,
    two_coins,
)


def test_two_fair_coins():
    assert two_coins().rows == ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    assert two_coins().epsilon() == Log(3)


@pytest.mark.parametrize("answers", [2, 3, 10])
def test_randomized_response_among_several_answers(answers):
    channel = randomized_response("ln 5", range(answers))
    assert channel.epsilon() == Log(5)
    assert channel.rows[0][0] == Fraction(5, 4 + answers)


def test_randomized_response_at_any_epsilon():
    epsilon = randomized_response(1).epsilon()
    assert epsilon.float_down() <= 1 <= epsilon.float_up()


@pytest.mark.parametrize("most", [1, 2, 7])
def test_geometric_noise_clamped_to_a_range(most):
    channel = truncated_geometric(most, "ln 2")
    line = [(n, n + 1) for n in range(most)]
    assert channel.epsilon(line) == Log(2)
    assert channel.group_epsilon(most, line) == most * Log(2)
    if most > 1:
        inner = (1 - Fraction(1, 2)) / (1 + Fraction(1, 2))
        assert channel[1][1] == inner


def test_geometric_noise_for_a_larger_sensitivity():
    channel = truncated_geometric(6, "ln 4", sensitivity=2)
    assert channel.epsilon([(n, n + 2) for n in range(5)]) == Log(4)


DATABASES: list[Any] = list(all_rows("ab", 2))


@settings(max_examples=200)
@given(st.lists(st.sampled_from("xy"), min_size=4, max_size=4))
def test_without_randomness_only_constants_on_components_are_private(images):
    function: Any = dict(zip(DATABASES, images, strict=True)).__getitem__
    channel = deterministic(function, DATABASES)
    parts = components(DATABASES, pairs(DATABASES, "change_one"))
    constant = all(len({function(x) for x in part}) == 1 for part in parts)
    verdict = channel.is_private(1000, neighbours="change_one")
    assert verdict.private == constant
    assert channel.epsilon("change_one") == (0 if constant else INFINITY)
    if verdict.witness is not None:
        assert verdict.witness.probability == 1
        assert verdict.witness.neighbour_probability == 0
        assert function(verdict.witness.x) != function(verdict.witness.neighbour)


@pytest.mark.parametrize("size", [1, 3, 6])
def test_printing_a_random_row_looks_harmless_to_the_wrong_yardstick(size):
    channel = prints_random_row("ab", size)
    assert channel.statistical_difference("change_one") == Fraction(1, 10 * size)
    assert channel.epsilon("change_one") == INFINITY
    assert not channel.is_private(1000, neighbours="change_one")


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("epsilon", [0, 1, 20, "inf"])
def test_releasing_a_fraction_of_the_rows_has_that_delta_at_every_epsilon(independent, epsilon):
    channel = subsample_release("ab", 4, fraction="1/4", independent=independent)
    assert channel.delta(epsilon, "change_one") == Fraction(1, 4)
    assert channel.is_private(0, "1/4", "change_one")
    assert not channel.is_private(20, "24/100", "change_one")
    assert channel.epsilon("change_one") == INFINITY


def test_each_row_released_independently_has_the_same_delta_under_add_remove():
    rows: list[tuple[str, ...]] = [(), ("a",), ("b",)]
    channel = Channel.from_table(
        {x: {x: Fraction(1, 4), (): Fraction(3, 4)} if x else {(): 1} for x in rows}
    )
    assert channel.delta(3, "add_remove") == Fraction(1, 4)


def test_what_the_machine_prints_is_not_what_the_paper_says():
    assert machine_laplace([0, 1]).epsilon() == INFINITY
    assert not machine_laplace([0, 1], bits=6).is_private(50)


def test_faults_are_named():
    with pytest.raises(InvalidValue, match="whole number of rows"):
        subsample_release("ab", 3, fraction="1/2")
    with pytest.raises(TooLarge, match="subsets"):
        subsample_release("a", 40, fraction="1/2")
    with pytest.raises(TooLarge, match="cells"):
        truncated_geometric(10_000, 1)
    with pytest.raises(TooLarge, match="outputs"):
        machine_laplace([0, 1], bits=40)
