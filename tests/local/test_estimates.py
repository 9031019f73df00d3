"""Estimates are unbiased with the variance stated, and intervals hold as often as they say."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.errors import InvalidConfidence, InvalidValue
from discreet.local import (
    FrequencyRandomizer,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    Memoized,
    OneBit,
    Piecewise,
    SubsetSelection,
    TwoCoins,
    UnaryEncoding,
    mean,
    mean_variance,
    posterior,
    project,
    share_variance,
    shares,
)
from discreet.local.numbers import NumberRandomizer

# Small enough to enumerate every report.
CHOICES: dict[str, Callable[[], FrequencyRandomizer]] = {
    "two coins": TwoCoins,
    "binary": lambda: KaryResponse(size=2, epsilon=1),
    "kary": lambda: KaryResponse(size=4, epsilon=1),
    "unary": lambda: UnaryEncoding(size=4, epsilon=1),
    "symmetric unary": lambda: UnaryEncoding(size=4, epsilon=1, symmetric=True),
    "subset": lambda: SubsetSelection(size=6, epsilon=1),
    "hashing": lambda: LocalHashing(size=4, epsilon=1, prime=7, buckets=3),
    "hadamard": lambda: HadamardResponse(size=4, epsilon=1),
    "hadamard blocks": lambda: HadamardResponse(size=6, epsilon=2, blocks=2),
    "memoized": lambda: Memoized(size=4, epsilon=2, once=1),
    "memoized unary": lambda: Memoized(size=3, epsilon=2, once=1, encoding="unary"),
}
NUMBERS: dict[str, Callable[[], NumberRandomizer]] = {
    "one bit": lambda: OneBit(size=11, epsilon=1),
    "piecewise": lambda: Piecewise(size=11, epsilon=2),
}

# 40,000 surveys where there is time, a tenth of them where there is not.
MANY = [4_000, pytest.param(40_000, marks=pytest.mark.deep)]
PEOPLE = 150

# With some 200 comparisons in a run, so many standard errors are passed once in a million runs.
BEYOND = 6.1


@pytest.mark.parametrize("name", CHOICES)
def test_by_enumeration_the_mean_score_is_a_line_in_the_share_and_its_square_as_stated(name):
    one = CHOICES[name]()
    channel = one.channel()
    outputs: list[Any] = list(channel.outputs)
    scores = [one.scores(one.tally(np.array([one.row(report)]))) for report in outputs]
    for x in range(one.size):
        crowd = [Fraction(int(x == v)) for v in range(one.size)]
        for v in range(one.size):
            moments = one.moments(v, crowd)
            weighted = list(zip(channel[x], scores, strict=True))
            first = sum((p * s[v] for p, s in weighted), Fraction(0))
            second = sum((p * s[v] ** 2 for p, s in weighted), Fraction(0))
            assert first == moments.offset + moments.slope * int(x == v)
            assert second == moments.square + moments.square_slope * int(x == v)


@pytest.mark.parametrize("name", NUMBERS)
def test_by_enumeration_the_mean_report_is_a_line_in_the_point_and_its_variance_as_stated(name):
    one = NUMBERS[name]()
    channel = one.channel()
    for point in range(one.size):
        weighted = list(zip(channel[point], range(len(channel.outputs)), strict=True))
        first = sum((p * y for p, y in weighted), Fraction(0))
        second = sum((p * y**2 for p, y in weighted), Fraction(0))
        assert first == one.offset + one.slope * point
        assert second - first**2 == one.variance(point)


@pytest.mark.parametrize("name", NUMBERS)
def test_no_point_has_a_larger_variance_than_the_worst(name):
    one = NUMBERS[name]()
    each = [one.variance(point) / one.slope**2 for point in range(one.size)]
    assert max(each) == one.worst_variance


def test_the_noise_of_a_mean_is_told_from_the_spread_of_the_points():
    one = Piecewise(size=21, epsilon=3)
    for people in ([0] * 60_000, [0, 20] * 30_000, list(range(20)) * 3_000):
        total, squares = one.sums(one.tally(one.simulate(np.array(people))))
        noise = one.noise(total, squares, len(people))
        theory = sum((one.variance(point) for point in people), Fraction(0)) / len(people)
        assert noise is not None
        assert float(noise) == pytest.approx(float(theory), rel=0.1)


class Simulated(NamedTuple):
    """What many surveys of the same people gave: an estimate and whether its interval holds."""

    values: NDArray[np.float64]
    inside: NDArray[np.bool_]


def simulate_shares(
    one: FrequencyRandomizer, people: NDArray[np.int64], many: int, *, target: str = "people"
) -> Simulated:
    reports = one.simulate(np.tile(people, many))
    truth = np.bincount(people, minlength=one.size) / len(people)
    values, inside = np.empty((many, one.size)), np.empty((many, one.size), dtype=np.bool_)
    known: dict[tuple[int, ...], list[tuple[float, float, float]]] = {}
    for place in range(many):
        rows = reports[place * len(people) : (place + 1) * len(people)]
        counters = one.tally(rows)
        key = tuple(counters)
        if key not in known:
            found = shares(one, counters, len(people), target=target)
            known[key] = [(float(each), each.low, each.high) for each in found.shares]
        for v, (value, low, high) in enumerate(known[key]):
            values[place, v] = value
            inside[place, v] = low <= truth[v] <= high
    return Simulated(values, inside)


@pytest.mark.parametrize("many", MANY)
@pytest.mark.parametrize("name", CHOICES)
def test_shares_are_unbiased_their_variance_is_exact_and_intervals_cover(name, many):
    one = CHOICES[name]()
    # Some answers are common, some rare, one nobody gives.
    people = np.sort(np.arange(PEOPLE) % 7 % one.size)
    people[people == one.size - 1] = 0
    if one.size == 2:
        people = (np.arange(PEOPLE) % 5 > 0).astype(np.int64)
    truth = [Fraction(int(c), PEOPLE) for c in np.bincount(people, minlength=one.size)]
    result = simulate_shares(one, people, many)
    for v in range(one.size):
        theory = float(share_variance(one.moments(v, truth), truth[v], PEOPLE))
        error = math.sqrt(theory / many)
        assert abs(result.values[:, v].mean() - float(truth[v])) < BEYOND * error
        deviations = (result.values[:, v] - float(truth[v])) ** 2
        assert abs(deviations.mean() - theory) < BEYOND * deviations.std() / math.sqrt(many)
    # 0.94 is promised; a short run may fall below it by chance.
    promised = 0.94 if many >= 40_000 else 0.95 - BEYOND * math.sqrt(0.95 * 0.05 / many)
    assert result.inside.mean(axis=0).min() > promised


@pytest.mark.parametrize("many", MANY)
@pytest.mark.parametrize("name", NUMBERS)
def test_means_are_unbiased_their_variance_is_exact_and_intervals_cover(name, many):
    one = NUMBERS[name]()
    people = np.arange(PEOPLE) % one.size
    truth = float(people.mean())
    theory = float(mean_variance(one, people.tolist()))
    reports = one.simulate(np.tile(people, many)).reshape(many, PEOPLE)
    found = [mean(one, one.tally(rows), PEOPLE) for rows in reports]
    values = np.array([float(each) for each in found])
    assert abs(values.mean() - truth) < BEYOND * math.sqrt(theory / many)
    deviations = (values - truth) ** 2
    assert abs(deviations.mean() - theory) < BEYOND * deviations.std() / math.sqrt(many)
    covered = np.mean([each.low <= truth <= each.high for each in found])
    # One bit cannot tell its noise from the spread of the points; the other can, and is not wide.
    assert 0.94 < covered < (1 if name == "one bit" else 0.97)


@pytest.mark.parametrize("one", [TwoCoins(), KaryResponse(size=4, epsilon=1)])
def test_for_the_population_the_luck_of_the_draw_is_in_the_variance_and_the_interval(one):
    many, n = 4_000, 150
    chances = np.arange(1, one.size + 1) / np.arange(1, one.size + 1).sum()
    drawn = np.random.default_rng(7).choice(one.size, p=chances, size=(many, n))
    held = 0
    values = []
    for people in drawn:
        found = shares(one, one.tally(one.simulate(people)), n, target="population")[0]
        values.append(float(found))
        held += found.low <= chances[0] <= found.high
    exact = Fraction(1, sum(range(1, one.size + 1)))
    theory = float(share_variance(one.moments(0), exact, n, target="population"))
    deviations = (np.array(values) - chances[0]) ** 2
    assert abs(deviations.mean() - theory) < BEYOND * deviations.std() / math.sqrt(many)
    assert theory > float(share_variance(one.moments(0), exact, n))
    assert held / many > 0.94


def test_the_share_of_yes_is_twice_what_is_above_a_quarter():
    for yes in range(0, 101, 10):
        found = shares(TwoCoins(), [yes, 100 - yes], 100)[0]
        assert found.value == 2 * (Fraction(yes, 100) - Fraction(1, 4))


def test_the_unbiased_estimate_is_left_as_it_is_and_the_interval_is_not():
    found = shares(TwoCoins(), [10, 90], 100)[0]
    assert found.value == Fraction(-3, 10)
    assert 0 <= found.low <= found.high <= 1


def test_simultaneous_intervals_are_wider_and_hold_together():
    one = KaryResponse(size=8, epsilon=1)
    people = np.arange(160) % 8
    reports = one.simulate(np.tile(people, 1000)).reshape(1000, 160)
    together = 0
    for rows in reports:
        counters = one.tally(rows)
        wide = shares(one, counters, 160, simultaneous=True)
        alone = shares(one, counters, 160)
        assert all(w.high >= a.high for w, a in zip(wide.shares, alone.shares, strict=True))
        together += all(each.low <= 1 / 8 <= each.high for each in wide.shares)
    assert together > 900


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=12))
def test_the_projection_is_a_distribution_and_the_nearest_one(estimates):
    near = np.array(project(estimates))
    assert near.min() >= 0
    assert abs(near.sum() - 1) < 1e-9
    # The nearest point p of a convex set: (e - p) . (q - p) <= 0 for every corner q.
    gap = np.array(estimates) - near
    assert max(gap - gap @ near) <= 1e-8


def test_the_projection_lowers_the_error_and_is_biased():
    one = KaryResponse(size=10, epsilon=1)
    people = np.zeros(200, dtype=np.int64)
    raw, projected = [], []
    for _ in range(300):
        found = shares(one, one.tally(one.simulate(people)), 200)
        raw.append([float(each) for each in found.shares])
        projected.append(found.projected())
    truth = np.eye(10)[0]
    assert ((np.array(projected) - truth) ** 2).mean() < ((np.array(raw) - truth) ** 2).mean() / 2
    assert np.array(projected)[:, 0].mean() < 0.99


@given(
    st.lists(st.tuples(st.floats(-2, 2), st.floats(0, 10)), min_size=1, max_size=12),
)
def test_the_posterior_mean_is_a_distribution(noisy):
    made = np.array(posterior(*zip(*noisy, strict=True)))
    assert made.min() >= 0
    assert abs(made.sum() - 1) < 1e-9


def test_the_posterior_mean_is_what_all_distributions_weighted_give():
    """Against the definition: random distributions, weighted by the density of the estimates."""
    estimates, errors = [0.35, -0.1, 0.3, 0.2, 0.05, 0.2], [0.15] * 6
    every = np.random.default_rng(7).dirichlet(np.ones(6), 400_000)
    weights = np.exp(-(((every - np.array(estimates)) / errors) ** 2).sum(axis=1) / 2)
    exact = (every * weights[:, None]).sum(axis=0) / weights.sum()
    # Taking the shares for independent moves none of them by more than a seventh of its error.
    assert np.abs(np.array(posterior(estimates, errors)) - exact).max() < 0.15 / 7


@pytest.mark.parametrize(("shape", "better"), [("falling", 0), ("equal", 0), ("few", 1)])
def test_the_posterior_mean_has_less_error_unless_most_shares_are_nothing(shape, better):
    one, n = KaryResponse(size=12, epsilon=1), 780
    weights = {"falling": np.arange(12, 0, -1), "equal": np.ones(12), "few": np.arange(12) < 4}
    truth = weights[shape] / weights[shape].sum()
    people = np.repeat(np.arange(12), np.rint(truth * n).astype(int))
    found = [shares(one, one.tally(one.simulate(people)), len(people)) for _ in range(200)]
    errors = [
        np.mean([(np.array(made) - truth) ** 2 for made in each])
        for each in ([f.posterior() for f in found], [f.projected() for f in found])
    ]
    assert errors.index(min(errors)) == better


def test_many_reports_need_no_help():
    one = KaryResponse(size=12, epsilon=1)
    people = np.repeat(np.arange(12), np.arange(12, 0, -1) * 100_000)
    found = shares(one, one.tally(one.simulate(people)), len(people))
    assert found.posterior() == pytest.approx(found.projected(), abs=1e-3)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: shares(TwoCoins(), [0, 0], 0), InvalidValue),
        (lambda: shares(TwoCoins(), [1, 1], 2, confidence=1), InvalidConfidence),
        (lambda: shares(TwoCoins(), [1, 1], 2, target="everybody"), InvalidValue),
        (lambda: mean(OneBit(size=3, epsilon=1), [0, 0], 0), InvalidValue),
    ],
)
def test_questions_that_make_no_sense_are_refused(call, error):
    with pytest.raises(error, match="Hint"):
        call()
