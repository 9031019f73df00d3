"""The definition in Bayes' words: what an output does to beliefs about one person.

A prior is a mapping from databases (the channel's inputs) to probabilities.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from discreet.errors import InvalidProbability, InvalidValue
from discreet.exact import Rational, Real, probability
from discreet.theory.channels import Channel
from discreet.theory.databases import Rows
from discreet.theory.distributions import Probability, distribution, simplest, total
from discreet.theory.divergences import statistical_difference
from discreet.theory.losses import INFINITY, Loss, largest, ln, loss
from discreet.theory.simulation import families

Prior: TypeAlias = Mapping[Any, Rational]
Beliefs: TypeAlias = dict[Hashable, Probability]


def posterior(channel: Channel, prior: Prior, output: Hashable) -> Beliefs:
    """What to believe about the whole database after seeing an output.

    >>> from discreet.theory.randomizers import two_coins
    >>> posterior(two_coins(), {"yes": "1/2", "no": "1/2"}, "yes")
    {'yes': Fraction(3, 4), 'no': Fraction(1, 4)}
    """
    before = _prior(channel, prior)
    if output not in channel.outputs:
        raise InvalidValue("that is not an output of the channel.", hint="see channel.outputs.")
    place = channel.outputs.index(output)
    joint = {x: Real(mass) * channel[x][place] for x, mass in before.items()}
    mass = Real.sum_of(joint.values())
    if mass.exact == 0:
        raise InvalidProbability(
            "the output has probability 0 under this prior: there is nothing to condition on.",
            hint="choose an output that some database of the prior can give.",
        )
    return {x: simplest(share / mass) for x, share in joint.items()}


def belief(beliefs: Mapping[Any, Probability], person: int) -> Beliefs:
    """The marginal of one person's row.

    >>> belief({("a", "b"): Fraction(1, 3), ("b", "b"): Fraction(2, 3)}, 0)
    {'a': Fraction(1, 3), 'b': Fraction(2, 3)}
    """
    shares: dict[Hashable, list[Probability]] = {}
    for x, mass in beliefs.items():
        shares.setdefault(_rows(x)[person], []).append(mass)
    return {value: total(masses) for value, masses in shares.items()}


def given_others(prior: Prior, person: int, others: Rows) -> dict[Hashable, Fraction]:
    """The prior conditioned on everybody else's rows.

    >>> given_others({("a", "b"): "1/4", ("b", "b"): "1/4", ("a", "a"): "1/2"}, 0, ("b",))
    {('a', 'b'): Fraction(1, 2), ('b', 'b'): Fraction(1, 2)}
    """
    kept = {
        x: probability(mass)
        for x, mass in prior.items()
        if (*_rows(x)[:person], *_rows(x)[person + 1 :]) == others
    }
    mass = sum(kept.values(), Fraction(0))
    if mass == 0:
        raise InvalidProbability(
            "the prior gives the other rows no mass: there is nothing to condition on.",
            hint="choose rows for the others that the prior allows.",
        )
    return {x: share / mass for x, share in kept.items()}


def belief_change(
    channel: Channel, prior: Prior, person: int, output: Hashable, *, others: Rows | None = None
) -> Real:
    """How far an output moves beliefs about one person: the largest of posterior/prior and back.

    With ``others`` the believer knows everybody else's rows; this is within e^epsilon for every
    prior and output iff the channel is epsilon-private. Without, it may exceed it.
    """
    known = prior if others is None else given_others(prior, person, others)
    before = belief(_prior(channel, known), person)
    after = belief(posterior(channel, known, output), person)
    ratios = [Real(1)]
    for value, mass in before.items():
        if mass == 0:
            continue
        up = Real(after[value]) / mass
        ratios += [up, INFINITY if up.exact == 0 else 1 / up]
    return largest(ratios)


def conditional_supremum(channel: Channel) -> Real:
    """The supremum of posterior/prior of one row given the others, over priors: e^epsilon.

    Approached as the value's prior mass goes to 0 (see ``approaching_prior``), not attained.

    >>> from discreet.theory.randomizers import two_coins
    >>> conditional_supremum(two_coins())
    Real(Fraction(3, 1))
    """
    pairs = [
        (x, y)
        for inputs in families(channel).values()
        for place, x in enumerate(inputs)
        for y in inputs[place + 1 :]
    ]
    return channel.likelihood_ratio(pairs)


def approaching_prior(value: Hashable, other: Hashable, mass: Rational) -> dict[Hashable, Fraction]:
    """A prior on two databases that gives the first little: posterior/prior nears e^epsilon.

    It is ``r / (1 + mass (r - 1))`` for a likelihood ratio r.

    >>> approaching_prior("yes", "no", "1/100")
    {'yes': Fraction(1, 100), 'no': Fraction(99, 100)}
    """
    little = probability(mass, name="mass")
    return {value: little, other: 1 - little}


def joint_supremum(channel: Channel, person: int) -> Real:
    """The supremum of posterior/prior of one row without knowing the others, over joint priors.

    Others may move together with the person, so it compares all databases that differ in the
    person's row: for n people it can be e^(n epsilon).

    >>> from discreet.theory.randomizers import two_coins
    >>> joint_supremum(two_coins().each(3), 0)
    Real(Fraction(27, 1))
    """
    pairs = [
        (x, y) for x, y in product(channel.inputs, repeat=2) if _rows(x)[person] != _rows(y)[person]
    ]
    return channel.likelihood_ratio(pairs)


def alike_prior(values: Rows, people: int, mass: Rational) -> dict[Hashable, Fraction]:
    """A joint prior under which everybody has the same value: the first with the mass given.

    With it the unconditioned ratio breaks the bound that holds given the others.

    >>> alike_prior(("yes", "no"), people=2, mass="1/10")
    {('yes', 'yes'): Fraction(1, 10), ('no', 'no'): Fraction(9, 10)}
    """
    little = probability(mass, name="mass")
    first, second = values
    return {(first,) * people: little, (second,) * people: 1 - little}


def independent_prior(marginals: Sequence[Prior]) -> dict[Hashable, Fraction]:
    """A joint prior of independent rows, one marginal for each person.

    >>> independent_prior([{"a": "1/2", "b": "1/2"}, {"a": 1}])
    {('a', 'a'): Fraction(1, 2), ('b', 'a'): Fraction(1, 2)}
    """
    joint: dict[Hashable, Fraction] = {}
    for choice in product(*(marginal.items() for marginal in marginals)):
        mass = Fraction(1)
        for _, share in choice:
            mass *= probability(share)
        joint[tuple(value for value, _ in choice)] = mass
    return joint


# The weaker yardstick ----------------------------------------------------------------------------


def belief_distance(
    channel: Channel, prior: Prior, person: int, output: Hashable, *, others: Rows | None = None
) -> Real:
    """The statistical distance between the prior and the posterior of one person's row."""
    known = prior if others is None else given_others(prior, person, others)
    before = belief(_prior(channel, known), person)
    after = belief(posterior(channel, known, output), person)
    return statistical_difference(list(before.values()), [after[value] for value in before])


