"""What the randomizers of bounded numbers share: values are points of a public grid.

A randomizer knows point 0 (the lower bound) to point ``size`` - 1 (the upper bound); a survey says
where they lie. The mean of a report is a straight line in the point, exactly, so the estimate of
the mean is unbiased for the points; putting numbers on the grid moves each by half a step at most.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

from discreet.local.randomizer import Randomizer


class NumberRandomizer(Randomizer):
    """A randomizer of one of ``size`` points in a row, from whose reports the mean is estimated."""

    @property
    @abstractmethod
    def offset(self) -> Fraction:
        """The mean report for point 0."""

    @property
    @abstractmethod
    def slope(self) -> Fraction:
        """By how much the mean report grows from one point to the next."""

    @abstractmethod
    def variance(self, point: int) -> Fraction:
        """The variance of a report for one point."""

    @abstractmethod
    def sums(self, counters: list[int]) -> tuple[int, int]:
        """The sum of all reports, and of their squares."""

    def noise(self, total: int, squares: int, n: int) -> Fraction | None:
        """The mean variance of n reports for their points, estimated from their sums.

        None where the reports cannot tell it from the spread of the points.
        """
        del total, squares, n
        return None

    @property
    def worst_variance(self) -> Fraction:
        """The largest variance that any point gives a report, in units of points.

        The variance is a quadratic in the point, so its largest value is at an end, or at the
        middle, where both randomizers are symmetric.
        """
        ends = {0, (self.size - 1) // 2, self.size // 2, self.size - 1}
        return max(self.variance(point) for point in ends) / self.slope**2
