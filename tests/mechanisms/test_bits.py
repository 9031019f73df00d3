"""Check the printed bits: does any of them tell more than e^epsilon allows?

For neighbours 0 and 1 and each k from 0 to 80, two events are compared: the bit of weight 2^-k is
set, and something finer than 2^-k is there. A violation is claimed where the lower confidence limit
of one probability exceeds e^epsilon times the upper limit of the other; with all limits together
the false-alarm rate is one in a million.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import discreet
from discreet import Laplace

BITS = range(81)
ALPHA = 1e-6 / (len(BITS) * 2 * 2 * 2)


def events(outputs) -> Any:
    """How often each event occurs; scaling by powers of two and the floor are exact in floats."""
    for k in BITS:
        scaled = np.ldexp(outputs, k)
        whole = np.floor(scaled)
        yield int((np.fmod(whole, 2) != 0).sum())
        yield int((whole != scaled).sum())


def lower(hits, n) -> Any:
    return beta.ppf(ALPHA, hits, n - hits + 1) if hits else 0.0


def upper(hits, n) -> Any:
    return beta.ppf(1 - ALPHA, hits + 1, n - hits) if hits < n else 1.0


def violations(at_zero, at_one, *, epsilon=1.0) -> Any:
    n = len(at_zero)
    pairs = list(zip(events(at_zero), events(at_one), strict=True))
    return sum(
        lower(a, n) > np.exp(epsilon) * upper(b, n) for x, y in pairs for a, b in ((x, y), (y, x))
    )


def released(value, n) -> Any:
    # As discreet.laplace(value, sensitivity=1, epsilon=1) does it, many times over.
    mechanism = Laplace.from_epsilon(sensitivity=1, epsilon=1, grid="1/1048576")
    return mechanism.release(np.full(n, float(value)))


def check(n) -> Any:
    at_zero, at_one = released(0, n), released(1, n)
    assert violations(at_zero, at_one) == 0
    for outputs in (at_zero, at_one):
        steps = outputs * 2**20
        assert int((steps != np.rint(steps)).sum()) == 0, "off the grid"


def test_no_bit_of_a_release_tells_too_much():
    check(200_000)


@pytest.mark.deep
def test_no_bit_of_a_release_tells_too_much_in_a_million():
    check(1_000_000)


def test_the_short_form_prints_on_that_very_grid():
    outputs = np.array(
        [discreet.laplace(v, sensitivity=1, epsilon=1) for v in (0.0, 1.0, 0.1) for _ in range(500)]
    )
    steps = outputs * 2**20
    assert (steps == np.rint(steps)).all()
    assert (np.fmod(steps, 2) != 0).any(), "and on no coarser one"


def test_many_numbers_at_once_pass_too():
    n = 60_000
    at_zero = discreet.laplace(np.zeros(n), sensitivity=1, epsilon=1)
    at_one = discreet.laplace(np.ones(n), sensitivity=1, epsilon=1)
    assert violations(at_zero, at_one) == 0
    assert violations(*(gaussian(v, n) for v in (0.0, 1.0))) == 0


def gaussian(value, n) -> Any:
    return discreet.gaussian(np.full(n, value), sensitivity=1, epsilon=1, delta=1e-9)


def test_the_textbook_in_floating_point_fails():
    generator = np.random.default_rng()
    n = 100_000
    at_zero, at_one = (value + generator.laplace(scale=1.0, size=n) for value in (0.0, 1.0))
    assert violations(at_zero, at_one) > 10
    off = [int((np.ldexp(x, 53) != np.floor(np.ldexp(x, 53))).sum()) for x in (at_zero, at_one)]
    assert off[0] > n // 5
    assert off[1] == 0
