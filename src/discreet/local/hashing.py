"""Local hashing: a random function into a few buckets, and k-ary response on the bucket.

The functions are ``x -> floor(((a1 x1 + ... + am xm + b) mod P) * buckets / P)`` for a prime P,
where x1 ... xm are the digits of x in base ``DIGIT`` and all coefficients are random. Two different
values then land independently of each other, *exactly*, so the estimator is exactly unbiased for
any number of buckets: the odds that a report supports a value its sender does not have are a known
rational.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidValue
from discreet.exact import Real
from discreet.local.kary import lie_share, turn, turn_all
from discreet.local.randomizer import (
    FrequencyRandomizer,
    Moments,
    Report,
    Reports,
    domain_size,
    exact_loss,
    informative,
    whole,
)
from discreet.local.words import FULL, below, indices
from discreet.noise import bits
from discreet.theory.channels import Channel, few_enough
from discreet.theory.losses import Loss

PRIME = 2**31 - 1
DIGIT = 2**30
"""Values beyond this are hashed digit by digit."""

_MOST_BUCKETS = 2**16
_CELLS = 1 << 15  # (report, value) pairs at a time
_FEW = 16  # values at a time, unless there are few reports
_ROWS = 1 << 14  # reports simulated at a time


@dataclass(frozen=True, eq=False)
class LocalHashing(FrequencyRandomizer):
    """Reports a random function and, by k-ary response, the bucket it puts the true value in.

    The default number of buckets is the one with the least variance, next to e^epsilon + 1.
    A report is (a1, ..., am, b, bucket); its size does not depend on how many options there are,
    but receiving it takes time for each of them.

    Guarantee: epsilon: given the function, it is k-ary response among the buckets.
    Exactness: probabilities are whole numbers of 2**-64ths; coefficients are exactly uniform.
    Reference: Bassily and Smith (2015); Wang, Blocki, Li and Jha (2017), OLH.

    >>> hashing = LocalHashing(size=1000, epsilon=1)
    >>> hashing.buckets
    4
    >>> len(hashing.respond(17))
    3
    """

    kind: ClassVar[str] = "hashing"
    size: int
    declared: Real
    buckets: int
    prime: int
    digits: int
    lie: int

    def __init__(
        self,
        *,
        size: int,
        epsilon: Loss,
        buckets: int | None = None,
        prime: int = PRIME,
        digits: int = 1,
    ) -> None:
        declared, ratio = exact_loss(epsilon)
        if buckets is None:
            near = min(float(ratio), _MOST_BUCKETS)
            tried = {max(2, int(near) + step) for step in (0, 1, 2)}
            buckets = min(sorted(tried), key=lambda many: _spread(many, float(ratio)))
        checked = domain_size(size) if digits == 1 else size
        if not 2 <= buckets <= min(_MOST_BUCKETS + 2, prime) or checked > prime * DIGIT ** (
            digits - 1
        ):
            raise InvalidValue(
                f"{size:,} options cannot be hashed into {buckets:,} buckets modulo {prime:,}.",
                hint="leave the buckets and the prime out, and the best are taken.",
            )
        for name, number in (
            ("size", checked),
            ("declared", declared),
            ("buckets", buckets),
            ("prime", prime),
            ("digits", digits),
            ("lie", lie_share(ratio, buckets)),
        ):
            object.__setattr__(self, name, number)
        informative(self)

    @property
    def ratio(self) -> Fraction:
        """Truth over lie, among the buckets."""
        return Fraction(FULL - (self.buckets - 1) * self.lie, self.lie)

    def shares(self) -> dict[str, Fraction]:
        """The probability of each untrue bucket."""
        return {"lie": Fraction(self.lie, FULL)}

    # The functions -----------------------------------------------------------------------------

    def bucket(self, function: Sequence[int], value: int) -> int:
        """Where a function puts a value."""
        *factors, shift = function
        total = shift
        for factor in factors:
            total += factor * (value % DIGIT)
            value //= DIGIT
        return total % self.prime * self.buckets // self.prime

    def edges(self) -> NDArray[np.uint64]:
        """The first residue of each bucket, and the prime itself."""
        return np.array(
            [-(-bucket * self.prime // self.buckets) for bucket in range(self.buckets + 1)],
            dtype=np.uint64,
        )

    def split(self, values: Sequence[int] | NDArray[np.int64]) -> NDArray[np.uint64]:
        """The digits of each value, a row for each place."""
        if self.digits == 1:
            return np.asarray(values, dtype=np.uint64)[None, :]
        places = [
            [value // DIGIT**place % DIGIT for value in map(int, values)]
            for place in range(self.digits)
        ]
        return np.array(places, dtype=np.uint64)

    def reduce(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Numbers below prime**2, modulo the prime; the numbers are overwritten."""
        prime = np.uint64(self.prime)
        if self.prime != PRIME:
            return numbers % prime
        # 2**31 is 1 modulo this prime, so the high bits are added to the low ones; what is then
        # at most once too large comes down by the smaller of the two, since unsigned numbers wrap.
        high = numbers >> np.uint64(31)
        numbers &= prime
        numbers += high
        np.subtract(numbers, prime, out=high)
        np.minimum(numbers, high, out=numbers)
        return numbers

    # Reports -----------------------------------------------------------------------------------

    def perturb(self, value: int, words: Iterator[int]) -> Report:
        """A word for each coefficient, unless one is thrown away; then one for the bucket."""
        function = tuple(below(self.prime, words) for _ in range(self.digits + 1))
        true = self.bucket(function, value)
        return (*function, turn(true, self.buckets, self.lie, next(words)))

    def checked(self, value: int) -> int:
        """The value, if it is the number of one; with several digits, of any size."""
        return super().checked(value)

    def simulate(self, values: ArrayLike) -> Reports:
        """One row (coefficients, bucket) for each value."""
        return self.simulate_digits(self.split(self.checked_values(values)))

    def simulate_digits(self, places: NDArray[np.uint64]) -> Reports:
        """The same for values given by their digits."""
        n = places.shape[1]
        reports = np.empty((n, self.digits + 2), dtype=np.int64)
        for start in range(0, n, _ROWS):
            part = places[:, start : start + _ROWS]
            rows = reports[start : start + _ROWS]
            total = self._coefficients(part.shape[1])
            rows[:, self.digits] = total
            for place in range(self.digits):
                factor = self._coefficients(part.shape[1])
                rows[:, place] = factor
                factor *= part[place]
                total += factor
                total = self.reduce(total)
            total *= np.uint64(self.buckets)
            true = total // np.uint64(self.prime)
            rows[:, -1] = turn_all(true, self.buckets, self.lie, bits.words(len(true)))
        return reports

    def _coefficients(self, n: int) -> NDArray[np.uint64]:
        if self.prime != PRIME:
            return indices(n, self.prime)
        # 31 bits, unless all of them are set.
        drawn = bits.words(n) & np.uint64(PRIME)
        again = np.flatnonzero(drawn == np.uint64(PRIME))
        while len(again):
            drawn[again] = bits.words(len(again)) & np.uint64(PRIME)
            again = again[drawn[again] == np.uint64(PRIME)]
        return drawn

    def support(
        self,
        reports: Reports,
        places: NDArray[np.uint64],
        weights: NDArray[np.int64] | None = None,
    ) -> list[int]:
        """How many reports support each of the values whose digits are given."""
        edges = self.edges()
        # A row for each coefficient, so that what is computed runs along the reports.
        columns = np.ascontiguousarray(reports.T).astype(np.uint64)
        buckets = columns[-1].view(np.int64)
        low = edges[buckets]
        width = edges[buckets + 1] - low
        sums = np.zeros(places.shape[1], dtype=np.int64)
        tall = max(1, min(_CELLS // _FEW, len(low)))
        wide = max(1, _CELLS // tall)
        for left in range(0, places.shape[1], wide):
            digits = places[:, left : left + wide]
            for top in range(0, len(low), tall):
                part = slice(top, top + tall)
                inside = self._inside(columns[:, part], digits, low[part], width[part])
                if weights is None:
                    sums[left : left + wide] += np.count_nonzero(inside, axis=1)
                else:
                    sums[left : left + wide] += inside @ weights[part]
        counts: list[int] = sums.tolist()
        return counts

    def _inside(
        self,
        columns: NDArray[np.uint64],
        digits: NDArray[np.uint64],
        low: NDArray[np.uint64],
        width: NDArray[np.uint64],
    ) -> NDArray[np.bool_]:
        """Whether each report (column) supports each value (row)."""
        total = columns[self.digits][None, :]
        for place in range(self.digits):
            scaled = digits[place][:, None] * columns[place][None, :]
            scaled += total
            total = self.reduce(scaled)
        # The residue lies in the reported bucket; below its edge the difference wraps round.
        total -= low
        inside: NDArray[np.bool_] = total < width
        return inside

    def channel(self) -> Channel:
        """Every function and every bucket: for small primes."""
        functions = self.prime ** (self.digits + 1)
        few_enough(self.size, functions * self.buckets)
        lie = Fraction(self.lie, FULL)
        truth = 1 - (self.buckets - 1) * lie
        outputs = [
            (*function, bucket)
            for function in product(range(self.prime), repeat=self.digits + 1)
            for bucket in range(self.buckets)
        ]
        rows = [
            [(truth if self.bucket(o[:-1], value) == o[-1] else lie) / functions for o in outputs]
            for value in range(self.size)
        ]
        return Channel(rows, outputs=outputs)

    # Receiving ---------------------------------------------------------------------------------

    @property
    def cells(self) -> int:
        """One for each option."""
        return self.size

    def tally(self, reports: Reports, weights: NDArray[np.int64] | None = None) -> list[int]:
        """How many reports support each option."""
        return self.support(reports, self.split(np.arange(self.size)), weights)

    def scores(self, counters: list[int]) -> list[int]:
        """The support of each option."""
        return counters

    def allowed(self, reports: Reports) -> NDArray[np.bool_]:
        """Coefficients below the prime and a bucket that exists."""
        width = self.digits + 2
        if reports.ndim != 2 or reports.shape[1] != width or reports.dtype.kind not in "iu":
            return np.zeros(len(reports), dtype=np.bool_)
        limits = np.array([self.prime] * (self.digits + 1) + [self.buckets])
        fits: NDArray[np.bool_] = (reports >= 0) & (reports < limits)
        return np.asarray(fits.all(axis=1))

    def read(self, written: object) -> Report | None:
        """A list of coefficients and a bucket."""
        if not isinstance(written, list) or len(written) != self.digits + 2:
            return None
        limits = [self.prime] * (self.digits + 1) + [self.buckets]
        numbers = [whole(one, limit) for one, limit in zip(written, limits, strict=True)]
        known = tuple(number for number in numbers if number is not None)
        return known if len(known) == len(limits) else None

    def write(self, report: Report) -> object:
        """A list."""
        return list(report) if isinstance(report, tuple) else [report]

    def moments(self, value: int, shares: list[Fraction] | None = None) -> Moments:
        """Supported truly; or by chance, since the function puts another value there."""
        del value, shares
        lie = Fraction(self.lie, FULL)
        truth = 1 - (self.buckets - 1) * lie
        # How often two different values meet: the chance that two random residues share a bucket.
        # All but `larger` buckets have the same size, the others one more.
        least, larger = divmod(self.prime, self.buckets)
        meet = Fraction(
            (self.buckets - larger) * least**2 + larger * (least + 1) ** 2, self.prime**2
        )
        return Moments.of_support(truth, lie + (truth - lie) * meet)


def _spread(buckets: int, ratio: float) -> float:
    """The variance, up to a factor that does not depend on the buckets."""
    return (ratio - 1 + buckets) ** 2 / (buckets - 1)
