"""Selection: every prefix is settled rightly, the fast path agrees with balls, the law is exact."""

from collections import Counter
from fractions import Fraction
from itertools import accumulate
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from discreet.noise import Selection, bits
from tests.noise.laws import exact, real

CASES: list[dict[str, Any]] = [
    {"exponents": [0, 1], "unit": "1/2"},
    {"exponents": [3, -5, 0, 12, 7], "unit": "1/5"},
    {"exponents": [0, 0, 0], "unit": 1},
    {"exponents": [5, 1, 9, 4], "unit": "1/3", "counts": [1, 0, 7, 2**40]},
    {"exponents": [10, 0, 0, 2], "unit": 1, "counts": [0, 3, 0, 0]},
    {"exponents": [0, -(2**61), 2**61, 2**61 - 3], "unit": "1/3"},
    {"exponents": list(range(0, 700, 10)), "unit": "1/50", "counts": list(range(70))},
]


def masses(options: dict[str, Any]) -> list[Fraction]:
    """The exact probabilities, to 60 digits."""
    exponents, unit = options["exponents"], Fraction(options["unit"])
    counts = options.get("counts", [1] * len(exponents))
    top = max(e for e, c in zip(exponents, counts, strict=True) if c)
    with mp.workdps(80):
        weights = [
            c * mpmath.exp(real(unit * (e - top))) if c else mpmath.mpf(0)
            for e, c in zip(exponents, counts, strict=True)
        ]
        total = mpmath.fsum(weights)
        return [exact(w / total) for w in weights]


@pytest.mark.parametrize("options", CASES)
def test_every_prefix_settles_rightly_or_not_at_all(options):
    chooser = Selection(**options)
    depth = 10
    outcomes = [chooser.settle(prefix, depth) for prefix in range(2**depth)]
    settled = Counter(i for i in outcomes if i is not None)
    unit = Fraction(1, 2**depth)
    for i, mass in enumerate(masses(options)):
        slack = Fraction(1, 10**50)
        assert settled[i] * unit - slack <= mass <= (settled[i] + 2) * unit + slack
    assert outcomes.count(None) <= len(options["exponents"]) + 1
    # Outcomes ascend with U.
    known = [i for i in outcomes if i is not None]
    assert known == sorted(known)


def edge_words(options: dict[str, Any]) -> np.ndarray:
    """Words at and around every edge between two outcomes, and at both ends."""
    edges = [int(edge * 2**64) for edge in accumulate(masses(options))]
    steps = [d for power in range(0, 28, 2) for d in (-(2**power), 2**power)] + [0]
    near = {edge + d for edge in [0, *edges] for d in steps}
    return np.array(sorted(w for w in near if 0 <= w < 2**64), dtype=np.uint64)


@pytest.mark.parametrize("options", CASES)
def test_words_around_every_edge_are_settled_as_balls_settle_them(options):
    chooser = Selection(**options)
    words = edge_words(options)
    settled = [chooser.settle(w, 64) for w in words.tolist()]
    known = np.array([i is not None for i in settled])
    assert known.sum() > len(words) // 2
    expected = [i for i in settled if i is not None]
    assert chooser.settle_words(words[known]).tolist() == expected


@settings(max_examples=60)
@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=12),
    st.fractions(min_value=Fraction(1, 10**8), max_value=3),
    st.data(),
)
def test_any_weights_are_settled_as_balls_settle_them(exponents, unit, data):
    counts = data.draw(
        st.lists(st.integers(0, 2**50), min_size=len(exponents), max_size=len(exponents)).filter(
            any
        )
    )
    chooser = Selection(exponents, unit=unit, counts=counts)
    words = bits.words(20)
    settled = [chooser.settle(w, 64) for w in words.tolist()]
    assert None not in settled or len(exponents) > 1
    known = np.array([i is not None for i in settled])
    assert chooser.settle_words(words[known]).tolist() == [i for i in settled if i is not None]


def true_sums(chooser: Selection) -> list[Fraction]:
    with mp.workdps(80):
        weights = [
            int(c) * mpmath.exp(-real(chooser.unit * int(g)))
            for c, g in zip(chooser.counts, chooser.gaps, strict=True)
        ]
    return list(accumulate(exact(w) for w in weights))


