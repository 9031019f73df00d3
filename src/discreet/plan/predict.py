"""The error of a query before it is asked, and the epsilon that an error needs.

Counts and sums have an error that the noise alone decides. An average's depends on how many rows
there are, which is private: whoever wants to know must say what to assume.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidEpsilon, InvalidInput
from discreet.noise.search import crossing
from discreet.plan.noise import NoisePlan
from discreet.plan.primitives import Recipe


@dataclass(frozen=True, slots=True)
class Target:
    """An error that is wanted: at most ``within``, in each cell or in all of them at once."""

    within: Fraction
    confidence: Fraction
    cells: int = 1
    """How many cells must hold at once; 1 speaks of each on its own."""
    assuming: int | None = None
    """The number of rows that an average may be assumed to have."""


def half_width(
    noise: NoisePlan,
    recipe: Recipe,
    *,
    confidence: Fraction,
    cells: int = 1,
    assuming: int | None = None,
) -> Fraction | None:
    """The error that an aggregate keeps within, or None if that depends on private counts."""
    primitive = noise.lowered.primitives[recipe.total]
    if recipe.kind == "value":
        return noise.noises[recipe.total].within(confidence, draws=cells) * primitive.step
    if assuming is None or recipe.count is None:
        return None
    # A mean m of n rows becomes (n m + S) / (n + C) with noises S, C: off by (S - C m) / (n + C).
    # Both stay within their bounds at once with the confidence; m is at most half the range.
    each = 1 - (1 - confidence) / 2
    on_sum = noise.noises[recipe.total].within(each, draws=cells)
    on_count = noise.noises[recipe.count].within(each, draws=cells)
    if on_count >= assuming:
        return None
    reach = max(abs(bound) for bound in primitive.bounds)
    return Fraction(on_sum + on_count * reach, assuming - on_count) * primitive.step


def least_epsilon(
    plan: Callable[[Fraction], NoisePlan],
    recipes: list[Recipe],
    target: Target,
) -> Fraction:
    """The cheapest epsilon, to three digits and rounded up, with which a target is met."""
    if not recipes:
        raise InvalidInput(
            "an error target needs a column that is a count, a sum or an average by itself.",
            hint="ask for COUNT(*), SUM(x) or AVG(x) as a column of its own.",
        )
    if any(recipe.kind == "average" for recipe in recipes) and target.assuming is None:
        raise InvalidInput(
            "the error of an average depends on how many rows it has, which is private.",
            hint="assuming=1000 says for which size of group the error is wanted.",
        )

    def met(epsilon: Fraction) -> bool:
        noise = plan(epsilon)
        for recipe in recipes:
            width = half_width(
                noise,
                recipe,
                confidence=target.confidence,
                cells=target.cells,
                assuming=target.assuming,
            )
            if width is None or width > target.within:
                return False
        return True

    if not met(_LARGEST):
        raise InvalidEpsilon(
            f"no epsilon up to {_LARGEST} keeps the error within {float(target.within):g}.",
            hint="allow a larger error, use fewer rows per person, or ask for fewer columns.",
        )
    return three_digits_up(crossing(lambda e: e >= _LARGEST or met(e))[1])


_LARGEST = Fraction(1000)


def three_digits_up(value: Fraction) -> Fraction:
    """A number rounded up to three significant decimal digits.

    >>> float(three_digits_up(Fraction(123456, 100000)))
    1.24
    """
    exponent = 0
    while value * Fraction(10) ** exponent < 100:
        exponent += 1
    while value * Fraction(10) ** exponent >= 1000:
        exponent -= 1
    scale = Fraction(10) ** exponent
    return Fraction(-(-value * scale // 1)) / scale
