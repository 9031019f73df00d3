"""Ball arithmetic: intervals that are guaranteed to contain the real number meant.

The one place that touches the working precision of python-flint, which is a global of the
process. A lock keeps our threads apart; were some other code to change it in between, balls would
only come out wider, never wrong. Whoever takes the middle of a ball for the number itself goes
through ``middle``, which refuses a ball that came out too wide.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpq

from discreet.errors import Undecided

__all__ = ["arb", "from_fraction", "interval", "lower", "middle", "precision", "ulp", "upper"]

_LOCK = threading.RLock()

# A fork copies the lock but not the thread that may be holding it: the child would wait for ever.
os.register_at_fork(
    before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release
)


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


def middle(ball: arb, *, bits: int) -> arb:
    """The midpoint of a ball whose radius is at most 2**-bits of it; a wider ball is refused.

    >>> with precision(128):
    ...     float(middle(arb(2).log(), bits=100))
    0.6931471805599453
    """
    if ball.rel_accuracy_bits() < bits:
        raise Undecided(
            f"a ball came out with fewer than the {bits} correct bits that were asked for.",
            hint="leave flint.ctx.prec alone in other threads while noise is drawn.",
        )
    return ball.mid()


def _exact(point: arb) -> Fraction:
    # Unlike arb.lower() and arb.upper(), which round to the precision of the moment, the midpoint
    # and the radius are given as they are stored.
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
