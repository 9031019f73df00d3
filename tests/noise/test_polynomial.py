"""Large scales: what polynomials call settled is what balls settle, within the bound they claim.

No statistics here: words are chosen where the certificate is most likely to be wrong (at the edges
of cells, and within a few units of the exact edge between two outcomes), and each is checked
against ball arithmetic.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.errors import Undecided
from discreet.exact import balls
from discreet.noise import OneSidedGeometric, RoundedGaussian, TwoSidedGeometric, bits
from discreet.noise.magnitude import PREFIX_BITS, refine_words, settle
from discreet.noise.polynomial import _LEVELS, _ZOOM, PolynomialSampler, _Scratch, _unit, _zoom

TOP = 1 << PREFIX_BITS
KINDS = (TwoSidedGeometric, OneSidedGeometric, RoundedGaussian)
SCALES = [
    "129",
    "1000/3",
    "12345.678",
    "1e6",
    "67108863",
    "67108865",  # the first scales with whole numbers apart
    "98765432109/7",
    "1e12",
    "1e15",
]


def sampler_of(noise: Any) -> PolynomialSampler:
    return PolynomialSampler(noise, noise.curve, noise.shift())


# Words that are hard on a certificate -----------------------------------------------------------


def random_words(n: int) -> NDArray[np.uint64]:
    """Words with any number of leading zeros up to 24 below a random sign."""
    words, zeros = bits.words(n), bits.words(n) % np.uint64(25)
    found: NDArray[np.uint64] = words & np.uint64(TOP) | (words & np.uint64(TOP - 1)) >> zeros
    return found


def cell_edges(level: int, *, every: int = 1) -> NDArray[np.uint64]:
    """The first and the last word of each cell of a level, of either sign."""
    width = 1 << (52 - _ZOOM * level)
    cells = np.arange(64, 2048, every, dtype=np.uint64) * np.uint64(width)
    words = np.concatenate([cells, cells + np.uint64(width - 1)])
    found: NDArray[np.uint64] = words | (bits.words(len(words)) & np.uint64(TOP))
    return found


def near_outcome_edges(noise: Any, n: int) -> NDArray[np.uint64]:
    """Words within 3 units of P(magnitude >= k) 2**63, where the outcome changes, for random k."""
    found = []
    for word in random_words(n).tolist():
        k = settle(noise, word % TOP or 1, PREFIX_BITS) or 1
        with balls.precision(200):
            edge = (noise.tail_ball(k) * 2**PREFIX_BITS).floor().unique_fmpz()
        found += [(int(edge) + d) % TOP | word & TOP for d in (-3, -1, 0, 1, 3)]
    return np.array(found, dtype=np.uint64)


# What is claimed, and what is true --------------------------------------------------------------


@dataclass
class Report:
    """One level's claims on some words, held against ball arithmetic."""

    settled: int = 0
    wrong: int = 0  # called settled, and balls say another outcome or none
    ratio: float = 0.0  # the largest error of a proposal, in units of the bound claimed for it

    def __iadd__(self, other: "Report") -> "Report":
        self.settled += other.settled
        self.wrong += other.wrong
        self.ratio = max(self.ratio, other.ratio)
        return self

    @property
    def sound(self) -> bool:
        return self.wrong == 0 and self.ratio <= 1


def claimed_error(level: Any, cells: NDArray[np.int64]) -> NDArray[np.float64]:
    trusted = level.trusted if level.base is None else level.trusted[cells]
    error: NDArray[np.float64] = np.full(len(cells), 0.5) - trusted
    return error