def largest_belief_distance(epsilon: Loss) -> Real:
    """The most that an output of an epsilon-private channel moves beliefs, over all priors.

    ``t = (e^(epsilon/2) - 1) / (e^(epsilon/2) + 1)``, at the prior mass ``1/(1 + e^(epsilon/2))``.

    >>> largest_belief_distance("ln 9")
    Real(Fraction(1, 2))
    """
    root = (loss(epsilon) / 2).exp()
    return (root - 1) / (root + 1)


def epsilon_of_belief_distance(distance: Rational) -> Real:
    """The epsilon that "beliefs move by at most t for every prior" is the same as.

    ``2 ln((1 + t)/(1 - t))``.

    >>> epsilon_of_belief_distance("1/2") == ln(9)
    True
    """
    t = probability(distance, name="distance")
    return INFINITY if t == 1 else 2 * ln((1 + t) / (1 - t))


def textbook_epsilon_of_belief_distance(distance: Rational) -> Real:
    """What the usual argument, with a fair prior, makes of it: looser, and for t < 1/2 only.

    ``ln((1 + 2t)/(1 - 2t))``.

    >>> textbook_epsilon_of_belief_distance("1/4")
    ln(3)
    """
    t = probability(distance, name="distance")
    return INFINITY if 2 * t >= 1 else ln((1 + 2 * t) / (1 - 2 * t))


def _prior(channel: Channel, prior: Prior) -> dict[Hashable, Fraction]:
    if not set(prior) <= set(channel.inputs):
        raise InvalidValue(
            "the prior names a database that is not an input of the channel.",
            hint="see channel.inputs.",
        )
    if sum((probability(mass) for mass in prior.values()), Fraction(0)) == 0:
        raise InvalidProbability(
            "the prior has no mass at all.", hint='{"yes": "1/2", "no": "1/2"}'
        )
    distribution(list(prior.values()), name="the prior")
    return {x: probability(mass) for x, mass in prior.items()}


def _rows(x: Hashable) -> Rows:
    return x if isinstance(x, tuple) else (x,)
