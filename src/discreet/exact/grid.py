"""Public grids: where real-valued answers live, and exact rounding onto them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidNumber, InvalidValue, OffGrid, OutOfRange
from discreet.exact.parameters import positive
from discreet.exact.rational import Rational

# Values may use 61 bits, so that value + noise (kept within 3 * 2**61) never wraps round.
LARGEST_UNITS = 2**61 - 1

# Steps beyond this are no use to anyone, and as floats they would overflow or lose digits.
_LARGEST_TERM = 2**1000

_CHUNK = 1 << 15  # small enough to stay in the processor's cache

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
        exact = positive(step, name="grid")
        if max(exact.numerator, exact.denominator) > _LARGEST_TERM:
            raise InvalidNumber(
                "the grid's step has a numerator or a denominator above 2**1000.",
                hint="grid=0.01",
            )
        object.__setattr__(self, "step", exact)

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
        array = numeric(values)
        if array.dtype.kind in "iu":
            return self._units_of_integers(array)
        flat = array.astype(np.float64, copy=False).ravel()
        units = np.empty(flat.size, dtype=np.int64)
        for start in range(0, flat.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            self._round(flat[part], units[part])
        return units.reshape(array.shape)

    def unit_of(self, value: Fraction) -> int:
        """The multiple of the step nearest to one exact value; halves go up."""
        return int((value / self.step + Fraction(1, 2)) // 1)

    def exact_units(self, values: ArrayLike) -> NDArray[np.int64]:
        """Like ``units``, but a value off the grid is refused instead of rounded."""
        array = numeric(values)
        units = self.units(array)
        if array.dtype.kind in "iu":
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

    def _round(self, values: NDArray[np.float64], out: NDArray[np.int64]) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = values * float(1 / self.step) if self.is_dyadic else values / float(self.step)
        farthest = float(np.abs(scaled).max())
        if not farthest <= LARGEST_UNITS:
            _refuse_infinite(values)
            raise _too_large()
        nearest = np.rint(scaled)
        np.copyto(out, nearest, casting="unsafe")
        np.subtract(scaled, nearest, out=scaled)  # exact, and half to even left +1/2 to go up
        if self.is_dyadic:
            # Scaling was exact, unless it fell below the smallest normal float: then it rounds to
            # 0 all the same.
            out += scaled == 0.5
            return
        # One division by a step known to half a unit in the last place: together within 2**-51.
        margin = np.abs(nearest) * 2.0**-51 + 2.0**-50
        doubtful = np.abs(np.abs(scaled) - 0.5) <= margin
        for i in np.flatnonzero(doubtful | (np.abs(nearest) >= _WHOLE)):
            out[i] = self.unit_of(Fraction(float(values[i])))
        in_range(out)  # an exact value may lie beyond the limit where its double did not

    def _units_of_integers(self, array: NDArray[np.generic]) -> NDArray[np.int64]:
        integers = in_range(array)
        step = self.step
        if step == 1:
            return integers
        if step.numerator == 1:
            largest = int(np.abs(integers).max(initial=0))
            if largest * step.denominator > LARGEST_UNITS:
                raise _too_large()
            return np.asarray(integers * (step.denominator if largest else 0))
        exact = [self.unit_of(Fraction(int(value))) for value in integers.ravel().tolist()]
        if any(abs(value) > LARGEST_UNITS for value in exact):
            raise _too_large()
        return np.array(exact, dtype=np.int64).reshape(integers.shape)


def numeric(values: ArrayLike) -> NDArray[np.generic]:
    """The values as an array of integers or floats, or a refusal."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8 or _narrowed(values, array):
        raise InvalidValue(
            f"values must be numbers (int or float) that 64 bits hold exactly, not {array.dtype}.",
            hint="pass a number, a list of numbers or a NumPy array of them; large whole numbers "
            "apart from floats.",
        )
    return array


def _narrowed(values: ArrayLike, array: NDArray[np.generic]) -> bool:
    """Whether a list that mixes whole numbers and floats lost digits when it became an array."""
    if isinstance(values, np.ndarray) or array.dtype.kind != "f" or array.size == 0:
        return False
    if not float(np.abs(array.astype(np.float64)).max()) >= 2**53:
        return False
    return not bool(np.all(np.asarray(values, dtype=object) == array))


def _refuse_infinite(values: NDArray[np.float64]) -> None:
    if not bool(np.isfinite(values).all()):
        raise InvalidValue(
            "a value is NaN or infinite; there is no distance from it to a neighbour.",
            hint="decide what missing values mean before this step, for example "
            "np.nan_to_num(values, nan=0.0, posinf=upper, neginf=lower).",
        )


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
