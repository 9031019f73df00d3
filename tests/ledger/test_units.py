"""Whole units: charges up, caps down, never the other way."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidCharge, InvalidInput
from discreet.ledger.units import LARGEST, STEPS, units_down, units_up

AMOUNTS = st.fractions(min_value=Fraction(1, 10**12), max_value=4_000_000)


@given(AMOUNTS)
def test_a_charge_is_never_rounded_down_and_a_cap_never_up(amount):
    charge, cap = units_up((amount,))[0] * STEPS[0], units_down((amount,))[0] * STEPS[0]
    assert cap <= amount <= charge
    assert charge - cap <= STEPS[0]


@given(st.lists(AMOUNTS, min_size=1, max_size=20))
def test_what_fits_in_units_fits_exactly(amounts):
    assert sum(amounts) <= sum(units_up((each,))[0] for each in amounts) * STEPS[0]


@pytest.mark.parametrize("cost", [(Fraction(0),), (Fraction(-1),), (Fraction(0), Fraction(0))])
def test_there_is_no_charge_of_nothing_or_less(cost):
    with pytest.raises(InvalidCharge):
        units_up(cost)


def test_delta_is_counted_in_units_of_its_own():
    assert units_up((Fraction(1), Fraction(1, 10**18))) == (10**12, 1)
    with pytest.raises(InvalidCharge):
        units_up((Fraction(1), Fraction(1, 10**19)))


def test_two_largest_amounts_still_fit_into_64_bits():
    assert 2 * LARGEST < 2**63
    with pytest.raises(InvalidInput):
        units_down((Fraction(LARGEST + 1, 10**12),))
