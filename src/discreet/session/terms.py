"""The terms on which a query is asked: a price, or an error that finds its price."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from fractions import Fraction
from typing import TypedDict

from discreet.errors import InvalidEpsilon, InvalidInput
from discreet.exact import Rational, positive
from discreet.exact import confidence as exact_confidence
from discreet.exact import delta as exact_delta
from discreet.exact import epsilon as exact_epsilon
from discreet.plan.noise import NoisePlan, plan_noise
from discreet.plan.primitives import lower
from discreet.plan.query import Query
from discreet.policy.model import Dataset
from discreet.session.predicted import Wanted, least_epsilon

MOST_EPSILON = 10**9


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
    """The one column that the error target is for; left out, every number."""
    simultaneous: bool
    """Whether the target speaks of all groups at once, not of each."""
    assuming: int | None
    """The number of rows of a group for which the errors of averages and ratios are wanted."""


def require_known(given: Iterable[str]) -> None:
    """Refuse a term that nobody defined: a misspelt limit is no limit, and would cost money."""
    known = list(Terms.__annotations__)
    for name in given:
        if name not in known:
            close = get_close_matches(name, [*known, "key", "dataset"], n=1)
            raise InvalidInput(
                f"{name} is no term of a query: there are {', '.join(known)}. Nothing was spent.",
                hint=f"did you mean {close[0]}?" if close else "leave it out.",
            )


def confidence_of(terms: Terms, dataset: Dataset) -> Fraction:
    """The confidence asked for, or the policy's."""
    given = terms.get("confidence")
    return dataset.confidence if given is None else exact_confidence(given)


def wanted(terms: Terms, query: Query, dataset: Dataset) -> Wanted:
    """What the errors of a query are to be predicted for."""
    return Wanted(confidence_of(terms, dataset), cells_of(terms, query), assuming_of(terms))


def cells_of(terms: Terms, query: Query) -> int:
    """How many cells an error must hold in at once."""
    if not terms.get("simultaneous"):
        return 1
    groups = number_of_groups(query)
    if groups is None:
        raise InvalidInput(
            "the groups of this query are private, so nobody knows in how many of them an error "
            "would have to hold at once.",
            hint="leave simultaneous out, or declare the keys.",
        )
    return groups


def assuming_of(terms: Terms) -> int | None:
    """The number of rows that is assumed, if one is."""
    given = terms.get("assuming")
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise InvalidInput(f"assuming = {given!r} is not a number of rows.", hint="assuming=1000")
    return given


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
        least = least_epsilon(
            query,
            noise_at,
            wanted(terms, query, dataset),
            within=positive(within, name="within"),
            column=terms.get("column"),
        )
        return noise_at(least)
    if epsilon is None:
        raise InvalidEpsilon(
            "the query has no price: neither epsilon nor an error target is given.",
            hint="epsilon=0.5, or within=50 to see which epsilon that error needs.",
        )
    price = exact_epsilon(epsilon)
    if price > MOST_EPSILON:
        raise InvalidEpsilon(
            f"an epsilon above {MOST_EPSILON:,} protects nobody.", hint="epsilon=0.5"
        )
    return noise_at(price)


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
