"""Trying to refute a claim of privacy by running the program that makes it.

Rounds of growing size. In each, one part of fresh samples finds the event that tells the two
inputs apart best; the other part, which had no say in the choice, measures that one event.
Clopper-Pearson bounds on its two probabilities either contradict the claim or bound epsilon from
below. Round r may err with probability alpha / ((r+1)(r+2)), which sums to alpha over all rounds:
the confidence holds whenever one stops, and whatever the program under audit is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.bounds import least_probability, most_probability
from discreet.audit.claim import Claim
from discreet.audit.features import Array
from discreet.audit.report import Evidence, Report
from discreet.audit.search import Event, search
from discreet.errors import InvalidInput
from discreet.exact import Rational
from discreet.exact import confidence as exact_confidence

Function = Callable[[Any, int], Any]
"""Called with an input and n, it returns n independent outputs, as an array."""

Progress = Callable[[float, str], None]
"""Told how much of the time or the samples is used up, and the bound so far."""

FIRST_ROUND = 1 << 14
_GROWTH = 4
_MOST_SEARCHED = 1 << 19
_CHUNK = 1 << 20


def audit(
    function: Function,
    inputs: tuple[Any, Any],
    claim: Claim,
    *,
    samples: int = 10_000_000,
    seconds: float = 60.0,
    confidence: Rational = "0.999",
    progress: Progress | None = None,
) -> Report:
    """Try to refute that ``function`` keeps the claim between two neighbouring inputs.

    ``samples`` is the most that is drawn for each input, ``seconds`` the time after which no new
    round begins. The outputs must be independent; nothing else is assumed of the function.

    >>> from discreet.noise import TwoSidedGeometric
    >>> noise = TwoSidedGeometric(1)
    >>> audit(lambda x, n: x + noise.sample(n), (0, 1), Claim(0.5), samples=40_000).refuted
    True
    """
    if samples < 1_000:
        raise InvalidInput(
            f"samples = {samples} are too few to find anything.", hint="samples=1000000"
        )
    run = _Run(
        function, inputs, claim, exact_confidence(confidence), samples, float(seconds), progress
    )
    return run.report()


@dataclass
class _Run:
    function: Function
    inputs: tuple[Any, Any]
    claim: Claim
    confidence: Fraction
    samples: int
    seconds: float
    progress: Progress | None
    begun: float = field(default_factory=time.monotonic)
    drawn: int = 0
    events: int = 0
    features: dict[str, None] = field(default_factory=dict)

    def report(self) -> Report:
        best: Evidence | None = None
        refuted, stopped = False, "all samples are used"
        for number, size in enumerate(self._sizes()):
            alpha = float(1 - self.confidence) / ((number + 1) * (number + 2))
            found = self._round(size, alpha)
            if best is None or found.epsilon(self.claim.delta) > best.epsilon(self.claim.delta):
                best = found
            self._tell(best)
            if not self.claim.allows(found.least, found.most):
                best, refuted, stopped = found, True, "the claim is refuted"
                break
        assert best is not None  # noqa: S101  # there is always a first round
        if not refuted and self.drawn < self.samples:
            stopped = "the time is up"
        return Report(
            self.claim,
            self.confidence,
            (str(self.inputs[0]), str(self.inputs[1])),
            refuted,
            best,
            self.drawn,
            time.monotonic() - self.begun,
            self.events,
            tuple(self.features),
            stopped,
        )

    def _sizes(self) -> Iterator[int]:
        """The rounds, each several times larger than the last, within samples and time."""
        size = FIRST_ROUND
        while (left := self.samples - self.drawn) > 0:
            spent = time.monotonic() - self.begun
            if self.drawn:
                in_time = int(self.drawn / max(spent, 1e-9) * (self.seconds - spent))
                if in_time < size / _GROWTH:
                    return  # a round smaller than the last one would show nothing new
                size = min(size, in_time)
            # What would not be enough for another round is added to this one.
            yield (
                left if left < 2 * size and (not self.drawn or left <= in_time) else min(size, left)
            )
            size *= _GROWTH

    def _round(self, size: int, alpha: float) -> Evidence:
        searched = min(size // 2, _MOST_SEARCHED)
        one, other = (self._draw(each, searched) for each in self.inputs)
        found = search(one, other, delta=float(self.claim.delta))
        self.events += found.events
        self.features |= dict.fromkeys(found.features)
        trials = size - searched
        event = found.event
        here, there = self.inputs[::-1] if event.swapped else self.inputs
        seen, against = self._count(event, here, trials), self._count(event, there, trials)
        self.drawn += size
        return Evidence(
            str(event),
            event.swapped,
            seen,
            against,
            trials,
            alpha,
            least_probability(seen, trials, alpha / 2),
            most_probability(against, trials, alpha / 2),
        )

    def _count(self, event: Event, at: Any, trials: int) -> int:
        return sum(
            event.count(self._draw(at, min(_CHUNK, trials - start)))
            for start in range(0, trials, _CHUNK)
        )

    def _draw(self, at: Any, n: int) -> Array:
        try:
            outputs = np.asarray(self.function(at, n))
        except InvalidInput:
            raise
        except Exception as error:
            raise InvalidInput(
                f"the function failed when it was called with ({at!r}, {n}): "
                f"{type(error).__name__}: {error}",
                hint="def noisy_count(value, n): return value + noise(n)",
            ) from error
        if outputs.ndim == 0 or len(outputs) != n:
            raise InvalidInput(
                f"the function was asked for {n} outputs and returned an array of shape "
                f"{outputs.shape}.",
                hint="return n independent outputs for one input: def f(x, n): return x + noise(n)",
            )
        return outputs

    def _tell(self, best: Evidence) -> None:
        if self.progress is not None:
            used = (time.monotonic() - self.begun) / max(self.seconds, 1e-9)
            share = max(self.drawn / self.samples, min(used, 1.0))
            self.progress(share, f"epsilon at least {best.epsilon(self.claim.delta):.4f}")
