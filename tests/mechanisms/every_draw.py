"""The exact distribution of what a mechanism releases, by running it on every draw of its noise.

The code under test runs as it is; only its sources of chance are replaced, by one that goes through
all values and keeps count of their probabilities, which are those of the very distribution that the
code asked for. So a wrong scale, a wrong comparison or a wrong tie shows.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import numpy as np
from mpmath import mpf

from discreet.exact import Real
from discreet.mechanisms import permute_and_flip, quantile
from discreet.noise import Bernoulli, OneSidedGeometric, Selection
from discreet.noise.symmetric import Symmetric


def number(value: Real | Fraction | int) -> mpf:
    """A real to the digits that mpmath works with here."""
    exact = value.lower(200) if isinstance(value, Real) else Fraction(value)
    return mpf(exact.numerator) / exact.denominator


class Chance:
    """Walks through the tree of draws, depth first, one leaf at a time."""

    def __init__(self, reach: int) -> None:
        self.reach = reach
        self.path: list[list[int]] = []
        self.place = 0
        self.mass = mpf(1)

    def draw(self, values: Sequence[int], masses: Sequence[mpf]) -> int:
        if self.place == len(self.path):
            self.path.append([0, len(values)])
        branch = self.path[self.place][0]
        self.place += 1
        self.mass *= masses[branch]
        return values[branch]

    def next_leaf(self) -> bool:
        self.place, self.mass = 0, mpf(1)
        while self.path and self.path[-1][0] + 1 == self.path[-1][1]:
            self.path.pop()
        if self.path:
            self.path[-1][0] += 1
        return bool(self.path)

    def integers(self, noise: Any, n: int) -> np.ndarray:
        one_sided = isinstance(noise, OneSidedGeometric)
        low, high = (0 if one_sided else -self.reach), self.reach
        kind: Any = type(noise)
        masses = _masses(kind, noise.scale, low, high)
        return np.array([self.draw(range(low, high + 1), masses) for _ in range(n)], np.int64)

    def selected(self, selection: Selection, n: int) -> np.ndarray:
        possible = np.flatnonzero(selection.counts).tolist()
        masses = [number(selection.pmf(i)) for i in possible]
        return np.array([self.draw(possible, masses) for _ in range(n)], np.int64)

    def tossed(self, coin: Bernoulli, n: int) -> np.ndarray:
        p = number(coin.p)
        return np.array([self.draw((0, 1), (1 - p, p)) for _ in range(n)], np.int64)

    def below(self, n: int) -> int:
        return self.draw(range(n), [mpf(1) / n] * n)


@lru_cache(maxsize=256)
def _masses(kind: Any, scale: Fraction, low: int, high: int) -> tuple[mpf, ...]:
    return tuple(number(kind(scale).pmf(k)) for k in range(low, high + 1))


@contextmanager
def _instead_of_noise(chance: Chance) -> Iterator[None]:
    with ExitStack() as stack:
        for home, source in (
            (Symmetric, Chance.integers),
            (OneSidedGeometric, Chance.integers),
            (Selection, Chance.selected),
            (Bernoulli, Chance.tossed),
        ):
            stack.enter_context(patch.object(home, "sample", _method(chance, source)))
        for module in (permute_and_flip, quantile):
            stack.enter_context(patch.object(module, "below", chance.below))
        yield


def _method(chance: Chance, source: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda noise, n: source(chance, noise, n)


def distribution(release: Callable[[], Any], *, reach: int = 0) -> tuple[dict[Any, mpf], mpf]:
    """The probability of every outcome, and what is left for noise beyond ``reach`` steps."""
    chance = Chance(reach)
    found: dict[Any, mpf] = defaultdict(mpf)
    with _instead_of_noise(chance):
        while True:
            outcome = release()
            found[outcome] += chance.mass
            if not chance.next_leaf():
                break
    return dict(found), 1 - sum(found.values(), mpf(0))


def scripted(release: Callable[[], Any], draws: Sequence[int]) -> Any:
    """What is released when the noise falls as given, in order."""
    waiting = list(draws)

    def sample(noise: Any, n: int) -> np.ndarray:
        return np.array([waiting.pop(0) for _ in range(n)], np.int64)

    with (
        patch.object(Symmetric, "sample", sample),
        patch.object(OneSidedGeometric, "sample", sample),
    ):
        return release()
