"""An attack by linkage, and what privacy does to it.

Someone knows a patient's age and weight, and that the patient goes to hospital. The hospital tells
anyone how many patients have a disease, and their average age and weight. Asked before and after
the visit, the answers give the diagnosis away; with noise they do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidProbability
from discreet.exact import Rational, Real, positive, probability
from discreet.theory.accuracy import GeometricNoise
from discreet.theory.distributions import Probability, simplest
from discreet.theory.losses import Loss, loss


@dataclass(frozen=True, slots=True)
class Patient:
    """What is known of one patient, in whole years and kilograms."""

    age: int
    weight: int


@dataclass(frozen=True, slots=True)
class Averages:
    """What the hospital says of the patients with the disease."""

    count: int
    age: Fraction
    weight: Fraction


@dataclass(frozen=True, slots=True)
class Totals:
    """The same facts as whole numbers: how many, and their summed ages and weights."""

    count: int
    age: int
    weight: int


def averages(ill: tuple[Patient, ...]) -> Averages:
    """The hospital's answers, in the clear.

    >>> averages((Patient(40, 70), Patient(50, 80)))
    Averages(count=2, age=Fraction(45, 1), weight=Fraction(75, 1))
    """
    sums, many = totals(ill), max(len(ill), 1)
    return Averages(sums.count, Fraction(sums.age, many), Fraction(sums.weight, many))


def totals(ill: tuple[Patient, ...]) -> Totals:
    """The sums that the averages are made of."""
    return Totals(len(ill), sum(p.age for p in ill), sum(p.weight for p in ill))


def deduce(before: Averages, after: Averages, patient: Patient, *, prior: Rational) -> Fraction:
    """The probability that the patient is ill, after two sets of answers in the clear: 0 or 1.

    >>> don, others = Patient(62, 91), (Patient(40, 70), Patient(50, 80))
    >>> deduce(averages(others), averages((*others, don)), don, prior="1/100")
    Fraction(1, 1)
    >>> deduce(averages(others), averages(others), don, prior="1/100")
    Fraction(0, 1)
    """
    many = before.count + 1
    if_ill = Averages(
        many,
        (before.age * before.count + patient.age) / many,
        (before.weight * before.count + patient.weight) / many,
    )
    # A mechanism without noise: each hypothesis gives its answer with certainty.
    ill = probability(prior, name="prior") * (after == if_ill)
    well = (1 - probability(prior, name="prior")) * (after == before)
    if ill + well == 0:
        raise InvalidProbability(
            "neither hypothesis gives these answers: somebody else came or went as well.",
            hint="ask just before and just after the visit.",
        )
    return ill / (ill + well)


@dataclass(frozen=True, slots=True, init=False)
class PrivateHospital:
    """Count, summed ages and summed weights, each with geometric noise for a third of epsilon.

    >>> hospital = PrivateHospital(epsilon="ln 8", oldest=100, heaviest=200)
    >>> hospital.sensitivities
    (Fraction(1, 1), Fraction(100, 1), Fraction(200, 1))
    """

    epsilon: Real
    sensitivities: tuple[Fraction, Fraction, Fraction]

    def __init__(self, *, epsilon: Loss, oldest: Rational, heaviest: Rational) -> None:
        bounds = positive(oldest, name="oldest"), positive(heaviest, name="heaviest")
        object.__setattr__(self, "epsilon", loss(epsilon))
        object.__setattr__(self, "sensitivities", (Fraction(1), *bounds))

    def posterior(
        self, before: Totals, noisy_after: Totals, patient: Patient, *, prior: Rational
    ) -> Probability:
        """The exact probability that the patient is ill, after a noisy answer.

        Even for someone who knows the true totals before the visit.
        """
        chance = probability(prior, name="prior")
        moved = Totals(before.count + 1, before.age + patient.age, before.weight + patient.weight)
        ill, well = (
            self._likelihood(truth, noisy_after) * mass
            for truth, mass in ((moved, chance), (before, 1 - chance))
        )
        return simplest(ill / (ill + well))

    def largest_posterior(self, *, prior: Rational) -> Probability:
        """What no answer can take the belief beyond: prior odds times e^epsilon.

        >>> PrivateHospital(epsilon="ln 8", oldest=100, heaviest=200).largest_posterior(prior="1/9")
        Fraction(1, 2)
        """
        chance = probability(prior, name="prior")
        ratio = self.epsilon.exp()
        return simplest(ratio * chance / (ratio * chance + (1 - chance)))

    def _likelihood(self, truth: Totals, seen: Totals) -> Real:
        likelihood = Real(1)
        pairs = (
            (truth.count, seen.count),
            (truth.age, seen.age),
            (truth.weight, seen.weight),
        )
        for (true, noisy), sensitivity in zip(pairs, self.sensitivities, strict=True):
            noise = GeometricNoise.for_privacy(sensitivity=sensitivity, epsilon=self.epsilon / 3)
            likelihood = likelihood * noise.probability(noisy - true)
        return likelihood
