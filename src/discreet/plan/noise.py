"""How much noise each primitive gets, decided from the policy and the query alone.

One epsilon (and delta) pays for the whole query. It is split evenly over what is measured: with
scales proportional to sensitivities that gives every column the same relative error, which is the
least total for a given epsilon. Laplace noise sums l1 sensitivities, Gaussian noise adds squares;
the kind with the smaller spread is taken where the accountant can pay for both.
"""

from __future__ import annotations

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
from discreet.plan.primitives import Lowered, Primitive
from discreet.plan.query import Core
from discreet.policy.model import Dataset
from discreet.theory.contributions import GroupedRows, RowBounded
from discreet.theory.neighbours import Relation
from discreet.theory.queries import Query

NoiseKind: TypeAlias = OneOf["laplace", "gaussian"]

ROWS = Primitive("rows", None, None)
"""The plain count of rows, by which private keys are selected."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What one unit can change, in steps, over all groups together."""

    l1: Fraction
    l2: Fraction


@dataclass(frozen=True)
class NoisePlan:
    """The noise of every primitive, what it costs, and how keys are selected."""

    lowered: Lowered
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
            sigma = smallest_sigma(self.epsilon, self.delta)
            return (Event("gaussian", {"sigma": sigma, "grid": _GRID}, 1, self.relation),)
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
    """Choose the noise for a query."""
    private = bool(core.keys) and not core.keys_are_public
    if private and ROWS not in lowered.primitives:
        lowered = Lowered((*lowered.primitives, ROWS), lowered.recipes)
    count = max(len(lowered.primitives), 1)
    sensitivities = tuple(sensitivity(primitive, core, dataset) for primitive in lowered.primitives)
    share = epsilon / count
    selection: Thresholded | None = None
    selector = None
    if private:
        if delta is None:
            raise InvalidDelta(
                "the groups of this query are private, and showing only the large ones needs a "
                "delta.",
                hint="delta=1e-9 (far below 1 / the number of people), or declare the keys.",
            )
        selector = lowered.primitives.index(ROWS)
        selection = KeySelection(epsilon=share, delta=delta, **_of_a_unit(core, dataset))
    laplace = tuple(s.l1 / share for s in sensitivities)
    chosen: NoiseKind = "laplace"
    scales = laplace
    if delta is not None and _pays_gaussians(dataset, delta, private=private):
        # Half of the delta is for keys that only one unit has.
        spent = delta / 2 if private else delta
        sigma = smallest_sigma(epsilon, spent) * Real(count).sqrt().upper(48)
        gaussian = tuple(s.l2 * sigma for s in sensitivities)
        # Laplace noise of scale b has the variance 2 b^2.
        if sum((g * g) / (2 * b * b) for g, b in zip(gaussian, laplace, strict=True)) < count:
            chosen, scales = "gaussian", gaussian
            if selector is not None:
                selection = GaussianKeySelection(
                    sigma=scales[selector], delta=delta / 2, **_of_a_unit(core, dataset)
                )
    return NoisePlan(
        lowered,
        sensitivities,
        chosen,
        scales,
        epsilon,
        delta if delta is not None and (private or chosen == "gaussian") else Fraction(0),
        dataset.relation,
        selection,
        selector,
    )


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


def _of_a_unit(core: Core, dataset: Dataset) -> _OfAUnit:
    """What bounds a unit's keys: its rows, or its groups if they leave it fewer."""
    rows, keys, bounding = dataset.rows_per_unit, None, group_bounding(core, dataset)
    if bounding is not None and bounding.groups * bounding.rows <= rows:
        rows, keys = bounding.rows, bounding.groups
    return {"rows_per_unit": rows, "keys_per_unit": keys, "relation": dataset.relation}


@dataclass(frozen=True, slots=True)
class GroupBounding:
    """At most so many groups of a query for each unit, and so many of its rows in each."""

    groups: int
    rows: int


def group_bounding(core: Core, dataset: Dataset) -> GroupBounding | None:
    """Whether a query bounds groups too: it is grouped, and the policy says how many."""
    if not core.keys or dataset.bounding == "rows" or dataset.groups_per_unit is None:
        return None
    return GroupBounding(dataset.groups_per_unit, dataset.rows_in_group or dataset.rows_per_unit)


def sensitivity(primitive: Primitive, core: Core, dataset: Dataset) -> Sensitivity:
    """What one unit can change of a primitive, by the rules of the theory."""
    rows, relation = dataset.rows_per_unit, dataset.relation
    people = primitive.kind == "units"
    if people and not core.keys:
        return Sensitivity(Fraction(1), Fraction(1))
    bounding = group_bounding(core, dataset)
    if people or bounding is not None:
        # A person is counted once in each group: one row of value 1 there.
        reach = rows if bounding is None else bounding.groups
        query: Query = GroupedRows(
            rows_per_unit=rows,
            groups_per_unit=min(reach, _number_of_groups(core) or reach),
            rows_per_group=1 if people or bounding is None else bounding.rows,
            bounds=primitive.bounds,
            groups=("any",),
        )
    else:
        groups = ("any",) if core.keys else None
        query = RowBounded(rows_per_unit=rows, bounds=primitive.bounds, groups=groups)
    # Rounding a sensitivity of 0 up keeps the noise defined; the sum is then a constant.
    l1 = max(query.l1(relation), Fraction(1))
    return Sensitivity(l1, max(query.l2(relation).upper(48), Fraction(1)))


def _number_of_groups(core: Core) -> int | None:
    total = 1
    for key in core.keys:
        if key.values is None:
            return None
        total *= len(key.values)
    return total
