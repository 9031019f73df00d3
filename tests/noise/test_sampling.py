"""Drawing: bad input is refused, streams add up, and the way of drawing changes nothing."""

import threading
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidInput, InvalidNumber, InvalidScale, InvalidValue
from discreet.exact import Real
from discreet.noise import (
    Bernoulli,
    GridLaplace,
    OneSidedGeometric,
    RoundedGaussian,
    Selection,
    TwoSidedGeometric,
    UniformBelow,
)
from discreet.noise.polynomial import PolynomialSampler
from discreet.noise.sampling import sampler
from discreet.noise.table import TableSampler

SCALED = (TwoSidedGeometric, OneSidedGeometric, RoundedGaussian)
ALL = [
    TwoSidedGeometric(3),
    TwoSidedGeometric(10**9),
    OneSidedGeometric(3),
    OneSidedGeometric(10**9),
    RoundedGaussian(3),
    RoundedGaussian(10**9),
    GridLaplace(3, grid="0.01"),
    Bernoulli("1/3"),
    UniformBelow(6),
    Selection([1, 2, 3], unit="1/2"),
]


@pytest.mark.parametrize("kind", SCALED)
@pytest.mark.parametrize(
    "scale",
    [0, -1, float("nan"), float("inf"), 1e-7, 1e16, "1e400", "1e-400", True, None, "wide", 1j],
)
def test_a_scale_that_cannot_be_sampled_is_refused(kind, scale):
    with pytest.raises(InvalidScale, match="Hint: "):
        kind(scale)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), 1e-7, 1e16, True])
def test_a_laplace_scale_that_cannot_be_sampled_is_refused(scale):
    with pytest.raises((InvalidScale, InvalidNumber), match="Hint: "):
        GridLaplace(scale, grid=1)
    with pytest.raises((InvalidScale, InvalidNumber), match="Hint: "):
        GridLaplace(1, grid=0)


@pytest.mark.parametrize("kind", SCALED)
@pytest.mark.parametrize("scale", ["1e-6", "1e15", Fraction(1, 3), 128, Fraction(257, 2)])
def test_every_scale_from_a_millionth_to_ten_to_the_fifteenth_is_sampled(kind, scale):
    assert kind(scale).sample(3).shape == (3,)
    assert kind(scale).sample(1000).shape == (1000,)


@pytest.mark.parametrize("noise", ALL, ids=repr)
@pytest.mark.parametrize("n", [-1, True, 2.0, "3", None, float("nan"), np.float64(2)])
def test_a_number_of_draws_is_a_whole_number(noise, n):
    with pytest.raises(InvalidValue, match="Hint: "):
        noise.sample(n)
    with pytest.raises(InvalidValue, match="Hint: "):
        noise.stream(n)


@pytest.mark.parametrize("noise", ALL, ids=repr)
@pytest.mark.parametrize("block", [0, -1, True, 1.5])
def test_a_block_holds_at_least_one_draw(noise, block):
    with pytest.raises(InvalidValue, match="Hint: "):
        noise.stream(10, block=block)


@pytest.mark.parametrize("noise", ALL, ids=repr)
@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 32768, 32769, np.int32(70_000)])
def test_a_sample_has_the_size_asked_for(noise, n):
    draws = noise.sample(n)
    assert draws.dtype == np.int64
    assert draws.shape == (n,)


@pytest.mark.parametrize("noise", ALL, ids=repr)
@pytest.mark.parametrize(("n", "block"), [(0, 5), (10, 3), (1000, 1000), (1000, 999), (5, 10**9)])
def test_a_stream_adds_up_in_blocks_of_the_size_asked_for(noise, n, block):
    sizes = [len(part) for part in noise.stream(n, block=block)]
    assert sum(sizes) == n
    assert all(size == block for size in sizes[:-1])
    assert all(0 < size <= block for size in sizes)


def test_a_stream_holds_one_block_at_a_time():
    stream = TwoSidedGeometric(5).stream(10**15)
    sizes = [len(next(stream)) for _ in range(3)]
    assert sizes == [2**20] * 3


def test_small_scales_use_a_table_and_large_ones_polynomials_made_once():
    assert isinstance(sampler(TwoSidedGeometric(128)), TableSampler)
    assert isinstance(sampler(TwoSidedGeometric(Fraction(257, 2))), PolynomialSampler)
    assert sampler(TwoSidedGeometric(500)) is sampler(TwoSidedGeometric("500"))
    # Equal scales, different laws.
    assert sampler(TwoSidedGeometric(500)) is not sampler(OneSidedGeometric(500))
    assert sampler(TwoSidedGeometric(500)) is not sampler(RoundedGaussian(500))


def test_threads_share_tables_without_disturbing_each_other():
    noise = RoundedGaussian(10**13)  # at this scale balls are asked often
    parts: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: parts.append(noise.sample(50_000))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    draws = np.concatenate(parts)
    assert len(draws) == 400_000
    assert len(np.unique(draws)) > 399_900
    # The mean square strays by 0.0022 of itself; 5 standard deviations, once in 1.7 million.
    assert abs((draws / 1e13).var() - 1) < 5 * np.sqrt(2 / len(draws))


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), True, "x", Real(2), Real(10**400)])
def test_a_bias_is_a_probability(p):
    with pytest.raises(InvalidInput, match="Hint: "):
        Bernoulli(p)


@pytest.mark.parametrize("n", [0, -1, True, 2.0, 2**63 + 1, "6"])
def test_a_limit_is_a_whole_number(n):
    with pytest.raises(InvalidValue, match="Hint: "):
        UniformBelow(n)


@pytest.mark.parametrize(
    "options",
    [
        {"exponents": []},
        {"exponents": [0.5]},
        {"exponents": [[1, 2]]},
        {"exponents": 3},
        {"exponents": [True]},
        {"exponents": [2**62]},
        {"exponents": np.array([2**64 - 1], dtype=np.uint64)},
        {"exponents": [1, 2], "counts": [1]},
        {"exponents": [1, 2], "counts": [1, -1]},
        {"exponents": [1, 2], "counts": [0, 0]},
        {"exponents": [1, 2], "unit": 0},
        {"exponents": [1, 2], "unit": -1},
        {"exponents": [1, 2], "unit": "x"},
    ],
)
def test_a_selection_needs_candidates_whole_exponents_and_a_positive_unit(options):
    with pytest.raises(InvalidInput, match="Hint: "):
        Selection(**{"unit": 1, **options})
