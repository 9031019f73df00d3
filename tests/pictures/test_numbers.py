"""What pictures show is what the theory says."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.accounting import account
from discreet.events import Event
from discreet.pictures import (
    Picture,
    beliefs,
    composition,
    delta,
    error,
    laplace,
    neighbours,
    people,
    survey,
)
from discreet.theory import (
    GeometricNoise,
    LaplaceNoise,
    Response,
    central_rms_error,
    gaussian_delta,
    laplace_delta,
    randomized_response,
    truncated_geometric,
)


def rows(picture: Picture, name: str | None = None) -> list[dict[str, Any]]:
    """The rows of the picture's one table, or those of one line in it."""
    found: list[dict[str, Any]] = picture.spec["data"]["values"]
    return [row for row in found if name is None or name in row.values()]


def test_laplace_densities_are_the_densities():
    for row in rows(laplace(scales=[1, "5/2"])):
        exact = float(LaplaceNoise(row["scale"]).density(row["noise"]))
        assert row["density"] == pytest.approx(exact, rel=1e-5)


def test_each_scale_has_a_line_that_peaks_at_its_density_in_0():
    picture = laplace(scales=[4, 1, 2])
    assert max(row["density"] for row in rows(picture, "1")) == 0.5
    assert max(row["density"] for row in rows(picture, "4")) == 0.125
    assert picture.spec["encoding"]["color"]["scale"]["domain"] == ["1", "2", "4"]


@pytest.mark.parametrize("epsilon", ["0.1", "1", "ln 3", "5"])
def test_the_neighbours_density_lies_in_the_band_and_touches_it(epsilon):
    picture = neighbours(epsilon=epsilon, sensitivity=2)
    found = picture.spec["vconcat"][0]["data"]["values"]
    near = 1 + 1e-5
    assert all(row["below"] <= row["there"] * near for row in found)
    assert all(row["there"] <= row["above"] * near for row in found)
    level = float(Response(epsilon).epsilon)
    assert max(row["loss"] for row in found) == pytest.approx(level, rel=1e-5)
    assert min(row["loss"] for row in found) == pytest.approx(-level, rel=1e-5)


def test_the_observed_output_is_marked_where_it_is_and_said_in_words():
    picture = neighbours(epsilon=1, observed="0.25")
    (point,) = picture.spec["vconcat"][1]["layer"][-1]["data"]["values"]
    assert point["output"] == 0.25
    assert point["loss"] == pytest.approx(0.5)
    assert "1.65 times likelier with database x" in picture.spec["title"]["subtitle"][1]


def test_errors_are_the_exact_errors_of_the_worst_of_k():
    picture = error(counts=[1, 100], sensitivity=2, confidence="0.9")
    for name, k in (("one number", 1), ("the worst of 100", 100)):
        for row in rows(picture, name):
            noise = LaplaceNoise.for_privacy(sensitivity=2, epsilon=row["epsilon"])
            assert row["error"] == pytest.approx(float(noise.error("0.1", k)), rel=1e-5)


def test_central_errors_fall_like_n_and_local_ones_like_its_root():
    picture = people(epsilon="ln 3")
    central = {
        row["people"]: row["error"] for row in rows(picture, "central: Laplace noise, as 1/n")
    }
    local = {
        row["people"]: row["error"] for row in rows(picture, "local: randomized response, as 1/√n")
    }
    assert central[100] / central[10_000] == pytest.approx(100, rel=1e-4)
    assert local[100] / local[10_000] == pytest.approx(10, rel=1e-4)
    assert central[1000] == pytest.approx(
        float(central_rms_error(people=1000, epsilon="ln 3")), rel=1e-5
    )
    assert local[1000] == pytest.approx(float(Response("ln 3").rms_error(people=1000)), rel=1e-5)


