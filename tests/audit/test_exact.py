"""Samplers on every bit tape, finite mechanisms on every input."""

from fractions import Fraction
from typing import Any

import pytest

from discreet.audit.exact import channel_of, enumerate_sampler
from discreet.errors import InvalidInput
from discreet.noise import OneSidedGeometric, RoundedGaussian, TwoSidedGeometric
from discreet.noise.magnitude import settle
from discreet.theory.losses import ln

NOISES: list[Any] = [
    TwoSidedGeometric(2),
    TwoSidedGeometric("1/3"),
    OneSidedGeometric(3),
    RoundedGaussian("5/2"),
]


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_every_tape_of_fourteen_bits_agrees_with_the_law(noise):
    found = enumerate_sampler(noise, 14, law=noise)
    assert not found.refuted
    assert found.leftover < Fraction(1, 50)
    assert sum(found.settled.values()) + found.leftover == 1


def test_a_scale_two_percent_off_is_refuted_without_chance():
    found = enumerate_sampler(TwoSidedGeometric("1.96"), 16, law=TwoSidedGeometric(2))
    assert found.refuted
    assert "contradiction" in str(found)


def test_a_sampler_that_settles_too_early_is_refuted():
    def rash(noise, prefix, length):
        return settle(noise, 2 * prefix + 1, length + 1) if length >= 3 else None

    assert enumerate_sampler(TwoSidedGeometric(2), 8, law=TwoSidedGeometric(2), settle=rash).refuted


def test_randomized_response_has_the_epsilon_that_theory_says():
    def response(truth, tape):
        return truth if tape & 1 else tape >> 1

    def off_by_one(truth, tape):
        return truth if tape else 1 - truth

    assert channel_of(response, [0, 1], bits=2).epsilon() == ln(3)
    assert channel_of(off_by_one, [0, 1], bits=3).epsilon() > ln(3)


def test_depths_that_never_end_are_refused():
    with pytest.raises(InvalidInput):
        enumerate_sampler(NOISES[0], 41, law=NOISES[0])
    with pytest.raises(InvalidInput):
        channel_of(lambda x, tape: x, [0], bits=21)
