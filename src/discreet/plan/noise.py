"""How much noise each primitive gets, decided from the policy and the query alone.

One epsilon (and delta) pays for the whole query. It is split evenly over what is measured: with
scales proportional to sensitivities that gives every column the same relative error, which is the
least total for a given epsilon. Laplace noise sums l1 sensitivities, Gaussian noise adds squares;
the kind with the smaller spread at the same cost is taken where the accountant can pay for both,
and likewise the bounding, where the policy leaves it open.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal as OneOf
from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidDelta
from discreet.events import Event
from discreet.exact import Real, rational
from discreet.mechanisms.gaussian import smallest_sigma
from discreet.mechanisms.gaussian_keys import GaussianKeySelection
from discreet.mechanisms.key_selection import KeySelection, Thresholded
from discreet.noise import RoundedGaussian, TwoSidedGeometric
from discreet.noise.magnitude import LARGEST_RESULT
from discreet.noise.symmetric import Symmetric
from discreet.plan.bounding import Bounding, Sensitivity, boundings, sensitivity
from discreet.plan.primitives import Lowered, Primitive
from discreet.plan.query import Core
from discreet.policy.model import Dataset
from discreet.theory.neighbours import Relation

NoiseKind: TypeAlias = OneOf["laplace", "gaussian"]

ROWS = Primitive("rows", None, None)
"""The plain count of rows, by which private keys are selected."""


@dataclass(frozen=True)
class NoisePlan:
    """The noise of every primitive, what it costs, and how keys are selected."""

    lowered: Lowered
    bounding: Bounding
    """What of a unit's rows is used beyond the cap on their number."""
    sensitivities: tuple[Sensitivity, ...]
    kind: NoiseKind
    scales: tuple[Fraction, ...]
    """Per primitive, in steps: the Laplace scale or the standard deviation."""
    epsilon: Fraction
    delta: Fraction
    """What is really spent of the delta: 0 where nothing needs one."""
    relation: Relation
    selection: Thresholded | None
    selector: int | None
    """Which primitive selects the keys."""

    @cached_property
    def noises(self) -> tuple[Symmetric, ...]:
        """The noise added to each primitive, in steps."""
        shape = TwoSidedGeometric if self.kind == "laplace" else RoundedGaussian
        return tuple(shape(scale) for scale in self.scales)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """What the ledger is charged with."""
        drawn = self.noises  # a scale that cannot be drawn is refused before it is charged
        if self.kind == "gaussian" and self.selector is not None:
            # Noise and keys together, at what the query says that they cost.
            price = {"epsilon": self.epsilon, "delta": self.delta}
            l1 = self.sensitivities[self.selector].l1
            return (Event("key_selection", price, l1, self.relation),)
        if self.kind == "gaussian":
            # One vector of all primitives, each divided by sqrt(m) times its own sensitivity.
            return (_gaussian_event(smallest_sigma(self.epsilon, self.delta), self.relation),)
        events = []
        for index, (primitive, noise) in enumerate(
            zip(self.lowered.primitives, drawn, strict=True)
        ):
            if index == self.selector and isinstance(self.selection, KeySelection):
                events.append(self.selection.event)
                continue
            scale, l1 = noise.scale, self.sensitivities[index].l1
            if primitive.step == 1:
                events.append(Event("geometric", {"scale": scale}, l1, self.relation))
            else:
                parameters = {"scale": scale * primitive.step, "grid": primitive.step}
                events.append(Event("laplace", parameters, l1 * primitive.step, self.relation))
        return tuple(events)

    def release(
        self, exact: list[NDArray[np.int64]], *, groups: int
    ) -> tuple[NDArray[np.bool_], list[NDArray[np.int64]]]:
        """Noise on every primitive of every group, and which groups may be shown."""
        shown = np.ones(groups, dtype=np.bool_)
        noisy: list[NDArray[np.int64]] = []
        for index, values in enumerate(exact):
            if index == self.selector and self.selection is not None:
                shown, counts = self.selection.release_array(values)
                noisy.append(counts)
                continue
            released = self.noises[index].sample(groups)
            released += values
            noisy.append(released.clip(-LARGEST_RESULT, LARGEST_RESULT, out=released))
        return shown, [values[shown] for values in noisy]


_GRID = Fraction(1, 2**20)


def plan_noise(
    core: Core,
    lowered: Lowered,
    dataset: Dataset,
    *,
    epsilon: Fraction,
    delta: Fraction | None,
) -> NoisePlan:
    """Choose the bounding and the noise of a query."""
    private = bool(core.keys) and not core.keys_are_public
    if private and ROWS not in lowered.primitives:
        lowered = Lowered((*lowered.primitives, ROWS), lowered.recipes)
    if private and delta is None:
        raise InvalidDelta(
            "the groups of this query are private, and showing only the large ones needs a delta.",
            hint="delta=1e-9 (far below 1 / the number of people), or declare the keys.",
        )
    # Where noise is equal, the first: the one that keeps more rows.
    best = min(
        (
            _spread(core, lowered, dataset, bounding, epsilon=epsilon, delta=delta, private=private)
            for bounding in boundings(core, dataset)
        ),
        key=lambda each: each.total,
    )
    selection: Thresholded | None = None
    selector = None
    if private and delta is not None:
        selector = lowered.primitives.index(ROWS)
        unit = _of_a_unit(best.bounding, dataset)
        if best.kind == "laplace":
            share = epsilon / len(lowered.primitives)
            selection = KeySelection(epsilon=share, delta=delta, **unit)
        else:
            selection = GaussianKeySelection(sigma=best.scales[selector], delta=delta / 2, **unit)
    return NoisePlan(
        lowered,
        best.bounding,
        best.sensitivities,
        best.kind,
        best.scales,
        epsilon,
        delta if delta is not None and (private or best.kind == "gaussian") else Fraction(0),
        dataset.relation,
        selection,
        selector,
    )


