"""The same question asked again and again: a permanent answer, randomized anew for each report.

Were each report drawn afresh from the truth, the losses would add up and many reports would tell
it. So a device randomizes a true value once, keeps that *permanent* answer for ever, and
randomizes it once more, *instantaneously*, for each report. However many reports it sends about one
value, they say no more than the permanent answer does.

What is promised, and what is not:

- While the value stays the same, all reports together lose ``epsilon`` (permanent) at most.
- Each further distinct value draws a permanent answer of its own and may lose ``epsilon`` more. A
  device draws ``most_values`` of them in its life; beyond that it goes on answering for the value
  it could last afford, since to fall silent would be a message too. So *which* values a device
  ever had is protected by ``total = most_values * epsilon``, for good.
- *When* the value changed is protected by the instantaneous noise alone: each report that would
  have been about another value loses ``change`` at most.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidEpsilon, InvalidSurvey, InvalidValue
from discreet.exact import Real
from discreet.local.kary import KaryResponse
from discreet.local.randomizer import (
    FrequencyRandomizer,
    Moments,
    Report,
    Reports,
    exact_loss,
    informative,
    share_up,
)
from discreet.local.unary import UnaryEncoding
from discreet.local.words import FULL, fresh
from discreet.theory.channels import Channel
from discreet.theory.losses import Loss, ln

MOST_VALUES = 1000

Part: TypeAlias = KaryResponse | UnaryEncoding
Kind = TypeVar("Kind", KaryResponse, UnaryEncoding)


@dataclass(frozen=True, eq=False)
class Memoized(FrequencyRandomizer):
    """Permanent and instantaneous response together.

    ``epsilon`` bounds all the reports that are ever sent about one value, ``once`` the first of
    them. ``encoding`` is "kary" (k-ary response twice) or "unary" (symmetric unary encoding twice).

    Guarantee: see above; ``ratio`` is that of the permanent response.
    Exactness: that of the two parts.
    Reference: Erlingsson, Pihur and Korolova (2014), RAPPOR, theorems 1 and 2.

    >>> memoized = Memoized(size=2, epsilon="ln 9", once="ln 3", most_values=3)
    >>> memoized.channel().epsilon() <= memoized.once
    True
    >>> memoized.total
    3 * ln(9)
    """

    kind: ClassVar[str] = "memoized"
    size: int
    declared: Real
    once: Real
    permanent: Part
    instantaneous: Part
    most_values: int

    def __init__(
        self,
        *,
        size: int,
        epsilon: Loss,
        once: Loss,
        most_values: int = 1,
        encoding: str = "kary",
    ) -> None:
        declared, _ = exact_loss(epsilon)
        first, ratio = exact_loss(once)
        if isinstance(most_values, bool) or not 1 <= most_values <= MOST_VALUES:
            raise InvalidValue(
                f"most_values = {most_values!r} is not allowed: it must be 1 to {MOST_VALUES}.",
                hint="most_values=1 where the true answer never changes.",
            )
        if not first < declared:
            raise InvalidEpsilon(
                f"once = {once} must be less than epsilon = {epsilon}, which all reports share.",
                hint=f"once={float(declared) / 2:.3g}",
            )
        if encoding not in {"kary", "unary"}:
            raise InvalidValue(
                f"encoding = {encoding!r} cannot be memoized.",
                hint='encoding="kary" or encoding="unary".',
            )
        permanent: Part = (
            KaryResponse(size=size, epsilon=declared)
            if encoding == "kary"
            else UnaryEncoding(size=size, epsilon=declared, symmetric=True)
        )
        self._set(declared, first, permanent, _second(permanent, ratio), most_values)

    def _set(
        self, declared: Real, once: Real, permanent: Part, instantaneous: Part, most_values: int
    ) -> None:
        for name, value in (
            ("size", permanent.size),
            ("declared", declared),
            ("once", once),
            ("permanent", permanent),
            ("instantaneous", instantaneous),
            ("most_values", most_values),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def of(
        cls, permanent: Part, instantaneous: Part, *, epsilon: Loss, once: Loss, most_values: int
    ) -> Memoized:
        """The two parts as they are; the survey that stores them checks the promise."""
        made = object.__new__(cls)
        declared, _ = exact_loss(epsilon)
        made._set(declared, exact_loss(once)[0], permanent, instantaneous, most_values)
        return made

    @property
    def ratio(self) -> Fraction:
        """Of all reports about one value, however many."""
        return self.permanent.ratio

    @property
    def first_ratio(self) -> Fraction:
        """Of one report alone."""
        moments = self.moments(0)
        holder, other = moments.offset + moments.slope, moments.offset
        if isinstance(self.permanent, KaryResponse):
            return holder / other
        return holder * (1 - other) / (other * (1 - holder))

    @property
    def total(self) -> Real:
        """What the values that a device ever had can lose in all."""
        return self.declared * self.most_values

    @property
    def change(self) -> Real:
        """What one report can tell of which permanent answer it was made from."""
        part = self.instantaneous
        if isinstance(part, KaryResponse):
            return part.epsilon
        # Permanent answers may differ in every bit.
        return ln(Fraction(part.kept, part.false) ** part.size)

    def shares(self) -> dict[str, Fraction]:
        """Those of both parts."""
        return {
            **{f"permanent_{name}": share for name, share in self.permanent.shares().items()},
            **{f"instantaneous_{name}": s for name, s in self.instantaneous.shares().items()},
        }

    # One report --------------------------------------------------------------------------------

    def perturb(self, value: int, words: Iterator[int]) -> Report:
        """The first report about a value: permanent, then instantaneous."""
        return self.again(self.permanent.perturb(value, words), words)

    def again(self, answer: Report, words: Iterator[int]) -> Report:
        """A report made from a permanent answer."""
        part = self.instantaneous
        if isinstance(part, KaryResponse):
            return part.perturb(answer if isinstance(answer, int) else answer[0], words)
        bits = set(answer) if isinstance(answer, tuple) else {answer}
        return tuple(
            option
            for option in range(part.size)
            if next(words) < (part.kept if option in bits else part.false)
        )

    def simulate(self, values: ArrayLike) -> Reports:
        """One report from each of many devices."""
        return self.simulate_again(self.permanent.simulate(values))

    def simulate_again(self, answers: Reports) -> Reports:
        """One more report from devices whose permanent answers are given."""
        if isinstance(self.instantaneous, KaryResponse):
            return self.instantaneous.simulate(answers)
        # Symmetric: each bit is flipped with the same odds, whatever it is.
        flips = self.instantaneous.flips(answers.shape)
        return np.asarray(answers ^ flips)

    def channel(self) -> Channel:
        """Of one report: the permanent channel, then the instantaneous one."""
        first = self.permanent.channel()
        if isinstance(self.instantaneous, KaryResponse):
            return first.then(self.instantaneous.channel())
        part = self.instantaneous
        kept, false = Fraction(part.kept, FULL), Fraction(part.false, FULL)
        table: dict[Any, dict[Any, Fraction]] = {}
        for answer in first.outputs:
            row: dict[Any, Fraction] = {}
            for out in first.outputs:
                chance = Fraction(1)
                for option in range(self.size):
                    share = kept if option in _bits(answer) else false
                    chance *= share if option in _bits(out) else 1 - share
                row[out] = chance
            table[answer] = row
        return first.then(Channel.from_table(table))

    # Receiving ---------------------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """Those of the reports."""
        return self.instantaneous.cells

    def tally(self, reports: Reports, weights: NDArray[np.int64] | None = None) -> list[int]:
        """Those of the reports."""
        return self.instantaneous.tally(reports, weights)

    def allowed(self, reports: Reports) -> NDArray[np.bool_]:
        """Those of the instantaneous response."""
        return self.instantaneous.allowed(reports)

    def read(self, written: object) -> Report | None:
        """Those of the instantaneous response."""
        return self.instantaneous.read(written)

    def write(self, report: Report) -> object:
        """As the instantaneous response writes it."""
        return self.instantaneous.write(report)

    def row(self, report: Report) -> Report:
        """As the instantaneous response has it."""
        return self.instantaneous.row(report)

    def unrow(self, row: Any) -> Report:
        """As the instantaneous response has it."""
        return self.instantaneous.unrow(row)

    def scores(self, counters: list[int]) -> list[int]:
        """The support of each option."""
        return self.instantaneous.scores(counters)

    def moments(self, value: int, shares: list[Fraction] | None = None) -> Moments:
        """Twice randomized."""
        first = self.permanent.moments(value, shares)
        second = self.instantaneous.moments(value, shares)
        # Supported in the end: supported at first and kept so, or not at first but then.
        holder = second.offset + second.slope * (first.offset + first.slope)
        return Moments.of_support(holder, second.offset + second.slope * first.offset)


class Device:
    """One device's memory: the permanent answers it has drawn.

    >>> memoized = Memoized(size=4, epsilon=2, once=1, most_values=2)
    >>> device = Device(memoized)
    >>> reports = [device.respond(value) for value in (0, 0, 3, 1, 2, 0)]
    >>> sorted(device.answers), device.spent, device.exhausted  # 0 and 3; no more can be afforded
    ([0, 3], Real(Fraction(4, 1)), True)
    """

    def __init__(self, memoized: Memoized) -> None:
        self.memoized = memoized
        self.answers: dict[int, Report] = {}
        self._current = 0

    @property
    def spent(self) -> Real:
        """What the device's values can have lost so far: never more than ``memoized.total``."""
        return self.memoized.declared * len(self.answers)

    @property
    def exhausted(self) -> bool:
        """Whether no further permanent answer will ever be drawn."""
        return len(self.answers) >= self.memoized.most_values

    def respond(self, value: int) -> Report:
        """A report about the value; once exhausted, about the last value that could be afforded."""
        return self.step(self.memoized.checked(value), fresh())

    def step(self, value: int, words: Iterator[int]) -> Report:
        """The report that these words make."""
        if value not in self.answers and not self.exhausted:
            self.answers[value] = self.memoized.permanent.perturb(value, words)
        if value in self.answers:
            self._current = value
        return self.memoized.again(self.answers[self._current], words)

    def to_json(self) -> dict[str, Any]:
        """What the device must keep, in secret, between reports."""
        write = self.memoized.permanent.write
        answers = [[value, write(answer)] for value, answer in self.answers.items()]
        return {"version": 1, "answers": answers, "current": self._current}

    @classmethod
    def from_json(cls, memoized: Memoized, data: Mapping[str, Any]) -> Device:
        """What ``to_json`` wrote; anything else is refused, since it would draw answers anew."""
        device = cls(memoized)
        try:
            answers = {
                memoized.checked(value): memoized.permanent.read(written)
                for value, written in data["answers"]
            }
            current = memoized.checked(data["current"])
            known = {value: answer for value, answer in answers.items() if answer is not None}
            good = data["version"] == 1 and known == answers
            good = good and (current in known or not known)
        except (KeyError, TypeError, ValueError):
            good = False
        if not good or len(known) > memoized.most_values:
            raise InvalidSurvey(
                "the device's memory is not one that this survey's device wrote.",
                hint="keep what Device.to_json gives, and give it back unchanged.",
            )
        device.answers.update(known)
        device._current = current
        return device


def _bits(answer: Any) -> tuple[int, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def _second(permanent: Part, ratio: Real) -> Part:
    """The instantaneous part that brings the first report down to ``once``.

    What a part lets through is 1 - size * lie (k-ary) or 1 - 2 * false (unary); for two in a row it
    is the product.
    """
    if isinstance(permanent, KaryResponse):
        size = permanent.size
        through = 1 - size * Fraction(permanent.lie, FULL)
        wanted = (ratio - 1) / (ratio + (size - 1))
        made = _with(permanent, "lie", share_up((1 - wanted / through) / size))
        informative(made)
        return made
    through = 1 - 2 * Fraction(permanent.false, FULL)
    root = ratio.sqrt()
    false = share_up((1 - (root - 1) / (root + 1) / through) / 2)
    flipped = _with(_with(permanent, "false", false), "kept", FULL - false)
    informative(flipped)
    return flipped


def _with(part: Kind, name: str, share: int) -> Kind:
    """The same randomizer with another share."""
    made = copy.copy(part)
    object.__setattr__(made, name, share)
    return made
