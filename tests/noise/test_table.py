"""Small scales: the table agrees with the primitive on every word there is."""

from fractions import Fraction
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.noise import OneSidedGeometric, RoundedGaussian, TwoSidedGeometric, bits, table
from discreet.noise.magnitude import settle
from discreet.noise.table import TableSampler, thresholds
from tests.noise.laws import Gaussian, Geometric, HalfGeometric, exact

Words: TypeAlias = NDArray[np.uint64]

OPEN = -(2**63)
TOP = 1 << 63

CASES = [
    (TwoSidedGeometric, Geometric, "1"),
    (TwoSidedGeometric, Geometric, "10/3"),
    (TwoSidedGeometric, Geometric, "128"),
    (TwoSidedGeometric, Geometric, "1e-6"),
    (OneSidedGeometric, HalfGeometric, "7/3"),
    (RoundedGaussian, Gaussian, "1"),
    (RoundedGaussian, Gaussian, "0.3"),
    (RoundedGaussian, Gaussian, "100/3"),
    (RoundedGaussian, Gaussian, "128"),
]


def both_signs(prefixes: list[int]) -> tuple[Words, Words]:
    positive = np.array(prefixes, dtype=np.uint64)
    return positive, positive | np.uint64(TOP)


@pytest.mark.parametrize(("kind", "law", "scale"), CASES)
def test_thresholds_are_the_tails_in_units_of_two_to_the_minus_63(kind, law, scale):
    found = thresholds(kind(scale)).tolist()
    witness = law(scale)
    assert found == [int(exact(witness.tail(k)) * 2**63) for k in range(1, len(found) + 1)]
    assert found[-1] == 0
    assert 0 not in found[:-1]


@pytest.mark.parametrize(("kind", "law", "scale"), CASES)
def test_the_mass_that_63_bits_settle_is_the_pmf_to_one_word(kind, law, scale):
    found = [2**63, *thresholds(kind(scale)).tolist()]
    witness = law(scale)
    for k in range(len(found) - 1):
        mass = exact(witness.tail(k)) if k else Fraction(1)
        mass -= exact(witness.tail(k + 1))
        # Words strictly between T[k+1] and T[k] lead to k; T[k+1] and T[k] themselves are open.
        assert found[k] - found[k + 1] - 1 < mass * 2**63 < found[k] - found[k + 1] + 1


@pytest.mark.parametrize(
    ("kind", "scale"),
    [(TwoSidedGeometric, "1"), (TwoSidedGeometric, "128"), (RoundedGaussian, "10/3")],
)
def test_all_65536_entries_of_the_first_look_are_what_the_primitive_settles(kind, scale):
    noise = kind(scale)
    outcomes = TableSampler(noise).outcomes
    assert len(outcomes) == 2**16
    positive, negative = outcomes[: 2**15], outcomes[2**15 :]
    settled = [settle(noise, prefix, 15) for prefix in range(2**15)]
    assert positive.tolist() == [OPEN if k is None else k for k in settled]
    assert negative.tolist() == [OPEN if k is None else -k for k in settled]


@pytest.mark.parametrize(("kind", "law", "scale"), CASES)
def test_words_beside_each_threshold_go_to_either_side_and_the_threshold_to_balls(
    kind, law, scale, monkeypatch
):
    # The outcome of a word can only change at a threshold, so these are all the words there are.
    noise = kind(scale)
    sampler = TableSampler(noise)
    handed = []

    def record(_, words):
        handed.extend(words.tolist())
        return np.full(len(words), OPEN)

    monkeypatch.setattr(table, "refine_words", record)
    found = thresholds(noise).tolist()
    known = set(found)
    below = [(t - 1, k) for k, t in enumerate(found, 1) if t > 0 and t - 1 not in known]
    above = [(t + 1, k - 1) for k, t in enumerate(found, 1) if t + 1 not in known and t + 1 < 2**63]
    # A repeated threshold separates more than two outcomes: the lowest k above, the highest below.
    below = list(dict(below).items())
    above = list(dict(reversed(above)).items())
    for words, sign in zip(both_signs([m for m, _ in below + above]), (1, -1), strict=True):
        got = sampler.settle_words(words).tolist()
        assert got == [sign * k for _, k in below + above]
    assert handed == []
    for m, k in (below + above)[:: max(1, len(below) // 50)]:
        assert settle(noise, m, 63) == k
    words = np.concatenate(both_signs(found))
    assert (sampler.settle_words(words) == OPEN).all()
    assert handed == words.tolist()


def test_the_highest_and_the_lowest_words_are_settled():
    sampler = TableSampler(RoundedGaussian(3))
    highest, _ = both_signs([2**63 - 1])
    assert sampler.settle_words(highest).tolist() == [0]
    lowest = sampler.settle_words(np.zeros(200, dtype=np.uint64))
    # V below 2**-63: nine standard deviations or more.
    assert (lowest >= 27).all()


def test_draws_are_those_of_the_bits_drawn(monkeypatch):
    noise = TwoSidedGeometric("31/7")
    sampler = TableSampler(noise)
    looked, rest = [], []
    halfwords, words = bits.halfwords, bits.words

    def spied_halfwords(n):
        looked.append(halfwords(n))
        return looked[-1]

    def spied_words(n):
        rest.append(words(n))
        return rest[-1]

    monkeypatch.setattr(bits, "halfwords", spied_halfwords)
    monkeypatch.setattr(bits, "words", spied_words)
    out = np.empty(40_000, dtype=np.int64)
    sampler.fill(out)
    first = np.concatenate(looked).astype(np.uint64)
    opened = sampler.outcomes[first] == OPEN
    lower = np.full(len(out), 2**47, dtype=np.uint64)
    lower[opened] = np.concatenate(rest) >> np.uint64(16)
    whole = first << np.uint64(48) | lower
    assert opened.sum() > 10
    assert (sampler.settle_words(whole) == out).all()
