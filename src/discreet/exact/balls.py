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

from discreet.errors import TooLarge, Undecided

__all__ = ["arb", "from_fraction", "interval", "lower", "middle", "precision", "ulp", "upper"]

_LOCK = threading.RLock()

# A ball may hold exp(-10**12), but the fraction it is would fill the memory.
_FARTHEST = 100_000
_NEXT_TO_NOTHING = Fraction(1, 2**_FARTHEST)

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
    """A rational at or below every number in the ball, as tight as the ball itself.

    Numbers closer to 0 than 2**-100000 are not written out: 0, or that, stands for them.

    >>> with precision(64):
    ...     lower(arb(-(10**12)).exp()), upper(arb(-(10**12)).exp()) == Fraction(1, 2**99999)
    (Fraction(0, 1), True)
    """
    if ball >= 0 and _size(ball.mid()) < -_FARTHEST:
        return Fraction(0)
    return -(_outward(ball.mid(), sign=-1) + _outward(ball.rad()))


def upper(ball: arb) -> Fraction:
    """A rational at or above every number in the ball, as tight as the ball itself."""
    if ball <= 0 and _size(ball.mid()) < -_FARTHEST:
        return Fraction(0)
    return _outward(ball.mid()) + _outward(ball.rad())


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


def _size(point: arb) -> int:
    """A number that is not zero lies below 2**size in absolute value, and not below half of it."""
    mantissa, exponent = point.man_exp()
    return int(mantissa).bit_length() + int(exponent)


def _outward(point: arb, *, sign: int = 1) -> Fraction:
    """The point times the sign; rounded up to ``_NEXT_TO_NOTHING`` if it is nearer to 0."""
    size = _size(point)
    if size < -_FARTHEST:
        return _NEXT_TO_NOTHING
    if size > _FARTHEST:
        raise TooLarge(
            "a number beyond 2**100000 would fill the memory if it were written out.",
            hint="compare it with a bound instead, or ask for its float_up().",
        )
    # Unlike arb.lower() and arb.upper(), which round to the precision of the moment, the midpoint
    # and the radius are given as they are stored.
    mantissa, exponent = point.man_exp()
    return sign * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
