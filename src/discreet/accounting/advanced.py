"""Advanced composition: tighter than sums, for a batch of (epsilon, delta) fixed beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.accounting.outward import Sum, significant_up
from discreet.exact import Real
from discreet.exact.balls import arb, from_fraction, precision, upper

Pairs = Sequence[tuple[Fraction, int]]
"""Each epsilon, and how often it occurs."""

# The optimal theorem walks through the outcomes of k coins; beyond this it is not tried.
MOST_COINS = 20_000

DRV = "Dwork, Rothblum and Vadhan (2010)"
KOV_OPTIMAL = "Kairouz, Oh and Viswanath (2015): optimal for equal epsilons"
KOV = "Kairouz, Oh and Viswanath (2015): unequal epsilons"


def drv(epsilon: Fraction, times: int, delta: Fraction) -> Fraction:
    """``epsilon sqrt(2 k ln(1/delta)) + k epsilon (e^epsilon - 1)``, rounded up.

    >>> float(drv(Fraction(1, 10), 100, Fraction(1, 10**6)))
    6.30823095051341
    """

    def exact() -> arb:
        loss = from_fraction(epsilon)
        spread = (-2 * times * from_fraction(delta).log()).sqrt()
        return loss * spread + times * loss * loss.expm1()

    return significant_up(Real(exact).upper())


def kov(pairs: Pairs, delta: Fraction) -> Fraction:
    """The least of the three bounds for unequal epsilons, rounded up.

    >>> float(kov([(Fraction(1, 10), 100)], Fraction(1, 10**6)))
    5.75610551933574
    """
    squares, plain = Sum(), Sum()
    for epsilon, times in pairs:
        squares.add(epsilon**2, times=times)
        plain.add(epsilon, times=times)

    def exact() -> arb:
        drift = arb(0)
        for epsilon, times in pairs:
            loss = from_fraction(epsilon)
            drift += times * loss * (loss / 2).tanh()
        square, slack = from_fraction(squares.value), from_fraction(delta)
        tail = (arb(1).exp() + square.sqrt() / slack).log().min(-slack.log())
        return drift + (2 * square * tail).sqrt()

    return min(significant_up(Real(exact).upper()), plain.value)


def kov_optimal(epsilon: Fraction, times: int, delta: Fraction) -> Fraction:
    """The exact (epsilon', delta) curve of ``times`` randomized responses, rounded up.

    With P(l), Q(l) the chances of l answers "against" under the two inputs, delta(x) is the
    largest of ``sum P - e^x sum Q`` over the first j outcomes. So the smallest x with delta(x) <=
    delta is the largest ``ln((sum P - delta) / sum Q)``.

    >>> float(kov_optimal(Fraction(1, 10), 100, Fraction(1, 10**6)))
    4.77456758810799
    """
    with precision(128):
        loss, slack = from_fraction(epsilon), from_fraction(delta)
        against = (-loss).exp()
        p = (1 / (1 + against)) ** times
        q = p * against**times
        above, below = p, q
        best = (above - slack) / below
        for j in range(times):
            ways = arb(times - j) / (j + 1)
            p *= ways * against
            q *= ways / against
            above, below = above + p, below + q
            best = best.max((above - slack) / below)
        # The ball's upper end, and its logarithm before it becomes a long rational.
        most = upper(best.upper().log()) if best.upper() > 1 else Fraction(0)
    return significant_up(most) if most > 0 else most


def advanced(pairs: Pairs, delta: Fraction) -> tuple[Fraction, str]:
    """The least epsilon that these theorems give at a slack of ``delta``, and which gave it."""
    bounds = [(kov(pairs, delta), KOV)]
    if len(pairs) == 1:
        epsilon, times = pairs[0]
        if epsilon < 1:  # for larger ones the plain sum is less
            bounds.append((drv(epsilon, times, delta), DRV))
        if times <= MOST_COINS:
            bounds.append((kov_optimal(epsilon, times, delta), KOV_OPTIMAL))
    return min(bounds)
