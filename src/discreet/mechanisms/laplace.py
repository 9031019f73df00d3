"""The Laplace mechanism, on a public grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.events import Event
from discreet.exact import Rational, Real
from discreet.exact import epsilon as exact_epsilon
from discreet.mechanisms.additive import Additive
from discreet.mechanisms.values import whole
from discreet.noise.geometric import TwoSidedGeometric


@dataclass(frozen=True, init=False)
class Laplace(Additive):
    """Adds Laplace noise to values on a grid, each coordinate independently.

    Guarantee: (sensitivity / scale, 0)-differential privacy, and no better.
    Sensitivity: l1, over all coordinates of one release together, rounded up to the grid.
    Exactness: the noise is ``P(z)`` proportional to ``exp(-abs(z)/scale)`` on the grid, exactly.
    Reference: Dwork, McSherry, Nissim and Smith (2006), Proposition 1; on integers Ghosh,
    Roughgarden and Sundararajan (2009).

    >>> mechanism = Laplace.from_epsilon(sensitivity=1.5, epsilon=0.5, grid=0.5)
    >>> mechanism.scale, mechanism.epsilon
    (Fraction(3, 1), Fraction(1, 2))
    >>> type(mechanism.release(41.5))
    <class 'float'>
    >>> error = mechanism.error(0.95)
    >>> float(error.exact), round(error.textbook, 3)
    (9.0, 8.987)
    """

    norm = "l1"
    shape = TwoSidedGeometric

    @classmethod
    def from_epsilon(
        cls,
        *,
        sensitivity: Rational,
        epsilon: Rational,
        grid: Rational = 1,
        relation: str = "add_remove",
    ) -> Laplace:
        """The least noise that is epsilon-private."""
        widened = cls._widened(sensitivity, grid)
        scale = widened / exact_epsilon(epsilon)
        return cls(sensitivity=widened, scale=scale, grid=grid, relation=relation)

    @classmethod
    def from_scale(
        cls,
        *,
        sensitivity: Rational,
        scale: Rational,
        grid: Rational = 1,
        relation: str = "add_remove",
    ) -> Laplace:
        """Noise of a given scale; ``epsilon`` says what it gives."""
        return cls(sensitivity=sensitivity, scale=scale, grid=grid, relation=relation)

    @classmethod
    def for_histogram(
        cls,
        *,
        epsilon: Rational,
        rows_per_unit: int = 1,
        grid: Rational = 1,
        relation: str = "add_remove",
    ) -> Laplace:
        """For counts in any number of disjoint bins whose keys are public."""
        rows = whole(rows_per_unit, name="rows_per_unit")
        return cls.from_epsilon(
            sensitivity=rows * (1 if relation == "add_remove" else 2),
            epsilon=epsilon,
            grid=grid,
            relation=relation,
        )

    @property
    def epsilon(self) -> Fraction:
        """What one release costs."""
        return self.sensitivity / self.scale

    @property
    def noise(self) -> TwoSidedGeometric:
        """The noise added to each coordinate, in steps of the grid."""
        return TwoSidedGeometric(self.scale / self.grid)

    @property
    def event(self) -> Event:
        """The release, as accountants read it."""
        return Event(
            "laplace",
            {"scale": self.scale, "grid": self.grid},
            self.sensitivity,
            self.relation,
        )

    def _textbook(self, beta: Fraction, coordinates: int) -> Real:
        return Real(coordinates / beta).log() * self.scale
