"""Above threshold: its guarantee by exact sums, and that it stops itself."""

import copy
import pickle
from fractions import Fraction
from functools import lru_cache
from itertools import product
from threading import Thread
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.stats import chisquare

from discreet import AboveThreshold
from discreet.errors import Exhausted, InvalidInput, InvalidValue, OffGrid, Refused
from discreet.noise import TwoSidedGeometric
from tests.mechanisms.distances import is_private
from tests.mechanisms.every_draw import distribution, number, scripted

ALPHA = 1e-6
REACH = 100
QUERIES = 3
SLACK = 1e-15  # more than the mass of all noise beyond the reach, with fewer digits than we have


@lru_cache(maxsize=64)
def table(scale, reach=REACH) -> Any:
    """P(Z = k) for abs(k) <= reach."""
    noise = TwoSidedGeometric(scale)
    return {k: number(noise.pmf(k)) for k in range(-reach, reach + 1)}


@lru_cache(maxsize=64)
def below(scale) -> Any:
    noise = TwoSidedGeometric(scale)
    return {k: number(noise.cdf(k - 1)) for k in range(-2 * REACH, 2 * REACH + 1)}


@lru_cache(maxsize=4096)
def law(threshold_scale, value_scale, values) -> Any:
    """P(the first yes is at i) for every i, and P(no yes at all), for the threshold 0."""
    under = below(value_scale)
    found = dict.fromkeys([*range(len(values)), None], mpf(0))
    for noise, mass in table(threshold_scale).items():
        silent = mass
        for i, value in enumerate(values):
            found[i] += silent * (1 - under[noise - value])
            silent *= under[noise - value]
        found[None] += silent
    return found


def laws(mechanism, values) -> Any:
    return law(mechanism.threshold_noise.scale, mechanism.value_noise.scale, values)


def neighbours(*, monotone, sensitivity=1) -> Any:
    """Value sequences around the threshold, and what one unit can make of them."""
    moves = list(product(range(-sensitivity, sensitivity + 1), repeat=QUERIES))
    if monotone:
        moves = [move for move in moves if min(move) >= 0 or max(move) <= 0]
    for values in product((-6, -1, 0, 2), repeat=QUERIES):
        for move in moves:
            yield values, tuple(v + m for v, m in zip(values, move, strict=True))


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(3)])
def test_no_pair_of_neighbours_is_further_apart_than_epsilon(monotone, epsilon):
    mechanism = AboveThreshold(sensitivity=1, epsilon=epsilon, monotone=monotone)
    for values, changed in neighbours(monotone=monotone):
        p, q = laws(mechanism, values), laws(mechanism, changed)
        assert is_private(p, q, epsilon, slack=SLACK)
        assert is_private(q, p, epsilon, slack=SLACK)


def refuted(threshold_scale, value_scale, epsilon, *, monotone=False) -> Any:
    """Whether some neighbours, with values as far from the threshold as it takes, are too far."""
    moves = [m for m in product((-1, 0, 1), repeat=2) if not (monotone and m[0] * m[1] < 0)]
    for values in product((-9, 0, 9), repeat=2):
        for move in moves:
            changed = tuple(v + m for v, m in zip(values, move, strict=True))
            # Many queries that say no, then one that says yes: the worst there is.
            p = law(threshold_scale, value_scale, (values[0],) * 8 + (values[1],))
            q = law(threshold_scale, value_scale, (changed[0],) * 8 + (changed[1],))
            if not is_private(p, q, epsilon, slack=SLACK):
                return True
    return False


def test_wrong_calibrations_are_refuted():
    right = AboveThreshold(sensitivity=1, epsilon=2)
    on_threshold, on_values = right.threshold_noise.scale, right.value_noise.scale
    assert not refuted(on_threshold, on_values, 2)
    assert refuted(on_threshold, on_values / 2, 2)
    assert refuted(on_threshold / 2, on_values, 2)
    one_way = AboveThreshold(sensitivity=1, epsilon=2, monotone=True)
    on_threshold, on_values = one_way.threshold_noise.scale, one_way.value_noise.scale
    assert not refuted(on_threshold, on_values, 2, monotone=True)
    assert refuted(on_threshold, on_values, 2)
    assert refuted(on_threshold, on_values / 2, 2, monotone=True)


@pytest.mark.parametrize("values", [(0, 0), (-1, 2), (3, 0), (-2, -2)])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_code_has_the_law_that_was_summed(values, monotone):
    mechanism = AboveThreshold(sensitivity=1, epsilon=9, monotone=monotone)

    def first_yes() -> Any:
        run = mechanism.start(threshold=0)
        return next((i for i, value in enumerate(values) if run.ask(value)), None)

    found, leftover = distribution(first_yes, reach=12)
    assert leftover < 1e-12
    for outcome, mass in laws(mechanism, values).items():
        assert abs(found[outcome] - mass) <= leftover


