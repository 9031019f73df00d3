"""Exact audits: every bit tape to a depth, every input and output of a finite mechanism.

Nothing here is statistical. A sampler is run on all prefixes of a bit tape; those that settle an
outcome have probabilities that are exact binary fractions, and the law must lie between what is
settled and that plus what is left over. A finite mechanism is run on every tape it can read, which
gives its channel, and the channel gives its exact epsilon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from discreet.errors import InvalidInput, TooLarge
from discreet.exact import Real, float_up
from discreet.noise.magnitude import Magnitude
from discreet.noise.magnitude import settle as our_settle
from discreet.theory import Channel

DEEPEST = 40
_MOST_TAPES = 1 << 22

Settle = Callable[[Magnitude, int, int], int | None]


class Law(Magnitude, Protocol):
    """A magnitude whose tail is known exactly."""

    def tail(self, k: int) -> Real:
        """``P(magnitude >= k)``."""
        ...


@dataclass(frozen=True)
class Enumeration:
    """What a sampler does with every tape of a depth."""

    depth: int
    settled: dict[int, Fraction]
    """The probability of each magnitude, by the tapes that settle it."""
    leftover: Fraction
    """The probability of the tapes that settle nothing yet."""
    prefixes: int
    """How many were looked at."""
    mistakes: tuple[str, ...]

    @property
    def refuted(self) -> bool:
        """Whether the law and the sampler contradict each other."""
        return bool(self.mistakes)

    def to_json(self) -> dict[str, Any]:
        """As plain data, probabilities as fractions."""
        return {
            "depth": self.depth,
            "prefixes": self.prefixes,
            "settled": {str(k): str(p) for k, p in sorted(self.settled.items())},
            "leftover": str(self.leftover),
            "refuted": self.refuted,
            "mistakes": list(self.mistakes),
        }

    def __str__(self) -> str:
        """As a few lines for people."""
        head = (
            f"REFUTED: the sampler does not follow its law; {len(self.mistakes)} contradictions."
            if self.refuted
            else "Exact so far: no tape contradicts the law."
        )
        return "\n".join(
            [
                head,
                "",
                f"  tapes           all of {self.depth} bits, by {self.prefixes:,} prefixes",
                f"  outcomes        {len(self.settled)} magnitudes settled",
                f"  left over       {float_up(self.leftover):.3g} of the probability",
                *(f"  contradiction   {each}" for each in self.mistakes[:5]),
            ]
        )


def enumerate_sampler(
    noise: Magnitude, depth: int, *, law: Law, settle: Settle = our_settle
) -> Enumeration:
    """Run ``settle`` on every prefix of a tape to ``depth`` bits, and compare with the law.

    >>> from discreet.noise import TwoSidedGeometric
    >>> noise = TwoSidedGeometric(2)
    >>> found = enumerate_sampler(noise, 12, law=noise)
    >>> found.refuted, found.leftover < Fraction(1, 50)
    (False, True)
    """
    if not 1 <= depth <= DEEPEST:
        raise InvalidInput(
            f"depth = {depth} is not a depth that can be enumerated: from 1 to {DEEPEST}.",
            hint="depth=16",
        )
    settled: Counter[int] = Counter()
    open_ones, prefixes = [0, 1], 0
    for length in range(1, depth + 1):
        undecided = []
        for prefix in open_ones:
            prefixes += 1
            outcome = settle(noise, prefix, length)
            if outcome is None:
                undecided.append(prefix)
            else:
                settled[outcome] += 1 << (depth - length)
        if 2 * len(undecided) > _MOST_TAPES:
            raise TooLarge(
                f"at {length} bits {len(undecided):,} tapes settle nothing: too many to go on.",
                hint="depth=16, or a smaller scale.",
            )
        open_ones = [2 * prefix + bit for prefix in undecided for bit in (0, 1)]
    whole = 1 << depth
    masses = {k: Fraction(count, whole) for k, count in settled.items()}
    leftover = 1 - sum(masses.values(), Fraction(0))
    return Enumeration(
        depth, masses, leftover, prefixes, tuple(_contradictions(masses, leftover, law))
    )


def _contradictions(masses: dict[int, Fraction], leftover: Fraction, law: Law) -> list[str]:
    found = []
    beyond = Fraction(0)
    for k in sorted(masses, reverse=True):
        beyond += masses[k]
        for what, least, truth in (
            (f"P(magnitude = {k})", masses[k], law.tail(k) - law.tail(k + 1)),
            (f"P(magnitude >= {k})", beyond, law.tail(k)),
        ):
            if not least <= truth <= least + leftover:
                found.append(
                    f"{what} is {float(truth):.6g} by the law, and by the tapes between "
                    f"{float(least):.6g} and {float(least + leftover):.6g}"
                )
    return found


def channel_of(
    function: Callable[[Any, int], Hashable], inputs: Sequence[Hashable], *, bits: int
) -> Channel:
    """The exact channel of a mechanism that reads one tape of ``bits`` bits.

    >>> def response(truth, tape):      # two coins: heads, the truth; else the second coin
    ...     return truth if tape & 1 else tape >> 1
    >>> channel_of(response, [0, 1], bits=2).epsilon()
    ln(3)
    """
    if not 1 <= bits <= 20:
        raise InvalidInput(
            f"bits = {bits}: every tape is run, so from 1 to 20 of them.", hint="bits=16"
        )
    rows = [Counter(function(each, tape) for tape in range(1 << bits)) for each in inputs]
    outputs = list(dict.fromkeys(output for row in rows for output in row))
    whole = 1 << bits
    return Channel(
        [[Fraction(row[output], whole) for output in outputs] for row in rows],
        inputs=list(inputs),
        outputs=outputs,
    )
