"""Groups, parts, samples, odometers, and the questions the other way round."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import (
    Budget,
    Loss,
    Odometer,
    account,
    cost,
    epsilon_each,
    group,
    noise_for,
    parallel,
    parallel_cost,
    poisson,
    queries_for,
    to_change_one,
    without_replacement,
)
from discreet.errors import (
    InvalidDelta,
    InvalidInput,
    InvalidRelation,
    MixedRelations,
    UnknownEvent,
)
from discreet.events import PARAMETERS, Event
from discreet.exact import Real
from discreet.theory.neighbours import Relation

COUNT = Event("geometric", {"scale": 10}, 1)
NORMAL = Event("gaussian", {"sigma": 10, "grid": 1}, 1)
KEYS = Event("key_selection", {"epsilon": 1, "delta": "1e-9"}, 1)
DELTA = Fraction(1, 10**6)

halves = st.fractions(min_value=0, max_value=10, max_denominator=100)


def loss(epsilon, delta=0, relation=Relation.ADD_REMOVE) -> Loss:
    return Loss(Fraction(epsilon), Fraction(delta), relation, "pure", "by hand")


def test_a_group_multiplies_epsilon_and_squares_into_rho():
    assert cost(group(COUNT, 3), "pure") == (Fraction(3, 10),)
    assert cost(group(NORMAL, 3), "zcdp")[0] == 9 * cost(NORMAL, "zcdp")[0]
    assert group(COUNT, 1) == COUNT


def test_a_group_counts_whole_steps_of_the_grid_for_each_member():
    event = Event("laplace", {"scale": 10, "grid": 1}, "0.6")
    assert cost(group(event, 2), "pure") == (Fraction(2, 10),)


def test_the_delta_of_a_group_grows_as_the_theorem_says():
    epsilon, delta = cost(group(KEYS, 3), "approximate")
    exact = (Real(3).expm1() / Real(1).expm1()) * Fraction(1, 10**9)
    assert epsilon == 3
    assert exact <= delta < exact * (1 + Fraction(1, 10**12))
    with pytest.raises(InvalidDelta, match="group of 30"):
        group(KEYS, 30)
    with pytest.raises(InvalidDelta):
        group(Event("declared", {"epsilon": 10**12, "delta": "1e-9"}, 1), 2)


def test_change_one_doubles_epsilon_and_adds_e_to_the_epsilon_to_delta():
    pair = to_change_one(KEYS)
    exact = (1 + Real(1).exp()) * Fraction(1, 10**9)
    assert pair.relation is Relation.CHANGE_ONE
    assert pair.parameters["epsilon"] == 2
    assert exact <= pair.parameters["delta"] < exact * (1 + Fraction(1, 10**12))
    with pytest.raises(InvalidRelation):
        to_change_one(pair)


@pytest.mark.parametrize("mechanism", sorted(PARAMETERS))
def test_every_event_can_be_restated_for_a_group(mechanism):
    values = {"delta": Fraction(1, 10**9)}
    event = Event(mechanism, {name: values.get(name, 1) for name in PARAMETERS[mechanism]}, 1)
    assert cost(group(event, 2), "zcdp")[0] > cost(event, "zcdp")[0]


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_a_group_has_a_whole_number_of_people(size):
    with pytest.raises(InvalidInput):
        group(COUNT, size)


@given(st.lists(st.tuples(halves, halves), min_size=1, max_size=8))
def test_one_person_is_in_one_part_and_may_move_to_another(parts):
    alone = parallel_cost(parts, relation="add_remove")
    moved = parallel_cost(parts, relation="change_one")
    for i, (one, two) in enumerate(zip(alone, moved, strict=True)):
        amounts = sorted(part[i] for part in parts)
        assert one == amounts[-1]
        assert two == sum(amounts[-2:])


def test_disjoint_bins_under_change_one_cost_what_the_histogram_does():
    """Each bin's count has sensitivity 1, the histogram 2."""
    bins = [loss(Fraction(1, 10), relation=Relation.CHANGE_ONE)] * 50
    assert parallel(bins).epsilon == Fraction(2, 10)


def test_parts_under_different_relations_or_measures_are_refused():
    with pytest.raises(MixedRelations):
        parallel([loss(1), loss(1, relation=Relation.CHANGE_ONE)])
    with pytest.raises(InvalidInput):
        parallel([])
    with pytest.raises(InvalidInput):
        parallel_cost([(Fraction(1),), (Fraction(1), Fraction(0))], relation="add_remove")


