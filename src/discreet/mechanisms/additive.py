"""What the mechanisms that add noise have in common: values on a grid plus integers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import OutOfRange
from discreet.events import Event
from discreet.exact import Grid, Rational, Real, float_down, float_up, fraction_up, rational
from discreet.exact import confidence as exact_confidence
from discreet.exact import sensitivity as exact_sensitivity
from discreet.exact.parameters import positive
from discreet.mechanisms.values import Values, unpack, whole
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.magnitude import LARGEST_RESULT
from discreet.noise.sampling import LARGEST_SCALE, SMALLEST_SCALE
from discreet.noise.search import crossing
from discreet.noise.symmetric import Symmetric
from discreet.theory.neighbours import Relation
from discreet.theory.neighbours import relation as exact_relation


@dataclass(frozen=True)
class Error:
    """How far a release may be from the truth, all coordinates at once, at a confidence."""

    exact: Fraction
    """The smallest radius that holds with the confidence, by the exact discrete tails."""
    textbook: float
    """What the textbook's tail bound (and a union over coordinates) says instead."""
    confidence: Fraction
    coordinates: int


@dataclass(frozen=True)
class Additive(ABC):
    """A value on a public grid plus independent noise on each coordinate."""

    norm: ClassVar[Literal["l1", "l2"]]
    shape: ClassVar[type[TwoSidedGeometric] | type[RoundedGaussian]]

    sensitivity: Fraction
    scale: Fraction
    grid: Fraction
    relation: Relation

    def __init__(
        self,
        *,
        sensitivity: Rational,
        scale: Rational,
        grid: Rational = 1,
        relation: str = "add_remove",
    ) -> None:
        object.__setattr__(self, "grid", Grid(grid).step)
        object.__setattr__(self, "sensitivity", self._widened(sensitivity, grid))
        object.__setattr__(self, "scale", positive(scale, name="scale"))
        object.__setattr__(self, "relation", exact_relation(relation))
        self.noise  # noqa: B018  # a scale that cannot be sampled is refused here, not later

    @classmethod
    def _widened(cls, sensitivity: Rational, grid: Rational) -> Fraction:
        exact = exact_sensitivity(sensitivity)
        # On the grid the l1 distance is a whole number of steps, so rounding up loses nothing.
        return fraction_up(exact, step=Grid(grid).step) if cls.norm == "l1" else exact

    @classmethod
    def from_error(
        cls,
        *,
        sensitivity: Rational,
        within: Rational,
        confidence: Rational = "0.95",
        coordinates: int = 1,
        grid: Rational = 1,
        relation: str = "add_remove",
    ) -> Self:
        """The most private noise that stays within an error with the given confidence.

        >>> from discreet.mechanisms import Laplace
        >>> mechanism = Laplace.from_error(sensitivity=1, within=50, confidence=0.95)
        >>> round(float(mechanism.epsilon), 4)
        0.0593
        >>> mechanism.error(0.95).exact
        Fraction(50, 1)
        """
        step = Grid(grid).step
        scale = step * widest(
            within=positive(within, name="within") // step * Fraction(1),
            confidence=exact_confidence(confidence),
            coordinates=coordinates,
            shape=cls.shape,
        )
        return cls(sensitivity=sensitivity, scale=scale, grid=grid, relation=relation)

    @property
    @abstractmethod
    def noise(self) -> Symmetric:
        """The noise added to each coordinate, in steps of the grid."""

    @property
    @abstractmethod
    def event(self) -> Event:
        """The release, as accountants read it."""

    @abstractmethod
    def _textbook(self, beta: Fraction, coordinates: int) -> Real:
        """The textbook's bound on the error that is exceeded with probability at most beta."""

    def release(self, values: Values) -> Any:
        """The values plus noise, in the form they came in. Values off the grid are refused.

        Whole numbers on a grid of whole numbers stay whole numbers; all else becomes floats. The
        keys of a mapping are released as they are, so they must be public.
        """
        numbers, restore = unpack(values)
        grid = Grid(self.grid)
        is_whole = numbers.dtype.kind in "iu" and grid.step.denominator == 1
        if is_whole and max(self.scale, self.grid) > LARGEST_SCALE:
            raise OutOfRange(
                f"whole numbers with noise of scale {float_up(self.scale):.6g} on a grid of "
                f"{float_up(self.grid):.6g} do not fit 64 bits.",
                hint="give the values as floats: the release is then made of floats too.",
            )
        noisy = self.release_units(grid.exact_units(numbers))
        if is_whole:
            # Scaled back to at most 2**62, like the steps themselves.
            most = LARGEST_RESULT // grid.step.numerator
            return restore(noisy.clip(-most, most, out=noisy) * grid.step.numerator)
        return restore(grid.values(noisy))

    def release_units(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Whole steps of the grid plus noise, clamped (after the noise) to 2**62."""
        noisy = self.noise.sample(units.size).reshape(units.shape)
        noisy += units
        return noisy.clip(-LARGEST_RESULT, LARGEST_RESULT, out=noisy)

    def error(self, confidence: Rational = "0.95", *, coordinates: int = 1) -> Error:
        """The error that no coordinate exceeds with the given confidence."""
        wanted = exact_confidence(confidence)
        coordinates = whole(coordinates, name="coordinates")
        return Error(
            exact=self.noise.within(wanted, draws=coordinates) * self.grid,
            textbook=self._textbook(1 - wanted, coordinates).float_up(),
            confidence=wanted,
            coordinates=coordinates,
        )

    def interval(self, released: Rational, confidence: Rational = "0.95") -> tuple[float, float]:
        """Where the true value lies, given one released number: it covers the noise alone."""
        low, high = self.noise.interval(confidence)
        # A release is a point of the grid, and a float may be only close to it.
        units = Grid(self.grid).unit_of(rational(released, name="released"))
        return float_down((units - high) * self.grid), float_up((units - low) * self.grid)


def widest(
    *,
    within: Fraction,
    confidence: Fraction,
    coordinates: int,
    shape: Callable[[Fraction], Symmetric],
) -> Fraction:
    """The largest scale, in steps, whose noise stays within a bound with the given confidence."""
    draws = whole(coordinates, name="coordinates")

    def too_wide(scale: Fraction) -> bool:
        if scale < SMALLEST_SCALE or scale > LARGEST_SCALE:
            return scale > LARGEST_SCALE
        return (1 - shape(scale).tail(int(within) + 1)) ** draws < confidence

    return crossing(too_wide)[0]
