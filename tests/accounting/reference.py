"""The same theorems, written plainly and evaluated with mpmath at 100 digits."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from mpmath import mp, mpf

DIGITS = 100
mp.dps = DIGITS

Curve = Callable[[Any], Any]


def real(value: Fraction | int) -> Any:
    return mpf(value.numerator) / value.denominator


def geometric_rdp(rate: Fraction, steps: int) -> Curve:
    """By the definition: the sum of P(z)**order * Q(z)**(1 - order), tails in closed form."""
    a = mp.exp(-real(rate))
    norm = (1 - a) / (1 + a)

    def rdp(order: Any) -> Any:
        left = a ** ((1 - order) * steps) / (1 - a)
        right = a ** (order * steps) / (1 - a)
        ratio = a ** (2 * order - 1)
        between = a ** ((1 - order) * steps) * ratio * (1 - ratio ** (steps - 1)) / (1 - ratio)
        return mp.log(norm * (left + right + between)) / (order - 1)

    return rdp


def geometric_kl(rate: Fraction, steps: int) -> Any:
    """The mean of rate * (abs(z - steps) - abs(z)), term by term."""
    a = mp.exp(-real(rate))
    inside = sum(1 - 2 * a ** (j + 1) / (1 + a) for j in range(min(steps, 200)))
    if steps > 200:
        tail = a**201 * (1 - a ** (steps - 200)) / (1 - a)
        inside += steps - 200 - 2 * tail / (1 + a)
    return real(rate) * inside


def response_rdp(epsilon: Fraction) -> Curve:
    """ln of cosh((order - 1/2) epsilon) / cosh(epsilon / 2)."""
    e = real(epsilon)
    return lambda order: mp.log(mp.cosh((order - mpf(1) / 2) * e) / mp.cosh(e / 2)) / (order - 1)


def response_rho(epsilon: Fraction) -> Any:
    return real(epsilon) * mp.tanh(real(epsilon) / 2)


def normal_rdp(square: Fraction) -> Curve:
    return lambda order: order * real(square) / 2


def price(order: Any, delta: Any) -> Any:
    return (-mp.log(delta) - mp.log(order)) / (order - 1) + mp.log(1 - 1 / order)


def least(bound: Curve) -> Any:
    """The minimum over orders above 1, by thirds in ln(order - 1)."""
    points = [mpf(i) / 2 for i in range(-20, 90)]
    best = min(points, key=lambda point: bound(1 + mp.exp(point)))
    low, high = best - 1, best + 1
    for _ in range(60):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if bound(1 + mp.exp(left)) < bound(1 + mp.exp(right)):
            high = right
        else:
            low = left
    return max(mpf(0), bound(1 + mp.exp((low + high) / 2)))


def zcdp_epsilon(rho: Any, delta: Fraction) -> Any:
    return least(lambda order: order * rho + price(order, real(delta)))


def rdp_epsilon(curves: Sequence[tuple[Curve, int]], delta: Fraction) -> Any:
    return least(lambda order: sum(k * rdp(order) for rdp, k in curves) + price(order, real(delta)))


def normal_delta(mu: Any, epsilon: Any) -> Any:
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def normal_epsilon(square: Any, delta: Fraction) -> Any:
    mu, target = mp.sqrt(square), real(delta)
    if normal_delta(mu, mpf(0)) <= target:
        return mpf(0)
    low, high = mpf(0), mpf(1)
    while normal_delta(mu, high) > target:
        low, high = high, 2 * high
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if normal_delta(mu, middle) > target else (low, middle)
    return low


def response_mu_squared(epsilon: Fraction) -> Any:
    """The normal that passes through randomized response's corner."""
    with mp.workdps(DIGITS + int(epsilon)):  # the corner is within exp(-epsilon) of 1
        corner = 1 / (1 + mp.exp(-real(epsilon)))
        return (2 * mp.sqrt(2) * mp.erfinv(2 * corner - 1)) ** 2


def drv(epsilon: Fraction, times: int, delta: Fraction) -> Any:
    e = real(epsilon)
    return e * mp.sqrt(2 * times * mp.log(1 / real(delta))) + times * e * (mp.exp(e) - 1)


def kov(pairs: Sequence[tuple[Fraction, int]], delta: Fraction) -> Any:
    losses = [(real(epsilon), k) for epsilon, k in pairs]
    plain = sum(e * k for e, k in losses)
    drift = sum(k * e * (mp.exp(e) - 1) / (mp.exp(e) + 1) for e, k in losses)
    square = sum(k * e * e for e, k in losses)
    first = mp.sqrt(2 * square * mp.log(mp.e + mp.sqrt(square) / real(delta)))
    second = mp.sqrt(2 * square * mp.log(1 / real(delta)))
    return min(plain, drift + first, drift + second)


def kov_delta(epsilon: Fraction, times: int, x: Any) -> Any:
    """delta(x) of ``times`` randomized responses: the hockey-stick divergence itself."""
    e = real(epsilon)
    whole = (1 + mp.exp(e)) ** times
    total = mpf(0)
    for against in range(times + 1):
        ways = mp.binomial(times, against)
        gain = mp.exp((times - against) * e) - mp.exp(x) * mp.exp(against * e)
        total += ways * max(mpf(0), gain)
    return total / whole
