"""Channels that everybody meets: good ones, and those that show why a definition is as it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable
from fractions import Fraction
from itertools import combinations

from discreet.errors import InvalidValue, TooLarge
from discreet.exact import Rational, Real, positive, probability
from discreet.theory.channels import Channel, few_enough
from discreet.theory.databases import Rows, all_rows, finite_universe
from discreet.theory.distributions import simplest
from discreet.theory.losses import Loss, loss

NOTHING = "nothing"
"""The output of a mechanism that says nothing this time."""

_MOST_SUBSETS = 2_000_000


def two_coins() -> Channel:
    """Randomized response with two fair coins: truth on tails, else a second coin answers.

    >>> two_coins().epsilon()
    ln(3)
    """
    return randomized_response("ln 3", answers=("yes", "no"))


def randomized_response(epsilon: Loss, answers: Collection[Hashable] = ("yes", "no")) -> Channel:
    """Truth with probability ``e^epsilon / (e^epsilon + k - 1)``, else one of the k - 1 others.

    >>> randomized_response("ln 3").rows[0]
    (Fraction(3, 4), Fraction(1, 4))
    """
    kinds = finite_universe(answers)
    few_enough(len(kinds), len(kinds))
    ratio = loss(epsilon).exp()
    truth = simplest(ratio / (ratio + (len(kinds) - 1)))
    lie = simplest(1 / (ratio + (len(kinds) - 1)))
    rows = [[truth if x == y else lie for y in kinds] for x in kinds]
    return Channel(rows, inputs=kinds, outputs=kinds)


def truncated_geometric(
    most: int, epsilon: Loss, *, sensitivity: Rational = 1, offset: int = 0
) -> Channel:
    """A count from ``offset`` to ``offset + most`` plus geometric noise, clamped to that range.

    Inputs are the counts; with the counts 0, 1, 2... neighbours are those ``sensitivity`` apart.

    >>> truncated_geometric(3, "ln 2").rows[0]
    (Fraction(2, 3), Fraction(1, 6), Fraction(1, 12), Fraction(1, 12))
    """
    few_enough(most + 1, most + 1)
    decay = (-1 * (loss(epsilon) / positive(sensitivity, name="sensitivity"))).exp()
    ends = 1 / (1 + decay)
    inner = (1 - decay) * ends
    powers = [simplest(decay**step) for step in range(most + 1)]

    def row(count: int) -> list[Fraction | Real]:
        return [
            simplest((ends if z in (0, most) else inner) * powers[abs(z - count)])
            for z in range(most + 1)
        ]

    labels = range(offset, offset + most + 1)
    return Channel([row(count) for count in range(most + 1)], inputs=labels, outputs=labels)


def deterministic(
    function: Callable[[Hashable], Hashable], inputs: Collection[Hashable]
) -> Channel:
    """A mechanism without randomness: private only if constant on each connected component.

    >>> deterministic(len, [(), ("a",)]).is_private(100, neighbours="add_remove").private
    False
    """
    return Channel.from_table({x: {function(x): 1} for x in finite_universe(inputs)})


def prints_random_row(
    universe: Collection[Hashable], size: int, *, chance: Rational = Fraction(1, 10)
) -> Channel:
    """Prints a row chosen at random with probability ``chance``, and otherwise nothing.

    >>> channel = prints_random_row("ab", 5)
    >>> channel.statistical_difference("change_one"), channel.epsilon("change_one")
    (Real(Fraction(1, 50)), INFINITY)
    """
    shown = probability(chance, name="chance")
    table = {}
    for rows in all_rows(universe, size):
        each = {row: shown * count / size for row, count in Counter(rows).items()}
        table[rows] = {NOTHING: 1 - shown, **each}
    return Channel.from_table(table)


def subsample_release(
    universe: Collection[Hashable], size: int, *, fraction: Rational, independent: bool = False
) -> Channel:
    """Releases a random fraction of the rows in the clear: (0, fraction)-private, and no better.

    ``fraction * size`` rows exactly, or each row with that probability where ``independent``. What
    comes out is the bag of the rows released.

    >>> subsample_release("ab", 4, fraction="1/4").delta(100, "change_one")
    Real(Fraction(1, 4))
    """
    share = probability(fraction, name="fraction")
    if not independent and (share * size).denominator != 1:
        raise InvalidValue(
            f"{share} of {size} rows is not a whole number of rows.",
            hint="independent=True keeps each row with that probability.",
        )
    subsets = (2 * len(finite_universe(universe))) ** size
    if subsets > _MOST_SUBSETS:
        raise TooLarge(
            f"all databases of {size} rows have {subsets:,} subsets together; going through more "
            f"than {_MOST_SUBSETS:,} would take forever.",
            hint="size=4 with two types shows the same delta.",
        )
    sizes = range(size + 1) if independent else (int(share * size),)
    return Channel.from_table(
        {rows: _released(rows, sizes, share, independent) for rows in all_rows(universe, size)}
    )


def _released(
    rows: Rows,
    sizes: Collection[int],
    share: Fraction,
    independent: bool,  # noqa: FBT001
) -> dict[Hashable, Fraction]:
    table: dict[Hashable, Fraction] = {}
    for kept in sizes:
        weight = (
            share**kept * (1 - share) ** (len(rows) - kept)
            if independent
            else Fraction(1, math.comb(len(rows), kept))
        )
        for places in combinations(range(len(rows)), kept):
            # A bag: how often each row is there, in no order.
            bag = frozenset(Counter(rows[place] for place in places).items())
            table[bag] = table.get(bag, Fraction(0)) + weight
    return {bag: weight for bag, weight in table.items() if weight > 0}


def machine_laplace(values: Collection[int], *, scale: float = 1.0, bits: int = 10) -> Channel:
    """Laplace noise as a careless program makes it: from a uniform float of ``bits`` bits.

    On paper it is (1/scale)-private for values 1 apart. What the machine prints is not: each value
    reaches floats that its neighbour cannot, and those give it away.

    >>> machine_laplace([0, 1]).epsilon()
    INFINITY
    """
    if bits > 16:
        raise TooLarge(
            f"bits = {bits} would give {2**bits:,} outputs for each value.", hint="bits=10"
        )
    steps, share = 2**bits, Fraction(1, 2 ** (bits + 1))
    table: dict[Hashable, dict[Hashable, Rational | Real]] = {}
    for value in values:
        row: dict[Hashable, Fraction] = {}
        for step in range(1, steps + 1):
            noise = -scale * math.log(step / steps)
            for printed in (value + noise, value - noise):
                row[printed] = row.get(printed, Fraction(0)) + share
        table[value] = dict(row)
    return Channel.from_table(table)
