"""From one measure of privacy to another, rounded outward.

Every conversion here is an infimum over orders. Any order is valid, so floats choose one and ball
arithmetic evaluates the theorem there: a bad choice would cost tightness, never validity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.accounting.outward import log, significant_down, significant_up
from discreet.exact import Real
from discreet.exact.balls import arb, from_fraction, precision
from discreet.theory.divergences import gaussian_delta

Floats = NDArray[np.float64]


def rdp_to_epsilon(divergence: Real, *, order: Fraction, delta: Fraction) -> Fraction:
    """The epsilon, rounded up, at which a Rényi divergence gives (epsilon, delta)-DP.

    Reference: Canonne, Kamath and Steinke (2020), Proposition 12.

    >>> float(rdp_to_epsilon(Real(Fraction(1, 10)), order=Fraction(20), delta=Fraction(1, 10**6)))
    0.618168720581412
    """
    epsilon = (divergence + order_price(order, delta)).upper(64)
    return significant_up(epsilon) if epsilon > 0 else Fraction(0)


def epsilon_to_rdp(epsilon: Fraction, *, order: Fraction, delta: Fraction) -> Fraction:
    """The largest divergence of an order that still gives (epsilon, delta), rounded down.

    Not positive where no divergence of that order does.
    """
    divergence = (epsilon - order_price(order, delta)).lower(64)
    return significant_down(divergence) if divergence > 0 else divergence


def order_price(order: Fraction, delta: Fraction) -> Real:
    """What an order adds to the divergence: ``epsilon = rdp + price``."""

    def exact() -> arb:
        alpha, less = from_fraction(order), from_fraction(order - 1)
        return (-alpha.log() - from_fraction(delta).log()) / less + (less / alpha).log()

    return Real(exact)


@lru_cache(maxsize=4096)
def zcdp_to_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The smallest epsilon, rounded up, for which rho-zCDP gives (epsilon, delta)-DP.

    Reference: Canonne, Kamath and Steinke (2020).

    >>> float(zcdp_to_epsilon(Fraction(1, 10), Fraction(1, 10**6)))
    2.14193892838548
    """
    if rho == 0:
        return Fraction(0)
    size = float(rho)
    order = _best_order(
        lambda less: size * (1 + less) + order_prices(less, delta),
        middle=(np.log(-log(delta)) - log(rho)) / 2,
    )
    return rdp_to_epsilon(Real(rho * order), order=order, delta=delta)


