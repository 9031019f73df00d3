"""Whole numbers below a limit: none is favoured, whatever the words."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidValue
from discreet.noise import UniformBelow, bits
from discreet.noise.uniform import below


@pytest.mark.parametrize("n", [3, 6, 10, 2**32 + 1, 2**63 - 1])
def test_words_beyond_the_last_whole_multiple_are_thrown_away(n, monkeypatch):
    fair = 2**64 - 2**64 % n
    tape = iter([fair - 1, fair, 2**64 - 1, 0, fair, 5, 2 * n - 1, n])

    def words(count):
        return np.array([next(tape) for _ in range(count)], dtype=np.uint64)

    monkeypatch.setattr(bits, "words", words)
    # Two of the first four are beyond; of their replacements one is again.
    assert UniformBelow(n).sample(4).tolist() == [n - 1, (2 * n - 1) % n, 5 % n, 0]


def test_a_power_of_two_throws_nothing_away(monkeypatch):
    words = np.array([0, 2**63, 2**64 - 1], dtype=np.uint64)
    monkeypatch.setattr(bits, "words", lambda _: words.copy())
    assert UniformBelow(2**63).sample(3).tolist() == [0, 0, 2**63 - 1]
    assert UniformBelow(1).sample(3).tolist() == [0, 0, 0]


@pytest.mark.parametrize("n", [1, 2, 6, 7, 100])
def test_it_knows_its_law(n):
    die = UniformBelow(n)
    pmf = [die.pmf(k) for k in range(-1, n + 1)]
    assert pmf == [0, *[Fraction(1, n)] * n, 0]
    assert [die.cdf(k) for k in (-1, 0, n - 1, n)] == [0, Fraction(1, n), 1, 1]
    assert [die.tail(k) for k in (-1, 0, n - 1, n)] == [1, 1, Fraction(1, n), 0]
    assert die.mean == Fraction(sum(range(n)), n)
    assert die.variance == Fraction(sum(k * k for k in range(n)), n) - die.mean**2
    for p in (Fraction(1, 10), Fraction(1, 2), Fraction(1, 6), Fraction(99, 100)):
        k = die.quantile(p)
        assert die.cdf(k - 1) < p <= die.cdf(k)
        assert die.interval(p) == (0, k)


def test_below_draws_as_many_bits_as_the_limit_has(monkeypatch):
    tape = iter([2**64 - 1, 2**64 - 1, 1 << 60, 5])
    monkeypatch.setattr(bits, "word", lambda: next(tape))
    # 2**100 has 101 bits: two words, of which the last 27 bits are dropped; all ones is too much.
    assert below(2**100) == (1 << 60 << 64 | 5) >> 27
    assert next(tape, None) is None


@pytest.mark.parametrize("n", [1, 2, 3, 1000, 2**64, 2**64 + 1, 10**40])
def test_below_stays_below(n):
    drawn = [below(n) for _ in range(200)]
    assert min(drawn) >= 0
    assert max(drawn) < n
    assert n == 1 or len(set(drawn)) > 1


@pytest.mark.parametrize("n", [0, -5])
def test_nothing_lies_below_zero(n):
    with pytest.raises(InvalidValue, match="Hint: "):
        below(n)
