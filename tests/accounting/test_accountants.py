from fractions import Fraction

import pytest

from discreet.accounting import ACCOUNTANTS, account, compare, to_change_one
from discreet.accounting.advanced import kov, kov_optimal
from discreet.accounting.batch import batch
from discreet.accounting.curves import curve
from discreet.errors import InvalidDelta, InvalidInput, MixedRelations, Refused, UnknownEvent
from discreet.events import Event
from discreet.exact import Real
from discreet.theory.divergences import gaussian_delta

COUNT = Event("geometric", {"scale": 10}, 1)
CHANGED = Event("geometric", {"scale": 10}, 1, "change_one")
NORMAL = Event("gaussian", {"sigma": 10, "grid": 1}, 1)
KEYS = Event("key_selection", {"epsilon": 1, "delta": "1e-9"}, 1)
DELTA = Fraction(1, 10**6)


def test_a_million_charges_of_a_tenth_are_exactly_a_hundred_thousand():
    assert account([COUNT] * 1_000_000, accountant="pure").epsilon == 100_000
    assert account({COUNT: 1_000_000}, accountant="approximate").epsilon == 100_000


def test_equal_events_are_counted_however_they_are_given():
    alike = Event("laplace", {"scale": "10", "grid": 1.0}, 1)
    whole = batch([COUNT, alike, COUNT])
    assert whole.counts == batch({COUNT: 2, alike: 1}).counts == ((curve(COUNT), 3),)
    assert batch(COUNT).counts == batch(iter([COUNT])).counts


def test_normal_noise_composes_to_normal_noise_exactly():
    loss = account([NORMAL] * 25, accountant="gdp", delta=DELTA)
    alone = {"sigma": Fraction(2), "sensitivity": Fraction(1)}
    assert gaussian_delta(**alone, epsilon=loss.epsilon) <= DELTA
    assert gaussian_delta(**alone, epsilon=loss.epsilon * Fraction(999_999, 10**6)) > DELTA


def test_no_accountant_is_below_the_exact_curve_of_randomized_response():
    for times in (1, 10, 300):
        exact = kov_optimal(Fraction(1, 10), times, DELTA)
        for name in ("pure", "approximate", "advanced", "zcdp", "rdp", "gdp"):
            loss = account({COUNT: times}, accountant=name, delta=DELTA)
            assert loss.epsilon >= exact, name
        assert account({COUNT: times}, accountant="advanced", delta=DELTA).epsilon == exact


def test_the_exact_curve_needs_no_more_than_the_sum_and_beats_its_simplification():
    for times in (1, 5, 50):
        assert kov_optimal(Fraction(1, 10), times, DELTA) <= Fraction(times, 10)
        assert kov_optimal(Fraction(1, 10), times, DELTA) <= kov([(Fraction(1, 10), times)], DELTA)


def test_a_delta_of_the_events_is_paid_for():
    loss = account([KEYS, COUNT], accountant="approximate", delta=DELTA)
    assert (loss.epsilon, loss.delta) == (Fraction(11, 10), Fraction(1, 10**9))
    for name in ("advanced", "zcdp", "rdp", "gdp"):
        less = account(
            [COUNT, Event("declared", {"epsilon": 1, "delta": 0}, 1)], accountant=name, delta=DELTA
        )
        more = account([KEYS, COUNT], accountant=name, delta=DELTA)
        assert less.epsilon <= more.epsilon
        assert more.delta == DELTA
        with pytest.raises(InvalidDelta):
            account([KEYS] * 1000, accountant=name, delta=DELTA)
    with pytest.raises(InvalidDelta):
        account([KEYS] * 1001, accountant="approximate", delta=DELTA)
    assert account([KEYS] * 1000, accountant="approximate", delta=DELTA).delta == DELTA


def test_the_cheapest_is_named_beside_all_others():
    many = compare([COUNT] * 300 + [NORMAL] * 10, delta=DELTA)
    epsilons = [loss.epsilon for loss in many.losses]
    assert epsilons == sorted(epsilons)
    assert set(many.refused) | {loss.accountant for loss in many.losses} == set(ACCOUNTANTS)
    assert many.cheapest.certified
    assert "pure" in many.refused
    assert all(loss.theorem for loss in many.losses)
    assert str(many).count("\n") == len(ACCOUNTANTS) - 1


def test_sums_are_cheapest_for_a_single_query():
    assert compare([COUNT], delta=DELTA).cheapest.epsilon <= Fraction(1, 10)


