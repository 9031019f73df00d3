"""A survey: a question, its answers, and the randomizer that every device uses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidSurvey, InvalidValue
from discreet.events import Event
from discreet.exact import Rational, Real, rational
from discreet.local import stored
from discreet.local.memoized import Memoized
from discreet.local.numbers import NumberRandomizer
from discreet.local.randomizer import Randomizer, Report

VERSION = 1
YES_NO = ("yes", "no")

_LARGEST_TEXT = 10_000


@dataclass(frozen=True)
class Scale:
    """The points a number may take: ``low``, ``low + step``, ..., ``high``."""

    low: Fraction
    high: Fraction
    step: Fraction

    @classmethod
    def of(cls, low: Rational, high: Rational, step: Rational) -> Scale:
        """Read and checked: the step must divide the range.

        >>> Scale.of(0, 120, 5).size
        25
        """
        bounds = (rational(low, name="low"), rational(high, name="high"))
        width = rational(step, name="step")
        if width <= 0 or bounds[0] >= bounds[1] or (bounds[1] - bounds[0]) % width != 0:
            raise InvalidValue(
                f"from {low} to {high} in steps of {step} is not a scale: the step must be "
                "positive and lead from the lower bound to the upper one.",
                hint="low=0, high=100, step=1",
            )
        return cls(*bounds, width)

    @property
    def size(self) -> int:
        """How many points there are."""
        return int((self.high - self.low) / self.step) + 1

    def points(self, numbers: ArrayLike) -> NDArray[np.int64]:
        """The nearest point of each number; what lies out of bounds goes to the nearest bound."""
        array = np.asarray(numbers, dtype=np.float64)
        if not bool(np.isfinite(array).all()):
            raise InvalidValue(
                "some numbers are missing or infinite.",
                hint="leave out the people who have no answer, or give them one.",
            )
        place = np.floor((array - float(self.low)) / float(self.step) + 0.5)
        return place.clip(0, self.size - 1).astype(np.int64)

    def number(self, point: Fraction) -> Fraction:
        """Where a point, or a mean of points, lies."""
        return self.low + point * self.step


@dataclass(frozen=True, eq=False)
class Survey:
    """What the collector publishes and every device reads.

    >>> from discreet.local.two_coins import TwoCoins
    >>> survey = Survey("Have you ever ...?", randomizer=TwoCoins())
    >>> survey.answers, survey.epsilon
    (('yes', 'no'), ln(3))
    >>> Survey.from_json(survey.to_json()).id == survey.id
    True
    """

    question: str
    answers: tuple[str, ...] | Scale
    randomizer: Randomizer
    id: str = field(init=False)

    def __init__(
        self,
        question: str,
        *,
        randomizer: Randomizer,
        options: Sequence[str] | None = None,
        scale: Scale | None = None,
    ) -> None:
        numeric = isinstance(randomizer, NumberRandomizer)
        if (scale is None) == numeric or (numeric and options is not None):
            raise InvalidValue(
                "options go with a randomizer of choices, a scale with one of numbers.",
                hint='options=["red", "green"], or scale=Scale.of(0, 100, 1).',
            )
        answers: tuple[str, ...] | Scale
        if scale is not None:
            answers, many = scale, scale.size
        else:
            answers = _options(options, randomizer.size)
            many = len(answers)
        if many != randomizer.size:
            raise InvalidValue(
                f"there are {many:,} answers, and the randomizer is for {randomizer.size:,}.",
                hint=f"size={many}",
            )
        if not isinstance(question, str) or not 0 < len(question.strip()) <= _LARGEST_TEXT:
            raise InvalidValue("a survey needs a question.", hint='"Have you ever ...?"')
        object.__setattr__(self, "question", question)
        object.__setattr__(self, "answers", answers)
        object.__setattr__(self, "randomizer", randomizer)
        object.__setattr__(self, "id", _digest(self._content()))

    # What it asks and costs --------------------------------------------------------------------

    @property
    def epsilon(self) -> Real:
        """The epsilon declared to the people who answer."""
        return self.randomizer.declared

    @property
    def event(self) -> Event:
        """What one person's taking part costs that person, as accountants read it."""
        cost = self.epsilon
        if isinstance(self.randomizer, Memoized):
            cost = self.randomizer.total
        return Event("declared", {"epsilon": cost.upper(), "delta": 0}, 1, "change_one")

    def value(self, answer: str | Rational) -> int:
        """The number of an answer, as the randomizer knows it."""
        if isinstance(self.answers, Scale):
            return int(self.answers.points([float(rational(answer, name="the answer"))])[0])
        if answer not in self.answers:
            raise InvalidValue(
                "the answer is not one of the options.",
                hint=f"one of: {', '.join(self.answers[:20])}.",
            )
        return self.answers.index(str(answer))

    def values(self, answers: ArrayLike) -> NDArray[np.int64]:
        """The numbers of many answers."""
        if isinstance(self.answers, Scale):
            return self.answers.points(answers)
        known = {option: place for place, option in enumerate(self.answers)}
        listed = np.asarray(answers).tolist()
        if not set(listed) <= set(known):
            raise InvalidValue(
                "some answers are not among the options.",
                hint=f"one of: {', '.join(self.answers[:20])}.",
            )
        return np.array([known[answer] for answer in listed], dtype=np.int64)

    def respond(self, answer: str | Rational) -> Report:
        """One person's report. Where the survey is memoized, use a Device, which remembers."""
        return self.randomizer.respond(self.value(answer))

    # Written down ------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data: all that a device or a collector needs."""
        return {**self._content(), "id": self.id}

    def _content(self) -> dict[str, Any]:
        if isinstance(self.answers, Scale):
            scale = {
                name: stored.write_loss(Real(getattr(self.answers, name)))
                for name in ("low", "high", "step")
            }
            answers: dict[str, Any] = {"scale": scale}
        else:
            answers = {"options": list(self.answers)}
        return {
            "discreet": "survey",
            "version": VERSION,
            "question": self.question,
            **answers,
            "epsilon": stored.write_loss(self.epsilon),
            "randomizer": stored.write(self.randomizer),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Survey:
        """What ``to_json`` wrote, checked: the id, and that the probabilities keep the promise."""
        if not isinstance(data, Mapping) or data.get("discreet") != "survey":
            raise InvalidSurvey("this is not a survey.", hint="discreet survey new")
        if data.get("version") != VERSION:
            raise InvalidSurvey(
                f"the survey is not of version {VERSION}.",
                hint="read it with the release of discreet that wrote it, or a newer one.",
            )
        fields = {"discreet", "version", "id", "question", "epsilon", "randomizer"}
        answers = set(data) - fields
        if not fields <= set(data) or answers not in ({"options"}, {"scale"}):
            raise InvalidSurvey(
                f"a survey has the fields {sorted(fields)}, and either options or a scale.",
                hint="discreet survey new",
            )
        content = {name: value for name, value in data.items() if name != "id"}
        if data["id"] != _digest(content):
            raise InvalidSurvey(
                "the survey was changed after it was written: its id does not fit.",
                hint="take it from where it was published, or design a new one.",
            )
        randomizer = stored.read(data["randomizer"], data["epsilon"])
        try:
            if answers == {"scale"}:
                scale = Scale.of(**data["scale"])
                return cls(data["question"], randomizer=randomizer, scale=scale)
            return cls(data["question"], randomizer=randomizer, options=data["options"])
        except (TypeError, InvalidValue) as fault:
            raise InvalidSurvey(
                "the survey's question or answers cannot be read.", hint="discreet survey new"
            ) from fault

    def save(self, path: Path) -> None:
        """Write it to a file."""
        path.write_text(json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n", "utf-8")

    @classmethod
    def load(cls, path: Path) -> Survey:
        """Read it from a file."""
        try:
            data = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            raise InvalidSurvey(f"there is no file {path}.", hint="discreet survey new") from None
        except (OSError, ValueError, RecursionError):
            raise InvalidSurvey(f"{path} is not JSON.", hint="discreet survey new") from None
        return cls.from_json(data)


def _options(options: Sequence[str] | None, size: int) -> tuple[str, ...]:
    if options is None:
        return YES_NO if size == 2 else tuple(map(str, range(size)))
    if isinstance(options, str) or not all(isinstance(option, str) for option in options):
        raise InvalidValue("options must be texts.", hint='options=["red", "green", "blue"]')
    if len(set(options)) != len(options) or any(
        not 0 < len(option) <= _LARGEST_TEXT for option in options
    ):
        raise InvalidValue(
            "options must differ from each other, and none may be empty.",
            hint='options=["red", "green", "blue"]',
        )
    return tuple(options)


def _digest(content: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    except (TypeError, ValueError, RecursionError):
        raise InvalidSurvey("the survey is not JSON.", hint="discreet survey new") from None
    return hashlib.sha256(text.encode()).hexdigest()[:32]