def judge(sampler: PolynomialSampler, index: int, words: NDArray[np.uint64]) -> Report:
    """Judge one level on those of the words that it is given when drawing."""
    noise: Any = sampler.noise
    level = sampler.levels[index]
    v = words & np.uint64(TOP - 1)
    reach = np.uint64(1 << (PREFIX_BITS - _ZOOM * index))
    words = words[(v < reach) & (v >= reach >> np.uint64(_ZOOM))]
    zoomed = _zoom(words, index)
    out, scratch = np.empty(len(words), dtype=np.int64), _Scratch(len(words))
    unsettled = level.propose(zoomed, out, scratch)
    certain = np.ones(len(words), dtype=bool)
    certain[unsettled] = False
    distance = scratch.y[: len(words)]  # of the proposal from the integer it rounds to
    errors = claimed_error(level, (zoomed >> np.uint64(52)).astype(np.int64))
    report = Report(settled=int(certain.sum()))
    rows = zip(words.tolist(), out.tolist(), distance.tolist(), errors.tolist(), strict=True)
    for (word, outcome, apart, error), sure in zip(rows, certain.tolist(), strict=True):
        prefix, magnitude = word % TOP, -outcome if word & TOP else outcome
        if sure and not settles(noise, prefix, magnitude):
            report.wrong += 1
        with balls.precision(200):
            v_ball = balls.from_fraction(Fraction(prefix, TOP))
            truth = noise.quantile_ball(v_ball) - balls.from_fraction(Fraction(1, 2)) - magnitude
            off = min(abs(float(truth - apart)), abs(float(truth + apart)))
        report.ratio = max(report.ratio, off / error)
    return report


def settles(noise: Any, prefix: int, magnitude: int) -> bool:
    """Whether every V that starts with these 63 bits has this magnitude."""
    ends = (prefix << 64, prefix << 64 | (2**64 - 1))
    return all(settle(noise, end, PREFIX_BITS + 64) == magnitude for end in ends)


def judge_all(sampler: PolynomialSampler, words: NDArray[np.uint64]) -> Report:
    report = Report()
    for index in range(_LEVELS):
        report += judge(sampler, index, words)
    return report


# The certificate holds --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_words_chosen_to_fool_it_are_settled_rightly_and_within_the_bound(kind, scale):
    noise = kind(scale)
    sampler = sampler_of(noise)
    report = judge_all(sampler, np.concatenate([random_words(300), near_outcome_edges(noise, 60)]))
    for index in range(_LEVELS):
        report += judge(sampler, index, cell_edges(index, every=37))
    assert report.sound, report
    assert report.settled > 100


@pytest.mark.parametrize("kind", [TwoSidedGeometric, RoundedGaussian])
@pytest.mark.parametrize(
    ("scale", "every"),
    [
        ("1000/3", 7),
        ("1e9", 7),
        *(pytest.param(scale, 1, marks=pytest.mark.deep) for scale in ("1000/3", "1e9", "1e14")),
    ],
)
def test_both_ends_of_the_cells_of_every_level_are_settled_rightly(kind, scale, every):
    sampler = sampler_of(kind(scale))
    for index in range(_LEVELS):
        report = judge(sampler, index, cell_edges(index, every=every))
        assert report.sound, report


@settings(max_examples=12)
@given(
    kind=st.sampled_from(KINDS),
    decade=st.integers(3, 14),
    factor=st.fractions(min_value=1, max_value=10, max_denominator=10**6),
)
def test_any_scale_is_settled_rightly_and_within_the_bound(kind, decade, factor):
    noise = kind(factor * 10**decade)
    words = np.concatenate([random_words(100), near_outcome_edges(noise, 20)])
    report = judge_all(sampler_of(noise), words)
    assert report.sound, report


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_many_words_chosen_to_fool_it_are_settled_rightly(kind, scale):
    noise = kind(scale)
    sampler = sampler_of(noise)
    words = [random_words(20_000), near_outcome_edges(noise, 4000)]
    words += [cell_edges(index) for index in range(_LEVELS)]
    report = judge_all(sampler, np.concatenate(words))
    assert report.sound, report


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", ["129", "1e6", "1e13"])
def test_the_vectorized_outcome_of_a_word_is_the_one_that_balls_give(kind, scale):
    noise = kind(scale)
    words = np.concatenate([random_words(500), cell_edges(1, every=101)])
    words = words[[settle(noise, w % TOP, PREFIX_BITS) is not None for w in words.tolist()]]
    assert len(words) > 200
    assert (sampler_of(noise).settle_words(words) == refine_words(noise, words)).all()