def test_beliefs_are_moved_as_bayes_says_and_never_beyond_the_bound():
    picture = beliefs(epsilons=["ln 3"])
    moved = picture.spec["layer"][1]["data"]["values"]
    for row in moved:
        p = row["prior"]
        odds = 3 if row["output"] == "yes" else Fraction(1, 3)
        assert row["posterior"] == pytest.approx(odds * p / (1 + (odds - 1) * p), rel=1e-5)
        assert row["posterior"] <= 3 * p + 1e-12
    end = picture.spec["layer"][2]["data"]["values"][-1]
    assert end["posterior"] / end["prior"] == pytest.approx(3, rel=1e-5)


def test_delta_curves_are_the_theorys():
    picture = delta(epsilon=1)
    sigma = (2**0.5).as_integer_ratio()
    for row in rows(picture):
        at = Fraction(str(row["epsilon"]))
        if row["delta"] < 1e-4:  # near the pure epsilon six digits of it are too few
            continue
        if row["mechanism"] == "Laplace":
            exact = laplace_delta(scale=Fraction(1), sensitivity=Fraction(1), epsilon=at)
        elif row["mechanism"].startswith("randomized"):
            exact = randomized_response(1).delta(at)
        else:
            exact = gaussian_delta(sigma=Fraction(*sigma), sensitivity=Fraction(1), epsilon=at)
        assert row["delta"] == pytest.approx(float(exact), rel=0.02)


def test_geometric_noise_on_a_count_has_the_curve_of_randomized_response():
    for at in ("0", "0.3", "0.9"):
        counts = truncated_geometric(4, 1).delta(at, [(1, 2)])
        assert float(counts) == pytest.approx(float(randomized_response(1).delta(at)), rel=1e-12)


def test_pure_curves_end_at_their_epsilon_and_the_gaussian_does_not():
    picture = delta(epsilon=1)
    assert max(row["epsilon"] for row in rows(picture, "Laplace")) <= 1
    assert max(row["epsilon"] for row in rows(picture) if "Gaussian" in row["mechanism"]) > 4


def test_composition_shows_what_the_accountants_say():
    picture = composition(epsilon="0.1", delta="1e-6", queries=100)
    event = Event("geometric", {"scale": 10}, 1)
    names = {"basic: kε": "pure", "zCDP": "zcdp", "RDP": "rdp"}
    for name, accountant in names.items():
        for row in rows(picture, name):
            slack = 0 if accountant == "pure" else "1e-6"
            exact = account({event: row["queries"]}, accountant=accountant, delta=slack)
            assert row["epsilon"] == pytest.approx(float(exact.epsilon), rel=1e-5)


def test_the_optimal_theorem_is_never_above_the_others():
    at: dict[int, dict[str, float]] = {}
    for row in rows(composition(queries=300)):
        at.setdefault(row["queries"], {})[row["theorem"]] = row["epsilon"]
    for losses in at.values():
        best = losses.pop("optimal for ε-private releases")
        assert best <= min(losses.values()) * (1 + 1e-5)


def test_a_surveys_bars_are_as_wide_as_the_theory_says():
    picture = survey(epsilons=["ln 3"], people=1000, share="0.2")
    central, local = rows(picture)
    assert central["high"] == pytest.approx(
        0.2 + GeometricNoise.for_privacy(sensitivity=1, epsilon="ln 3").error("0.05") / 1000
    )
    reach = 1.959964 * math.sqrt(0.75 / 1000)
    assert local["low"] == pytest.approx(0.2 - reach, rel=1e-5)
    assert local["reach"] == "± 5.4 points"


def test_the_local_bar_holds_95_per_cent_of_the_estimates():
    # Exactly, by enumeration: yeses of 200 who would say yes and 800 who would not.
    def binomial(n: int, p: float) -> list[float]:
        return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]

    (bar,) = (row for row in rows(survey(epsilons=["ln 3"])) if "local" in row["model"])
    yeses = np.convolve(binomial(200, 0.75), binomial(800, 0.25))
    estimates = 2 * (np.arange(1001) / 1000 - 0.25)
    inside = yeses[(bar["low"] <= estimates) & (estimates <= bar["high"])].sum()
    assert inside == pytest.approx(0.95, abs=0.01)
