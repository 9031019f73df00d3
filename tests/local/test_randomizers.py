"""Every randomizer is what it says: enumerated word by word, and as a channel."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidEpsilon, InvalidValue
from discreet.exact import Real
from discreet.local import (
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    Memoized,
    OneBit,
    Piecewise,
    Randomizer,
    SubsetSelection,
    TwoCoins,
    UnaryEncoding,
)
from discreet.theory.losses import Log
from tests.local.enumeration import enumerate_reports, words_of
from tests.local.fit import fits

# Small enough to enumerate with short words: how to make it, bits of a word, words at most.
SMALL: dict[str, tuple[Callable[[str], Randomizer], int, int]] = {
    "two coins": (lambda _: TwoCoins(), 3, 1),
    "binary": (lambda e: KaryResponse(size=2, epsilon=e), 8, 1),
    "kary": (lambda e: KaryResponse(size=5, epsilon=e), 8, 1),
    "unary": (lambda e: UnaryEncoding(size=3, epsilon=e), 5, 3),
    "symmetric unary": (lambda e: UnaryEncoding(size=3, epsilon=e, symmetric=True), 5, 3),
    "subset of one": (lambda e: SubsetSelection(size=4, epsilon=e, chosen=1), 4, 3),
    "subset of two": (lambda e: SubsetSelection(size=4, epsilon=e, chosen=2), 4, 5),
    "hashing": (lambda e: LocalHashing(size=4, epsilon=e, prime=5, buckets=3), 4, 4),
    "hashing digits": (
        lambda e: LocalHashing(size=3, epsilon=e, prime=3, buckets=2, digits=2),
        3,
        5,
    ),
    "hadamard": (lambda e: HadamardResponse(size=3, epsilon=e, blocks=1), 6, 2),
    "hadamard blocks": (lambda e: HadamardResponse(size=7, epsilon=e, blocks=4), 6, 2),
    "one bit": (lambda e: OneBit(size=5, epsilon=e), 8, 1),
    "piecewise": (lambda e: Piecewise(size=4, epsilon=e, stride=2, window=3), 6, 3),
    "memoized": (lambda e: Memoized(size=3, epsilon=e, once="1/2"), 6, 2),
    "memoized unary": (
        lambda e: Memoized(size=2, epsilon=e, once="1/2", encoding="unary"),
        4,
        4,
    ),
}

# As they are used, with words of 64 bits, at sizes whose channels can be listed.
REAL: dict[str, Callable[[str], Randomizer]] = {
    "two coins": lambda _: TwoCoins(),
    "binary": lambda e: KaryResponse(size=2, epsilon=e),
    "kary": lambda e: KaryResponse(size=9, epsilon=e),
    "unary": lambda e: UnaryEncoding(size=5, epsilon=e),
    "symmetric unary": lambda e: UnaryEncoding(size=5, epsilon=e, symmetric=True),
    "subset": lambda e: SubsetSelection(size=9, epsilon=e),
    "hashing": lambda e: LocalHashing(size=6, epsilon=e, prime=7, buckets=3),
    "hadamard": lambda e: HadamardResponse(size=6, epsilon=e),
    "hadamard blocks": lambda e: HadamardResponse(size=11, epsilon=e, blocks=4),
    "one bit": lambda e: OneBit(size=11, epsilon=e),
    "piecewise": lambda e: Piecewise(size=6, epsilon=e, stride=3, window=5),
}


@pytest.mark.parametrize("name", SMALL)
def test_every_word_tried_gives_the_channel_exactly(name):
    make, bits, depth = SMALL[name]
    with words_of(bits) as full:
        one = make("2/1")
        channel = one.channel()
        for value in range(one.size):
            found, undecided = enumerate_reports(one, value, full=full, depth=depth)
            assert undecided < Fraction(1, 2)
            exact = dict(zip(channel.outputs, channel[value], strict=True))
            for report, chance in exact.items():
                seen = found.pop(report, Fraction(0))
                # What is undecided after some thrown away words is shared out alike.
                assert seen <= chance <= seen + undecided
            assert not found


@pytest.mark.parametrize("name", SMALL)
def test_words_that_are_never_thrown_away_leave_nothing_undecided(name):
    make, bits, depth = SMALL[name]
    with words_of(bits) as full:
        one = make("2/1")
        found, undecided = enumerate_reports(one, one.size - 1, full=full, depth=depth)
        assert sum(found.values()) + undecided == 1
        if name not in {"subset of two", "subset of one", "hashing", "hashing digits", "piecewise"}:
            assert undecided == 0


@pytest.mark.parametrize("epsilon", ["1/100", "1/2", "1", "2", "5", "ln 3", "ln 7/2"])
@pytest.mark.parametrize("name", REAL)
def test_the_worst_ratio_of_the_channel_is_the_one_stated_and_at_most_e_to_the_epsilon(
    name, epsilon
):
    one = REAL[name](epsilon)
    assert one.channel().likelihood_ratio().exact == one.ratio
    allowed = one.declared.exp()
    assert one.ratio <= allowed.exact if allowed.exact is not None else allowed > one.ratio
    # And not much less: rounding costs no more than the 60th bit or so.
    assert float(one.epsilon) > float(one.declared) * (1 - 1e-12)


@pytest.mark.parametrize(
    ("one", "epsilon"),
    [
        (TwoCoins(), Log(3)),
        (KaryResponse(size=2, epsilon="ln 3"), Log(3)),
        (KaryResponse(size=6, epsilon="ln 3"), Log(3)),
        (UnaryEncoding(size=4, epsilon="ln 3"), Log(3)),
        (UnaryEncoding(size=4, epsilon="ln 9", symmetric=True), Log(9)),
        (SubsetSelection(size=4, epsilon="ln 3"), Log(3)),
        (HadamardResponse(size=5, epsilon="ln 3"), Log(3)),
        (HadamardResponse(size=5, epsilon="ln 5", blocks=2), Log(5)),
        (OneBit(size=3, epsilon="ln 3"), Log(3)),
        (Piecewise(size=3, epsilon="ln 3", stride=3, window=2), Log(3)),
        (LocalHashing(size=4, epsilon="ln 6", prime=5, buckets=3), Log(6)),
    ],
)
def test_the_loss_is_epsilon_itself_where_the_probabilities_are_whole_words(one, epsilon):
    assert one.channel().epsilon() == epsilon
    assert one.epsilon == epsilon


@given(
    size=st.integers(2, 10**6),
    epsilon=st.fractions(Fraction(1, 1000), 12, max_denominator=1000),
)
def test_at_any_size_the_closed_form_keeps_the_promise(size, epsilon):
    made = [
        KaryResponse(size=size, epsilon=epsilon),
        UnaryEncoding(size=size, epsilon=epsilon),
        UnaryEncoding(size=size, epsilon=epsilon, symmetric=True),
        SubsetSelection(size=size, epsilon=epsilon),
        LocalHashing(size=size, epsilon=epsilon),
        HadamardResponse(size=size, epsilon=epsilon),
        OneBit(size=size, epsilon=epsilon),
        Piecewise(size=size, epsilon=epsilon),
    ]
    for one in made:
        assert one.ratio > 1
        assert Real(epsilon).exp() > one.ratio, one.kind


@pytest.mark.parametrize("name", REAL)
def test_simulated_reports_are_those_of_the_channel(name):
    one = REAL[name]("1")
    channel = one.channel()
    for value in (0, one.size - 1):
        reports = one.simulate(np.full(200_000, value))
        assert one.allowed(reports).all()
        draws = Counter(map(one.unrow, reports))
        assert fits(draws, channel, value)


@pytest.mark.parametrize("name", REAL)
def test_single_reports_are_those_of_the_channel(name):
    one = REAL[name]("1")
    value = one.size // 2
    draws = Counter(one.respond(value) for _ in range(20_000))
    assert fits(draws, one.channel(), value)


@pytest.mark.parametrize("name", [name for name in REAL if name != "two coins"])
def test_the_same_test_tells_an_epsilon_that_is_off_by_a_twentieth(name):
    reports = REAL[name]("2").simulate(np.full(400_000, 0))
    draws = Counter(map(REAL[name]("2").unrow, reports))
    assert not fits(draws, REAL[name]("19/10").channel(), 0)


@pytest.mark.parametrize("name", REAL)
def test_a_report_can_be_written_and_read_back(name):
    one = REAL[name]("1")
    for value in range(one.size):
        report = one.respond(value)
        assert one.read(one.write(report)) == report


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize(
    "nonsense",
    [None, True, -1, 10**9, 1.0, "", "zz", [], {}, [1], ["a"] * 3, [True] * 3, "ff" * 99],
)
def test_what_the_randomizer_could_not_have_made_is_not_read(name, nonsense):
    assert REAL[name]("1").read(nonsense) is None


def test_with_more_digits_than_one_any_value_is_hashed_the_same_alone_and_in_bulk():
    hashing = LocalHashing(size=2**64, epsilon=1, digits=3)
    values = [0, 1, 2**30, 2**63 + 12345, 2**64 - 1]
    reports = hashing.simulate_digits(hashing.split(values))
    support = hashing.support(reports, hashing.split(values))
    for place, value in enumerate(values):
        seen = sum(hashing.bucket(row[:-1].tolist(), value) == row[-1] for row in reports)
        assert support[place] == seen


@pytest.mark.parametrize("epsilon", [0, -1, "inf", "nan", "many", float("inf"), None])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(InvalidEpsilon, match="Hint"):
        KaryResponse(size=3, epsilon=epsilon)


@pytest.mark.parametrize("make", [KaryResponse, UnaryEncoding, SubsetSelection, LocalHashing])
def test_an_epsilon_too_small_to_tell_anything_is_refused(make):
    with pytest.raises(InvalidEpsilon, match="nothing could be learnt"):
        make(size=9, epsilon="1e-30")


@pytest.mark.parametrize("size", [0, 1, -3, True, 2.0, "4", 2**31])
def test_a_size_that_is_no_number_of_options_is_refused(size):
    with pytest.raises(InvalidValue, match="Hint"):
        KaryResponse(size=size, epsilon=1)


@pytest.mark.parametrize("value", [-1, 4, True, 1.0, "1", None])
def test_a_value_that_is_no_option_is_refused_and_not_quoted(value):
    with pytest.raises(InvalidValue, match="Hint") as refused:
        KaryResponse(size=4, epsilon=1).respond(value)
    assert repr(value) not in refused.value.message.replace("4 options", "")


@pytest.mark.parametrize("values", [[[1]], [0.5], ["a"], [4], [-1]])
def test_values_that_are_no_options_are_refused(values):
    with pytest.raises(InvalidValue, match="Hint"):
        KaryResponse(size=4, epsilon=1).simulate(values)


def test_options_of_randomizers_that_make_no_sense_are_refused():
    for make in (
        lambda: SubsetSelection(size=4, epsilon=1, chosen=4),
        lambda: HadamardResponse(size=4, epsilon=1, blocks=3),
        lambda: LocalHashing(size=10, epsilon=1, prime=7),
        lambda: Piecewise(size=4, epsilon=1, stride=0),
    ):
        with pytest.raises(InvalidValue, match="Hint"):
            make()
