"""The game behind every attack: to tell which of two neighbouring worlds it is.

A fair coin picks the world; the attacker, who knows everything else, sees the answers and guesses.
Whoever keeps (epsilon, delta) in total lets nobody guess right more often than
(e^epsilon + delta) / (1 + e^epsilon). An unsafe version of the same system is attacked the same
way, as a control: an attack that fails there shows nothing here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import fill
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.audit.claim import Claim

Release: TypeAlias = Callable[[int, int], NDArray[Any]]
"""What the attacker sees in world 0 or 1, n times over."""

Guess: TypeAlias = Callable[[NDArray[Any]], NDArray[np.bool_]]
"""Whether the attacker says that it is world 1."""

_WIDTH, _WIDE = 50, 96


@dataclass(frozen=True)
class Score:
    """How often an attacker was right, and the standard error of that."""

    success: float
    error: float

    @staticmethod
    def of(right: float, games: int) -> Score:
        """So many games won."""
        share = right / games
        # One lost and one won are added, so that certainty has an error too.
        shrunk = (right + 1) / (games + 2)
        return Score(share, math.sqrt(shrunk * (1 - shrunk) / games))


@dataclass(frozen=True)
class Outcome:
    """One attack, on the system and on the control."""

    name: str
    story: str
    ours: Score
    control: Score
    ceiling: float
    """What theory allows for the total that is spent; 0 where nothing may ever succeed."""
    epsilon: str | None = None
    delta: str | None = None

    @staticmethod
    def against(claim: Claim, name: str, story: str, ours: Score, control: Score) -> Outcome:
        """An attack whose ceiling is what the whole loss of the answers allows."""
        told = str(claim.epsilon), str(claim.delta)
        return Outcome(name, story, ours, control, claim.ceiling, *told)

    @property
    def holds(self) -> bool:
        """Whether the attack stays below its ceiling, three standard errors allowed."""
        if self.ceiling == 0:
            return self.ours.success == 0
        return self.ours.success <= self.ceiling + 3 * self.ours.error

    @property
    def bites(self) -> bool:
        """Whether it succeeds where it should: against the unsafe version."""
        return self.control.success > self.ceiling + 3 * self.control.error

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "attack": self.name,
            "story": self.story,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "ceiling": self.ceiling,
            "success": self.ours.success,
            "standard_error": self.ours.error,
            "control_success": self.control.success,
            "control_standard_error": self.control.error,
            "holds": self.holds,
            "control_succeeds": self.bites,
        }

    def __str__(self) -> str:
        """The story, and a bar for each of ours, the ceiling and the control."""
        mark = "holds" if self.holds else "BROKEN"
        failed = "" if self.bites else "  (the control FAILED)"
        return "\n".join(
            [
                f"{self.name}: {mark}",
                fill(self.story, _WIDE, initial_indent="  ", subsequent_indent="  "),
                f"  ours     {_scored(self.ours)}",
                f"  ceiling  {_bar(self.ceiling)} {100 * self.ceiling:5.1f} %",
                f"  unsafe   {_scored(self.control)}{failed}",
            ]
        )


def duel(
    name: str,
    story: str,
    *,
    ours: Release,
    control: Release,
    guess: Guess | tuple[Guess, Guess] | None,
    claim: Claim,
    games: int,
) -> Outcome:
    """Play against both; without a ``guess`` the attacker learns one from games of its own.

    Two guesses are one for ours and one for the control: the attacker knows whom it attacks.
    """

    def play(release: Release, guess: Guess | None) -> Score:
        say = guess or learnt(release, games)
        right = int((~say(release(0, games))).sum()) + int(say(release(1, games)).sum())
        return Score.of(right, 2 * games)

    here, there = guess if isinstance(guess, tuple) else (guess, guess)
    return Outcome.against(claim, name, story, play(ours, here), play(control, there))


def learnt(release: Release, games: int) -> Guess:
    """The attacker's own experiments: for each range of what is seen, the likelier world."""
    seen = [release(world, games) for world in (0, 1)]
    edges = np.unique(np.concatenate(seen))
    if len(edges) > 2000:
        edges = np.unique(np.quantile(np.concatenate(seen), np.arange(1, 200) / 200))
    tallies = [
        np.bincount(np.searchsorted(edges, part, side="right"), minlength=len(edges) + 1)
        for part in seen
    ]
    votes = tallies[1] > tallies[0]
    return lambda outputs: votes[np.searchsorted(edges, outputs, side="right")]


def _scored(score: Score) -> str:
    return f"{_bar(score.success)} {100 * score.success:5.1f} % ± {100 * score.error:.1f}"


def _bar(share: float) -> str:
    full = round(_WIDTH * share)
    return "█" * full + "·" * (_WIDTH - full)
