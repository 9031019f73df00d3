import threading
from fractions import Fraction

import pytest

from discreet.accounting import Budget, Filter, cost, guarantee, measure, to_change_one
from discreet.errors import (
    InsufficientBudget,
    InvalidDelta,
    InvalidInput,
    MixedRelations,
    UnknownEvent,
)
from discreet.events import Event
from discreet.theory.neighbours import Relation

COUNT = Event("laplace", {"scale": 10, "grid": 1}, 1)
NORMAL = Event("gaussian", {"sigma": 10, "grid": 1}, 1)
KEYS = Event("key_selection", {"epsilon": 1, "delta": "1e-9"}, 1)


def test_costs_are_exact_where_the_theorem_is_rational():
    assert cost(COUNT, "pure") == (Fraction(1, 10),)
    assert cost(KEYS, "approximate") == (Fraction(1), Fraction(1, 10**9))
    assert cost(NORMAL, "zcdp") == (Fraction(1, 200), Fraction(0))
    assert cost(NORMAL, "rdp:16") == (Fraction(16, 200), Fraction(0))
    assert cost(KEYS, "zcdp")[1] == Fraction(1, 10**9)


def test_a_pure_filter_takes_exactly_its_cap():
    budget = Filter("pure", Budget(1))
    for _ in range(10):
        budget.charge(COUNT)
    assert budget.remaining == (Fraction(0),)
    assert not budget.would_fit(COUNT)


def test_a_refusal_says_what_was_asked_what_remains_and_whose():
    budget = Filter("approximate", Budget(1, 1e-6), whose="ada")
    budget.charge([COUNT] * 5)
    with pytest.raises(InsufficientBudget) as caught:
        budget.charge(KEYS)
    error = caught.value
    assert error.asked == {"epsilon": 1, "delta": Fraction(1, 10**9)}
    assert error.remaining == {"epsilon": Fraction(1, 2), "delta": Fraction(1, 10**6)}
    assert error.whose == "ada"
    assert error.exit_status == 4
    assert "epsilon 1 of 0.5 left" in str(error)
    assert "ada" in str(error)


def test_a_refused_charge_leaves_nothing_behind():
    budget = Filter("pure", Budget(1))
    with pytest.raises(InsufficientBudget):
        budget.charge([COUNT] * 11)
    assert budget.spent == (Fraction(0),)


@pytest.mark.parametrize("name", ["pure", "approximate", "zcdp", "rdp:23.3", "approximate:1e-9"])
def test_a_cap_made_from_a_budget_keeps_it(name):
    total = Budget(1, 1e-6)
    promised = Filter(name, total).guarantee
    assert promised.epsilon <= total.epsilon
    assert promised.delta <= total.delta
    assert promised.epsilon > total.epsilon * Fraction(999, 1000)


def test_zcdp_lets_many_more_queries_in_than_sums():
    small = Event("laplace", {"scale": 1000, "grid": 1}, 1)
    pure, concentrated = Filter("pure", Budget(1)), Filter("zcdp", Budget(1, 1e-6))
    assert pure.would_fit([small] * 1000)
    assert not pure.would_fit([small] * 1001)
    assert concentrated.would_fit([small] * 40_000)


def test_measures_read_back_by_name():
    for name in ("pure", "approximate", "approximate:1/1000000000", "zcdp", "rdp:16", "rdp:23.3"):
        assert measure(name).name == name
    assert measure("rdp:100/3").name == "rdp:100/3"


@pytest.mark.parametrize("name", ["pld", "advanced", "gdp", "cheapest", "rdp", "rdp:1", "zcdp:3"])
def test_what_is_no_filter_is_refused_as_one(name):
    with pytest.raises(InvalidInput):
        measure(name)


def test_a_gaussian_needs_a_measure_that_knows_it():
    for name in ("pure", "approximate"):
        with pytest.raises(UnknownEvent, match="gaussian"):
            cost(NORMAL, name)
    with pytest.raises(UnknownEvent):
        cost(KEYS, "pure")
    epsilon, delta = cost(NORMAL, "approximate:1e-6")
    assert delta == Fraction(1, 10**6)
    assert 0.3 < epsilon < 0.5


def test_relations_are_never_mixed():
    changed = Event("laplace", {"scale": 10, "grid": 1}, 1, "change_one")
    budget = Filter("pure", Budget(1))
    with pytest.raises(MixedRelations, match="change_one"):
        budget.charge([COUNT, changed])
    assert budget.spent == (Fraction(0),)
    other = Filter("pure", Budget(1), relation="change_one")
    other.charge(changed)
    other.charge(to_change_one(COUNT))
    assert other.spent == (Fraction(3, 10),)


def test_delta_must_leave_room_for_the_conversion():
    tenth, keys = Fraction(1, 10), Fraction(1, 10**6)
    for delta in (keys, keys / 2):
        with pytest.raises(InvalidDelta):
            guarantee("zcdp", (tenth, keys), delta=delta, relation=Relation.ADD_REMOVE)
    with pytest.raises(InvalidDelta):
        Filter("zcdp", Budget(1))


def test_an_order_too_small_for_the_budget_is_refused_with_a_better_one():
    with pytest.raises(InvalidInput) as caught:
        Filter("rdp:2", Budget(1, 1e-6))
    assert 'accountant="rdp:23.3"' in str(caught.value)
    Filter("rdp:23.3", Budget(1, 1e-6))


def test_threads_together_take_no_more_than_the_cap():
    budget = Filter("pure", Budget(20))
    taken = []

    def spend():
        for _ in range(100):
            try:
                taken.append(budget.charge(COUNT))
            except InsufficientBudget:
                return

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 200
    assert budget.remaining == (Fraction(0),)


@pytest.mark.parametrize("name", ["pure", "approximate", "zcdp", "rdp:16"])
def test_every_measure_names_its_theorem(name):
    assert "(20" in measure(name).theorem
    assert "interleaved" in measure(name).theorem