def test_relations_are_not_mixed_unless_asked():
    with pytest.raises(MixedRelations, match="different neighbours"):
        account([COUNT, CHANGED], accountant="pure")
    loss = account([COUNT, CHANGED], accountant="pure", relation="change_one")
    assert (loss.epsilon, str(loss.relation)) == (Fraction(3, 10), "change_one")
    with pytest.raises(MixedRelations, match="says nothing"):
        account([CHANGED], accountant="pure", relation="add_remove")


def test_change_one_costs_four_times_the_rho_of_add_remove():
    one = account([NORMAL], accountant="gdp", delta=DELTA, relation="change_one")
    four = account([NORMAL] * 4, accountant="gdp", delta=DELTA)
    assert one.epsilon == four.epsilon
    assert to_change_one(NORMAL).sensitivity == 2


@pytest.mark.parametrize(
    ("events", "options", "error"),
    [
        ([], {}, InvalidInput),
        ([COUNT, "count"], {}, InvalidInput),
        ({COUNT: -1}, {}, InvalidInput),
        ({COUNT: True}, {}, InvalidInput),
        ([COUNT], {"accountant": "magic"}, InvalidInput),
        ([COUNT], {"delta": 1}, InvalidDelta),
        ([COUNT], {"delta": float("nan")}, InvalidDelta),
        ([COUNT], {"delta": -1e-9}, InvalidDelta),
        ([COUNT], {"delta": 0, "accountant": "rdp"}, InvalidDelta),
        ([NORMAL], {"accountant": "pure"}, UnknownEvent),
    ],
)
def test_what_makes_no_sense_is_refused(events, options, error):
    with pytest.raises(error):
        account(events, **{"accountant": "pure", "delta": DELTA, **options})


def test_a_batch_that_nobody_can_bound_is_refused():
    with pytest.raises(UnknownEvent):
        compare([NORMAL], delta=0)


def test_a_pld_is_tighter_and_says_that_it_is_not_certified():
    events = [COUNT] * 200 + [NORMAL] * 20
    loss = account(events, accountant="pld", delta=DELTA)
    certified = compare(events, delta=DELTA).cheapest
    assert not loss.certified
    assert certified.certified
    assert certified.epsilon * Fraction(8, 10) < loss.epsilon < certified.epsilon


def test_a_pld_agrees_with_what_is_known_exactly():
    normal = account([NORMAL] * 25, accountant="pld", delta=DELTA)
    exact = account([NORMAL] * 25, accountant="gdp", delta=DELTA)
    assert abs(normal.epsilon / exact.epsilon - 1) < 1e-3
    response = account({COUNT: 100}, accountant="pld", delta=DELTA)
    coins = account({COUNT: 100}, accountant="advanced", delta=DELTA)
    assert abs(response.epsilon / coins.epsilon - 1) < 1e-3
    keys = account([KEYS] * 3, accountant="pld", delta=DELTA)
    assert keys.epsilon <= Fraction(3001, 1000)


def test_without_its_library_pld_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "dp_accounting.pld", None)
    with pytest.raises(Refused, match="dp-accounting") as caught:
        account([COUNT], accountant="pld", delta=DELTA)
    assert "discreet[pld]" in str(caught.value)


def test_extremes_neither_hang_nor_overflow():
    huge = Event("declared", {"epsilon": 10**9, "delta": 0}, 1)
    tiny = Event("declared", {"epsilon": "1e-30", "delta": 0}, 1)
    wide = Event("gaussian", {"sigma": "1e-6", "grid": 1}, 1)
    for event in (huge, tiny, wide):
        for delta in ("1e-6", "1e-300", "1e-1000", "0.999"):
            for times in (1, 1000):
                best = compare({event: times}, delta=delta).cheapest
                assert best.epsilon >= 0


def test_a_loss_can_be_charged_again_as_one_event():
    loss = account([NORMAL] * 25, accountant="gdp", delta=DELTA)
    again = account(loss.as_event(), accountant="approximate", delta=DELTA)
    assert (again.epsilon, again.delta) == (loss.epsilon, loss.delta)
    nothing = account({tiny_event(): 1}, accountant="rdp", delta=Fraction(1, 100))
    assert nothing.epsilon == 0
    assert nothing.as_event().parameters["epsilon"] == Fraction(1, 10**12)


def tiny_event() -> Event:
    return Event("declared", {"epsilon": "1e-6", "delta": 0}, 1)


def test_a_loss_is_written_with_its_floats_rounded_up():
    written = account([Event("geometric", {"scale": 3}, 1)], accountant="pure").to_json()
    assert written["exact"] == {"epsilon": "1/3", "delta": "0"}
    assert Real(Fraction(str(written["epsilon"]))) > Fraction(1, 3)
