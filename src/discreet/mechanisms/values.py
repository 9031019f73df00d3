"""Numbers in, the same shape out: scalars, lists, arrays and histograms by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.exact.grid import numeric

Values: TypeAlias = Any
"""A number, a list of numbers (nested or not), a NumPy array, or a mapping to numbers."""

Restore: TypeAlias = Callable[[NDArray[Any]], Any]


def unpack(values: Values) -> tuple[NDArray[np.generic], Restore]:
    """The numbers as an array, and how to give another array of that shape the caller's form."""
    if isinstance(values, Mapping):
        keys = list(values)
        numbers = numeric(np.asarray(list(values.values())) if keys else np.empty(0))
        return numbers, lambda array: dict(zip(keys, array.tolist(), strict=True))
    array = numeric(values)
    if isinstance(values, np.ndarray):
        return array, lambda released: released
    return array, lambda released: released.tolist()
