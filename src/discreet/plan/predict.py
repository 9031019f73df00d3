"""The error of a count or a sum before it is asked: the noise alone decides it."""

from __future__ import annotations

from fractions import Fraction

from discreet.plan.noise import NoisePlan
from discreet.plan.primitives import Recipe


def half_width(
    noise: NoisePlan, recipe: Recipe, *, confidence: Fraction, cells: int = 1
) -> Fraction:
    """The error that an aggregate keeps within, in each cell or in so many of them at once."""
    primitive = noise.lowered.primitives[recipe.total]
    steps = noise.noises[recipe.total].within(confidence, draws=cells)
    return steps * primitive.step / (recipe.over or 1)


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
