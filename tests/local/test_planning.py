"""The error to expect, how many to ask, which randomizer to take: by theory and by brute force."""

import math
from fractions import Fraction

import pytest

from discreet.errors import InvalidNumber, InvalidValue
from discreet.local import (
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    Memoized,
    OneBit,
    Piecewise,
    SubsetSelection,
    TwoCoins,
    UnaryEncoding,
    advise,
    central_error,
    central_sample_size,
    compare,
    expected_error,
    sample_size,
    share_variance,
    shares,
)
from discreet.local.adviser import NEARLY, typical_error
from discreet.local.planning import worst_variance
from discreet.theory.response import Response


@pytest.mark.parametrize("error", ["1/10", "1/50", "1/100"])
@pytest.mark.parametrize("epsilon", ["1/2", "1", "ln 3"])
def test_the_sample_size_of_randomized_response_is_that_of_theory(epsilon, error):
    one = KaryResponse(size=2, epsilon=epsilon)
    ratio, alpha = float(one.declared.exp()), float(Fraction(error))
    theory = ratio / ((ratio - 1) ** 2 * alpha**2)
    assert sample_size(one, error=error) == pytest.approx(theory, abs=1.001)
    more = sample_size(one, error=error, target="population")
    assert more == pytest.approx(theory + 1 / (4 * alpha**2), abs=1.001)


def test_halving_the_error_takes_four_times_the_people_and_twice_with_a_curator():
    one = TwoCoins()
    assert sample_size(one, error="1/100") == 7_500
    assert sample_size(one, error="1/200") == 30_000
    near = central_sample_size("1/100", "1/2"), central_sample_size("1/200", "1/2")
    assert near[1] == pytest.approx(2 * near[0], abs=1)
    assert near[0] == pytest.approx(math.sqrt(2) / (0.01 * 0.5), rel=0.02)


def test_the_sample_size_is_enough_and_one_less_is_not():
    for one in (TwoCoins(), KaryResponse(size=6, epsilon=1), OneBit(size=11, epsilon=1)):
        n = sample_size(one, error="1/20")
        assert expected_error(one, n) <= 0.05 < expected_error(one, n - 1)


def test_with_a_confidence_the_error_is_half_the_interval():
    one = TwoCoins()
    n = sample_size(one, error="1/20", confidence="95/100")
    found = shares(one, [n // 2, n - n // 2], n)[0]
    assert (found.high - found.low) / 2 == pytest.approx(0.05, rel=0.02)


@pytest.mark.parametrize("target", ["people", "population"])
@pytest.mark.parametrize(
    "one",
    [
        TwoCoins(),
        KaryResponse(size=5, epsilon=2),
        UnaryEncoding(size=5, epsilon=2),
        SubsetSelection(size=5, epsilon=2),
        LocalHashing(size=5, epsilon=2),
        HadamardResponse(size=5, epsilon=1),
        HadamardResponse(size=9, epsilon=3, blocks=4),
        Memoized(size=5, epsilon=3, once=2),
    ],
)
def test_no_shares_have_a_larger_variance_than_the_worst(one, target):
    worst = worst_variance(one, target=target)
    found = Fraction(0)
    for share in range(11):
        for other in range(11 - share):
            crowd = [Fraction(0)] * one.size
            crowd[0], crowd[-1] = Fraction(share, 10), Fraction(other, 10)
            crowd[1] += 1 - crowd[0] - crowd[-1]
            for v in (0, one.size - 1):
                each = share_variance(one.moments(v, crowd), crowd[v], 1, target=target)
                found = max(found, each)
    assert found <= worst
    assert float(found) > 0.95 * float(worst)


def test_the_local_model_is_worse_by_the_square_root_of_n():
    few, many = compare(TwoCoins(), 100), compare(TwoCoins(), 10_000)
    assert many.times_worse == pytest.approx(10 * few.times_worse)
    assert few.central == central_error(100, "ln 3")


def test_a_curator_pays_twice_for_a_histogram_and_for_the_range_of_a_number():
    assert central_error(1000, 1, cells=5) == pytest.approx(2 * central_error(1000, 1), rel=0.1)
    assert compare(OneBit(size=101, epsilon=1), 1000).central == pytest.approx(
        100 * central_error(1000, 1)
    )


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "1", "2", "4", "6"])
@pytest.mark.parametrize("size", [2, 3, 8, 64, 1000, 10**6])
def test_the_adviser_takes_nearly_the_best_of_all_and_says_why(size, epsilon):
    advice = advise(size=size, epsilon=epsilon, n=10_000)
    errors = [candidate.error for candidate in advice.candidates]
    assert errors == sorted(errors)
    assert typical_error(advice.randomizer, 10_000) <= NEARLY * errors[0]
    assert advice.reason.startswith(advice.randomizer.kind)
    assert advice.randomizer.size == size


