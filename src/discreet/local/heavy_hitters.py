"""The frequent ones among more values than anybody could list: a tree of prefixes.

Values are strings of ``bits`` bits. Each person is put at random into one of the tree's levels and
reports only the prefix of that length, once, by local hashing with the whole epsilon. The collector
walks down: of the frequent prefixes of one level only the children are looked for in the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidValue
from discreet.exact import Rational, Real
from discreet.exact import confidence as exact_confidence
from discreet.local.estimates import Estimate, Target, estimate, quantile
from discreet.local.hashing import DIGIT, LocalHashing
from discreet.local.randomizer import Report, Reports, exact_loss, whole
from discreet.local.words import below, fresh, indices
from discreet.theory.losses import Loss

MOST_BITS = 1024
_DIGIT_BITS = DIGIT.bit_length() - 1
_MOST_CANDIDATES = 1 << 20


@dataclass(frozen=True, slots=True)
class HeavyHitter:
    """A value that many people have, and the share of people who do."""

    value: int
    share: Estimate


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """Finds frequent values of ``bits`` bits.

    Each level adds ``step`` bits. A report is (level, coefficients ..., bucket).

    Guarantee: epsilon: the level does not depend on the value, and the rest is local hashing.
    Reference: Bassily, Nissim, Stemmer and Thakurta (2017), TreeHist; Wang, Li and Jha (2021), PEM.

    >>> tree = PrefixTree(bits=64, epsilon=3, step=8)
    >>> len(tree.levels), tree.levels[-1].digits
    (8, 3)
    """

    bits: int
    step: int
    declared: Real
    levels: tuple[LocalHashing, ...]

    def __init__(self, *, bits: int, epsilon: Loss, step: int = 8) -> None:
        if not 1 <= step <= 16 or not step <= bits <= MOST_BITS or bits % step:
            raise InvalidValue(
                f"bits = {bits} in steps of {step} make no tree: steps go up to 16 bits, and must "
                f"divide the bits, at most {MOST_BITS}.",
                hint="bits=64, step=8",
            )
        declared, _ = exact_loss(epsilon)
        levels = []
        for length in range(step, bits + 1, step):
            digits = -(-length // _DIGIT_BITS)
            levels.append(LocalHashing(size=1 << length, epsilon=declared, digits=digits))
        for name, value in (
            ("bits", bits),
            ("step", step),
            ("declared", declared),
            ("levels", tuple(levels)),
        ):
            object.__setattr__(self, name, value)

    @property
    def ratio(self) -> Fraction:
        """That of local hashing at any level."""
        return max(level.ratio for level in self.levels)

    # Reports -----------------------------------------------------------------------------------

    def prefix(self, value: int, level: int) -> int:
        """The first bits of a value, as many as the level asks for."""
        return value >> (self.bits - (level + 1) * self.step)

    def respond(self, value: int) -> tuple[int, ...]:
        """One person's report."""
        if isinstance(value, bool) or not isinstance(value, int) or value >> self.bits:
            raise InvalidValue(
                f"the answer is not a whole number of {self.bits} bits.",
                hint="of_text(answer, bits=...) makes one of a text.",
            )
        return self.perturb(value, fresh())

    def perturb(self, value: int, words: Iterator[int]) -> tuple[int, ...]:
        """The report that these words make: the level first."""
        level = below(len(self.levels), words)
        report = self.levels[level].perturb(self.prefix(value, level), words)
        return (level, *(report if isinstance(report, tuple) else (report,)))

    def simulate(self, values: Sequence[int]) -> dict[int, Reports]:
        """Many people's reports, by level."""
        chosen = indices(len(values), len(self.levels))
        reports = {}
        for level, hashing in enumerate(self.levels):
            asked = np.flatnonzero(chosen == level).tolist()
            prefixes = [self.prefix(values[place], level) for place in asked]
            reports[level] = hashing.simulate_digits(hashing.split(prefixes))
        return reports

    def read(self, written: object) -> tuple[int, Report] | None:
        """A report as JSON has it: its level and the rest, or None."""
        if not isinstance(written, list) or not written:
            return None
        level = whole(written[0], len(self.levels))
        if level is None:
            return None
        report = self.levels[level].read(written[1:])
        return None if report is None else (level, report)

    def gather(self, written: Iterable[object]) -> tuple[dict[int, Reports], int]:
        """Reports by level, and how many were dropped because nobody could have made them."""
        rows: dict[int, list[Report]] = {level: [] for level in range(len(self.levels))}
        dropped = 0
        for one in written:
            read = self.read(one)
            if read is None:
                dropped += 1
            else:
                rows[read[0]].append(read[1])
        shaped = {
            level: np.array(found, dtype=np.int64).reshape(-1, self.levels[level].digits + 2)
            for level, found in rows.items()
        }
        return shaped, dropped

    # The walk ----------------------------------------------------------------------------------

    def find(
        self,
        reports: dict[int, Reports],
        *,
        most: int = 32,
        confidence: Rational = Fraction(95, 100),
    ) -> tuple[HeavyHitter, ...]:
        """The frequent values, most frequent first.

        A prefix goes on when its share is above 0 beyond the noise (one-sided, with the confidence,
        all candidates of the level together), and among the ``most`` largest. Shares are of those
        who were asked for the whole value, and unbiased for each value; among those *selected*
        here the largest tend to be a little overestimated.
        """
        wanted = exact_confidence(confidence)
        if most < 1 or most << self.step > _MOST_CANDIDATES:
            raise InvalidValue(
                f"most = {most} would need {most << self.step:,} candidates at each level.",
                hint="most=32",
            )
        kept: list[int] = [0]
        found: list[HeavyHitter] = []
        for level, hashing in enumerate(self.levels):
            rows = reports.get(level)
            if rows is None or len(rows) == 0 or not kept:
                return ()
            candidates = [
                prefix << self.step | last for prefix in kept for last in range(1 << self.step)
            ]
            found = self._frequent(hashing, rows, candidates, wanted)[:most]
            kept = [each.value for each in found]
        return tuple(found)

    def _frequent(
        self, hashing: LocalHashing, rows: Reports, candidates: list[int], confidence: Fraction
    ) -> list[HeavyHitter]:
        n, moments = len(rows), hashing.moments(0)
        support = np.array(hashing.support(rows, hashing.split(candidates)))
        chance = float(moments.offset)
        z = quantile(1 - 2 * (1 - confidence) / len(candidates))
        bar = chance * n + z * (chance * (1 - chance) * n) ** 0.5
        above = np.flatnonzero(support > bar)
        ordered = above[np.argsort(-support[above], kind="stable")]
        spread = quantile(confidence)
        return [
            HeavyHitter(
                candidates[place],
                estimate(int(support[place]), n, moments, spread, Target.PEOPLE),
            )
            for place in ordered.tolist()
        ]


def of_text(text: str, *, bits: int) -> int:
    """A text as a whole number of so many bits: its bytes, then zeros.

    >>> hex(of_text("hi", bits=32)), to_text(of_text("hi", bits=32), bits=32)
    ('0x68690000', 'hi')
    """
    encoded = text.encode()
    if bits % 8 or len(encoded) > bits // 8 or b"\0" in encoded:
        raise InvalidValue(
            f"the text does not fit {bits} bits.", hint=f"bits={8 * max(1, len(encoded))}"
        )
    return int.from_bytes(encoded.ljust(bits // 8, b"\0"), "big")


def to_text(value: int, *, bits: int) -> str:
    """The text that ``of_text`` made a number of; bytes that make no text are shown as such."""
    return value.to_bytes(bits // 8, "big").rstrip(b"\0").decode(errors="backslashreplace")