@pytest.mark.parametrize("options", CASES)
def test_cumulative_weights_in_doubles_are_within_a_quarter_of_the_bound(options):
    chooser = Selection(**options)
    edges, error = chooser._edges
    off = [abs(Fraction(float(e)) - s) for e, s in zip(edges, true_sums(chooser), strict=True)]
    # Half of the bound is kept in reserve, and the target needs half of the rest.
    assert max(off) <= Fraction(error) / 4


@pytest.mark.parametrize("options", CASES[:3])
@pytest.mark.parametrize("way", [8, -8])
def test_an_edge_that_is_off_by_eight_bounds_is_caught(options, way):
    chooser = Selection(**options)
    edges, error = chooser._edges
    wrong = edges.copy()
    wrong[0] += way * error
    chooser.__dict__["_edges"] = (wrong, error)
    words = edge_words(options)
    settled = [chooser.settle(w, 64) for w in words.tolist()]
    got = chooser.settle_words(words).tolist()
    assert [i for i, j in zip(settled, got, strict=True) if i is not None and i != j]


@pytest.mark.parametrize("options", CASES)
def test_a_selection_knows_its_law(options):
    chooser, law = Selection(**options), masses(options)
    slack = Fraction(1, 10**40)
    sums = [Fraction(0), *accumulate(law)]
    for i in range(-1, len(law) + 1):
        inside = 0 <= i < len(law)
        assert abs(chooser.pmf(i).lower(200) - (law[i] if inside else 0)) < slack
        assert abs(chooser.cdf(i).lower(200) - sums[max(0, min(i + 1, len(law)))]) < slack
        assert abs(chooser.tail(i).lower(200) - 1 + sums[max(0, min(i, len(law)))]) < slack
    mean = sum(i * p for i, p in enumerate(law))
    square = sum(i * i * p for i, p in enumerate(law))
    assert abs(chooser.mean.lower(200) - mean) < slack * 10**6
    assert abs(chooser.variance.lower(200) - square + mean**2) < slack * 10**6


@pytest.mark.parametrize("options", CASES)
@pytest.mark.parametrize("p", ["0.05", "0.3", "0.5", "0.9", "0.99"])
def test_quantiles_and_intervals_by_brute_force(options, p):
    chooser, law = Selection(**options), masses(options)
    sums = [Fraction(0), *accumulate(law)]
    wanted, n = Fraction(p), len(law)
    assert chooser.quantile(p) == next(i for i in range(n) if sums[i + 1] >= wanted - TINY)
    low, high = chooser.interval(p)
    assert sums[high + 1] - sums[low] >= wanted - TINY
    width = high - low
    shorter = [sums[i + width] - sums[i] for i in range(n - width + 1)]
    assert width == 0 or max(shorter) < wanted - TINY


TINY = Fraction(1, 10**40)


def test_ties_give_rational_probabilities():
    five = Selection([7] * 5, unit="1/3")
    assert five.pmf(2).exact == Fraction(1, 5)
    assert five.cdf(1).exact == Fraction(2, 5)
    assert five.quantile("0.4") == 1
    assert five.interval("0.6") == (0, 2)
    twice = Selection([0, 1, 0, 1], unit=1)
    assert twice.cdf(1).exact == Fraction(1, 2)
    assert twice.pmf(1).exact is None
    assert twice.quantile("0.5") == 1
    assert twice.interval("0.5") == (0, 1)


def test_only_differences_of_exponents_matter():
    here, there = Selection([1, 5, 2], unit="1/4"), Selection([101, 105, 102], unit="1/4")
    assert here.gaps.tolist() == there.gaps.tolist()


def test_a_candidate_without_weight_is_never_chosen():
    draws = Selection([9, 0, 5, 9], unit=1, counts=[0, 1, 1, 0]).sample(100_000)
    assert set(draws.tolist()) <= {1, 2}
    hopeless = Selection([0, 10**9], unit=1).sample(100_000)
    assert set(hopeless.tolist()) == {1}
