"""How far apart two output distributions are, in the measures that define privacy."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import InvalidProbability
from discreet.exact import Rational, Real
from discreet.theory.distributions import Distribution, Probability, distribution, is_rational
from discreet.theory.losses import INFINITY, Infinity, Loss, largest, ln, loss

Probabilities: TypeAlias = Sequence[Rational | Real]
Columns: TypeAlias = Sequence[tuple[Probability, Probability]]

# A number not told from 0 with this many bits is most likely 0.
_SIGN_BITS = 512


def likelihood_ratio(p: Probabilities, q: Probabilities) -> Real:
    """The largest P(y)/Q(y) over the outputs y: e to the max-divergence, often rational.

    >>> likelihood_ratio(["3/4", "1/4"], ["1/4", "3/4"])
    Real(Fraction(3, 1))
    """
    return worst_ratio(_both(p, q))


def max_divergence(p: Probabilities, q: Probabilities) -> Real:
    """The worst case: the largest ``ln(P(y)/Q(y))``; INFINITY where only P gives an output.

    A mechanism is epsilon-private iff this is at most epsilon for all neighbours, both ways.

    >>> max_divergence(["3/4", "1/4"], ["1/4", "3/4"])
    ln(3)
    """
    return ln(likelihood_ratio(p, q))


def kl_divergence(p: Probabilities, q: Probabilities) -> Real:
    """The average case: the mean under P of ``ln(P(y)/Q(y))``.

    >>> float(kl_divergence(["3/4", "1/4"], ["1/4", "3/4"]))  # half of ln 3
    0.5493061443340549
    """
    return mean_loss(_both(p, q))


def hockey_stick(p: Probabilities, q: Probabilities, epsilon: Loss) -> Real:
    """The sum of what P(y) exceeds ``e^epsilon Q(y)`` by: the least delta for this pair, one way.

    >>> hockey_stick(["3/4", "1/4"], ["1/4", "3/4"], "ln 2")
    Real(Fraction(1, 4))
    """
    return excess(_both(p, q), loss(epsilon))


def statistical_difference(p: Probabilities, q: Probabilities) -> Real:
    """The largest difference between the probabilities of one event.

    >>> statistical_difference(["3/4", "1/4"], ["1/4", "3/4"])
    Real(Fraction(1, 2))
    """
    return hockey_stick(p, q, 0)


def gaussian_delta(*, sigma: Fraction, sensitivity: Fraction, epsilon: Fraction) -> Real:
    """The smallest delta for which Gaussian noise is (epsilon, delta)-private.

    With s = sensitivity / sigma: ``Phi(s/2 - epsilon/s) - e^epsilon Phi(-s/2 - epsilon/s)``, the
    hockey-stick divergence between two normals at distance ``sensitivity``.

    Reference: Balle and Wang (2018), Theorem 8.

    >>> float(gaussian_delta(sigma=Fraction(1), sensitivity=Fraction(1), epsilon=Fraction(1)))
    0.12693673750664394
    """
    shift = sensitivity / sigma / 2
    tilt = epsilon * sigma / sensitivity
    above = Real(shift - tilt).normal_cdf()
    below = Real(-shift - tilt).normal_cdf()
    return above - Real(epsilon).exp() * below


def laplace_delta(*, scale: Fraction, sensitivity: Fraction, epsilon: Fraction) -> Real:
    """The smallest delta for which *continuous* Laplace noise is (epsilon, delta)-private.

    Noise on a grid, which is what the mechanisms release, needs a larger one: near the pure
    epsilon it loses the whole of it with probability 1/(1 + exp(-grid/scale)), not 1/2.

    ``1 - exp((epsilon - sensitivity/scale) / 2)`` up to epsilon = sensitivity/scale, and 0 from
    there on: that is its pure guarantee.

    >>> half = Fraction(1, 2)
    >>> laplace_delta(scale=Fraction(1), sensitivity=Fraction(1), epsilon=Fraction(1))
    Real(Fraction(0, 1))
    >>> float(laplace_delta(scale=Fraction(1), sensitivity=Fraction(1), epsilon=half))
    0.22119921692859512
    """
    short = epsilon - sensitivity / scale
    return -Real(short / 2).expm1() if short < 0 else Real(0)


# The same for columns (P(y), Q(y)) that have been read already ------------------------------------


def worst_ratio(columns: Columns) -> Real:
    """``likelihood_ratio`` of columns."""
    if any(a != 0 and b == 0 for a, b in columns):
        return INFINITY
    return largest(Real(a) / b for a, b in columns if a != 0)


def mean_loss(columns: Columns) -> Real:
    """``kl_divergence`` of columns."""
    if any(a != 0 and b == 0 for a, b in columns):
        return INFINITY
    terms = [ln(Real(a) / b) * a for a, b in columns if a != 0]
    return terms[0] if len(terms) == 1 else Real.sum_of(terms)


def excess(columns: Columns, level: Real) -> Real:
    """``hockey_stick`` of columns."""
    if isinstance(level, Infinity):
        return Real.sum_of(a for a, b in columns if b == 0)
    ratio = level.exp()
    if all(is_rational(pair) for pair in columns):
        heavy = [columns[place] for place in exceeding(columns, ratio)]
        return Real.sum_of(a for a, _ in heavy) - ratio * Real.sum_of(b for _, b in heavy)
    return Real.sum_of(positive_part(Real(a) - ratio * b) for a, b in columns if a != 0)


def positive_part(number: Real) -> Real:
    """The number, or 0 if that is larger; where it is hard to say which, a rule that need not."""
    if number.exact is None:
        ball = number.enclosure(_SIGN_BITS)
        if not (ball > 0 or ball < 0):
            return Real.max_of(0, number)
    return number if number > 0 else Real(0)


def exceeding(columns: Columns, ratio: Real) -> list[int]:
    """The outputs that are more than ``ratio`` times as likely under P: the worst event."""
    if isinstance(ratio, Infinity):
        return [place for place, (a, b) in enumerate(columns) if a > 0 and b == 0]
    low, high = ratio.lower(128), ratio.upper(128)
    found = []
    for place, (a, b) in enumerate(columns):
        if isinstance(a, Fraction) and isinstance(b, Fraction):
            above = a > high * b or (a > low * b and ratio * b < a)
        else:
            above = a != 0 and Real(a) > ratio * b
        if above:
            found.append(place)
    return found


def _both(p: Probabilities, q: Probabilities) -> list[tuple[Probability, Probability]]:
    first, second = _read(p), _read(q)
    if len(first) != len(second):
        raise InvalidProbability(
            f"the two distributions have {len(first)} and {len(second)} outputs.",
            hint="give both a probability for every output, 0 where it cannot happen.",
        )
    return list(zip(first, second, strict=True))


def _read(values: Probabilities) -> Distribution:
    return distribution(values, name="a distribution")
