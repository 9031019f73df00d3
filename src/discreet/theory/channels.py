"""Finite mechanisms as matrices: for each input, the distribution of the output."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Any

from discreet.errors import InvalidProbability, InvalidValue, TooLarge, Undecided
from discreet.exact import Rational, Real, probability
from discreet.theory.adjacency import Neighbours, Pair, resolve, within
from discreet.theory.distributions import (
    Distribution,
    Probability,
    distribution,
    simplest,
    total,
)
from discreet.theory.divergences import Columns, excess, mean_loss, positive_part, worst_ratio
from discreet.theory.losses import INFINITY, Loss, largest, ln, loss
from discreet.theory.witnesses import Verdict, witness_against

MOST_CELLS = 4_000_000
"""Channels with more cells than this are refused; BallChannel takes larger ones as floats."""

MOST_STEPS = 20_000_000
"""Questions that would look at more probabilities than this, one by one, are refused."""


@dataclass(frozen=True, slots=True, init=False)
class Channel:
    """A mechanism with finitely many inputs and outputs, every probability exact.

    Rows are inputs (databases), columns outputs. ``neighbours`` is in every method a list of pairs
    of inputs, each counting both ways, or a relation ("change_one", "add_remove") where the inputs
    are databases, or None: every two inputs, as for a local randomizer.

    >>> coins = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> coins.epsilon()
    ln(3)
    >>> coins.delta("ln 2")
    Real(Fraction(1, 4))
    """

    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    rows: tuple[Distribution, ...]
    _places: Mapping[Hashable, int] = field(repr=False, compare=False)

    def __init__(
        self,
        rows: Sequence[Sequence[Rational | Real]],
        *,
        inputs: Collection[Hashable] | None = None,
        outputs: Collection[Hashable] | None = None,
    ) -> None:
        names = range(len(rows)) if inputs is None else inputs
        columns = range(len(rows[0]) if len(rows) else 0) if outputs is None else outputs
        few_enough(len(rows), len(columns))
        object.__setattr__(self, "inputs", _labels(names, len(rows), "inputs"))
        read = tuple(
            distribution(row, name=f"the row of input number {place}")
            for place, row in enumerate(rows)
        )
        if not read or len({len(row) for row in read}) != 1:
            raise InvalidProbability(
                "a channel needs at least one row, and rows of the same length.",
                hint='Channel([["3/4", "1/4"], ["1/4", "3/4"]])',
            )
        object.__setattr__(self, "outputs", _labels(columns, len(read[0]), "outputs"))
        object.__setattr__(self, "rows", read)
        places = {name: place for place, name in enumerate(self.inputs)}
        object.__setattr__(self, "_places", MappingProxyType(places))

    @classmethod
    def from_table(cls, table: Mapping[Any, Mapping[Any, Rational | Real]]) -> Channel:
        """A channel from ``{input: {output: probability}}``; outputs left out have none.

        >>> Channel.from_table({"sick": {"yes": 1}, "well": {"yes": "1/3", "no": "2/3"}}).outputs
        ('yes', 'no')
        """
        outputs = tuple(dict.fromkeys(y for row in table.values() for y in row))
        few_enough(len(table), len(outputs))
        rows = [[row.get(y, 0) for y in outputs] for row in table.values()]
        return cls(rows, inputs=tuple(table), outputs=outputs)

    # What it gives away ------------------------------------------------------------------------

    def likelihood_ratio(self, neighbours: Neighbours = None) -> Real:
        """e^epsilon: how many times likelier one neighbour can make an output."""
        pairs = self._both_ways(neighbours)
        return largest([Real(1), *(worst_ratio(self._columns(x, y)) for x, y in pairs)])

    def epsilon(self, neighbours: Neighbours = None) -> Real:
        """The least epsilon for which it is epsilon-private: the largest max-divergence."""
        return ln(self.likelihood_ratio(neighbours))

    def delta(self, epsilon: Loss, neighbours: Neighbours = None) -> Real:
        """The least delta for which it is (epsilon, delta)-private."""
        level = loss(epsilon)
        pairs = self._both_ways(neighbours)
        return largest([Real(0), *(excess(self._columns(x, y), level) for x, y in pairs)])

    def epsilon_at(self, delta: Rational, neighbours: Neighbours = None) -> Real:
        """The least epsilon for which it is (epsilon, delta)-private: the curve read backwards.

        >>> Channel([["3/4", "1/4"], ["1/4", "3/4"]]).epsilon_at("1/4")
        ln(2)
        """
        allowed = probability(delta, name="delta")
        ratios = [_ratio_at(self._columns(x, y), allowed) for x, y in self._both_ways(neighbours)]
        return ln(largest([Real(1), *ratios]))

    def pointwise_delta(self, epsilon: Loss, neighbours: Neighbours = None) -> Real:
        """What single outputs exceed the epsilon bound by: at most ``delta``, 0 together with it.

        Checking outputs one by one is checking all events at delta = 0, and too weak above it.
        """
        ratio = loss(epsilon).exp()
        terms = (
            positive_part(Real(a) - ratio * b)
            for x, y in self._both_ways(neighbours)
            for a, b in self._columns(x, y)
        )
        return largest([Real(0), *terms])

    def kl_divergence(self, neighbours: Neighbours = None) -> Real:
        """The largest KL divergence between neighbours: the average-case analogue of epsilon."""
        pairs = self._both_ways(neighbours)
        return largest([Real(0), *(mean_loss(self._columns(x, y)) for x, y in pairs)])

    def statistical_difference(self, neighbours: Neighbours = None) -> Real:
        """The largest statistical difference between neighbours: the wrong yardstick."""
        return self.delta(0, neighbours)

    def is_private(
        self, epsilon: Loss, delta: Rational = 0, neighbours: Neighbours = None
    ) -> Verdict:
        """Whether it is (epsilon, delta)-private; if not, a pair and an event that show it.

        >>> verdict = Channel([["3/4", "1/4"], ["1/4", "3/4"]]).is_private(1)
        >>> bool(verdict), verdict.witness.event, verdict.witness.probability
        (False, frozenset({0}), Fraction(3, 4))
        """
        level, allowed = loss(epsilon), probability(delta, name="delta")
        for x, y in self._both_ways(neighbours):
            columns = self._columns(x, y)
            found = witness_against(x, y, self.outputs, columns, epsilon=level, delta=allowed)
            if found is not None:
                return Verdict(private=False, witness=found)
        return Verdict(private=True)

    def group_epsilon(self, people: int, neighbours: Neighbours = None) -> Real:
        """The least epsilon for ``people`` who change together: at most as many times epsilon."""
        return self.epsilon(within(resolve(neighbours, self.inputs), people))

    def group_delta(self, epsilon: Loss, people: int, neighbours: Neighbours = None) -> Real:
        """The least delta at this epsilon for a group of ``people``."""
        return self.delta(epsilon, within(resolve(neighbours, self.inputs), people))

    # New channels from old ---------------------------------------------------------------------

    def then(self, step: Channel | Callable[[Hashable], Hashable]) -> Channel:
        """Post-processing: what comes out goes into ``step``, which never sees the input."""
        if not isinstance(step, Channel):
            images = [step(y) for y in self.outputs]
            kinds = tuple(dict.fromkeys(images))
            step = Channel(
                [[int(image == kind) for kind in kinds] for image in images],
                inputs=self.outputs,
                outputs=kinds,
            )
        _knows(step.inputs, self.outputs, "an output that the next step does not take as an input")
        few_enough(len(self.inputs), len(step.outputs))
        products = len(self.inputs) * len(self.outputs) * len(step.outputs)
        _soon_enough(products, "post-processing")
        rows = [
            [
                total([a * b for a, b in zip(row, column, strict=True) if a != 0 and b != 0])
                for column in zip(*(step[y] for y in self.outputs), strict=True)
            ]
            for row in self.rows
        ]
        return Channel(rows, inputs=self.inputs, outputs=step.outputs)

    def with_adaptive(self, choose: Callable[[Hashable], Channel]) -> Channel:
        """Composition: a second channel, chosen after seeing the first output, on the same input.

        Its output is the pair of both.
        """
        chosen = {y: choose(y) for y in self.outputs}
        for second in chosen.values():
            _knows(second.inputs, self.inputs, "an input that the second channel lacks")
        outputs = tuple((y, z) for y in self.outputs for z in chosen[y].outputs)
        few_enough(len(self.inputs), len(outputs))
        rows = [
            [_times(a, b) for a, y in zip(row, self.outputs, strict=True) for b in chosen[y][x]]
            for x, row in zip(self.inputs, self.rows, strict=True)
        ]
        return Channel(rows, inputs=self.inputs, outputs=outputs)

    def with_(self, other: Channel) -> Channel:
        """Composition without adaptivity: both channels on the same input, independently.

        >>> coins = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> coins.with_(coins).epsilon()
        ln(9)
        """
        return self.with_adaptive(lambda _: other)

    def beside(self, other: Channel) -> Channel:
        """Both channels, each on its own part: inputs and outputs are pairs."""
        inputs = tuple(product(self.inputs, other.inputs))
        outputs = tuple(product(self.outputs, other.outputs))
        few_enough(len(inputs), len(outputs))
        rows = [[_times(a, b) for a, b in product(self[x], other[y])] for x, y in inputs]
        return Channel(rows, inputs=inputs, outputs=outputs)

    def each(self, people: int) -> Channel:
        """The local model: each of ``people`` sends an own answer; inputs and outputs are rows.

        >>> Channel([["3/4", "1/4"], ["1/4", "3/4"]]).each(2).epsilon("change_one")
        ln(3)
        """
        few_enough(len(self.inputs) ** people, len(self.outputs) ** people)
        rows = []
        for choice in product(self.rows, repeat=people):
            row: list[Probability] = [Fraction(1)]
            for answers in choice:
                row = [_times(a, b) for a in row for b in answers]
            rows.append(row)
        return Channel(
            rows,
            inputs=tuple(product(self.inputs, repeat=people)),
            outputs=tuple(product(self.outputs, repeat=people)),
        )

    # Looking in --------------------------------------------------------------------------------

    def __getitem__(self, name: Hashable) -> Distribution:
        return self.rows[self._places[name]]

    def _columns(self, x: Hashable, y: Hashable) -> list[tuple[Probability, Probability]]:
        return list(zip(self[x], self[y], strict=True))

    def _both_ways(self, neighbours: Neighbours) -> Iterator[Pair]:
        pairs = resolve(neighbours, self.inputs)
        _soon_enough(2 * len(pairs) * len(self.outputs), f"{len(pairs):,} pairs of neighbours")
        for x, y in pairs:
            yield x, y
            yield y, x


def few_enough(inputs: int, outputs: int) -> None:
    """Refuse a channel with more cells than can be gone through."""
    if inputs * outputs > MOST_CELLS:
        raise TooLarge(
            f"the channel would have {inputs:,} inputs and {outputs:,} outputs, "
            f"{inputs * outputs:,} cells; more than {MOST_CELLS:,} would take forever.",
            hint="use fewer people or a coarser output; BallChannel takes large matrices of "
            "floats as balls.",
        )


def _soon_enough(steps: int, what: str) -> None:
    if steps > MOST_STEPS:
        raise TooLarge(
            f"{what} would mean {steps:,} exact steps; beyond {MOST_STEPS:,} it takes forever.",
            hint="give fewer pairs or outputs, or use BallChannel(matrix).epsilon(pairs), "
            "which takes millions of cells in a second.",
        )


def _labels(names: Collection[Hashable], many: int, what: str) -> tuple[Hashable, ...]:
    listed = tuple(names)
    if len(listed) != many or len(set(listed)) != many:
        raise InvalidValue(
            f"{len(set(listed))} different {what} were named for {many} of them.",
            hint=f"give each of the {what} a label of its own.",
        )
    return listed


def _knows(known: Collection[Hashable], needed: Collection[Hashable], what: str) -> None:
    if not set(needed) <= set(known):
        raise InvalidValue(f"there is {what}.", hint="label both channels with the same names.")


def _times(a: Probability, b: Probability) -> Probability:
    if a == 0 or b == 0:
        return Fraction(0)
    return a * b if isinstance(a, Fraction) and isinstance(b, Fraction) else simplest(Real(a) * b)


def _ratio_at(columns: Columns, allowed: Fraction) -> Real:
    exact = [(a, b) for a, b in columns if isinstance(a, Fraction) and isinstance(b, Fraction)]
    if len(exact) < len(columns):
        raise Undecided(
            "which outputs are worst cannot be decided for irrational probabilities.",
            hint='give the channel a rational ratio, for example epsilon="ln 3", or read '
            "delta(epsilon) at several epsilons.",
        )
    # The worst events are made of the outputs with the largest ratios, however many.
    worst_first = sorted(
        (pair for pair in exact if pair[0] > 0), key=lambda pair: pair[1] / pair[0]
    )
    above, below, worst = Fraction(0), Fraction(0), Fraction(1)
    for a, b in worst_first:
        above, below = above + a, below + b
        if below == 0 and above > allowed:
            return INFINITY
        if below > 0:
            worst = max(worst, (above - allowed) / below)
    return Real(worst)
