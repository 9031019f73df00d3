"""Draws follow the exact law and no other.

Each sample is held against an independent computation of the law in two ways: a chi-squared test
over about a hundred cells of known probability, and a test of the one statistic that tells most
about the scale. Each has a false-alarm rate of 5e-7, so a test here fails by chance once in a
million runs. With the scale 2 % (a million draws) or 5 % (a hundred thousand) off, the second
statistic lies more than 10 standard deviations out, so that the law is refused for certain.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri

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
from tests.noise.laws import Gaussian, Geometric, HalfGeometric, Law

ALPHA = 1e-6
LEAST_EXPECTED = 25
MANY, FEW = 10**6, 10**5


def fits(draws: NDArray[np.int64], edges: NDArray[np.int64], cdf: NDArray[np.float64]) -> bool:
    """The chi-squared test: cells ``(edges[i-1], edges[i]]`` with P(X <= edges[i]) = cdf[i]."""
    counts = np.diff(np.searchsorted(np.sort(draws), edges, side="right"), prepend=0)
    expected = len(draws) * np.diff(cdf, prepend=0.0)
    counts = np.append(counts, len(draws) - counts.sum())
    expected = np.append(expected, len(draws) * (1 - cdf[-1]))
    if counts[expected < 1e-9 * len(draws)].any():
        return False  # something happened that cannot happen
    pooled: list[list[float]] = [[0.0, 0.0]]
    for seen, mean in zip(counts, expected, strict=True):
        pooled[-1][0] += seen
        pooled[-1][1] += mean
        if pooled[-1][1] >= LEAST_EXPECTED:
            pooled.append([0.0, 0.0])
    last = pooled.pop()
    pooled[-1] = [pooled[-1][0] + last[0], pooled[-1][1] + last[1]]
    seen, mean = np.array(pooled).T
    statistic = float(((seen - mean) ** 2 / mean).sum())
    return len(mean) == 1 or statistic < float(chdtri(len(mean) - 1, ALPHA / 2))


def centred(scores: NDArray[np.float64], mean: float, variance: float) -> bool:
    """Whether the mean of the scores is where the law puts it."""
    z = (scores.mean() - mean) / np.sqrt(variance / len(scores))
    return abs(float(z)) < -float(ndtri(ALPHA / 4))


def follows(draws: NDArray[np.int64], law: Law) -> bool:
    """Both tests of a law with a scale."""
    edges = law.edges(np.arange(1, 100) / 100)
    cdf = np.array([float(law.cdf(int(edge))) for edge in edges])
    power, mean, variance = law.score()
    # Draws of up to 1e16, squared, keep 53 bits: far more than the test can see.
    scores = np.abs(draws).astype(np.float64) ** power
    return fits(draws, edges, cdf) and centred(scores, mean, variance)


def laplace_in_steps(scale: Any) -> GridLaplace:
    return GridLaplace(Fraction(scale) / 1024, grid="1/1024")


SCALED: list[tuple[Callable[..., Any], type[Law], list[str], list[str]]] = [
    (TwoSidedGeometric, Geometric, ["1", "1e6"], ["2/3", "37.5", "1e9", "1e14"]),
    (OneSidedGeometric, HalfGeometric, ["5", "1e7"], ["3/4", "129", "1e10", "9e14"]),
    (laplace_in_steps, Geometric, ["3", "10240"], ["8/7", "100", "1e8", "1e12"]),
    (RoundedGaussian, Gaussian, ["1", "1e6"], ["3/4", "37.5", "1e9", "1e14"]),
]
ROWS = [
    pytest.param(make, law, scale, draws, id=f"{make.__name__}-{scale}-{draws}")
    for make, law, many, few in SCALED
    for scales, draws in ((many, MANY), (few, FEW))
    for scale in scales
]


@pytest.mark.parametrize(("make", "law", "scale", "n"), ROWS)
def test_draws_follow_the_exact_law(make, law, scale, n):
    assert follows(make(scale).sample(n), law(scale))


@pytest.mark.parametrize(("make", "law", "scale", "n"), ROWS)
@pytest.mark.parametrize("way", [1, -1])
def test_draws_of_a_scale_slightly_off_do_not(make, law, scale, n, way):
    off = 1 + way * (Fraction(1, 50) if n == MANY else Fraction(1, 20))
    assert not follows(make(Fraction(scale) * off).sample(n), law(scale))


@pytest.mark.parametrize("make", [TwoSidedGeometric, OneSidedGeometric, RoundedGaussian])
@pytest.mark.parametrize("scale", ["1e8", "1e12", "1e15"])
def test_the_last_digits_of_large_draws_are_uniform(make, scale):
    # Their distance from uniform is below 1 / scale, far less than these draws can see.
    draws = make(scale).sample(FEW)
    for base in (16, 7):
        digits = draws % base
        assert fits(digits, np.arange(base - 1), np.arange(1, base) / base)


@pytest.mark.parametrize("make", [TwoSidedGeometric, RoundedGaussian])
@pytest.mark.parametrize("scale", ["1/5", "1e-6"])
def test_noise_of_a_tiny_scale_is_almost_always_zero(make, scale):
    draws = make(scale).sample(FEW)
    chance = float(make(scale).tail(1))
    # P(more than 60 of them) is below 1e-6 for either.
    assert chance * FEW < 0.1 * FEW
    assert (draws != 0).sum() <= chance * FEW + 6 * np.sqrt(chance * FEW) + 8


def test_a_handful_of_draws_follows_the_same_law():
    noise = TwoSidedGeometric(20)
    draws = np.concatenate([noise.sample(200) for _ in range(200)])
    assert follows(draws, Geometric(20))


COINS = [
    *((p, MANY) for p in (Fraction(1, 3), Fraction(2, 5))),
    *((p, FEW) for p in (Fraction(1, 2), Fraction(3, 4), Fraction(9, 10), Fraction(2, 5))),
]


@pytest.mark.parametrize(("p", "n"), COINS)
def test_a_coin_has_its_bias_and_no_other(p, n):
    off = Fraction(1, 50) if n == MANY else Fraction(1, 20)
    mean, variance = float(p), float(p * (1 - p))
    assert centred(Bernoulli(p).sample(n).astype(float), mean, variance)
    for wrong in (p * (1 + off), p * (1 - off)):
        assert not centred(Bernoulli(wrong).sample(n).astype(float), mean, variance)


def test_a_coin_of_a_computable_bias_has_it():
    p = 1 / (1 + Real(-1).exp())
    mean = float(p)
    assert centred(Bernoulli(p).sample(MANY).astype(float), mean, mean * (1 - mean))


SIZES = [(100, MANY), (10**6, MANY), *((n, FEW) for n in (20, 1000, 2**40 + 1, 2**63))]


def uniform(draws: NDArray[np.int64], n: int) -> bool:
    cells = min(n, 100)
    edges = np.array([n * (i + 1) // cells - 1 for i in range(cells - 1)], dtype=np.int64)
    cdf = np.array([float(Fraction(int(edge) + 1, n)) for edge in edges])
    inside = bool((draws >= 0).all()) and int(draws.max()) < n
    return inside and fits(draws, edges, cdf)


@pytest.mark.parametrize(("size", "n"), SIZES)
def test_whole_numbers_below_a_limit_are_uniform(size, n):
    assert uniform(UniformBelow(size).sample(n), size)
    off = 50 if n == MANY else 20
    assert not uniform(UniformBelow(size - size // off).sample(n), size)
    if size < 2**62:
        assert not uniform(UniformBelow(size + size // off).sample(n), size)


def spread(size: int, unit: Fraction) -> dict[str, Any]:
    """Candidates in a shuffled order whose exponents vary by about 1 / unit."""
    exponents = (np.arange(size) * 37) % size * int(8 / (size * unit))
    counts = 1 + np.arange(size) % 5
    counts[3] = 0
    return {"exponents": exponents, "counts": counts, "unit": unit}


CHOICES = [
    *((spread(size, Fraction(1, 1000)), MANY) for size in (10, 300)),
    *((spread(40, unit), FEW) for unit in (Fraction(1, 10), Fraction(1, 7), Fraction(1, 10**9))),
    (spread(2000, Fraction(3, 10**6)), FEW),
]


def chosen_rightly(draws: NDArray[np.int64], options: dict[str, Any]) -> bool:
    exponents, unit = options["exponents"], options["unit"]
    gaps = (exponents.max() - exponents).astype(float)
    weights = options["counts"] * np.exp(-gaps * float(unit))
    pmf = weights / weights.sum()
    mean = float((pmf * gaps).sum())
    variance = float((pmf * gaps**2).sum()) - mean**2
    edges = np.arange(len(pmf) - 1)
    return fits(draws, edges, np.cumsum(pmf)[:-1]) and centred(gaps[draws], mean, variance)


@pytest.mark.parametrize(("options", "n"), CHOICES)
def test_candidates_are_chosen_with_their_probabilities_and_no_other(options, n):
    assert chosen_rightly(Selection(**options).sample(n), options)
    off = Fraction(1, 50) if n == MANY else Fraction(1, 20)
    for wrong in (1 + off, 1 - off):
        drawn = Selection(**{**options, "unit": options["unit"] * wrong}).sample(n)
        assert not chosen_rightly(drawn, options)