@lru_cache(maxsize=4096)
def epsilon_to_zcdp(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho, rounded down, for which rho-zCDP gives (epsilon, delta)-DP.

    >>> rho = epsilon_to_zcdp(Fraction(1), Fraction(1, 10**6))
    >>> float(rho)
    0.0243559703595
    >>> zcdp_to_epsilon(rho, Fraction(1, 10**6)) <= 1
    True
    """
    order = cheapest_order(epsilon, delta)
    rho = significant_down(epsilon_to_rdp(epsilon, order=order, delta=delta) / order, 12)
    while zcdp_to_epsilon(rho, delta) > epsilon:  # the other direction chose a worse order
        rho = significant_down(rho * Fraction(10**9 - 1, 10**9), 12)
    return rho


def cheapest_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The order at which the most zCDP fits into (epsilon, delta)."""
    size = float(epsilon)
    return _best_order(
        lambda less: (order_prices(less, delta) - size) / (1 + less),
        middle=np.log(-log(delta)) - log(epsilon),
    )


@lru_cache(maxsize=4096)
def normal_to_epsilon(square: Fraction, delta: Fraction) -> Fraction:
    """The smallest epsilon, rounded up, for normal noise with (sensitivity/sigma)**2 = square.

    Reference: Balle and Wang (2018), Theorem 8.

    >>> round(float(normal_to_epsilon(Fraction(1), Fraction(1, 10**6))), 9)
    4.886554117
    """
    target = log(delta)
    found = _normal_by_floats(square, delta, target)
    if found is not None:
        return found
    mu = Real(square).sqrt()
    if normal_delta(mu, Fraction(0)).upper() <= delta:
        return Fraction(0)
    # The bound of zCDP, rho + 2 sqrt(rho ln(1/delta)): the root lies at or below it.
    most = significant_up((mu * mu / 2 + mu * (Real(delta).log() * -2).sqrt()).upper())
    if square > 10**6:  # epsilon is above half a million, and the bound within 1 % of the root
        return most
    epsilon = min(most, Fraction(_normal_start(float(mu), target)))
    for _ in range(60):
        # Newton on log(delta), which is concave: from the left one step overshoots, and from
        # there it comes down to the root.
        now = normal_delta(mu, epsilon).upper(40)
        slope = (Real(epsilon).exp() * (-mu / 2 - epsilon / mu).normal_cdf()).upper(40)
        step = Fraction((log(now) - target) * float(now / slope))
        epsilon = significant_up(min(most, max(epsilon + step, epsilon / 2)), 17)
        if abs(step) <= epsilon / 10**7:  # the next one would be of the order of its square
            break
    margin = Fraction(1, 10**13)
    while normal_delta(mu, epsilon).upper() > delta:
        epsilon *= 1 + margin
        margin *= 2
    return significant_up(epsilon)


def normal_delta(mu: Real, epsilon: Fraction) -> Real:
    """delta(epsilon) of normal noise with sensitivity / sigma = mu, which may be irrational."""
    if mu.exact is not None:
        return gaussian_delta(sigma=Fraction(1), sensitivity=mu.exact, epsilon=epsilon)
    above = (mu / 2 - epsilon / mu).normal_cdf()
    below = (-mu / 2 - epsilon / mu).normal_cdf()
    return above - Real(epsilon).exp() * below


def _normal_by_floats(square: Fraction, delta: Fraction, target: float) -> Fraction | None:
    """The epsilon that floats find, if one look at it by balls confirms it."""
    if not 10**-8 < square < 100 or target < -600:
        return None
    mu = math.sqrt(square)
    if math.log(math.erf(mu / math.sqrt(8))) <= target + 1e-3:
        return None  # at or near epsilon = 0
    epsilon = _normal_start(mu, target)
    for _ in range(4):
        above, below = _normal_parts(mu, epsilon)
        if not 0 < below < above:
            return None
        epsilon += (math.log(above - below) - target) * (above - below) / below
    if not 0 < epsilon < 700:
        return None
    for digits in (13, 11, 9):  # as many as survived the subtraction
        candidate = significant_up(Fraction(epsilon) * (1 + Fraction(1, 10**digits)))
        if _enough_noise(square, candidate, delta):
            return candidate
    return None


def _enough_noise(square: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether normal noise is (epsilon, delta)-private, beyond doubt."""
    with precision(128):
        mu, loss, root = from_fraction(square).sqrt(), from_fraction(epsilon), arb(2).sqrt()
        above = ((loss / mu - mu / 2) / root).erfc()
        below = loss.exp() * ((loss / mu + mu / 2) / root).erfc()
        return bool((above - below) / 2 <= from_fraction(delta))


def _normal_parts(mu: float, epsilon: float) -> tuple[float, float]:
    """The two terms whose difference is delta(epsilon), as far as floats go."""
    above = math.erfc((epsilon / mu - mu / 2) / math.sqrt(2)) / 2
    below = math.exp(epsilon) * math.erfc((epsilon / mu + mu / 2) / math.sqrt(2)) / 2
    return above, below


def _normal_start(mu: float, target: float) -> float:
    """About the epsilon whose log(delta) is the target, as far as floats go."""
    epsilon = mu * mu / 2 + mu * math.sqrt(-2 * target)
    while epsilon < 700:
        above, below = _normal_parts(mu, epsilon)
        if below == 0 or above - below <= 1e-6 * above:
            break
        step = (math.log(above - below) - target) * (above - below) / below
        epsilon += max(step, -epsilon / 2)
        if step >= -1e-6 * epsilon:  # from the right it only comes down
            break
    return epsilon


def order_prices(less: Floats, delta: Fraction) -> Floats:
    """About ``order_price`` at many orders, given as order - 1."""
    answer: Floats = (-log(delta) - np.log1p(less)) / less - np.log1p(1 / less)
    return answer


def _best_order(bound: Callable[[Floats], Floats], *, middle: float) -> Fraction:
    """An order near the minimum of ``bound``, which is a function of order - 1."""
    centre, reach = min(max(middle, -300.0), 300.0), 20.0
    for _ in range(6):
        grid = np.linspace(centre - reach, centre + reach, 161)
        centre = float(grid[int(np.argmin(bound(np.exp(grid))))])
        reach /= 20
    return 1 + significant_up(Fraction(float(np.exp(centre))), 12)