@dataclass(frozen=True, slots=True)
class _Spread:
    """The noise of a query under one bounding."""

    bounding: Bounding
    sensitivities: tuple[Sensitivity, ...]
    kind: NoiseKind
    scales: tuple[Fraction, ...]
    total: Fraction
    """The product of all variances, each at the same cost: what is compared between boundings."""


def _spread(
    core: Core,
    lowered: Lowered,
    dataset: Dataset,
    bounding: Bounding,
    *,
    epsilon: Fraction,
    delta: Fraction | None,
    private: bool,
) -> _Spread:
    """The kind of noise with the smaller spread at the same cost to the ledger.

    The cost of a Gaussian is inverse to its variance in every measure but epsilon. So the variance
    that it has at the price of the Laplace noise is its own, times its cost, over that price: who
    compares products of variance and cost compares errors at one cost.
    """
    count = max(len(lowered.primitives), 1)
    found = tuple(sensitivity(each, core, dataset, bounding) for each in lowered.primitives)
    share = epsilon / count
    scales = tuple(s.l1 / share for s in found)
    # Laplace noise of scale b has the variance 2 b^2.
    variances = [2 * scale * scale for scale in scales]
    price = _laplace_cost(found, share, dataset)
    chosen = _Spread(bounding, found, "laplace", scales, _product(v * price for v in variances))
    if delta is None or not _pays_gaussians(dataset, delta, private=private):
        return chosen
    # Half of the delta is for keys that only one unit has.
    sigma = smallest_sigma(epsilon, delta / 2 if private else delta)
    wide = sigma * Real(count).sqrt().upper(48)
    gaussian = tuple(s.l2 * wide for s in found)
    cost = _gaussian_cost(sigma, dataset)
    relative = sum(g * g * cost / (v * price) for g, v in zip(gaussian, variances, strict=True))
    if relative >= count:
        return chosen
    return _Spread(bounding, found, "gaussian", gaussian, _product(g * g * cost for g in gaussian))


def _product(factors: Iterable[Fraction]) -> Fraction:
    return math.prod(factors, start=Fraction(1))


def _laplace_cost(found: tuple[Sensitivity, ...], share: Fraction, dataset: Dataset) -> Fraction:
    """What the ledger sums for Laplace noise on everything; 1 where it sums epsilon itself."""
    if _sums_epsilon(dataset):
        return Fraction(1)
    measure = dataset.budget.measure
    alike = Counter(s.l1 for s in found)
    events = {l1: Event("geometric", {"scale": l1 / share}, l1, dataset.relation) for l1 in alike}
    return sum((times * measure.cost(events[l1])[0] for l1, times in alike.items()), Fraction(0))


def _gaussian_cost(sigma: Fraction, dataset: Dataset) -> Fraction:
    """The same for Gaussian noise, where both promise the same epsilon."""
    if _sums_epsilon(dataset):
        return Fraction(1)
    return dataset.budget.measure.cost(_gaussian_event(sigma, dataset.relation))[0]


def _sums_epsilon(dataset: Dataset) -> bool:
    return dataset.budget.measure.components[0] == "epsilon"


def _gaussian_event(sigma: Fraction, relation: Relation) -> Event:
    return Event("gaussian", {"sigma": sigma, "grid": _GRID}, 1, relation)


def _pays_gaussians(dataset: Dataset, delta: Fraction, *, private: bool) -> bool:
    """Whether the accountant charges a Gaussian what the query says that it costs.

    Where deltas are summed, every Gaussian is charged one delta that is fixed beforehand; with the
    selection of private keys it is charged what that says. Other accountants would charge the two
    together for more than Laplace noise.
    """
    name, _, fixed = dataset.budget.accountant.partition(":")
    if private:
        return name == "approximate"
    if name == "approximate":
        return delta == (rational(fixed) if fixed else dataset.delta_per_query)
    return name != "pure"


class _OfAUnit(TypedDict):
    rows_per_unit: int
    keys_per_unit: int | None
    relation: Relation


def _of_a_unit(bounding: Bounding, dataset: Dataset) -> _OfAUnit:
    """What bounds a unit's keys: its rows, or its groups if they leave it fewer."""
    rows, keys = dataset.rows_per_unit, None
    if bounding is not None and bounding.groups * bounding.rows <= rows:
        rows, keys = bounding.rows, bounding.groups
    return {"rows_per_unit": rows, "keys_per_unit": keys, "relation": dataset.relation}
