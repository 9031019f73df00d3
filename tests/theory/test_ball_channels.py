"""The fast path encloses what the exact channel says, for any matrix within the tolerance."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.errors import InvalidNumber, InvalidProbability, InvalidValue, TooLarge, Undecided
from discreet.theory import BallChannel, Channel, Log
from discreet.theory.float_curves import Curves, Thresholds
from tests.theory.strategies import channels, losses

TOLERANCE = Fraction(1, 10**12)


def line(channel: Channel) -> list[tuple[int, int]]:
    return [(n, n + 1) for n in range(len(channel.inputs) - 1)]


def floats(channel: Channel) -> NDArray[np.float64]:
    return np.array([[float(p) for p in row] for row in channel.rows])


@settings(max_examples=1000)
@given(channels(), st.lists(losses(), min_size=1, max_size=4))
def test_enclosures_hold_the_exact_numbers(channel, epsilons):
    balls = BallChannel(floats(channel), tolerance=TOLERANCE)
    found, exact = balls.epsilon(), channel.epsilon(line(channel))
    assert found.low <= exact.float_up()
    assert found.high >= exact.float_down()
    for epsilon, enclosure in zip(epsilons, balls.delta(epsilons), strict=True):
        exact = channel.delta(epsilon, line(channel))
        assert enclosure.low <= exact.float_up()
        assert enclosure.high >= exact.float_down()
        assert enclosure.high - enclosure.low < 1e-10


@settings(max_examples=300)
@given(
    channels(positive=True),
    losses(),
    st.lists(st.integers(-999, 999), min_size=16, max_size=16),
)
def test_the_true_matrix_may_be_anywhere_within_the_tolerance(channel, epsilon, moves):
    tolerance = Fraction(1, 100)
    weights = [
        [
            p * (1 + tolerance * Fraction(move, 2500))
            for p, move in zip(row, moves[at:], strict=False)
        ]
        for at, row in enumerate(channel.rows)
    ]
    true = Channel([[w / sum(row) for w in row] for row in weights])
    balls = BallChannel(floats(channel), tolerance=tolerance)
    pairs = line(channel)
    assert balls.epsilon(pairs).low <= true.epsilon(pairs).float_up()
    assert balls.epsilon(pairs).high >= true.epsilon(pairs).float_down()
    (enclosure,) = balls.delta([epsilon], pairs)
    exact = true.delta(epsilon, pairs)
    assert enclosure.low <= exact.float_up()
    assert enclosure.high >= exact.float_down()


@settings(max_examples=300)
@given(channels(), losses(), st.fractions(0, 1, max_denominator=7))
def test_verdicts_agree_with_the_exact_ones(channel, epsilon, delta):
    balls = BallChannel(floats(channel))
    exact = channel.delta(epsilon, line(channel))
    try:
        verdict = balls.is_private(epsilon, delta)
    except Undecided:
        assert abs(float(exact) - float(delta)) < 1e-9
        return
    assert verdict.private == (exact <= delta)
    if not verdict.private:
        assert verdict.pair is not None
        x, y = verdict.pair
        here = sum((channel.rows[x][place] for place in verdict.event), Fraction(0))
        there = sum((channel.rows[y][place] for place in verdict.event), Fraction(0))
        assert float(here) - np.exp(float(epsilon)) * float(there) > float(delta) - 1e-9


def test_a_large_matrix_agrees_with_plain_arithmetic():
    # Not a statistical test: any matrix must agree; this one is arbitrary and always the same.
    weights = 1.05 + np.sin(np.arange(200 * 300, dtype=float) ** 1.5).reshape(200, 300)
    matrix = weights / weights.sum(axis=1, keepdims=True)
    channel = BallChannel(matrix)
    logs = np.abs(np.diff(np.log(matrix), axis=0)).max()
    assert channel.epsilon().low <= logs <= channel.epsilon().high
    for epsilon in (0, Fraction(1, 2), 2):
        ratio = np.exp(float(epsilon))
        p, q = matrix[:-1], matrix[1:]
        plain = max(
            np.maximum(p - ratio * q, 0).sum(axis=1).max(),
            np.maximum(q - ratio * p, 0).sum(axis=1).max(),
        )
        (found,) = channel.delta([epsilon])
        assert found.low - 1e-14 <= plain <= found.high + 1e-14
        assert found.high - found.low < 1e-11


def test_an_output_that_only_one_row_gives_counts_at_every_epsilon():
    channel = BallChannel([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]])
    assert channel.epsilon().low == float("inf")
    for enclosure in channel.delta([5, 700, 10_000, "inf"]):
        assert 0.25 in enclosure


def test_floats_at_the_edge_of_their_range():
    tiny = 5e-324
    channel = BallChannel([[1.0, tiny], [tiny, 1.0]])
    # The quotient leaves the floats; its logarithm does not.
    assert channel.epsilon().low <= 744.4400719213812 <= channel.epsilon().high
    assert channel.delta([744])[0].high <= 1
    assert channel.delta([1])[0].low > 0.99


def test_ties_at_the_threshold_are_inside_the_bounds():
    p, q = np.array([[0.75, 0.25]]), np.array([[0.25, 0.75]])
    three = np.array([3.0])
    at = Thresholds(three, three, np.array([False]))
    for low, high in Curves(at).bounds(p, q):
        assert low[0, 0] == 0
        assert 0 <= high[0, 0] < 1e-14


@settings(max_examples=200)
@given(st.lists(st.floats(0, 10), min_size=1, max_size=30), st.integers(1, 60))
def test_the_guide_table_finds_what_bisection_finds(ratios, many):
    # Close together and far apart: few steps of the table, many, or bisection instead.
    for width in (1e-13, 1e-3, 1.0):
        down = np.exp(np.arange(many) * width)
        curves = Curves(Thresholds(down, down * (1 + 1e-12), np.zeros(many, dtype=bool)))
        edges = [*ratios, 0.0, np.inf, *curves._cuts, *np.nextafter(curves._cuts, 0)]
        row = np.array([edges])
        expected = np.searchsorted(curves._cuts, row, side="right")
        assert (curves._slots(row) == expected).all()


def test_pairs_may_be_given():
    channel = BallChannel([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]])
    exact = Log(3)
    found = channel.epsilon([(0, 2)])
    assert found.low <= float(exact) <= found.high
    assert channel.epsilon().high < found.low
    with pytest.raises(InvalidValue, match="among the 3"):
        channel.epsilon([(0, 3)])


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.5, 0.6]], "sums to 1.1"),
        ([[1.5, -0.5]], "negative"),
        ([[np.nan, 1.0]], "NaN"),
        ([0.5, 0.5], "shape"),
        ([[]], "shape"),
    ],
)
def test_matrices_that_are_not_channels_are_refused(matrix, words):
    with pytest.raises(InvalidProbability, match=words):
        BallChannel(matrix)


def test_tolerances_and_sizes_are_checked():
    with pytest.raises(InvalidNumber, match="tolerance"):
        BallChannel([[1.0]], tolerance=-1)
    with pytest.raises(InvalidNumber, match="tolerance"):
        BallChannel([[1.0]], tolerance=1)
    with pytest.raises(TooLarge, match="cells"):
        BallChannel(np.broadcast_to(1.0, (20_000, 20_000)))
    with pytest.raises(InvalidProbability, match="tolerance 1e-12"):
        BallChannel([[0.5, 0.5 + 1e-11]])
