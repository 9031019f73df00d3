"""The error of every number before a query is asked.

A count or a sum has an error that its noise alone decides, and so has whatever adds and subtracts
them. The error of an average, a share or a ratio depends on how many rows it is about, which is
private: whoever wants to know it says what to assume. It is then tried out, with the noise that the
query would get on a table of that many rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidEpsilon, InvalidInput
from discreet.exact import rational
from discreet.noise.search import crossing
from discreet.plan.expressions import Call, Column, Expression, Literal, Value
from discreet.plan.noise import NoisePlan
from discreet.plan.predict import half_width, three_digits_up
from discreet.plan.primitives import Primitive
from discreet.plan.query import Core, Query, Stage
from discreet.session.measure import public_groups
from discreet.session.postprocess import bare_aggregates, is_number, run, trace
from discreet.session.simulation import replicate
from discreet.session.table import NoisyTable, Released

_SMALLEST_EPSILON, _LARGEST_EPSILON = Fraction(1, 10**6), Fraction(1000)
_FEWEST, _MOST = 20_000, 1_000_000
"""How many draws a prediction takes at least, and how many numbers at most."""
_MOST_GROUPS = 10_000
_ANY = 1000
"""The number of rows where it does not matter."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a prediction is for."""

    confidence: Fraction
    cells: int = 1
    """How many cells must hold at once; 1 speaks of each on its own."""
    assuming: int | None = None
    """The number of rows of a group."""


def numbers(query: Query) -> list[str]:
    """The outputs that have an error."""
    noisy = trace(query.stages).noisy
    return [name for name, value in query.stages[-1].columns if noisy[name] and is_number(value)]


def depends(query: Query) -> set[str]:
    """The numbers whose error depends on how many rows a group has."""
    linear: dict[str, bool] = {}
    for place, stage in enumerate(query.stages):
        below = (lambda name: _sums_up(query.core, name)) if place == 0 else linear.__getitem__
        linear = {name: _is_linear(value, below) for name, value in stage.columns}
    return {name for name in numbers(query) if not linear[name]}


def errors(
    query: Query, noise: NoisePlan, wanted: Wanted, names: Iterable[str] | None = None
) -> dict[str, Fraction | None]:
    """For each number the error that it keeps within, or None if that cannot be said."""
    bare, private = bare_aggregates(query.stages), depends(query)
    found: dict[str, Fraction | None] = {}
    tried: dict[str, Fraction | None] | None = None
    for name in numbers(query) if names is None else names:
        if name in bare and name not in private:
            recipe = noise.lowered.recipes[bare[name]]
            found[name] = half_width(
                noise, recipe, confidence=wanted.confidence, cells=wanted.cells
            )
        elif name in private and wanted.assuming is None:
            found[name] = None
        else:
            tried = _tried(query, noise, wanted) if tried is None else tried
            found[name] = tried[name]
    return found


def least_epsilon(
    query: Query,
    plan: Callable[[Fraction], NoisePlan],
    wanted: Wanted,
    *,
    within: Fraction,
    column: str | None,
) -> Fraction:
    """The cheapest epsilon, to three digits and rounded up, that keeps the errors within a target.

    It is found from the query and the policy alone.
    """
    names = _chosen(query, column)
    if wanted.assuming is None and (private := [n for n in names if n in depends(query)]):
        raise InvalidInput(
            f"the error of {private[0]} depends on how many rows a group has, which is private.",
            hint="assuming=1000 says for which size of group the error is wanted.",
        )

    def met(epsilon: Fraction) -> bool:
        found = errors(query, plan(epsilon), wanted, names).values()
        return all(error is not None and error <= within for error in found)

    if not met(_LARGEST_EPSILON):
        best = errors(query, plan(_LARGEST_EPSILON), wanted, names)
        unsaid = [name for name, error in best.items() if error is None]
        if unsaid:
            raise InvalidInput(
                f"the error of {unsaid[0]} cannot be said beforehand: by the query and its terms "
                "alone it has no bound, or none that simulation finds.",
                hint="ask for an epsilon instead, for a lower confidence or a larger group, or for "
                "each group on its own.",
            )
        raise InvalidEpsilon(
            f"no epsilon up to {_LARGEST_EPSILON} keeps the error within {float(within):g}.",
            hint="allow a larger error, use fewer rows per person, or ask for fewer columns.",
        )
    if met(_SMALLEST_EPSILON):
        return _SMALLEST_EPSILON
    return three_digits_up(crossing(lambda e: e >= _LARGEST_EPSILON or met(e))[1])


def _chosen(query: Query, column: str | None) -> list[str]:
    named = numbers(query)
    if not named:
        raise InvalidInput(
            "an error target needs a number to be about, and the query has none.",
            hint="ask for COUNT(*), SUM(x) or AVG(x) too.",
        )
    if column is None:
        return named
    for name in named:
        if name.lower() == column.lower():
            return [name]
    raise InvalidInput(
        f"column = {column!r} is not a number of this query.",
        hint=f'column="{named[0]}"'
        + (f", or one of: {', '.join(named[1:])}." if len(named) > 1 else "."),
    )


