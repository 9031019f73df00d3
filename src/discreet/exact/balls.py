"""Ball arithmetic: intervals that are guaranteed to contain the real number meant.

The one place that touches the working precision of python-flint, which is a global of the
process. A lock keeps our threads apart; were some other code to change it in between, balls would
only come out wider, never wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpq

__all__ = ["arb", "from_fraction", "interval", "lower", "precision", "ulp", "upper"]

_LOCK = threading.RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute balls with ``bits`` bits inside the ``with`` block."""
    with _LOCK:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ulp() -> arb:
    """The unit in the last place of 1 at the current precision: where a sum may stop."""
    return arb(2) ** -int(ctx.prec)


def from_fraction(value: Fraction | int) -> arb:
    """The narrowest ball of the current precision around a rational."""
    return arb(fmpq(value.numerator, value.denominator))


def interval(low: Fraction, high: Fraction) -> arb:
    """A ball that contains everything from ``low`` to ``high``."""
    return from_fraction(low).union(from_fraction(high))


def lower(ball: arb) -> Fraction:
    """A rational at or below every number in the ball, as tight as the ball itself."""
    return _exact(ball.mid()) - _exact(ball.rad())


def upper(ball: arb) -> Fraction:
    """A rational at or above every number in the ball, as tight as the ball itself."""
    return _exact(ball.mid()) + _exact(ball.rad())


def _exact(point: arb) -> Fraction:
    # Unlike arb.lower() and arb.upper(), which round to the precision of the moment, the midpoint
    # and the radius are given as they are stored.
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
