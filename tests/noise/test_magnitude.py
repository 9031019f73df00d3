"""The primitive: every prefix that settles is settled rightly, and few are left open."""

from collections import Counter
from fractions import Fraction
from itertools import count, takewhile
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.noise import OneSidedGeometric, RoundedGaussian, TwoSidedGeometric, bits
from discreet.noise.magnitude import (
    LARGEST_NOISE,
    LARGEST_RESULT,
    PREFIX_BITS,
    Magnitude,
    refine,
    refine_words,
    settle,
)
from tests.noise.laws import Gaussian, Geometric, HalfGeometric, Law, exact

CASES = [
    (TwoSidedGeometric, Geometric, "1"),
    (TwoSidedGeometric, Geometric, "10/3"),
    (TwoSidedGeometric, Geometric, "1/5"),
    (OneSidedGeometric, HalfGeometric, "5/2"),
    (RoundedGaussian, Gaussian, "1"),
    (RoundedGaussian, Gaussian, "13/4"),
    (RoundedGaussian, Gaussian, "1/3"),
]


def assert_every_prefix_settles_rightly(noise: Magnitude, law: Law, depth: int) -> None:
    """settled <= P(magnitude = k) <= settled + 2 open prefixes, as rationals, for every k."""
    outcomes = [settle(noise, prefix, depth) for prefix in range(2**depth)]
    settled = Counter(k for k in outcomes if k is not None)
    open_prefixes = outcomes.count(None)
    unit = Fraction(1, 2**depth)
    for k in range(max(settled) + 3):
        upper = exact(law.tail(k)) if k else Fraction(1)
        mass = upper - exact(law.tail(k + 1))
        assert settled[k] * unit <= mass <= (settled[k] + 2) * unit, k
    # Each edge between outcomes leaves one prefix open, and V = 0 lies in the first one.
    edges = sum(1 for _ in takewhile(lambda k: exact(law.tail(k)) >= unit, count(1)))
    assert open_prefixes <= edges + 1
    assert sum(settled.values()) + open_prefixes == 2**depth


@pytest.mark.parametrize(("kind", "law", "scale"), CASES)
def test_every_prefix_of_12_bits_settles_rightly_or_not_at_all(kind, law, scale):
    assert_every_prefix_settles_rightly(kind(scale), law(scale), 12)


@pytest.mark.parametrize(("kind", "law", "scale"), CASES[::4])
def test_every_prefix_of_16_bits_settles_rightly_or_not_at_all(kind, law, scale):
    assert_every_prefix_settles_rightly(kind(scale), law(scale), 16)


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "law", "scale"), [*CASES, (RoundedGaussian, Gaussian, "40")])
def test_every_prefix_of_18_bits_settles_rightly_or_not_at_all(kind, law, scale):
    assert_every_prefix_settles_rightly(kind(scale), law(scale), 18)


@pytest.mark.parametrize(("kind", "law", "scale"), CASES)
def test_a_settled_prefix_stays_settled_whatever_follows(kind, law, scale):
    noise = kind(scale)
    for prefix in range(1, 2**8):
        outcome = settle(noise, prefix, 8)
        if outcome is not None:
            longer = {settle(noise, prefix << 4 | more, 12) for more in range(16)}
            assert longer == {outcome}


def test_nothing_is_settled_while_v_may_still_be_zero():
    for kind in (TwoSidedGeometric, OneSidedGeometric, RoundedGaussian):
        assert settle(kind(3), 0, 63) is None
        assert settle(kind(3), 0, 1000) is None


def test_further_words_are_drawn_until_the_outcome_is_settled():
    noise, law = TwoSidedGeometric(10), Geometric(10)
    edge = int(exact(law.tail(7)) * 2**127)  # the first 127 bits of P(magnitude >= 7)
    prefix, rest = divmod(edge, 2**64)
    assert settle(noise, prefix, 63) is None
    assert refine(noise, prefix, 63, iter([rest - 1]).__next__) == 7
    assert refine(noise, prefix, 63, iter([rest + 1]).__next__) == 6
    # The same first 127 bits settle nothing; 64 more do.
    assert refine(noise, prefix, 63, iter([rest, 0]).__next__) == 7
    assert refine(noise, prefix, 63, iter([rest, 2**64 - 1]).__next__) == 6


def test_a_word_is_a_sign_and_63_bits_of_v():
    noise = TwoSidedGeometric(1000)
    words = bits.words(50)
    flipped = words ^ np.uint64(1 << 63)
    outcomes = refine_words(noise, words)
    assert outcomes.tolist() == (-refine_words(noise, flipped)).tolist()
    prefixes = [int(word) % 2**63 for word in words]
    assert np.abs(outcomes).tolist() == [settle(noise, p, PREFIX_BITS) for p in prefixes]


def test_noise_saturates_instead_of_wrapping():
    noise = TwoSidedGeometric(10**15)
    # 10,303 zeros put V near 2**-10304, where the magnitude would be 7.1e18 > 3 * 2**61.
    tape = iter([0] * 160 + [2**63])
    assert refine(noise, 0, 63, tape.__next__) == LARGEST_NOISE
    assert next(tape, None) is None
    for zeros, saturated in ((9900, False), (9950, False), (10_000, True), (20_000, True)):
        magnitude = settle(noise, 2**63 + 1, zeros + 64)
        assert magnitude is not None
        assert (magnitude == LARGEST_NOISE) is saturated
        # ln V = -(zeros + 1) ln 2
        assert abs(magnitude - min(LARGEST_NOISE, int((zeros + 1) * log(2) * 1e15))) < 10**15


@given(
    st.integers(-(2**61) + 1, 2**61 - 1),
    st.integers(-(2**70), 2**70) | st.integers(-5, 5).map(lambda n: LARGEST_NOISE + n),
)
def test_saturated_noise_gives_the_clamped_result_of_unbounded_noise(value, unbounded):
    def clamp(x: int, limit: int) -> int:
        return max(-limit, min(limit, x))

    saturated = clamp(unbounded, LARGEST_NOISE)
    assert -(2**63) <= value + saturated < 2**63
    assert clamp(value + saturated, LARGEST_RESULT) == clamp(value + unbounded, LARGEST_RESULT)