# Trying it out ----------------------------------------------------------------------------------


def _tried(query: Query, noise: NoisePlan, wanted: Wanted) -> dict[str, Fraction | None]:
    """The errors of a table that is assumed: the largest of low, middle and high values."""
    stages = tuple(_unfiltered(stage) for stage in query.stages)
    keys = _assumed_keys(query.core, stages)
    if keys is None:
        return dict.fromkeys(numbers(query))
    # Where a mean is over all rows, there are no groups and their number is public.
    known = [each.over for each in noise.lowered.recipes if each.over is not None]
    rows = known[0] if known else wanted.assuming or _ANY
    groups = len(keys)
    # Enough draws for a hundred of them to lie beyond the error.
    enough = max(_FEWEST, math.ceil(100 * wanted.cells / (1 - wanted.confidence)))
    draws = max(min(enough, _MOST // groups), 1000)
    # Where fewer than ten lie beyond it, it may be further out than any of them.
    if draws * (1 - wanted.confidence) < 10 * wanted.cells:
        return dict.fromkeys(numbers(query))
    worst: dict[str, float] = dict.fromkeys(numbers(query), 0.0)
    for at in (Fraction(0), Fraction(1, 2), Fraction(1)):
        table = NoisyTable(
            tuple(zip(*keys, strict=True)) if query.core.keys else (),
            tuple(
                np.full(groups, _assumed(each, rows, at), dtype=np.int64)
                for each in noise.lowered.primitives
            ),
            groups,
        )
        released = Released(table, noise)
        exact, steps = run(released, stages)
        shown = np.arange(len(steps[-1].chosen))
        drawn = replicate(released, stages, steps, list(worst), shown, draws, released.streams())
        for name, error in worst.items():
            there = exact[name].valid & ~np.isnan(drawn[name])
            off = np.where(there, np.abs(drawn[name] - exact[name].data), np.inf)
            worst[name] = max(error, _quantile(off, wanted))
    return {
        name: rational(float(f"{error:.4g}")) if math.isfinite(error) else None
        for name, error in worst.items()
    }


def _quantile(off: np.ndarray[tuple[int, ...], np.dtype[np.float64]], wanted: Wanted) -> float:
    """The error that each cell keeps within, or all of so many at once."""
    beyond = float(1 - wanted.confidence) / wanted.cells
    draws = off.shape[0]
    # Four standard errors further out, so that what is foretold is not too little.
    spare = 4 * math.sqrt(draws * beyond * (1 - beyond))
    place = min(math.ceil((1 - beyond) * (draws + 1) + spare) - 1, draws - 1)
    return float(np.partition(off, place, axis=0)[place].max(initial=0.0))


def _assumed(primitive: Primitive, rows: int, at: Fraction) -> int:
    """What a primitive is where every row adds the same, between its least and its most."""
    if primitive.kind != "sum":
        return rows
    low, high = primitive.bounds
    return rows * math.floor(low + (high - low) * at)


def _assumed_keys(core: Core, stages: tuple[Stage, ...]) -> list[tuple[Value, ...]] | None:
    """The groups to try it with: one, unless a later stage adds groups up."""
    if all(stage.groups is None and not stage.distinct for stage in stages):
        first = tuple(key.values[0] if key.values else None for key in core.keys)
        return [first]
    if not core.keys_are_public:
        return None  # nobody knows how many groups would be added up
    every = list(public_groups(core))
    return every if 0 < len(every) <= _MOST_GROUPS else None


def _unfiltered(stage: Stage) -> Stage:
    """All rows of a stage: which are left in the end is decided by noise."""
    return replace(
        stage, where=None, having=None, distinct=False, order=(), limit=None, offset=None
    )


# Errors that do not depend on the data ----------------------------------------------------------


def _sums_up(core: Core, name: str) -> bool:
    return not name.startswith("a") or core.aggregates[int(name[1:])].kind != "avg"


def _is_linear(node: Expression, below: Callable[[str], bool]) -> bool:
    """Whether noise passes through an expression without meeting the data."""
    if isinstance(node, Column):
        return below(node.name)
    if isinstance(node, Literal):
        return True
    parts = [_is_linear(argument, below) for argument in node.arguments]
    match node.operation:
        case "add" | "subtract" | "negate" | "to_real" | "total" | "average":
            return all(parts)
        case "multiply":
            return all(parts) and any(map(_is_constant, node.arguments))
        case "divide":
            return all(parts) and _is_constant(node.arguments[1])
    return False


def _is_constant(node: Expression) -> bool:
    return isinstance(node, Literal) or (
        isinstance(node, Call) and all(map(_is_constant, node.arguments))
    )
