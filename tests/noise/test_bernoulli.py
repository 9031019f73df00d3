"""Coins: every prefix of their bits is settled rightly, and they know their own law."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.exact import Real
from discreet.noise import Bernoulli, bits

BIASES = [0, 1, "1/2", "1/3", "0.7", "3/8", Real(-1).exp(), 1 / (1 + Real(2).exp())]


class MoreWanted(Exception):
    """The bits given do not settle the outcome."""


@pytest.mark.parametrize("p", BIASES)
def test_every_prefix_settles_rightly_and_at_most_one_does_not(p, monkeypatch):
    def refuse():
        raise MoreWanted

    monkeypatch.setattr(bits, "word", refuse)
    coin = Bernoulli(p)
    settled, unsettled = 0, 0
    depth = 10
    for prefix in range(2**depth):
        try:
            settled += coin.settle(prefix, depth)
        except MoreWanted:
            unsettled += 1
    assert unsettled <= 1
    assert Fraction(settled, 2**depth) <= coin.p <= Fraction(settled + unsettled, 2**depth)


def test_the_first_64_bits_of_the_bias_itself_are_settled_by_the_next(monkeypatch):
    # 1/3 = 0.010101... in binary.
    third = 2**64 // 3
    coin = Bernoulli("1/3")
    for more, outcome in ((0, 1), (third - 1, 1), (third + 1, 0), (2**64 - 1, 0)):
        monkeypatch.setattr(bits, "words", lambda n: np.full(n, third, dtype=np.uint64))
        monkeypatch.setattr(bits, "word", lambda more=more: more)
        assert coin.sample(3).tolist() == [outcome] * 3


def test_the_words_beside_the_bias_go_to_either_side(monkeypatch):
    words = np.array([0, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1], dtype=np.uint64)
    monkeypatch.setattr(bits, "words", lambda _: words)
    assert Bernoulli("1/2").sample(5).tolist() == [1, 1, 0, 0, 0]
    assert Bernoulli(0).sample(5).tolist() == [0] * 5
    assert Bernoulli(1).sample(5).tolist() == [1] * 5


@pytest.mark.parametrize("p", BIASES)
def test_a_coin_knows_its_law(p):
    coin = Bernoulli(p)
    q = float(coin.p)
    assert float(coin.pmf(1)) == q == float(coin.mean)
    assert abs(float(coin.pmf(0)) - (1 - q)) < 1e-15
    assert coin.pmf(2).exact == coin.pmf(-1).exact == 0
    assert [float(coin.cdf(k)) for k in (-1, 1, 2)] == [0, 1, 1]
    assert abs(float(coin.cdf(0)) - (1 - q)) < 1e-15
    assert [float(coin.tail(k)) for k in (0, 1, 2)] == [1, q, 0]
    assert abs(float(coin.variance) - q * (1 - q)) < 1e-15


def test_quantiles_and_intervals_of_a_coin():
    assert [Bernoulli("1/3").quantile(p) for p in ("0.1", "2/3", "0.67")] == [0, 0, 1]
    assert Bernoulli("0.99").interval("0.95") == (1, 1)
    assert Bernoulli("0.01").interval("0.95") == (0, 0)
    assert Bernoulli("0.5").interval("0.95") == (0, 1)
    assert Bernoulli("0.6").interval("0.5") == (1, 1)
