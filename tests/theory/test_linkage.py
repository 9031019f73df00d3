from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidProbability
from discreet.exact import Real
from discreet.theory import Patient, PrivateHospital, Totals, averages, deduce, totals

DON = Patient(age=62, weight=91)
OTHERS = (Patient(40, 70), Patient(50, 80), Patient(62, 91))
PRIOR = Fraction(1, 100)
PATIENTS = st.builds(Patient, st.integers(0, 100), st.integers(0, 200))


@given(st.lists(PATIENTS, max_size=5).map(tuple), PATIENTS)
def test_in_the_clear_two_sets_of_answers_reveal_the_diagnosis_exactly(others, patient):
    before = averages(others)
    ill = deduce(before, averages((*others, patient)), patient, prior=PRIOR)
    well = deduce(before, averages(others), patient, prior=PRIOR)
    assert ill == 1
    assert well == 0


@settings(max_examples=200)
@given(st.integers(-9, 9), st.integers(-400, 400), st.integers(-900, 900), st.booleans())
def test_with_noise_no_answer_at_all_moves_the_belief_beyond_the_bound(count, age, weight, ill):
    hospital = PrivateHospital(epsilon="1/2", oldest=100, heaviest=200)
    true = totals((*OTHERS, DON) if ill else OTHERS)
    seen = Totals(true.count + count, true.age + age, true.weight + weight)
    after = hospital.posterior(totals(OTHERS), seen, DON, prior=PRIOR)
    most = hospital.largest_posterior(prior=PRIOR)
    odds = Real(after) / (1 - Real(after)) / (PRIOR / (1 - PRIOR))
    assert Real(after).float_down() <= Real(most).float_up()
    assert float(odds) >= 1 / float(Real(Fraction(1, 2)).exp()) - 1e-12


def test_even_the_truth_itself_says_little():
    hospital = PrivateHospital(epsilon="1/2", oldest=100, heaviest=200)
    seen = totals((*OTHERS, DON))
    after = hospital.posterior(totals(OTHERS), seen, DON, prior=PRIOR)
    assert PRIOR < after < Fraction(2, 100)


def test_without_an_age_or_weight_to_add_the_bound_is_attained_by_the_largest_patient():
    hospital = PrivateHospital(epsilon="ln 8", oldest=100, heaviest=200)
    giant = Patient(100, 200)
    seen = totals((*OTHERS, giant))
    after = hospital.posterior(totals(OTHERS), seen, giant, prior="1/9")
    assert float(after) == pytest.approx(float(hospital.largest_posterior(prior="1/9")))


def test_answers_that_nobody_could_have_given_are_refused():
    with pytest.raises(InvalidProbability, match="neither"):
        deduce(averages(OTHERS), averages((DON,)), Patient(1, 1), prior=PRIOR)
