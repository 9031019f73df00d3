"""The terms on which a query is asked: a price, or an error that finds its price."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypedDict

from discreet.errors import InvalidEpsilon, InvalidInput
from discreet.exact import Rational, positive
from discreet.exact import confidence as exact_confidence
from discreet.exact import delta as exact_delta
from discreet.exact import epsilon as exact_epsilon
from discreet.plan.noise import NoisePlan, plan_noise
from discreet.plan.predict import Target, least_epsilon
from discreet.plan.primitives import Lowered, Recipe, lower
from discreet.plan.query import Query
from discreet.policy.model import Dataset
from discreet.session.postprocess import bare_aggregates


class Terms(TypedDict, total=False):
    """What may be said beside the text of a query."""

    epsilon: Rational | None
    """What it costs; with ``within``, the most that it may cost."""
    delta: Rational | None
    """The delta it may spend; left out, the policy's ``delta_per_query``."""
    within: Rational | None
    """The error that is wanted: the cheapest epsilon for it is found from public facts."""
    confidence: Rational | None
    """Of the intervals, and of the error target."""
    column: str | None
    """The one column that the error target is for; left out, every count, sum and average."""
    simultaneous: bool
    """Whether the target speaks of all groups at once, not of each."""
    assuming: int | None
    """The number of rows for which the error of an average is wanted."""


def confidence_of(terms: Terms, dataset: Dataset) -> Fraction:
    """The confidence asked for, or the policy's."""
    given = terms.get("confidence")
    return dataset.confidence if given is None else exact_confidence(given)


def cells_of(terms: Terms, query: Query) -> int:
    """How many cells an error must hold in at once."""
    return (number_of_groups(query) or 1) if terms.get("simultaneous") else 1


def number_of_groups(query: Query) -> int | None:
    """How many groups will be shown, where that is public."""
    if not query.core.keys_are_public:
        return None
    return math.prod(len(key.values or ()) for key in query.core.keys)


def noise_on(terms: Terms, query: Query, dataset: Dataset) -> NoisePlan:
    """The noise of a query on these terms."""
    lowered = lower(query.core)
    given = terms.get("delta")
    delta = dataset.delta_per_query if given is None else exact_delta(given)

    def noise_at(price: Fraction) -> NoisePlan:
        return plan_noise(query.core, lowered, dataset, epsilon=price, delta=delta)

    epsilon, within = terms.get("epsilon"), terms.get("within")
    if within is not None:
        target = Target(
            positive(within, name="within"),
            confidence_of(terms, dataset),
            cells_of(terms, query),
            terms.get("assuming"),
        )
        return noise_at(least_epsilon(noise_at, _wanted(query, lowered, terms), target))
    if epsilon is None:
        raise InvalidEpsilon(
            "the query has no price: neither epsilon nor an error target is given.",
            hint="epsilon=0.5, or within=50 to see which epsilon that error needs.",
        )
    return noise_at(exact_epsilon(epsilon))


def require_affordable(terms: Terms, needed: Fraction) -> None:
    """An error target spends only what was said to be the most."""
    most = terms.get("epsilon")
    if terms.get("within") is None or (most is not None and needed <= exact_epsilon(most)):
        return
    limit = "no limit was given" if most is None else f"the limit is {most}"
    raise InvalidEpsilon(
        f"this error needs epsilon = {float(needed):g}, and {limit}. Nothing was spent.",
        hint=f"epsilon={float(needed):g} spends it.",
    )


def _wanted(query: Query, lowered: Lowered, terms: Terms) -> list[Recipe]:
    bare, column = bare_aggregates(query.stages), terms.get("column")
    if column is None:
        return [lowered.recipes[index] for index in bare.values()]
    if column not in bare:
        raise InvalidInput(
            f"column = {column!r} is not a count, sum or average by itself.",
            hint=f"one of: {', '.join(bare) or 'none in this query'}.",
        )
    return [lowered.recipes[bare[column]]]
