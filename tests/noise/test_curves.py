"""The curves' derivatives are what mpmath says, alternate in sign, and shrink."""

from itertools import pairwise
from typing import Any

import mpmath
import pytest
from mpmath import mp

from discreet.exact import balls
from discreet.exact.balls import arb
from discreet.noise.curves import Curve, Exponential, HalfNormal, _derivative_polynomial
from tests.noise.laws import exact

DEGREE = 15
POINTS = [2.0**-30, 2.0**-21, 0.001, 0.03125, 0.2, 0.5, 0.75, 1 - 2.0**-12, 1 - 2.0**-40]


def truth(curve: Curve, v: float) -> list[Any]:
    """Taylor coefficients at v, from the derivatives of the inverse function."""
    if isinstance(curve, Exponential):
        rest = [(-1) ** n / (n * mpmath.mpf(v) ** n) for n in range(1, DEGREE + 1)]
        return [-mpmath.log(v), *rest]
    z = mpmath.sqrt(2) * mpmath.erfinv(1 - mpmath.mpf(v))
    # erfc(x / sqrt 2) around z as a power series, then reverted term by term.
    series = mpmath.taylor(lambda x: mpmath.erfc(x / mpmath.sqrt(2)), z, DEGREE)
    return [z, *reverted(series[1:])]


def reverted(a: list[Any]) -> list[Any]:
    """The power series of the inverse of a[0] x + a[1] x^2 + ..., by Lagrange's theorem."""
    degree = len(a)
    found = []
    power = [mpmath.mpf(1)] + [mpmath.mpf(0)] * degree
    # 1 / (a0 + a1 x + ...) as a series, whose n-th power holds the n-th coefficient.
    inverse = [1 / a[0]]
    for n in range(1, degree + 1):
        total = mpmath.fsum(a[k] * inverse[n - k] for k in range(1, min(n, degree - 1) + 1))
        inverse.append(-total / a[0])
    for n in range(1, degree + 1):
        power = [
            mpmath.fsum(power[i] * inverse[m - i] for i in range(m + 1)) for m in range(degree + 1)
        ]
        found.append(power[n - 1] / n)
    return found


@pytest.mark.parametrize("curve", [Exponential(), HalfNormal()])
@pytest.mark.parametrize("v", POINTS)
def test_the_taylor_coefficients_are_those_of_the_quantile_function(curve, v):
    with balls.precision(256):
        ours = curve.taylor(arb(v), DEGREE)
    with mp.workdps(120):
        theirs = [exact(+c) for c in truth(curve, v)]
    for ball, number in zip(ours, theirs, strict=True):
        slack = abs(number) / 10**30
        assert balls.lower(ball) - slack <= number <= balls.upper(ball) + slack
        assert ball.rel_accuracy_bits() > 150


@pytest.mark.parametrize("curve", [Exponential(), HalfNormal()])
def test_derivatives_alternate_and_shrink(curve):
    with balls.precision(256):
        rows = [curve.taylor(arb(v), DEGREE) for v in POINTS]
    for order in range(1, DEGREE + 1):
        column = [row[order] * (-1) ** order for row in rows]
        assert all(value >= 0 for value in column)
        # At v = 1 the even derivatives of the normal vanish, so there is room to shrink.
        assert all(later < earlier for earlier, later in pairwise(column))


def test_the_polynomials_of_the_normal_have_one_parity_and_no_negative_coefficient():
    assert _derivative_polynomial(1) == (1,)
    assert _derivative_polynomial(2) == (0, 1)
    assert _derivative_polynomial(3) == (1, 0, 2)
    assert _derivative_polynomial(4) == (0, 7, 0, 6)
    for order in range(1, 17):
        polynomial = _derivative_polynomial(order)
        assert len(polynomial) == order
        assert all(c >= 0 for c in polynomial)
        assert all(c == 0 for c in polynomial[-2::-2])
