"""Above threshold: the sparse vector technique, which stops itself."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from discreet.errors import Exhausted, InvalidValue, OffGrid, Refused
from discreet.events import Event
from discreet.exact import Grid, Rational, Real, fraction_up, rational
from discreet.exact import confidence as exact_confidence
from discreet.exact import epsilon as exact_epsilon
from discreet.exact import sensitivity as exact_sensitivity
from discreet.mechanisms.additive import Error
from discreet.mechanisms.choice import one_way
from discreet.mechanisms.values import unmasked, whole
from discreet.noise.geometric import TwoSidedGeometric
from discreet.noise.search import smallest
from discreet.theory.neighbours import Relation
from discreet.theory.neighbours import relation as exact_relation


@dataclass(frozen=True)
class AboveThreshold:
    """Answers "is it above the threshold?" for query after query, until the first yes.

    Guarantee: (epsilon, 0)-differential privacy of all answers together, however many came before
    the first yes, with queries chosen one after another. A run ends itself at that yes.
    Sensitivity: the most that one unit changes any one query.
    Exactness: geometric noise on the threshold (once) and on each value (afresh), in steps of the
    grid. Of epsilon 5/13 goes to the threshold and 8/13 to the values, close to the best split. If
    ``monotone=True`` (every query moves the same way when a unit is added) the values need half the
    noise and the split is even.
    Reference: Dwork and Roth (2014), Theorem 3.23; Lyu, Su and Li (2017).

    >>> run = AboveThreshold(sensitivity=1, epsilon=2).start(threshold=100)
    >>> [run.ask(value) for value in (0, 0, 200)]
    [False, False, True]
    >>> run.ask(0)
    Traceback (most recent call last):
    ...
    discreet.errors.Exhausted: this run has given its one yes and answers no more.
    <BLANKLINE>
    Hint: start another with .start(threshold=...); it costs epsilon again.
    """

    epsilon: Fraction
    sensitivity: Fraction
    grid: Fraction
    monotone: bool
    relation: Relation

    def __init__(
        self,
        *,
        sensitivity: Rational,
        epsilon: Rational,
        grid: Rational = 1,
        monotone: bool = False,
        relation: str = "add_remove",
    ) -> None:
        step = Grid(grid).step
        widened = fraction_up(exact_sensitivity(sensitivity), step=step)
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "sensitivity", widened)
        object.__setattr__(self, "grid", step)
        object.__setattr__(self, "relation", exact_relation(relation))
        object.__setattr__(self, "monotone", one_way(monotone=monotone, relation=self.relation))

    @property
    def event(self) -> Event:
        """One whole run, as accountants read it."""
        return Event("above_threshold", {"epsilon": self.epsilon}, self.sensitivity, self.relation)

    @property
    def threshold_noise(self) -> TwoSidedGeometric:
        """The noise on the threshold, in steps of the grid."""
        share = Fraction(1, 2) if self.monotone else Fraction(5, 13)
        return TwoSidedGeometric(self._steps / (share * self.epsilon))

    @property
    def value_noise(self) -> TwoSidedGeometric:
        """The noise on each value, in steps of the grid."""
        if self.monotone:
            return TwoSidedGeometric(self._steps / (self.epsilon / 2))
        return TwoSidedGeometric(2 * self._steps / (Fraction(8, 13) * self.epsilon))

    @property
    def _steps(self) -> Fraction:
        return self.sensitivity / self.grid

    def start(self, *, threshold: Rational) -> Run:
        """A new run; every run costs epsilon, however it ends."""
        return Run(self, threshold)

    def error(self, confidence: Rational = "0.95", *, queries: int) -> Error:
        """The distance from the threshold beyond which no answer to so many queries is wrong."""
        wanted = exact_confidence(confidence)
        queries = whole(queries, name="queries")
        on_threshold, on_values = self.threshold_noise, self.value_noise

        def holds(half: int) -> bool:
            safe = (1 - on_threshold.tail(half + 1)) * (1 - on_values.tail(half + 1)) ** queries
            return safe >= wanted

        # Half of the distance for the threshold's noise, half for the largest of the values', and
        # one step because a value equal to the threshold counts as above it.
        steps = 2 * smallest(holds) + 1
        # The textbook's noise is 2 and 4 times sensitivity / epsilon, with one union over all.
        textbook = 8 * Real(2 * queries / (1 - wanted)).log() * (self.sensitivity / self.epsilon)
        return Error(
            exact=steps * self.grid,
            textbook=textbook.float_up(),
            confidence=wanted,
            coordinates=queries,
        )


class Run:
    """One pass of the mechanism: keeps the noisy threshold to itself, stops at the first yes."""

    def __init__(self, mechanism: AboveThreshold, threshold: Rational) -> None:
        self.mechanism = mechanism
        self.finished = False
        steps = rational(threshold, name="threshold") / mechanism.grid
        if steps.denominator != 1:
            raise OffGrid(
                f"threshold = {threshold} is not a multiple of the grid {mechanism.grid}.",
                hint="choose a multiple of the grid: it is public anyway.",
            )
        self._threshold = int(steps) + int(mechanism.threshold_noise.sample(1)[0])
        self._turn = threading.Lock()  # two threads must not both get a yes

    def __reduce__(self) -> NoReturn:
        raise Refused(
            "a run cannot be copied or stored: each copy would give a yes of its own.",
            hint="keep the run where it is, or start another; it costs epsilon again.",
        )

    def ask(self, value: float) -> bool:
        """Whether the value, with noise, reaches the noisy threshold."""
        with self._turn:
            if self.finished:
                raise Exhausted(
                    "this run has given its one yes and answers no more.",
                    hint="start another with .start(threshold=...); it costs epsilon again.",
                )
            units = Grid(self.mechanism.grid).exact_units(unmasked(value))
            if units.ndim:
                raise InvalidValue(
                    "a run answers about one number at a time, not about a list.",
                    hint="[run.ask(value) for value in values] stops at the first yes.",
                )
            noisy = int(units) + int(self.mechanism.value_noise.sample(1)[0])
            self.finished = noisy >= self._threshold
            return self.finished
