"""A number near the true one: uniform within a window around it, or with less odds outside."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidValue
from discreet.exact import Real
from discreet.local.kary import within
from discreet.local.numbers import NumberRandomizer
from discreet.local.randomizer import (
    Report,
    Reports,
    domain_size,
    exact_loss,
    informative,
    share_down,
    whole,
)
from discreet.local.words import BLOCK, FULL, below, coins, indices
from discreet.theory.channels import Channel, few_enough
from discreet.theory.losses import Loss

_FINENESS = 256  # at least so many places outside the window, so that its width comes out right


@dataclass(frozen=True, eq=False)
class Piecewise(NumberRandomizer):
    """Reports a place in a row; those in a window that moves with the point are likelier.

    The window of point i covers the ``window`` places from i * ``stride``; it is hit with
    probability ``inside``, and all places within it are equally likely, as are all outside. The
    best choice for large epsilons.

    Guarantee: epsilon: inside / window against (1 - inside) / (places - window), up to rounding,
    downward.
    Exactness: ``inside`` is a whole number of 2**-64ths, places are exactly uniform, and the mean
    report is exactly a line in the point.
    Reference: Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu (2019), algorithm 2, on a grid, with
    the window that is best for it.

    >>> piecewise = Piecewise(size=11, epsilon=2)
    >>> piecewise.places, piecewise.window
    (414, 154)
    >>> 0 <= piecewise.respond(3) < 414
    True
    """

    kind: ClassVar[str] = "piecewise"
    size: int
    declared: Real
    stride: int
    window: int
    inside: int

    def __init__(
        self,
        *,
        size: int,
        epsilon: Loss,
        stride: int | None = None,
        window: int | None = None,
    ) -> None:
        declared, ratio = exact_loss(epsilon)
        size = domain_size(size)
        stride = -(-_FINENESS // (size - 1)) if stride is None else stride
        outside = stride * (size - 1)
        if window is None:
            window = _best_window(outside, float(ratio))
        if min(stride, window) < 1 or outside + window > 2**40:
            raise InvalidValue(
                f"stride = {stride!r} and window = {window!r} do not suit {size:,} points.",
                hint="leave both out, and the best are taken; or use a coarser grid.",
            )
        # Rounded down: the window is hit a little less often.
        inside = share_down(ratio * window / (ratio * window + outside))
        for name, number in (
            ("size", size),
            ("declared", declared),
            ("stride", stride),
            ("window", window),
            ("inside", inside),
        ):
            object.__setattr__(self, name, number)
        informative(self)

    @property
    def outside(self) -> int:
        """How many places are not in the window."""
        return self.stride * (self.size - 1)

    @property
    def places(self) -> int:
        """How many places there are."""
        return self.outside + self.window

    @property
    def ratio(self) -> Fraction:
        """A place in the window against one outside."""
        return Fraction(self.inside * self.outside, (FULL - self.inside) * self.window)

    def shares(self) -> dict[str, Fraction]:
        """The probability of the window."""
        return {"inside": Fraction(self.inside, FULL)}

    def perturb(self, value: int, words: Iterator[int]) -> Report:
        """The first word decides for the window or against it, the next one for the place."""
        start = value * self.stride
        if next(words) < self.inside:
            return start + below(self.window, words)
        place = below(self.outside, words)
        return place if place < start else place + self.window

    def simulate(self, values: ArrayLike) -> Reports:
        """One report for each point."""
        points = self.checked_values(values)
        reports = np.empty(len(points), dtype=np.int64)
        for first in range(0, len(points), BLOCK):
            start = points[first : first + BLOCK] * self.stride
            near = start + indices(len(start), self.window).view(np.int64)
            far = indices(len(start), self.outside).view(np.int64)
            far += (far >= start) * self.window
            reports[first : first + BLOCK] = np.where(coins(len(start), self.inside), near, far)
        return reports

    def channel(self) -> Channel:
        """Each point's odds of every place."""
        few_enough(self.size, self.places)
        near = Fraction(self.inside, FULL * self.window)
        far = Fraction(FULL - self.inside, FULL * self.outside)
        rows = []
        for point in range(self.size):
            window = range(point * self.stride, point * self.stride + self.window)
            rows.append([near if place in window else far for place in range(self.places)])
        return Channel(rows)

    @property
    def cells(self) -> int:
        """The sum of all reports, and of their squares."""
        return 2

    def tally(self, reports: Reports, weights: NDArray[np.int64] | None = None) -> list[int]:
        """Sums, by blocks so that they fit 64 bits, and then as Python's integers."""
        numbers = reports.astype(np.int64, copy=False)
        if weights is not None or self.places > 2**20:
            many = [1] * len(numbers) if weights is None else weights.tolist()
            pairs = list(zip(numbers.tolist(), many, strict=True))
            return [sum(z * w for z, w in pairs), sum(z * z * w for z, w in pairs)]
        total = squares = 0
        for start in range(0, len(numbers), BLOCK):
            part = numbers[start : start + BLOCK]
            total += int(part.sum())
            squares += int(np.dot(part, part))
        return [total, squares]

    def allowed(self, reports: Reports) -> NDArray[np.bool_]:
        """Places."""
        return within(reports, self.places)

    def read(self, written: object) -> Report | None:
        """The number of a place."""
        return whole(written, self.places)

    def write(self, report: Report) -> object:
        """The number of a place."""
        return report

    @property
    def offset(self) -> Fraction:
        """The mean place for point 0."""
        return self._moment(0, 1)

    @property
    def slope(self) -> Fraction:
        """How far the mean place moves from one point to the next."""
        return self._moment(1, 1) - self._moment(0, 1)

    def variance(self, point: int) -> Fraction:
        """Of the place reported for one point."""
        return self._moment(point, 2) - self._moment(point, 1) ** 2

    def sums(self, counters: list[int]) -> tuple[int, int]:
        """As they are."""
        return counters[0], counters[1]

    def noise(self, total: int, squares: int, n: int) -> Fraction | None:
        """The mean square of a report is a quadratic in the point, with known coefficients.

        So the mean and the mean square of the points can be estimated, and from them the mean
        variance; it is kept within what is possible.
        """
        line = Fraction(self.inside, FULL * self.window)
        line -= Fraction(FULL - self.inside, FULL * self.outside)
        line *= self.window
        mean = (Fraction(total, n) - self.offset) / self.slope
        constant = self._moment(0, 2)
        linear, quadratic = line * (self.window - 1) * self.stride, line * self.stride**2
        square = (Fraction(squares, n) - constant - linear * mean) / quadratic
        # Of (offset + slope point)^2, averaged over the people.
        known = self.offset**2 + 2 * self.offset * self.slope * mean + self.slope**2 * square
        ends = [self.variance(point) for point in (0, (self.size - 1) // 2)]
        return min(max(Fraction(squares, n) - known, min(ends)), max(ends))

    def _moment(self, point: int, power: int) -> Fraction:
        near = Fraction(self.inside, FULL * self.window)
        far = Fraction(FULL - self.inside, FULL * self.outside)
        start = point * self.stride
        window = _powers(start + self.window, power) - _powers(start, power)
        return far * _powers(self.places, power) + (near - far) * window


def _best_window(outside: int, ratio: float) -> int:
    """The width with the least variance at the bounds, where it is largest.

    The variance first falls with the width and then rises: the search halves what is left. It is
    a little wider than the window of the reference, outside / e^(epsilon / 2).
    """
    low, high = 1, 2 * outside
    while low < high:
        middle = (low + high) // 2
        if _spread(middle, outside, ratio) <= _spread(middle + 1, outside, ratio):
            high = middle
        else:
            low = middle + 1
    return low


def _spread(window: int, outside: int, ratio: float) -> float:
    """The variance at the lower bound, with the slope taken for 1."""
    inside = ratio * window / (ratio * window + outside)
    # Uniform within the window, from 0, and outside, from its end.
    near, far = (window - 1) / 2, window + (outside - 1) / 2
    near_square = near**2 + (window**2 - 1) / 12
    far_square = far**2 + (outside**2 - 1) / 12
    first = inside * near + (1 - inside) * far
    second = inside * near_square + (1 - inside) * far_square
    slope = inside - (1 - inside) * window / outside
    return (second - first**2) / slope**2 if slope > 0 else math.inf


def _powers(limit: int, power: int) -> int:
    """The sum of z**power for z below the limit; power is 1 or 2."""
    if power == 1:
        return limit * (limit - 1) // 2
    return (limit - 1) * limit * (2 * limit - 1) // 6
