from fractions import Fraction

import pytest
from hypothesis import given, settings

from discreet.errors import InvalidValue, Undecided
from discreet.exact import Real
from discreet.theory import (
    INFINITY,
    Channel,
    Log,
    families,
    max_divergence,
    prints_random_row,
    simulate,
    truncated_geometric,
    two_coins,
)
from tests.theory.strategies import database_channels


@settings(max_examples=1000)
@given(database_channels())
def test_simulation_and_neighbours_bound_each_other(channel):
    epsilon, best = channel.epsilon("change_one"), simulate(channel).epsilon
    assert best <= epsilon
    assert epsilon == INFINITY or epsilon <= 2 * best
    assert (best == INFINITY) == (epsilon == INFINITY)


@settings(max_examples=200)
@given(database_channels(positive=True))
def test_the_simulator_is_as_close_as_it_says_and_none_is_closer(channel):
    simulation = simulate(channel)
    worst = 0.0
    for place, inputs in families(channel).items():
        simulator = simulation.simulators[place]
        assert float(Real.sum_of(simulator)) == 1
        assert all(Real(p).float_up() >= 0 for p in simulator)
        for x in inputs:
            for p, q in ((channel[x], simulator), (simulator, channel[x])):
                ratios = [float(Real(a) / b) for a, b in zip(p, q, strict=True)]
                worst = max(worst, *ratios)
    # Within rounding of the epsilon stated: it is attained, so no smaller one would do for these.
    assert worst <= float(simulation.epsilon.exp()) * (1 + 1e-12)


@settings(max_examples=200)
@given(database_channels(positive=True))
def test_no_distribution_is_closer_than_the_closed_form(channel):
    # Each term of the closed form is a lower bound for every simulator; check them directly.
    stated = simulate(channel).epsilon
    for inputs in families(channel).values():
        columns = list(zip(*(channel[x] for x in inputs), strict=True))
        assert Log(max(max(c) / min(c) for c in columns), Fraction(1, 2)) <= stated
        assert Log(sum(max(c) for c in columns)) <= stated
        assert -Log(sum(min(c) for c in columns)) <= stated


def test_two_coins_are_simulated_by_one_fair_coin():
    simulation = simulate(two_coins())
    # ln(3)/2 = 0.549 from the ratio, ln(3/2) and ln 2 = 0.693 from the sums: ln 2 it is.
    assert simulation.epsilon == Log(2)
    assert simulation.simulators[0, ()] == (Fraction(1, 2), Fraction(1, 2))
    assert max_divergence(simulation.simulators[0, ()], two_coins()["yes"]) == Log(2)


def test_where_half_the_ratio_decides_the_simulator_is_irrational_but_sums_to_one():
    channel = Channel([["1/10", "1/10", "8/10"], ["2/10", "1/20", "15/20"]])
    simulation = simulate(channel)
    assert simulation.epsilon == Log(2) / 2
    assert float(Real.sum_of(simulation.simulators[0, ()])) == 1


def test_what_prints_rows_cannot_be_simulated():
    assert simulate(prints_random_row("ab", 2)).epsilon == INFINITY


def test_faults_are_named():
    with pytest.raises(InvalidValue, match="same size"):
        simulate(Channel([[1], [1]], inputs=[("a",), ("a", "b")]))
    with pytest.raises(Undecided, match="rational"):
        simulate(truncated_geometric(2, 1))
