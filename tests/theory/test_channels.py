"""On a thousand random channels the several definitions agree as the theory says."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import (
    InvalidEpsilon,
    InvalidProbability,
    InvalidRelation,
    InvalidValue,
    TooLarge,
    Undecided,
)
from discreet.exact import Real
from discreet.theory import (
    INFINITY,
    Channel,
    Guarantee,
    Log,
    all_rows,
    deterministic,
    kl_divergence,
    ln,
    loss,
    max_divergence,
    statistical_difference,
    truncated_geometric,
    two_coins,
    within,
)
from tests.theory.strategies import channels, deltas, distributions, losses

THOUSAND = settings(max_examples=1000)


def events(outputs: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(outputs), size) for size in range(outputs + 1))


def largest_event_excess(p: list[Fraction], q: list[Fraction], ratio: Real) -> Real:
    """delta by the definition itself: over every event, none left out."""
    return max(
        (
            Real(sum((p[y] for y in event), Fraction(0)))
            - ratio * sum((q[y] for y in event), Fraction(0))
            for event in events(len(p))
        ),
        key=lambda excess: excess.lower(128),
    )


@THOUSAND
@given(channels())
def test_epsilon_is_the_largest_max_divergence_and_is_where_delta_reaches_zero(channel):
    epsilon = channel.epsilon()
    rows = channel.rows
    assert epsilon == max((max_divergence(p, q) for p in rows for q in rows), key=float)
    if epsilon == INFINITY:
        assert channel.delta(50) > 0
    else:
        assert channel.delta(epsilon) == 0
        if epsilon > 0:
            below = ln(1 + (epsilon.exp() - 1) * Fraction(9, 10))
            assert channel.delta(below) > 0
    assert channel.epsilon_at(0) == epsilon


@THOUSAND
@given(distributions(4), distributions(4), losses())
def test_the_hockey_stick_is_the_worst_event(p, q, epsilon):
    channel = Channel([p, q])
    ratio = loss(epsilon).exp()
    both = [largest_event_excess(p, q, ratio), largest_event_excess(q, p, ratio)]
    worst = max(float(excess) for excess in both)
    assert float(channel.delta(epsilon)) == pytest.approx(worst, abs=1e-15)


@THOUSAND
@given(channels(), losses())
def test_outputs_and_events_agree_at_delta_zero_only(channel, epsilon):
    single, whole = channel.pointwise_delta(epsilon), channel.delta(epsilon)
    assert single.float_down() <= whole.float_up()
    assert (float(single) == 0) == (float(whole) == 0)


def test_single_outputs_are_too_weak_a_check_above_delta_zero():
    channel = Channel([["1/2", "1/2", 0, 0], [0, 0, "1/2", "1/2"]])
    assert channel.pointwise_delta(5) == Fraction(1, 2)
    assert channel.delta(5) == 1


@THOUSAND
@given(channels(), losses(), deltas())
def test_the_verdict_is_the_curve_and_its_witness_really_violates_the_bound(
    channel, epsilon, delta
):
    verdict = channel.is_private(epsilon, delta)
    assert bool(verdict) == (channel.delta(epsilon) <= delta)
    if verdict.private:
        assert verdict.witness is None
        return
    witness = verdict.witness
    # From the matrix itself, not from what the witness says of it.
    places = [channel.outputs.index(y) for y in witness.event]
    here = sum((channel[witness.x][y] for y in places), Fraction(0))
    there = sum((channel[witness.neighbour][y] for y in places), Fraction(0))
    assert here > loss(epsilon).exp() * there + delta
    assert (here, there) == (witness.probability, witness.neighbour_probability)
    assert witness.violates(loss(epsilon), delta)
    if delta == 0:
        assert len(witness.event) == 1


@THOUSAND
@given(channels(), deltas())
def test_the_curve_reads_backwards(channel, delta):
    epsilon = channel.epsilon_at(delta)
    if epsilon == INFINITY:
        assert channel.delta(epsilon) > delta  # what only one side gives is more than allowed
        return
    assert channel.delta(epsilon) <= delta
    if epsilon > 0:
        below = ln(1 + (epsilon.exp() - 1) * Fraction(9, 10))
        assert channel.delta(below) > delta


@THOUSAND
@given(channels(positive=True))
def test_divergences_order_as_theory_says(channel):
    rows, ratio = channel.rows, channel.likelihood_ratio()
    for p in rows:
        for q in rows:
            assert statistical_difference(p, q) == statistical_difference(q, p)
            # epsilon-privacy bounds the statistical difference by (e^eps - 1)/(e^eps + 1).
            assert statistical_difference(p, q) <= (ratio - 1) / (ratio + 1)


@settings(max_examples=300)
@given(distributions(4, positive=True), distributions(4, positive=True))
def test_the_average_loss_is_never_negative_and_at_most_the_worst(p, q):
    average = kl_divergence(p, q)
    assert average.float_up() >= 0
    assert average.float_down() <= max_divergence(p, q).float_up()
    assert Channel([p, q]).kl_divergence().float_up() >= average.float_down()


@THOUSAND
@given(channels(inputs=("a", "b", "c"), outputs=3), channels(inputs=(0, 1, 2), outputs=3), losses())
def test_post_processing_costs_nothing(channel, step, epsilon):
    after = channel.then(step)
    assert after.epsilon() <= channel.epsilon()
    assert after.delta(epsilon).float_down() <= channel.delta(epsilon).float_up()
    merged = channel.then(lambda y: y == 0)
    assert merged.epsilon() <= channel.epsilon()


@THOUSAND
@given(
    channels(inputs=("a", "b", "c"), outputs=2),
    st.lists(channels(inputs=("a", "b", "c"), outputs=2), min_size=2, max_size=2),
    losses(),
    losses(),
)
def test_losses_add_up_even_when_the_second_question_depends_on_the_first_answer(
    first, seconds, epsilon1, epsilon2
):
    both = first.with_adaptive(lambda y: seconds[y])
    worst = max((second.epsilon() for second in seconds), key=float)
    assert both.epsilon() <= first.epsilon() + worst
    delta2 = max(float(second.delta(epsilon2)) for second in seconds)
    total = float(first.delta(epsilon1)) + delta2
    assert float(both.delta(epsilon1 + epsilon2)) <= total + 1e-12
    # Without adaptivity the worst outputs of both can meet, and pure losses may add up exactly.
    assert first.with_(first).epsilon() == 2 * first.epsilon()


@THOUSAND
@given(channels(inputs=(0, 1, 2, 3), outputs=3), losses(), st.integers(1, 3))
def test_groups_lose_at_most_what_the_formula_says(channel, epsilon, people):
    line = [(0, 1), (1, 2), (2, 3)]
    assert channel.group_epsilon(people, line) <= people * channel.epsilon(line)
    assert channel.group_epsilon(people, line) == channel.epsilon(within(line, people))
    stated = Guarantee(epsilon, channel.delta(epsilon, line), relation="change_one")
    group = stated.for_group(people)
    assert float(channel.group_delta(group.epsilon, people, line)) <= float(group.delta) + 1e-12


def test_a_relation_finds_the_databases_that_are_one_step_apart():
    databases: list[Any] = [*all_rows("ab", 2), ("a",), ()]
    channel = deterministic(lambda rows: rows, databases)
    verdict = channel.is_private(9, neighbours="change_one")
    assert verdict.witness is not None
    assert (verdict.witness.x, verdict.witness.neighbour) == (("a", "a"), ("a", "b"))
    assert channel.is_private(9, neighbours=[((), ())])


@settings(max_examples=200)
@given(channels(inputs=((), ("a",), ("b",), ("a", "b")), outputs=3), losses())
def test_a_guarantee_under_add_remove_is_at_most_twice_as_much_under_change_one(channel, epsilon):
    stated = Guarantee(channel.epsilon("add_remove"))
    assert channel.epsilon("change_one") <= stated.under_change_one().epsilon
    approximate = Guarantee(epsilon, channel.delta(epsilon, "add_remove")).under_change_one()
    # Only the pair ((a), (b)) differs by one change, and both are a step from the empty database.
    spent = float(channel.delta(approximate.epsilon, "change_one"))
    assert spent <= float(approximate.delta) + 1e-12


def test_there_is_no_converse():
    prints_size = Channel.from_table({x: {len(x): 1} for x in [(), ("a",), ("b",)]})
    assert prints_size.epsilon("change_one") == 0
    assert prints_size.epsilon("add_remove") == INFINITY


def test_irrational_channels_are_enclosed():
    channel = truncated_geometric(5, 1)
    line = [(n, n + 1) for n in range(5)]
    epsilon = channel.epsilon(line)
    assert epsilon.float_down() <= 1 <= epsilon.float_up()
    assert channel.is_private(Fraction(1) + Fraction(1, 10**9), neighbours=line)
    assert not channel.is_private(Fraction(1) - Fraction(1, 10**9), neighbours=line)
    assert channel.delta("1/2", line) > Fraction(1, 10)
    with pytest.raises(Undecided):
        channel.epsilon_at("1/10", line)


def test_a_local_randomizer_from_a_table_of_probabilities():
    table = {
        "never": {"a": 0.7, "b": 0.2, "c": 0.1},
        "daily": {"a": 0.1, "b": 0.2, "c": 0.7},
    }
    assert Channel.from_table(table).epsilon() == ln(7)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([["1/2", "1/3"], [1, 0]], "input number 0 sums to 0.833333, not to 1"),
        ([["3/2", "-1/2"]], "negative"),
        ([[1], ["1/2", "1/2"]], "same length"),
        ([], "at least one row"),
        ([[float("nan"), 1]], "nan"),
        ([np.array([0.5, 0.5])], r"BallChannel"),
    ],
)
def test_rows_that_are_not_distributions_are_refused(rows, words):
    with pytest.raises(InvalidProbability, match=words):
        Channel(rows)


def test_irrational_rows_that_miss_one_are_refused():
    root = Real(2).sqrt() / 2
    with pytest.raises(InvalidProbability, match="not to 1"):
        Channel([[root, root]])
    assert Channel([[root, 1 - root]]).epsilon() == 0


def test_other_faults_are_named():
    coins = two_coins()
    with pytest.raises(InvalidRelation, match="relates databases"):
        coins.epsilon("change_one")
    with pytest.raises(InvalidValue, match="does not have"):
        coins.epsilon([("yes", "maybe")])
    with pytest.raises(InvalidValue, match="different outputs"):
        Channel([["1/2", "1/2"]], outputs=["same", "same"])
    with pytest.raises(InvalidValue, match="next step"):
        coins.then(Channel([[1]], inputs=["yes"]))
    with pytest.raises(InvalidEpsilon):
        coins.delta(-1)
    with pytest.raises(TooLarge, match=r"[\d,]+ cells"):
        coins.each(20)
    wide = Channel([[Fraction(1, 500)] * 500] * 500)
    with pytest.raises(TooLarge, match=r"post-processing would mean 125,000,000 exact steps"):
        wide.then(lambda y: y)
    with pytest.raises(TooLarge, match=r"124,750 pairs of neighbours .* 124,750,000"):
        wide.epsilon()


def test_two_answers_of_the_same_coins():
    twice = two_coins().with_(two_coins())
    assert twice.epsilon() == Log(9) == 2 * Log(3)
    # At half of that, delta is below what one answer would need there.
    assert twice.delta("ln 3") == Fraction(3, 8)