def test_a_sample_of_everyone_gains_nothing_and_of_nobody_loses_nothing():
    assert poisson(loss(1, DELTA), rate=1).epsilon == 1
    nothing = poisson(loss(1, DELTA), rate=0)
    assert nothing.epsilon == nothing.delta == 0


def test_sampling_helps_about_in_proportion():
    sampled = poisson(loss(1, DELTA), rate="1/100")
    assert Fraction(1, 100) < sampled.epsilon < Fraction(2, 100)
    assert sampled.delta == DELTA / 100


def test_each_sampling_has_its_relation():
    with pytest.raises(InvalidRelation):
        poisson(loss(1, relation=Relation.CHANGE_ONE), rate="1/2")
    with pytest.raises(InvalidRelation):
        without_replacement(loss(1), sample=1, population=2)
    changed = loss(1, relation=Relation.CHANGE_ONE)
    for sample in (0, 3):
        with pytest.raises(InvalidInput):
            without_replacement(changed, sample=sample, population=2)


def test_an_odometer_is_never_below_the_filter_that_stops_there():
    meter = Odometer("zcdp", delta=DELTA, unit="1/1000")
    before = Fraction(0)
    for _ in range(50):
        meter.charge(NORMAL)
        now = meter.loss()
        fixed = meter.measure.guarantee(meter.spent, delta=DELTA, relation=meter.relation)
        assert now.epsilon >= max(before, fixed.epsilon)
        assert now.delta == DELTA
        before = now.epsilon


def test_a_pure_odometer_is_the_sum_itself():
    meter = Odometer("pure", delta=DELTA)
    meter.charge([COUNT] * 7)
    assert meter.loss().epsilon == Fraction(7, 10)
    assert meter.loss().delta == 0


def test_an_odometer_refuses_what_it_cannot_promise():
    meter = Odometer("zcdp", delta=DELTA)
    with pytest.raises(UnknownEvent, match="delta of its own"):
        meter.charge(KEYS)
    with pytest.raises(MixedRelations):
        meter.charge(to_change_one(COUNT))
    assert not any(meter.spent)


@pytest.mark.parametrize("accountant", ["advanced", "zcdp", "rdp", "gdp"])
@pytest.mark.parametrize("mechanism", ["laplace", "geometric", "gaussian"])
def test_the_least_noise_fits_and_a_little_less_does_not(mechanism, accountant):
    total = Budget(1, 1e-6)
    event = noise_for(mechanism, queries=50, budget=total, accountant=accountant)
    name = "sigma" if mechanism == "gaussian" else "scale"
    given_ = dict(event.parameters)
    assert account({event: 50}, accountant=accountant, delta=DELTA).epsilon <= 1
    given_[name] *= Fraction(999, 1000)
    less = Event(mechanism, given_, 1)
    assert account({less: 50}, accountant=accountant, delta=DELTA).epsilon > 1


def test_noise_scales_with_the_sensitivity():
    one = noise_for("gaussian", queries=10, budget=Budget(1, 1e-6))
    ten = noise_for("gaussian", queries=10, budget=Budget(1, 1e-6), sensitivity=10)
    assert abs(ten.parameters["sigma"] / one.parameters["sigma"] / 10 - 1) < 1e-4


def test_each_query_gets_its_share():
    assert epsilon_each(queries=4, budget=Budget(1), accountant="pure") == Fraction(1, 4)
    for mechanism in ("geometric", "noisy_max", "exponential"):
        each = epsilon_each(queries=100, budget=Budget(1, 1e-6), mechanism=mechanism)
        assert each > Fraction(1, 100)
        given_ = {"scale": 1 / each} if mechanism == "geometric" else {"epsilon": each}
        event = Event(mechanism, given_, 1)
        assert account({event: 100}, delta=DELTA, accountant="rdp").epsilon <= 1


def test_how_often_an_event_fits():
    assert queries_for(COUNT, budget=Budget(1), accountant="pure") == 10
    assert queries_for(COUNT, budget=Budget("0.05"), accountant="pure") == 0
    many = queries_for(NORMAL, budget=Budget(1, 1e-6), accountant="rdp")
    assert account({NORMAL: many}, accountant="rdp", delta=DELTA).epsilon <= 1
    assert account({NORMAL: many + 1}, accountant="rdp", delta=DELTA).epsilon > 1


def test_inverse_questions_that_make_no_sense_are_refused():
    with pytest.raises(InvalidInput):
        noise_for("exponential", queries=1, budget=Budget(1))


@pytest.mark.parametrize("queries", [0, -1, 1.5, True])
def test_there_is_a_whole_number_of_queries(queries):
    with pytest.raises(InvalidInput):
        epsilon_each(queries=queries, budget=Budget(1), accountant="pure")
