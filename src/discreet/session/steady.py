"""Work whose length does not tell what it did: it takes a whole number of ticks.

A single draw of noise takes some 20 to 60 microseconds, and a little longer for some outcomes than
for others; a query takes milliseconds, and a little longer for some rows. Whoever sees the answer
late enough does not see that difference.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TICK = 1 / 2048
"""Seconds: far more than what the draws of one answer differ by, far less than anybody notices."""


@contextmanager
def steady(
    tick: float = TICK,
    *,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Leave the block at the next tick after it is done, even if it failed.

    >>> times, slept = iter([0.0, 0.7 * TICK, TICK]), []
    >>> with steady(clock=lambda: next(times), sleep=slept.append):
    ...     pass
    >>> [round(each / TICK, 1) for each in slept]
    [0.3]
    """
    begun = clock()
    try:
        yield
    finally:
        now = clock()
        end = begun + tick * (int((now - begun) / tick) + 1)
        while now < end:
            sleep(end - now)
            now = clock()