def test_small_domains_are_asked_directly_and_large_ones_hashed():
    assert advise(size=4, epsilon=3, n=1000).randomizer.kind == "kary"
    assert advise(size=10**5, epsilon=1, n=1000).randomizer.kind == "hashing"
    # So many reports that a step for each and every option would take too long.
    assert advise(size=10**6, epsilon=1, n=10**9).randomizer.kind == "hadamard"


def test_numbers_take_one_bit_at_small_epsilons_and_a_window_at_large_ones():
    assert advise(size=101, epsilon="1/2", n=1000, numbers=True).randomizer.kind == "one_bit"
    assert advise(size=101, epsilon=4, n=1000, numbers=True).randomizer.kind == "piecewise"


def test_the_adviser_says_when_nothing_can_be_learnt():
    assert "hardly better than guessing" in advise(size=50, epsilon="1/10", n=50).reason


@pytest.mark.parametrize("epsilon", ["1/2", "1", "2", "4"])
def test_the_default_parameters_are_the_best_ones(epsilon):
    for size in (4, 10, 33):
        subset = typical_error(SubsetSelection(size=size, epsilon=epsilon), 100)
        for chosen in range(1, size):
            other = SubsetSelection(size=size, epsilon=epsilon, chosen=chosen)
            assert subset <= typical_error(other, 100) * 1.02
    hashed = typical_error(LocalHashing(size=1000, epsilon=epsilon), 100)
    for buckets in range(2, 80):
        other_hash = LocalHashing(size=1000, epsilon=epsilon, buckets=buckets)
        assert hashed <= typical_error(other_hash, 100) * 1.005
    hadamard = typical_error(HadamardResponse(size=1000, epsilon=epsilon), 100)
    for blocks in (1, 2, 4, 8, 16, 32, 64):
        other_blocks = HadamardResponse(size=1000, epsilon=epsilon, blocks=blocks)
        assert hadamard <= typical_error(other_blocks, 100) * 1.01
    window = Piecewise(size=101, epsilon=epsilon)
    for width in range(1, 2 * window.window, max(1, window.window // 8)):
        other_window = Piecewise(size=101, epsilon=epsilon, window=width)
        assert float(window.worst_variance) <= float(other_window.worst_variance) * 1.01


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: expected_error(TwoCoins(), 0), InvalidValue),
        (lambda: sample_size(TwoCoins(), error=0), InvalidNumber),
        (lambda: advise(size=3, epsilon=1, n=0), InvalidValue),
        (lambda: advise(size=1, epsilon=1, n=9), InvalidValue),
        (lambda: worst_variance(TwoCoins(), target="x"), InvalidValue),
    ],
)
def test_plans_that_make_no_sense_are_refused(call, error):
    with pytest.raises(error, match="Hint"):
        call()


@pytest.mark.parametrize("epsilon", ["1/2", "ln 3", "3"])
def test_the_theory_of_randomized_response_says_the_same(epsilon):
    theory = Response(epsilon).rms_error(people=1234)
    assert expected_error(KaryResponse(size=2, epsilon=epsilon), 1234) == pytest.approx(
        float(theory)
    )
