"""Public grids: where real-valued answers live, and exact rounding onto them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidValue, OffGrid, OutOfRange
from discreet.exact.parameters import positive
from discreet.exact.rational import Rational

# Values may use 61 bits, so that value + noise (kept within 3 * 2**61) never wraps round.
LARGEST_UNITS = 2**61 - 1

# Floats at or above this are whole numbers; below it, adding 1/2 never hides a fraction.
_WHOLE = 2.0**52


@dataclass(frozen=True, slots=True)
class Grid:
    """All multiples of one public step.

    Values go to the nearest multiple, halves upward: ``floor(x / step + 1/2)``, computed exactly.
    Rounding half to even would let two values half a step apart land two steps apart.

    >>> Grid(0.25).units([0.3, 0.375, -0.375])
    array([ 1,  2, -1])
    """

    step: Fraction

    def __init__(self, step: Rational) -> None:
        object.__setattr__(self, "step", positive(step, name="grid"))

    @property
    def is_dyadic(self) -> bool:
        """Whether the step is a power of two, so that scaling a float by it is exact."""
        top, bottom = self.step.numerator, self.step.denominator
        return top & (top - 1) == 0 and bottom & (bottom - 1) == 0

    @property
    def holds_integers(self) -> bool:
        """Whether every whole number is on the grid."""
        return self.step.numerator == 1

    def units(self, values: ArrayLike) -> NDArray[np.int64]:
        """The multiple of the step nearest to each value, as integers; halves go up."""
        array = finite(values)
        if array.dtype.kind in "iub":
            return self._units_of_integers(array)
        numbers = array.astype(np.float64)
        with np.errstate(over="ignore", under="ignore"):
            scaled = numbers / float(self.step)
        whole = np.floor(scaled)
        fraction = scaled - whole
        units = np.clip(whole, -(2.0**62), 2.0**62).astype(np.int64)
        units += fraction >= 0.5
        doubtful = self._doubtful(scaled, fraction)
        for index in zip(*np.nonzero(doubtful), strict=True):
            exact = self.unit_of(Fraction(float(numbers[index])))
            units[index] = max(-(2**62), min(2**62, exact))
        return in_range(units)

    def unit_of(self, value: Fraction) -> int:
        """The multiple of the step nearest to one exact value; halves go up."""
        return int((value / self.step + Fraction(1, 2)) // 1)

    def exact_units(self, values: ArrayLike) -> NDArray[np.int64]:
        """Like ``units``, but a value off the grid is refused instead of rounded."""
        array = finite(values)
        units = self.units(array)
        if array.dtype.kind in "iub":
            on_grid = self.holds_integers or bool(
                np.all(units.astype(object) * self.step == array.astype(object))
            )
        else:
            # A float is on the grid if it is the float that the grid point itself becomes.
            on_grid = bool(np.all(self.values(units) == array))
        if not on_grid:
            raise OffGrid(
                f"a value is not a multiple of the grid's step {self.step}.",
                hint="round first with Grid(step).units(values), or use the short form "
                "discreet.laplace(...), which rounds and widens the sensitivity for it.",
            )
        return units

    def values(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        """The floats nearest to the grid's points (exact up to 2**53 for a power of two)."""
        return np.asarray(units, dtype=np.float64) * self.step.numerator / self.step.denominator

    def units_up(self, distance: Fraction) -> int:
        """A distance in steps, rounded up."""
        return int(-(-distance // self.step))

    def _doubtful(
        self, scaled: NDArray[np.float64], fraction: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        if self.is_dyadic:
            # Exact unless the division fell below the smallest normal float.
            tiny: NDArray[np.bool_] = (np.abs(scaled) < 2.0**-1000) & (scaled != 0)
            return tiny
        # One division and a step known to half a unit in the last place: together within 2**-51.
        margin = np.abs(scaled) * 2.0**-51
        # Only a true fraction on the other side of 1/2 would round elsewhere.
        near_half: NDArray[np.bool_] = np.abs(fraction - 0.5) <= margin
        return near_half | (np.abs(scaled) >= _WHOLE)

    def _units_of_integers(self, array: NDArray[np.generic]) -> NDArray[np.int64]:
        integers = in_range(array)
        step = self.step
        if step == 1:
            return integers
        if step.numerator == 1:
            largest = int(np.abs(integers).max(initial=0))
            if largest * step.denominator > LARGEST_UNITS:
                raise _too_large()
            return integers * step.denominator
        exact = [self.unit_of(Fraction(int(value))) for value in integers.ravel().tolist()]
        if any(abs(value) > LARGEST_UNITS for value in exact):
            raise _too_large()
        return np.array(exact, dtype=np.int64).reshape(integers.shape)


def finite(values: ArrayLike) -> NDArray[np.generic]:
    """The values as an array of integers or floats, refused if any is missing or infinite."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.asarray(None)
    if array.size == 0 and array.dtype.kind == "f":
        return array
    if array.dtype.kind not in "iuf":
        raise InvalidValue(
            f"values must be numbers (int or float), not {array.dtype}.",
            hint="pass a number, a list of numbers or a NumPy array of them.",
        )
    if array.dtype.kind == "f" and not bool(np.isfinite(array).all()):
        raise InvalidValue(
            "a value is NaN or infinite; there is no distance from it to a neighbour.",
            hint="decide what missing values mean before this step, for example "
            "np.nan_to_num(values, nan=0.0, posinf=upper, neginf=lower).",
        )
    return array


def in_range(units: NDArray[np.generic]) -> NDArray[np.int64]:
    """Integers that leave room for noise, or a refusal."""
    if units.size and (int(units.max()) > LARGEST_UNITS or int(units.min()) < -LARGEST_UNITS):
        raise _too_large()
    return units.astype(np.int64, copy=False)


def _too_large() -> OutOfRange:
    return OutOfRange(
        "a value is more than 2**61 steps of the grid away from 0 and cannot be held exactly.",
        hint="use a coarser grid, for example grid=1, or clamp the values first.",
    )
