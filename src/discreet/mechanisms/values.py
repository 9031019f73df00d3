"""Numbers in, the same shape out: scalars, lists, arrays and histograms by key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidValue
from discreet.exact.grid import numeric

Values: TypeAlias = Any
"""A number, a list of numbers (nested or not), a NumPy array, or a mapping to numbers."""

Restore: TypeAlias = Callable[[NDArray[Any]], Any]


def unpack(values: Values) -> tuple[NDArray[np.generic], Restore]:
    """The numbers as an array, and how to give another array of that shape the caller's form."""
    if isinstance(values, Mapping):
        keys = list(values)
        numbers = unmasked(list(values.values()))
        return numbers, lambda array: dict(zip(keys, array.tolist(), strict=True))
    array = unmasked(values)
    if isinstance(values, np.ndarray):
        return array, np.asarray  # arithmetic makes a scalar of an array without dimensions
    return array, lambda released: released.tolist()


def unmasked(values: ArrayLike) -> NDArray[np.generic]:
    """The values as an array of integers or floats; a mask over some of them is refused."""
    # Asked second, because naming masked arrays loads them.
    if type(values) is not np.ndarray and isinstance(values, np.ma.MaskedArray):
        raise InvalidValue(
            "the values are a masked array, and what lies under a mask has no sensitivity.",
            hint="decide what missing values mean first, for example values.filled(0).",
        )
    return numeric(values)


def whole(value: int, *, name: str) -> int:
    """How many of something there are: a whole number, 1 or more.

    >>> whole(20, name="rows_per_unit")
    20
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidValue(
            f"{name} = {value!r} is not allowed: it must be a whole number, 1 or more.",
            hint=f"{name}=1",
        )
    return int(value)
