"""The geometric mechanism: Laplace noise for whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import OffGrid
from discreet.events import Event
from discreet.exact import Grid, Rational
from discreet.mechanisms.laplace import Laplace


@dataclass(frozen=True, init=False)
class Geometric(Laplace):
    """Adds two-sided geometric noise to whole numbers: the Laplace mechanism with grid 1.

    Guarantee: (sensitivity / scale, 0)-differential privacy, and no better.
    Sensitivity: l1, over all coordinates of one release together.
    Exactness: P(z) = (1-a)/(1+a) a^abs(z) with a = exp(-1/scale), exactly.
    Reference: Ghosh, Roughgarden and Sundararajan (2009).

    >>> mechanism = Geometric.from_epsilon(sensitivity=1, epsilon=0.5)
    >>> type(mechanism.release(1234))
    <class 'int'>
    >>> mechanism.error(0.95).exact
    Fraction(6, 1)
    >>> Geometric.for_histogram(epsilon=1, relation="change_one").scale
    Fraction(2, 1)
    >>> sorted(Geometric.for_histogram(epsilon=1).release({"a": 3, "b": 1}))
    ['a', 'b']
    """

    def __init__(
        self,
        *,
        sensitivity: Rational,
        scale: Rational,
        grid: Rational = 1,
        relation: str = "add_remove",
    ) -> None:
        if Grid(grid).step != 1:
            raise OffGrid(
                f"grid = {grid}: the geometric mechanism works on whole numbers.",
                hint="use Laplace, which takes any grid, or leave the grid out.",
            )
        super().__init__(sensitivity=sensitivity, scale=scale, relation=relation)

    @property
    def event(self) -> Event:
        """The release, as accountants read it."""
        return Event("geometric", {"scale": self.scale}, self.sensitivity, self.relation)
