"""What can be seen of an output: its value, its digits, the grid it lies on.

A feature turns an array of n outputs into n numbers that events are made of. Bits matter as much
as values: noise made of floats leaks not in where it lands but in which floats it can reach.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_BITS = range(-8, 61, 4)
_MODULI = (2, 3, 4, 8, 10, 16)
_MOST_COORDINATES = 16
_ZERO = 1100  # the lowest set bit of 0 lies beyond every float's


@dataclass(frozen=True)
class Feature:
    """Something to look at, and how to say it."""

    name: str
    of: Callable[[Array], Array]


def features(sample: Array, reference: Array) -> list[Feature]:
    """Everything to look at in outputs of this kind; ``reference`` comes from the other input."""
    if sample.ndim > 1:
        return _of_rows(sample, reference)
    if sample.dtype.kind == "f":
        return [*_of_values(), *_of_floats()]
    if sample.dtype.kind in "iub":
        return [*_of_values(), *_of_integers()]
    return _of_words(np.concatenate([sample, reference]))


def _of_values() -> list[Feature]:
    return [
        Feature("the output", lambda x: x),
        Feature("the absolute output", lambda x: np.abs(x.astype(np.float64))),
    ]


def _of_floats() -> list[Feature]:
    found = [
        Feature("the lowest set bit of the output", lowest_bit),
        Feature("the number of significant bits", significant_bits),
        Feature("4096 times the exponent plus the lowest set bit", _exponent_and_lowest),
        Feature("the kind of number (0 finite, 1 NaN, 2 inf, 3 -inf, 4 -0.0)", _kind),
    ]
    found += [
        Feature(f"bit {k} of the representation", partial(_bit, k=k))
        for k in (0, 1, 2, 3, 8, 16, 32, 51)
    ]
    found += [Feature(f"the bit worth 2^{-k}", partial(_digit, k=k)) for k in _BITS]
    return found


def _of_integers() -> list[Feature]:
    return [Feature(f"the output modulo {m}", partial(_modulo, m=m)) for m in _MODULI]


def _of_words(seen: Array) -> list[Feature]:
    words = np.unique(seen.astype(str))

    def rank(x: Array) -> Array:
        text = x.astype(str)
        place = np.searchsorted(words, text)
        return np.where(words[np.minimum(place, len(words) - 1)] == text, place, len(words))

    return [
        Feature("the output, numbered in the order of the alphabet", rank),
        Feature("the length of the output", lambda x: np.char.str_len(x.astype(str))),
    ]


def _of_rows(sample: Array, reference: Array) -> list[Feature]:
    """Outputs of several numbers: each of them, and together."""
    width = int(np.prod(sample.shape[1:]))
    found: list[Feature] = []
    for i in range(min(width, _MOST_COORDINATES)):
        for each in features(sample.reshape(len(sample), -1)[:, i], reference[:0].reshape(-1)):
            found.append(Feature(f"number {i}: {each.name}", partial(_coordinate, i=i, each=each)))

    def flat(x: Array) -> Array:
        return np.nan_to_num(x.reshape(len(x), -1).astype(np.float64))

    found.append(Feature("the sum of the numbers", lambda x: flat(x).sum(axis=1)))
    found.append(Feature("the largest number", lambda x: flat(x).max(axis=1)))
    found.append(Feature("the place of the largest number", lambda x: flat(x).argmax(axis=1)))
    # A linear classifier: along the line between the two means, each number by its own spread.
    here, there = flat(sample), flat(reference)
    spread = np.concatenate([here, there]).var(axis=0)
    weights = (here.mean(axis=0) - there.mean(axis=0)) / np.where(spread > 0, spread, 1)
    found.append(Feature("a linear score of the numbers", lambda x: flat(x) @ weights))
    signs = np.sign(weights) / np.sqrt(np.where(spread > 0, spread, 1))
    found.append(
        Feature(
            "a sum of the numbers with signs, clipped",
            lambda x: np.clip(flat(x), -1e9, 1e9) @ signs,
        )
    )
    return found


def _coordinate(x: Array, *, i: int, each: Feature) -> Array:
    return each.of(x.reshape(len(x), -1)[:, i])


def _modulo(x: Array, *, m: int) -> Array:
    return np.mod(x.astype(np.int64), m)


# Floats ------------------------------------------------------------------------------------------


def _raw(x: Array) -> NDArray[np.uint64]:
    return np.ascontiguousarray(x, dtype=np.float64).view(np.uint64)


def _bit(x: Array, *, k: int) -> Array:
    return (_raw(x) >> np.uint64(k)) & np.uint64(1)


def _finite(x: Array) -> NDArray[np.float64]:
    return np.where(np.isfinite(x), x, 0.0).astype(np.float64)


def lowest_bit(x: Array) -> Array:
    """The exponent of the lowest set bit: x is a multiple of 2^that, and of no higher power.

    >>> lowest_bit(np.array([6.0, 0.75])).tolist()
    [1, -2]
    """
    mantissa, exponent = np.frexp(_finite(x))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    trailing = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(whole == 0, _ZERO, exponent - 53 + trailing)


def significant_bits(x: Array) -> Array:
    """From the highest set bit to the lowest, both counted."""
    return np.frexp(_finite(x))[1] - lowest_bit(x)


def _exponent_and_lowest(x: Array) -> Array:
    exponent = np.frexp(_finite(x))[1].astype(np.int64)
    return np.asarray(np.clip(exponent, -64, 64) * 4096 + lowest_bit(x))


def _digit(x: Array, *, k: int) -> Array:
    scaled = np.ldexp(_finite(x), k)
    inside = np.abs(scaled) < 2.0**62
    return np.where(inside, np.floor(np.where(inside, scaled, 0)).astype(np.int64) & 1, 2)


def _kind(x: Array) -> Array:
    kinds = np.where(np.isnan(x), 1, np.where(np.isposinf(x), 2, np.where(np.isneginf(x), 3, 0)))
    return np.where((x == 0) & np.signbit(x), 4, kinds)
