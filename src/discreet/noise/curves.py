"""The two shapes of noise, as quantile functions of unit scale with their derivatives.

A curve ``q`` maps V in (0, 1) to a magnitude; it decreases, and so do all its derivatives in
absolute value, with alternating signs. Both facts carry the error bound of ``polynomial``: on a
cell the largest derivative of any order stands at the cell's left end.
"""

from __future__ import annotations

from functools import cache
from typing import Protocol

from discreet.exact.balls import arb


class Curve(Protocol):
    """A quantile function of unit scale."""

    def value(self, v: arb) -> arb:
        """``q(v)``."""
        ...

    def taylor(self, v: arb, degree: int) -> list[arb]:
        """``q(v), q'(v), q''(v)/2, ...`` up to the given degree."""
        ...

    def __hash__(self) -> int: ...


class Exponential:
    """``q(v) = -ln v``, the exponential law: Laplace and geometric noise.

    Its n-th derivative is (-1)^n (n-1)! / v^n.
    """

    def value(self, v: arb) -> arb:
        """``-ln v``."""
        return -v.log()

    def taylor(self, v: arb, degree: int) -> list[arb]:
        """``-ln v``, then ``(-1)^n / (n v^n)``."""
        coefficients = [self.value(v)]
        power = arb(1)
        for order in range(1, degree + 1):
            power = -power / v
            coefficients.append(power / order)
        return coefficients


class HalfNormal:
    """``q(v) = sqrt(2) erfcinv(v)``, the absolute value of a standard normal: Gaussian noise.

    Write z = q(v) and W = sqrt(pi/2) exp(z^2/2). Then dz/dv = -W and dW/dv = -z W^2, so the n-th
    derivative is (-1)^n P_n(z) W^n with P_1 = 1 and P_{n+1} = P_n' + n z P_n. All coefficients of
    the P_n are non-negative and z, W decrease in v, so the derivatives alternate and shrink.
    """

    def value(self, v: arb) -> arb:
        """``sqrt(2) erfcinv(v)``."""
        return v.erfcinv() * arb(2).sqrt()

    def taylor(self, v: arb, degree: int) -> list[arb]:
        """``q``, then ``(-1)^n P_n(z) W^n / n!``."""
        z = self.value(v)
        square = z * z
        slope = (arb.pi() / 2).sqrt() * (square / 2).exp()
        coefficients = [z]
        power = arb(1)
        for order in range(1, degree + 1):
            power = -power * slope / order
            coefficients.append(power * _at(_derivative_polynomial(order), z, square))
        return coefficients


@cache
def _derivative_polynomial(order: int) -> tuple[int, ...]:
    """The coefficients of P_n, lowest power first; only every other one is not zero."""
    if order == 1:
        return (1,)
    last = _derivative_polynomial(order - 1)
    following = [0] * (len(last) + 1)
    for power, coefficient in enumerate(last):
        following[power + 1] += (order - 1) * coefficient
        if power:
            following[power - 1] += power * coefficient
    return tuple(following)


def _at(polynomial: tuple[int, ...], z: arb, square: arb) -> arb:
    """A polynomial of one parity at z, by Horner's rule in z squared."""
    degree = len(polynomial) - 1
    total = arb(0)
    for power in range(degree, -1, -2):
        total = total * square + polynomial[power]
    return total * z if degree % 2 else total
