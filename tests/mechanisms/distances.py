"""How far apart two output distributions are, straight from the definitions."""

from collections.abc import Hashable, Mapping
from fractions import Fraction

import mpmath
from mpmath import mpf

Law = Mapping[Hashable, mpf]


def e_to(epsilon: Fraction | int) -> mpf:
    exact = Fraction(epsilon)
    return mpmath.exp(mpf(exact.numerator) / exact.denominator)


def excess(p: Law, q: Law, epsilon: Fraction | int) -> mpf:
    """The hockey-stick divergence: the least delta for this pair, this way round."""
    ratio = e_to(epsilon)
    return mpmath.fsum(max(mpf(0), mass - ratio * q.get(o, mpf(0))) for o, mass in p.items())


def is_private(p: Law, q: Law, epsilon: Fraction | int, *, slack: float = 1e-40) -> bool:
    """Whether no outcome is more than e^epsilon times as likely under p, up to a stated mass."""
    ratio = e_to(epsilon)
    return all(mass <= ratio * q.get(o, mpf(0)) + slack for o, mass in p.items())
