"""Losses of single events against the definition, summed out numerically."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from discreet.accounting.curves import (
    BoundedRange,
    Geometric,
    Normal,
    Response,
    curve,
    rdp_up,
    rho_up,
)
from discreet.errors import UnknownEvent
from discreet.events import Event
from tests.accounting import reference
from tests.accounting.reference import real

rates = st.fractions(min_value=Fraction(1, 200), max_value=5, max_denominator=1000)
orders = st.fractions(min_value=Fraction(101, 100), max_value=200, max_denominator=1000)


@settings(max_examples=20)
@given(rates.filter(lambda rate: rate > Fraction(1, 10)), st.integers(1, 12), orders)
def test_the_closed_form_is_the_sum_over_all_outputs(rate, steps, order):
    a, alpha, reach = mp.exp(-real(rate)), real(order), int(60 / rate) + steps
    norm = (1 - a) / (1 + a)
    total = sum(
        norm * a ** (alpha * abs(z) + (1 - alpha) * abs(z - steps)) for z in range(-reach, reach)
    )
    expected = mp.log(total) / (alpha - 1)
    assert abs(real(rdp_up(Geometric(rate, steps), order)) / expected - 1) < mpf(10) ** -9


def test_one_step_is_randomized_response_and_not_laplace():
    """Continuous Laplace noise would claim less than is lost on a grid."""
    order = Fraction(4)
    coarse = rdp_up(Geometric(Fraction(1), 1), order)
    assert coarse == rdp_up(Response(Fraction(1)), order)
    fine = rdp_up(Geometric(Fraction(1, 10**6), 10**6), order)
    e, a = mpf(1), real(order)
    laplace = mp.log(
        a / (2 * a - 1) * mp.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * mp.exp(-a * e)
    ) / (a - 1)
    assert abs(real(fine) / laplace - 1) < 1e-9
    assert fine < coarse


@given(rates, st.integers(min_value=2, max_value=40), orders, st.data())
def test_all_steps_in_one_coordinate_is_the_worst_split(rate, steps, order, data):
    first = data.draw(st.integers(min_value=1, max_value=steps - 1))
    whole = Geometric(rate, steps)
    parts = Geometric(rate, first), Geometric(rate, steps - first)
    slack = 1 + Fraction(1, 10**12)
    assert sum(rdp_up(part, order) for part in parts) <= rdp_up(whole, order) * slack
    assert sum(rho_up(part) for part in parts) <= rho_up(whole) * slack
    assert sum(part.epsilon for part in parts) == whole.epsilon


@given(rates, st.integers(min_value=1, max_value=50))
def test_rho_bounds_every_order_and_order_one_attains_it(rate, steps):
    known = Geometric(rate, steps)
    ratios = [rdp_up(known, 1 + Fraction(2) ** k) / (1 + Fraction(2) ** k) for k in range(-20, 15)]
    slack = 1 + Fraction(1, 10**12)
    assert all(later <= earlier * slack for earlier, later in pairwise(ratios))
    assert ratios[0] <= rho_up(known) * slack <= ratios[0] * (1 + Fraction(1, 10**4))


@given(st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=1000), orders)
def test_rho_of_a_pure_loss_is_less_than_half_its_square(epsilon, order):
    pure = Response(epsilon)
    assert rho_up(pure) <= epsilon**2 / 2
    assert rdp_up(pure, order) <= min(epsilon, order * rho_up(pure)) * (1 + Fraction(1, 10**12))
    assert rho_up(BoundedRange(epsilon)) <= rho_up(pure)
    assert rdp_up(BoundedRange(epsilon), order) <= rdp_up(pure, order)


def test_the_exponential_mechanism_keeps_its_bounded_range():
    """Two candidates, one of which moves by the sensitivity in each direction: the worst case."""
    epsilon, order = 2.0, 8.0
    worst = 0.0
    for gap in range(-40, 41):
        u, v = (gap / 10, 0.0), (gap / 10 + 1, -1.0)
        p, q = ([mp.exp(epsilon * x / 2) for x in scores] for scores in (u, v))
        p, q = [x / sum(p) for x in p], [x / sum(q) for x in q]
        moment = sum(x**order * y ** (1 - order) for x, y in zip(p, q, strict=True))
        worst = max(worst, float(mp.log(moment) / (order - 1)))
    bound = float(rdp_up(BoundedRange(Fraction(2)), Fraction(8)))
    assert 0.4 * bound < worst <= bound


def test_a_sensitivity_off_the_grid_is_rounded_up_to_it():
    event = Event("laplace", {"scale": 10, "grid": "1/2"}, "0.6")
    assert curve(event) == Geometric(Fraction(1, 20), 2)
    assert curve(Event("geometric", {"scale": 10}, "1.5")) == Geometric(Fraction(1, 10), 2)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (Event("gaussian", {"sigma": 4, "grid": 1}, 2), Normal(Fraction(1, 4))),
        (Event("exponential", {"epsilon": 1}, 1), BoundedRange(Fraction(1))),
        (Event("quantile", {"epsilon": 1}, 1), BoundedRange(Fraction(1))),
        (Event("noisy_max", {"epsilon": 1}, 1), Response(Fraction(1))),
        (Event("permute_and_flip", {"epsilon": 1}, 1), Response(Fraction(1))),
        (Event("above_threshold", {"epsilon": 1}, 1), Response(Fraction(1))),
        (
            Event("key_selection", {"epsilon": 1, "delta": "1e-9"}, 1),
            Response(Fraction(1), Fraction(1, 10**9)),
        ),
        (Event("declared", {"epsilon": 1, "delta": 0}, 1), Response(Fraction(1))),
    ],
)
def test_every_event_has_its_curve(event, expected):
    assert curve(event) == expected


def test_an_event_of_the_future_is_refused():
    event = Event("noisy_max", {"epsilon": 1}, 1)
    object.__setattr__(event, "mechanism", "telepathy")
    with pytest.raises(UnknownEvent, match="telepathy"):
        curve(event)


def test_the_kullback_leibler_divergence_is_what_rho_is():
    for rate, steps in ((Fraction(1), 1), (Fraction(1, 10), 7), (Fraction(1, 1000), 2000)):
        expected = reference.geometric_kl(rate, steps)
        assert 0 <= real(rho_up(Geometric(rate, steps))) / expected - 1 < mpf(10) ** -13