def test_a_value_that_reaches_the_threshold_is_above_it():
    mechanism = AboveThreshold(sensitivity=1, epsilon=1)
    run = scripted(lambda: mechanism.start(threshold=10), [3])
    assert scripted(lambda: [run.ask(12), run.ask(11), run.ask(14)], [0, 1, -1]) == [
        False,
        False,
        True,
    ]


def test_a_run_stops_at_its_first_yes():
    run = AboveThreshold(sensitivity=1, epsilon=1).start(threshold=0)
    assert not run.ask(-(10**6))
    assert run.ask(10**6)
    for _ in range(3):
        with pytest.raises(Exhausted, match=r"\n\nHint: start another"):
            run.ask(10**6)


def test_threads_that_ask_at_once_get_one_yes():
    for _ in range(20):
        run = AboveThreshold(sensitivity=1, epsilon=1).start(threshold=0)
        answers: list[bool | None] = []

        def ask(run=run, answers=answers) -> Any:
            try:
                answers.append(run.ask(10**6))
            except Exhausted:
                answers.append(None)

        threads = [Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers.count(True) == 1
        assert answers.count(None) == 7


def test_a_run_cannot_be_copied_and_asked_again():
    run = AboveThreshold(sensitivity=1, epsilon=1).start(threshold=0)
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Refused, match="copied"):
            duplicate(run)


def test_runs_follow_the_law():
    # Chi-square over 4 outcomes; false alarms: one in a million.
    mechanism, values, n = AboveThreshold(sensitivity=1, epsilon=2), (-2, 0, 1), 3000
    counts = dict.fromkeys([0, 1, 2, None], 0)
    for _ in range(n):
        run = mechanism.start(threshold=0)
        counts[next((i for i, value in enumerate(values) if run.ask(value)), None)] += 1
    expected = laws(mechanism, values)
    masses = np.array([float(expected[o]) for o in counts])
    assert chisquare(list(counts.values()), n * masses / masses.sum()).pvalue > ALPHA
    halved = law(mechanism.threshold_noise.scale / 2, mechanism.value_noise.scale / 2, values)
    masses = np.array([float(halved[o]) for o in counts])
    assert chisquare(list(counts.values()), n * masses / masses.sum()).pvalue < ALPHA


@pytest.mark.parametrize("grid", [Fraction(1), Fraction(1, 4), Fraction(1, 10)])
def test_noise_is_in_steps_of_the_grid(grid):
    mechanism = AboveThreshold(sensitivity="0.35", epsilon=1, grid=grid)
    assert mechanism.sensitivity == -(-Fraction("0.35") // grid) * grid
    steps = mechanism.sensitivity / grid
    assert mechanism.threshold_noise.scale == steps / Fraction(5, 13)
    assert mechanism.value_noise.scale == 2 * steps / Fraction(8, 13)
    run = mechanism.start(threshold=float(3 * grid))
    assert run.ask(float(1000 * grid))


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("queries", [1, 3])
def test_no_answer_beyond_the_error_is_wrong(monotone, queries):
    mechanism = AboveThreshold(sensitivity=1, epsilon=3, monotone=monotone)
    error = mechanism.error("0.9", queries=queries)
    far = int(error.exact)
    all_no = laws(mechanism, (-far,) * queries)
    assert all_no[None] >= mpf("0.9")
    for i in range(queries):
        yes_at = laws(mechanism, (-far,) * i + (far,))
        assert yes_at[i] >= mpf("0.9")
    assert error.textbook == pytest.approx(8 / 3 * float(mpmath.log(2 * queries / mpf("0.1"))))
    assert error.coordinates == queries


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), None, "x", True])
def test_a_threshold_is_a_number(threshold):
    with pytest.raises(InvalidInput, match=r"threshold = .*\n\nHint: "):
        AboveThreshold(sensitivity=1, epsilon=1).start(threshold=threshold)


def test_a_threshold_is_on_the_grid():
    with pytest.raises(OffGrid, match=r"threshold = 0\.3"):
        AboveThreshold(sensitivity=1, epsilon=1, grid="1/4").start(threshold=0.3)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "x", True, [1], [1, 2], 1j])
def test_a_value_is_one_number_and_the_run_goes_on_after_a_refusal(value):
    run = AboveThreshold(sensitivity=1, epsilon=1).start(threshold=0)
    with pytest.raises(InvalidValue, match=r"\n\nHint: "):
        run.ask(value)
    assert run.ask(10**6)
    with pytest.raises(OffGrid):
        AboveThreshold(sensitivity=1, epsilon=1).start(threshold=0).ask(0.5)


def test_monotone_is_refused_where_units_are_changed():
    with pytest.raises(InvalidValue, match="monotone = True"):
        AboveThreshold(sensitivity=1, epsilon=1, monotone=True, relation="change_one")
    event = AboveThreshold(sensitivity=2, epsilon=1, relation="change_one").event
    assert event.mechanism == "above_threshold"
    assert event.sensitivity == 2
    assert event.relation == "change_one"
