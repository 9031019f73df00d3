"""Laplace and geometric: the guarantee by exact sums, and the noise that was asked for."""

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.stats import chisquare

from discreet import Geometric, Laplace
from discreet.errors import OffGrid
from discreet.theory.divergences import laplace_delta
from tests.mechanisms.distances import e_to, excess, is_private
from tests.mechanisms.every_draw import distribution, number

ALPHA = 1e-6
GRIDS = ["1", "1/4", "1/10", "3", "2/7"]
SENSITIVITIES = ["1", "0.3", "5/2", "7"]


def law(mechanism, value, reach=75) -> Any:
    """The exact distribution of a release, in steps of the grid."""
    steps = Fraction(value) / mechanism.grid
    assert steps.denominator == 1
    masses = {k: number(mechanism.noise.pmf(k)) for k in range(-reach, reach + 1)}
    return {int(steps) + k: mass for k, mass in masses.items()}


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_values_a_sensitivity_apart_are_epsilon_apart_at_most(grid, sensitivity):
    mechanism = Laplace.from_epsilon(sensitivity=sensitivity, epsilon="3/2", grid=grid)
    step = Fraction(grid)
    most = int(Fraction(sensitivity) // step)  # values on the grid move by whole steps
    for moved in sorted({0, min(1, most), most // 2, most}):
        for sign in (1, -1):
            p, q = law(mechanism, 0), law(mechanism, sign * moved * step)
            for z in set(p) & set(q):
                # Relative to the mass itself: no outcome, however rare, is too telling.
                assert p[z] <= e_to(Fraction(3, 2)) * q[z] * (1 + mpf("1e-45"))


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("sensitivity", SENSITIVITIES)
def test_the_stated_sensitivity_is_a_whole_number_of_steps_and_is_met_exactly(grid, sensitivity):
    mechanism = Laplace.from_epsilon(sensitivity=sensitivity, epsilon="3/2", grid=grid)
    assert Fraction(sensitivity) <= mechanism.sensitivity < Fraction(sensitivity) + Fraction(grid)
    assert mechanism.epsilon == Fraction(3, 2) == mechanism.sensitivity / mechanism.scale
    p, q = law(mechanism, 0), law(mechanism, mechanism.sensitivity)
    worst = max(p[z] / q[z] for z in set(p) & set(q))
    assert abs(mpmath.log(worst) - 1.5) < 1e-40


def test_less_noise_is_refuted():
    right = Laplace.from_epsilon(sensitivity="0.3", epsilon=1, grid="1/4")
    naive = Laplace.from_scale(sensitivity="0.3", scale="0.3", grid="1/4")
    # Two steps of 1/4 are within reach of rounded values that are 0.3 apart.
    moved = Fraction(1, 2)
    assert is_private(law(right, 0), law(right, moved), 1, slack=1e-7)
    assert not is_private(law(naive, 0), law(naive, moved), 1, slack=1e-7)
    assert naive.epsilon == Fraction(1, 2) / Fraction(3, 10)  # and it says so


def released(mechanism: Any, values: Any) -> Any:
    return tuple(mechanism.release(list(values)))


def test_a_vector_is_private_for_every_way_to_move_it():
    mechanism = Geometric.from_epsilon(sensitivity=2, epsilon=6)
    laws = {}
    for move in product(range(-2, 3), repeat=2):
        if sum(map(abs, move)) <= 2:
            found, leftover = distribution(partial(released, mechanism, move), reach=12)
            assert leftover < 1e-14
            laws[move] = found
    for move, q in laws.items():
        p = laws[0, 0]
        assert excess(p, q, 6) < 1e-13, move
        assert excess(q, p, 6) < 1e-13, move


def test_the_code_adds_the_noise_that_it_states():
    mechanism = Laplace.from_scale(sensitivity=1, scale="1/2", grid="1/4")
    found, leftover = distribution(lambda: mechanism.release(0.75), reach=60)
    assert leftover < 1e-12
    a = mpmath.exp(mpf(-1) / 2)
    for value, mass in found.items():
        steps = abs(int((value - 0.75) * 4))
        assert abs(mass - (1 - a) / (1 + a) * a**steps) < 1e-45


def test_on_a_grid_delta_is_larger_than_between_continuous_laplaces():
    # The closed form for the continuous noise may not be used for what is released here.
    mechanism = Geometric.from_epsilon(sensitivity=1, epsilon=1)
    truth = excess(law(mechanism, 0), law(mechanism, 1), Fraction(1, 2))
    continuous = laplace_delta(scale=Fraction(1), sensitivity=Fraction(1), epsilon=Fraction(1, 2))
    assert truth > number(continuous) * mpf("1.1")


@pytest.mark.parametrize("scale", ["1/3", "4", "1000"])
def test_geometric_releases_follow_their_law(scale):
    # Chi-square over up to 40 cells; false alarms: one in a million.
    n = 100_000
    mechanism = Geometric.from_scale(sensitivity=1, scale=scale)
    released = mechanism.release(np.full(n, 17)) - 17
    edges = sorted({mechanism.noise.quantile(Fraction(i, 40)) for i in range(1, 40)})
    cdf = [0.0, *(float(mechanism.noise.cdf(k)) for k in edges), 1.0]
    cells = np.bincount(np.searchsorted(edges, released), minlength=len(edges) + 1)
    assert chisquare(cells, n * np.diff(cdf)).pvalue > ALPHA
    other = Geometric.from_scale(sensitivity=1, scale=Fraction(scale) * Fraction(11, 10)).noise
    cdf = [0.0, *(float(other.cdf(k)) for k in edges), 1.0]
    assert chisquare(cells, n * np.diff(cdf)).pvalue < ALPHA


def test_geometric_is_laplace_on_whole_numbers():
    ours = Geometric.from_epsilon(sensitivity="1.5", epsilon="1/3", relation="change_one")
    theirs = Laplace.from_epsilon(sensitivity="1.5", epsilon="1/3", relation="change_one")
    assert ours.noise == theirs.noise
    assert ours.event.to_json() == {
        "version": 1,
        "mechanism": "geometric",
        "parameters": {"scale": "6/1"},
        "sensitivity": "2/1",
        "relation": "change_one",
    }
    assert theirs.event.mechanism == "laplace"
    with pytest.raises(OffGrid, match=r"grid = 1/2.*\n\nHint: "):
        Geometric.from_epsilon(sensitivity=1, epsilon=1, grid="1/2")


@pytest.mark.parametrize(
    ("relation", "rows", "expected"),
    [("add_remove", 1, 1), ("change_one", 1, 2), ("add_remove", 5, 5), ("change_one", 5, 10)],
)
def test_a_histogram_moves_by_the_rows_of_a_unit(relation, rows, expected):
    mechanism = Laplace.for_histogram(epsilon=1, rows_per_unit=rows, relation=relation)
    assert mechanism.sensitivity == mechanism.event.sensitivity == expected
    assert mechanism.event.relation == relation
    released = mechanism.release({"a": 3, "b": 0})
    assert list(released) == ["a", "b"]
    assert all(type(count) is int for count in released.values())


def test_the_worked_example_of_the_counties():
    # 3,143 counts at epsilon 0.1: one expects 20, the largest at most 20 (ln 3143 + 1).
    changed = Laplace.for_histogram(epsilon=0.1, relation="change_one")
    added = Laplace.for_histogram(epsilon=0.1)
    assert changed.scale == 20
    assert added.scale == 10
    beta = mpmath.exp(-1)
    within = Fraction(1) - Fraction(float(beta))
    assert changed.error(within, coordinates=3143).textbook == pytest.approx(181.06, abs=0.01)
    assert added.error(within, coordinates=3143).textbook == pytest.approx(90.53, abs=0.01)
