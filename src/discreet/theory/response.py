"""Randomized response: what the answers of many people say, and how far they are off."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidEpsilon, InvalidValue
from discreet.exact import Rational, Real, probability
from discreet.theory.channels import Channel
from discreet.theory.losses import Loss, loss
from discreet.theory.randomizers import randomized_response


@dataclass(frozen=True, slots=True, init=False)
class Response:
    """Yes-or-no answers, each true with probability ``e^epsilon / (1 + e^epsilon)``.

    Nobody is trusted: the respondent's own device adds the noise.

    >>> Response("ln 3").expected_yes(people=100, fraction="1/5")
    Real(Fraction(35, 1))
    """

    epsilon: Real

    def __init__(self, epsilon: Loss = "ln 3") -> None:
        level = loss(epsilon)
        if not level > 0:
            raise InvalidEpsilon(
                "at epsilon = 0 the answers say nothing about the truth.", hint='epsilon="ln 3"'
            )
        object.__setattr__(self, "epsilon", level)

    @property
    def truth(self) -> Real:
        """The probability of a true answer."""
        ratio = self.epsilon.exp()
        return ratio / (1 + ratio)

    @property
    def channel(self) -> Channel:
        """One person's answer, as a channel."""
        return randomized_response(self.epsilon)

    def expected_yes(self, *, people: int, fraction: Rational) -> Real:
        """How many yeses to expect; with two fair coins, n/4 + n p/2."""
        yes = probability(fraction, name="fraction")
        return _people(people) * (yes * self.truth + (1 - yes) * (1 - self.truth))

    def estimate(self, *, yes: int, people: int) -> Real:
        """The fraction that the answers point to; with two fair coins, 2 (yes/n - 1/4).

        It is right on average, and may lie outside [0, 1].

        >>> Response("ln 3").estimate(yes=35, people=100)
        Real(Fraction(1, 5))
        """
        if not 0 <= yes <= _people(people):
            raise InvalidValue(f"yes = {yes} of {people} people cannot be.", hint="yes=35")
        lie = 1 - self.truth
        return (Fraction(yes, people) - lie) / (self.truth - lie)

    def variance(self, *, people: int) -> Real:
        """The estimate's variance around the data's own fraction, whatever that is.

        ``e^epsilon / ((e^epsilon - 1)^2 n)``.

        >>> Response("ln 3").variance(people=75)
        Real(Fraction(1, 100))
        """
        ratio = self.epsilon.exp()
        return ratio / ((ratio - 1) ** 2 * _people(people))

    def population_variance(self, *, people: int, fraction: Rational) -> Real:
        """The same around the fraction of a population that the people are a sample of.

        Adds ``p (1 - p) / n``, at most 1/(4n).
        """
        yes = probability(fraction, name="fraction")
        return self.variance(people=people) + yes * (1 - yes) / people

    def rms_error(self, *, people: int) -> Real:
        """The root of the variance: about 1/sqrt(n), where Laplace noise has about 1/n."""
        return self.variance(people=people).sqrt()


def _people(people: int) -> int:
    if people < 1:
        raise InvalidValue(f"people = {people} is not a number of people.", hint="people=1000")
    return people
