"""Keys under Gaussian noise: no spread of a unit's rows gives it away more than the deltas say."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from discreet.mechanisms import GaussianKeySelection
from discreet.mechanisms.key_selection import shown
from discreet.theory.divergences import gaussian_delta

ALPHA = 1e-6


def common(selection: GaussianKeySelection, count: int) -> np.ndarray:
    """What is seen of a key that others have too: hidden, or one of its noisy counts."""
    sigma, reach = float(selection.sigma), int(12 * float(selection.sigma)) + 60
    noisy = np.arange(selection.threshold, selection.threshold + 2 * reach)
    seen = norm.cdf((noisy + 0.5 - count) / sigma) - norm.cdf((noisy - 0.5 - count) / sigma)
    hidden = norm.cdf((selection.threshold - 0.5 - count) / sigma)
    return np.append(seen, hidden)


def own(selection: GaussianKeySelection, keys: int, rows: int) -> float:
    """The chance that so many keys of one's own stay hidden."""
    return 1 - float(shown(selection.noise, selection.threshold, keys, rows))


@pytest.mark.parametrize("relation", ["add_remove", "change_one"])
def test_no_neighbour_differs_by_more_than_both_deltas(relation: str):
    draws = random.Random(5)
    for _ in range(60):
        keys, rows = draws.randint(1, 5), draws.randint(1, 4)
        epsilon = Fraction(draws.randint(2, 30), 10)
        sigma = Fraction(draws.randint(10, 60), 10)
        selection = GaussianKeySelection(
            sigma=sigma,
            delta=Fraction(1, 10 ** draws.randint(1, 6)),
            rows_per_unit=rows,
            keys_per_unit=keys,
            relation=relation,
        )
        changed = relation == "change_one"
        count = selection.threshold + draws.randint(0, 10)
        # Some of the unit's keys are its own, and one of the others is common.
        mine = draws.randint(0, keys)
        moved = rows if mine < keys else 0
        before, after = common(selection, count), common(selection, count + moved)
        appear = own(selection, mine, rows)
        vanish = own(selection, draws.randint(0, keys), rows) if changed else 1.0
        e = math.exp(epsilon)
        there = 1 - appear + np.maximum(appear * after - e * vanish * before, 0).sum()
        back = 1 - vanish + np.maximum(vanish * before - e * appear * after, 0).sum()
        noise = gaussian_delta(sigma=sigma, sensitivity=Fraction(max(moved, 1)), epsilon=epsilon)
        allowed = float(noise) + float(selection.delta_at(selection.threshold))
        assert max(there, back) <= allowed + 1e-12


def test_the_threshold_is_the_least_that_will_do():
    selection = GaussianKeySelection(sigma=50, delta=5e-10, rows_per_unit=2, keys_per_unit=10)
    assert selection.delta_at(selection.threshold) <= selection.delta
    assert selection.delta_at(selection.threshold - 1) > selection.delta


def test_where_rows_alone_are_bounded_the_worst_spread_is_one_of_two():
    selection = GaussianKeySelection(sigma=4, delta=1e-4, rows_per_unit=6)
    spreads = [(6,), (5, 1), (4, 2), (3, 3), (4, 1, 1), (2, 2, 2), (2, 1, 1, 1, 1), (1,) * 6]
    found = [1 - math.prod(own(selection, 1, rows) for rows in spread) for spread in spreads]
    assert max(found) <= float(selection.delta_at(selection.threshold)) * (1 + 1e-9)


def test_a_key_is_shown_as_often_as_its_noise_says():
    selection = GaussianKeySelection(sigma=10, delta=1e-6, rows_per_unit=2)
    count = selection.threshold - 5
    seen, noisy = selection.release_array(np.full(20_000, count))
    expected = norm.sf((selection.threshold - 0.5 - count) / 10)
    assert binomtest(int(seen.sum()), 20_000, expected).pvalue > ALPHA
    assert (noisy[seen] >= selection.threshold).all()
    assert not noisy[~seen].any()


def test_a_key_of_no_rows_is_never_shown():
    selection = GaussianKeySelection(sigma=1000, delta="0.4")
    seen, _ = selection.release_array(np.zeros(1000, dtype=np.int64))
    assert not seen.any()
