"""Finding where a monotone statement about integers becomes true."""

from __future__ import annotations

from collections.abc import Callable


def smallest(holds: Callable[[int], bool], *, start: int = 0) -> int:
    """The smallest k >= start for which ``holds``, given that it keeps holding above.

    >>> smallest(lambda k: k * k >= 50)
    8
    """
    if holds(start):
        return start
    step = 1
    while not holds(start + step):
        step *= 2
    low, high = start + step // 2, start + step  # fails at low (or low is start), holds at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