# The bound is a proof, so it can be checked piece by piece ---------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", SCALES)
def test_the_bound_covers_each_of_its_parts(kind, scale):
    """The sum that docs/explanation/exact-noise.md derives, in exact rationals."""
    noise = kind(scale)
    roundoff = Fraction(1, 2**53)
    for index, level in enumerate(sampler_of(noise).levels):
        degree = len(level.rows) - 1
        unit = _unit(noise.curve, index, degree)
        for cell in (64, 65, 100, 1000, 2047):
            at = cell - 64
            size = sum((abs(Fraction(float(row[cell]))) for row in level.rows), Fraction(0))
            horner = 2 * degree * roundoff / (1 - 2 * degree * roundoff)
            coefficients = 4 * roundoff
            centre = (Fraction(11, 10) * noise.scale + 2) / 2**96
            remainder = noise.scale * Fraction(float(unit.remainder[at]))
            undrawn = noise.scale * Fraction(float(unit.slope[at])) / 2**63
            needed = (horner + coefficients) * size + centre + remainder + undrawn
            claimed = claimed_error(level, np.array([cell]))[0]
            assert needed < Fraction(float(claimed))
            # And is not much more than that: a loose bound would only cost speed.
            if level.base is not None:
                assert Fraction(float(claimed)) < 2 * needed + Fraction(1, 2**48)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_on_the_remainder_covers_the_next_terms_of_the_series(kind):
    curve = kind(1000).curve
    for index in range(_LEVELS):
        unit = _unit(curve, index, 4)
        half = Fraction(1, 2 ** (12 + _ZOOM * index))
        for cell in (64, 65, 500, 2047):
            with balls.precision(200):
                centre = balls.from_fraction((2 * cell + 1) * half)
                left = curve.value(balls.from_fraction(2 * cell * half))
                series = curve.taylor(centre, 4)
                step = balls.from_fraction(-half)
                taylor = sum(term * step**n for n, term in enumerate(series))
                assert abs(left - taylor) < float(unit.remainder[cell - 64])
                slope = abs(curve.taylor(balls.from_fraction(2 * cell * half), 1)[1])
                assert slope < float(unit.slope[cell - 64])


def test_the_steep_cells_certify_nothing():
    for scale in ("1000", "1e12"):
        for level in sampler_of(TwoSidedGeometric(scale)).levels:
            cells = np.concatenate([np.arange(64), np.arange(2048, 2112)]).astype(np.uint64)
            words = (cells << np.uint64(52)) | (bits.words(128) >> np.uint64(12))
            out = np.empty(128, dtype=np.int64)
            assert len(level.propose(words, out, _Scratch(128))) == 128


def test_negative_words_mirror_positive_ones():
    sampler = sampler_of(RoundedGaussian("1e5"))
    words = random_words(2000) & np.uint64(TOP - 1)
    words = words[words >= np.uint64(1 << 43)]
    mirrored = sampler.settle_words(words | np.uint64(TOP))
    assert (sampler.settle_words(words) == -mirrored).all()


def test_a_table_is_not_built_from_balls_that_came_out_wide(monkeypatch):
    precision = balls.precision
    monkeypatch.setattr(balls, "precision", lambda bits: precision(max(bits // 2, 2)))
    _unit.cache_clear()
    with pytest.raises(Undecided):
        sampler_of(TwoSidedGeometric(1000))
    _unit.cache_clear()


# A wrong certificate is caught ------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", ["1000/3", "1e9", "1e15"])
def test_a_bound_ten_thousand_times_too_small_is_caught(kind, scale):
    noise = kind(scale)
    sampler = sampler_of(noise)
    for level in sampler.levels:
        level.trusted = 0.5 - (0.5 - np.asarray(level.trusted)) / 10_000
        if level.base is None:
            level.trusted = float(level.trusted)
        level.rows[0][:64] = level.rows[0][2048:2112] = 0.5
    report = judge_all(sampler, near_outcome_edges(noise, 60))
    assert report.wrong > 0
    assert report.ratio > 1


@pytest.mark.parametrize("kind", [TwoSidedGeometric, RoundedGaussian])
@pytest.mark.parametrize("scale", ["1000/3", "1e9"])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_one_coefficient_off_by_a_few_bounds_is_caught(kind, scale, order):
    sampler = sampler_of(kind(scale))
    level, cells = sampler.levels[0], np.array([777, 777 + 2048])
    level.rows[order][cells] += 3 * claimed_error(level, cells)
    report = judge(sampler, 0, cell_edges(0))
    assert report.ratio > 1
