"""Before anything is asked: how many people, which epsilon, what error."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidEpsilon, Undecided
from discreet.exact import Rational, Real, positive
from discreet.theory.accuracy import LaplaceNoise
from discreet.theory.losses import Loss, loss
from discreet.theory.queries import Bins
from discreet.theory.response import Response


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The number of people that the formula gives, and the whole number that is enough."""

    formula: Real
    people: int


def central_sample_size(*, error: Rational, epsilon: Loss) -> SampleSize:
    """People needed for rms ``error`` on a fraction with Laplace noise: sqrt(2)/(error epsilon).

    >>> central_sample_size(error="1/100", epsilon=1).people
    142
    """
    target = positive(error, name="error")
    return _sample_size(Real(2).sqrt() / (_usable(epsilon) * target))


def local_sample_size(*, error: Rational, epsilon: Loss, population: bool = False) -> SampleSize:
    """People needed for rms ``error`` on a fraction by randomized response.

    ``e^epsilon / ((e^epsilon - 1)^2 error^2)``, against the data's own fraction, whatever it is;
    against a population's, at most ``1/(4 error^2)`` more.

    >>> local_sample_size(error="1/100", epsilon="ln 3").people
    7500
    """
    target = positive(error, name="error")
    sampling = Fraction(1, 4) if population else Fraction(0)
    _usable(epsilon)
    return _sample_size((Response(epsilon).variance(people=1) + sampling) / target**2)


def central_rms_error(*, people: int, epsilon: Loss) -> Real:
    """The rms error of a fraction with Laplace noise: sqrt(2)/(n epsilon).

    At epsilon = 1/n it is sqrt(2), more than any fraction can be: nothing is learnt.

    >>> float(central_rms_error(people=1000, epsilon="1/1000"))
    1.4142135623730951
    """
    return Real(2).sqrt() / (_usable(epsilon) * people)


def epsilon_for_error(
    *, error: Rational, beta: Rational, sensitivity: Rational = 1, k: int = 1
) -> Real:
    """The epsilon at which the largest of k Laplace errors exceeds ``error`` with chance beta.

    >>> round(float(epsilon_for_error(error=50, beta="0.05")), 5)
    0.05991
    """
    # At scale 1 the error is this large; scales and errors grow together.
    unit = LaplaceNoise(1).error(beta, k)
    return unit * (positive(sensitivity, name="sensitivity") / positive(error, name="error"))


def epsilon_for_rms_error(*, error: Rational, sensitivity: Rational = 1) -> Real:
    """The epsilon at which Laplace noise has rms ``error``: sqrt(2) sensitivity / error.

    >>> round(float(epsilon_for_rms_error(error=10)), 5)
    0.14142
    """
    ratio = positive(sensitivity, name="sensitivity") / positive(error, name="error")
    return Real(2).sqrt() * ratio


@dataclass(frozen=True, slots=True)
class TableErrors:
    """What to expect of a table of counts: of one of them, and of the worst."""

    expected: Real
    expected_largest: Real
    expected_largest_bound: Real


def table_errors(*, counts: int, epsilon: Rational, relation: str) -> TableErrors:
    """The errors of a histogram with Laplace noise, for example of the counts of 3,143 counties.

    >>> counties = table_errors(counts=3143, epsilon="0.1", relation="change_one")
    >>> counties.expected, round(float(counties.expected_largest_bound), 2)
    (Real(Fraction(20, 1)), 181.06)
    """
    sensitivity = Bins(range(counts)).l1(relation)
    noise = LaplaceNoise.for_privacy(sensitivity=sensitivity, epsilon=epsilon)
    return TableErrors(
        expected=noise.mean_error(),
        expected_largest=noise.expected_largest(counts),
        expected_largest_bound=noise.expected_largest_bound(counts),
    )


def _usable(epsilon: Loss) -> Real:
    """An epsilon that protects and that lets something be learnt: neither 0 nor infinite."""
    found = loss(epsilon)
    if not found.ball().is_finite() or found <= 0:
        raise InvalidEpsilon(
            f"epsilon = {epsilon} is not allowed: it must be greater than 0 and finite.",
            hint='epsilon=1, or epsilon="ln 3" for two fair coins.',
        )
    return found


def _sample_size(formula: Real) -> SampleSize:
    try:
        return SampleSize(formula, -((-1 * formula).floor()))
    except Undecided:
        # Too near a whole number to tell on which side: the next one is enough for certain.
        return SampleSize(formula, -(-formula.upper(256) // 1))
