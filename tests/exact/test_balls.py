"""Balls contain what they stand for, and their precision is theirs alone."""

import threading
from fractions import Fraction

import pytest
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import Undecided
from discreet.exact import balls
from discreet.exact.balls import arb


@given(st.fractions(), st.integers(2, 300))
def test_a_ball_around_a_rational_contains_it_and_is_narrow(x, bits):
    with balls.precision(bits):
        ball = balls.from_fraction(x)
    low, high = balls.lower(ball), balls.upper(ball)
    assert low <= x <= high
    assert high - low <= abs(x) * Fraction(4, 2**bits)


@settings(max_examples=20)
@given(st.fractions(), st.integers(-10, 10))
def test_the_ends_of_a_ball_next_to_nothing_are_outward(x, n):
    with balls.precision(64):
        far = arb(-(10**9)).exp()
        found = [far * n, balls.from_fraction(x) * far, arb(n, far), arb(0, far)]
    with balls.precision(200_000):  # enough to hold every end exactly
        for ball in found:
            low, high = balls.lower(ball), balls.upper(ball)
            assert balls.from_fraction(low) <= ball.lower()
            assert ball.upper() <= balls.from_fraction(high)
            assert high - low < Fraction(1, 2**50)


@given(st.fractions(), st.fractions())
def test_an_interval_contains_its_ends(a, b):
    low, high = sorted((a, b))
    with balls.precision(64):
        ball = balls.interval(low, high)
    assert balls.lower(ball) <= low
    assert high <= balls.upper(ball)


def test_the_ends_of_a_ball_do_not_depend_on_the_precision_of_the_moment():
    with balls.precision(300):
        ball = balls.from_fraction(Fraction(1, 3))
    with balls.precision(10):
        low, high = balls.lower(ball), balls.upper(ball)
    assert low <= Fraction(1, 3) <= high
    assert high - low < Fraction(1, 2**290)


def test_the_precision_is_given_back_even_after_an_error():
    before = ctx.prec
    with pytest.raises(ZeroDivisionError), balls.precision(before + 100):
        1 // (ctx.prec - before - 100)  # where it was set, this divides by 0
    assert ctx.prec == before


def test_precisions_nest():
    with balls.precision(100):
        with balls.precision(200):
            assert ctx.prec == 200
        assert ctx.prec == 100


def test_threads_do_not_disturb_each_others_precision():
    seen = []

    def work(bits):
        for _ in range(200):
            with balls.precision(bits):
                seen.append((bits, int(ctx.prec), (arb(2).log()).rel_accuracy_bits()))

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (40, 80, 160, 320)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 800
    assert all(bits == set_to and correct >= bits - 4 for bits, set_to, correct in seen)


def test_the_middle_of_a_wide_ball_is_refused():
    with balls.precision(60):
        ball = arb(2).log()
        assert abs(float(balls.middle(ball, bits=50)) - 0.6931471805599453) < 1e-15
        with pytest.raises(Undecided, match="64 correct bits"):
            balls.middle(ball, bits=64)
    exact = balls.middle(arb(3), bits=10**6)
    assert balls.lower(exact) == balls.upper(exact) == 3
