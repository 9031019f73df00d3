from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidDelta, InvalidValue, MixedRelations
from discreet.theory import (
    INFINITY,
    Channel,
    Guarantee,
    Log,
    compose,
    compose_advanced,
    compose_parts,
    guarantee_of_rho,
    randomized_response,
    rho_for_group,
    rho_of_pure,
    truncated_geometric,
    two_coins,
)
from tests.theory.strategies import deltas, losses

TEN = Fraction(1, 10)


def test_losses_add_up():
    both = compose(Guarantee("ln 3", "1/10"), Guarantee("ln 2", "1/20"))
    assert both.epsilon == Log(6)
    assert both.delta == Fraction(3, 20)


@given(losses(), deltas(), st.integers(1, 6))
def test_groups_lose_by_the_formula(epsilon, delta, people):
    group = Guarantee(epsilon, delta).for_group(people)
    assert group.epsilon == people * epsilon
    if epsilon > 0:
        ratio = Log(1) + epsilon
        grown = (ratio * people).expm1() / ratio.expm1()
        assert float(group.delta) == pytest.approx(float(grown * delta), rel=1e-14)
    else:
        assert group.delta == people * delta


@given(losses(), deltas())
def test_change_one_is_two_steps_of_add_remove(epsilon, delta):
    converted = Guarantee(epsilon, delta).under_change_one()
    assert converted.relation == "change_one"
    assert converted.epsilon == 2 * epsilon
    assert float(converted.delta) == pytest.approx(
        float((Log(1) + epsilon).exp() + 1) * float(delta), rel=1e-14
    )
    assert converted.under_change_one() is converted


def test_rho_grows_with_the_square_of_the_group():
    assert rho_for_group(TEN, 2) == 4 * TEN
    assert rho_of_pure(TEN) == Fraction(1, 200)


def test_parts_cost_the_largest_or_the_two_largest():
    parts: list[Any] = [Fraction(1), Fraction(3), Fraction(2)]
    assert compose_parts(*(Guarantee(e) for e in parts)).epsilon == 3
    moved = compose_parts(*(Guarantee(e, TEN, relation="change_one") for e in parts))
    assert moved.epsilon == 5
    assert moved.delta == 2 * TEN
    assert compose_parts(Guarantee(1, relation="change_one")).epsilon == 1


def split(part1: Channel, part2: Channel) -> tuple[Channel, Channel]:
    """Two counts of one database, rows "a" to the first and "b" to the second."""
    both = part1.beside(part2)
    databases = [(), ("a",), ("b",), ("a", "a"), ("a", "b"), ("b", "b")]
    counts = {x: (x.count("a"), x.count("b")) for x in databases}
    whole = Channel([both[counts[x]] for x in databases], inputs=databases, outputs=both.outputs)
    return whole, both


def test_parts_of_a_real_mechanism_cost_exactly_that():
    whole, _ = split(truncated_geometric(2, "ln 2"), truncated_geometric(2, "ln 3"))
    assert whole.epsilon("add_remove") == Log(3)  # the larger
    assert whole.epsilon("change_one") == Log(6)  # a person moves from one part to the other


def test_disjoint_rows_are_not_enough():
    # One person owns a row in each part: leaving takes a row from both, and the losses add up.
    both = truncated_geometric(1, "ln 2").beside(truncated_geometric(1, "ln 3"))
    assert both.epsilon([((1, 1), (0, 0))]) == Log(6)


def test_advanced_composition_beats_the_sum_for_many_small_losses():
    basic = compose(*[Guarantee(TEN)] * 100)
    advanced = compose_advanced(Guarantee(TEN), 100, delta="1e-6")
    assert basic.epsilon == 10
    assert 6 < advanced.epsilon < 7
    assert advanced.delta == Fraction(1, 10**6)
    zcdp = guarantee_of_rho(100 * rho_of_pure(TEN), delta="1e-6")
    assert zcdp.epsilon < advanced.epsilon


@pytest.mark.parametrize("times", [2, 4, 6])
def test_the_exact_product_is_never_above_the_theorems(times):
    coin = randomized_response("ln 3")
    product = coin
    for _ in range(times - 1):
        product = product.with_(coin)
    assert product.epsilon() == times * Log(3)
    for theorem in (
        compose(*[Guarantee("ln 3")] * times),
        compose_advanced(Guarantee("ln 3"), times, delta="1/100"),
        guarantee_of_rho(times * rho_of_pure("ln 3"), delta="1/100"),
    ):
        if theorem.delta == 0:
            assert product.is_private(theorem.epsilon)
        else:
            exact = product.epsilon_at(Fraction(1, 100))
            assert exact.float_up() <= theorem.epsilon.float_up()


def test_a_mechanism_without_protection_stays_without():
    nothing = Guarantee(INFINITY)
    assert nothing.for_group(3).epsilon == INFINITY
    assert compose(nothing, Guarantee(1)).epsilon == INFINITY
    assert nothing.under_change_one().epsilon == INFINITY


def test_side_information_does_not_matter():
    # Whatever else is known goes through the output only: post-processing by any table.
    coins = two_coins()
    for known in (["1/2", "1/2"], ["1/100", "99/100"]):
        step = Channel([known, known[::-1]], inputs=["yes", "no"])
        assert coins.then(step).epsilon() <= coins.epsilon()


def test_faults_are_named():
    with pytest.raises(MixedRelations, match="under_change_one"):
        compose(Guarantee(1), Guarantee(1, relation="change_one"))
    with pytest.raises(MixedRelations):
        compose_parts()
    with pytest.raises(InvalidDelta):
        Guarantee(1, -1)
    with pytest.raises(InvalidDelta):
        compose_advanced(Guarantee(1), 2, delta=0)
    with pytest.raises(InvalidValue, match="not a group"):
        Guarantee(1).for_group(0)
