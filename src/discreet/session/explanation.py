"""What a query will do, before it does it: from the policy and the query alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.pictures.plus_minus import number
from discreet.plan.expressions import Column, walk
from discreet.plan.primitives import Primitive
from discreet.session.predicted import Wanted, depends, errors
from discreet.session.request import Request
from discreet.theory.neighbours import Relation


@dataclass(frozen=True)
class Measured:
    """One thing that is measured: what a person can change of it, and the noise that hides that."""

    what: str
    sensitivity: Fraction
    noise: str
    scale: Fraction


@dataclass(frozen=True)
class Explanation:
    """The price of a query and the error to expect. Nothing is spent by it."""

    dataset: str
    facts: Mapping[str, Any]
    """Unit, neighbours, rows per unit (and groups, where they are bounded), bounds, threshold."""
    groups: int | None
    """How many groups will be shown; None where the keys are private."""
    grouped: bool
    """Whether a line of the answer is a group."""
    shown_from: int | None
    """The number of rows from which a private group is shown, at the confidence."""
    measured: tuple[Measured, ...]
    errors: Mapping[str, Fraction | None]
    """For each number the error at the confidence; None where it depends on private counts."""
    assumed: frozenset[str]
    """The numbers whose error depends on how many rows a group has."""
    wanted: Wanted
    """What the errors were predicted for."""
    epsilon: Fraction
    delta: Fraction
    charge: Mapping[str, Fraction]
    """What the ledger will be charged, by component of its accountant."""
    left: Mapping[str, Fraction]
    sql: str

    @property
    def confidence(self) -> Fraction:
        """Of the errors, and of the intervals."""
        return self.wanted.confidence

    def __str__(self) -> str:
        return self.told()

    def told(self, assuming: str = "assuming=1000") -> str:
        """In words; ``assuming`` is how one types what an average is about."""
        facts = self.facts
        rows = facts["rows_per_unit"]
        most = "at most 1 row each" if rows == 1 else f"at most {rows} rows each"
        if facts["groups_per_unit"] is not None:
            groups, within = facts["groups_per_unit"], facts["rows_in_group"]
            most += f", in at most {groups} group{'s' if groups > 1 else ''}"
            most += f", at most {within} row{'s' if within > 1 else ''} in each"
        lines = [
            f"data set     {self.dataset}",
            f"protects     {facts['unit']} ({facts['neighbours']}), {most}",
        ]
        if facts["bounds"]:
            lines.append(f"clamps       {facts['bounds']}")
        if self.groups is None:
            lines.append(
                f"groups       private: those with a noisy count of {facts['threshold']} or more; "
                f"one of {self.shown_from} rows is shown in "
                f"{float(100 * self.confidence):g} % of cases"
            )
        elif self.groups > 1:
            lines.append(f"groups       {self.groups:,}, all public, empty ones too")
        if facts["averaged_over"] is not None:
            lines.append(f"averages     over {facts['averaged_over']:,} people, a public number")
        for each in self.measured:
            lines.append(
                f"measures     {each.what}: one person changes it by at most "
                f"{number(float(each.sensitivity))}; {each.noise} noise of scale "
                f"{number(float(each.scale))}"
            )
        lines += [
            f"error        {name}: {self._error(name, error, assuming)}"
            for name, error in self.errors.items()
        ]
        charge = ", ".join(f"{name} {float(v):.6g}" for name, v in self.charge.items())
        left = ", ".join(f"{name} {float(v):.6g}" for name, v in self.left.items())
        lines += [f"costs        {charge} (left: {left})", f"runs         {self.sql}"]
        return "\n".join(lines)

    def _error(self, name: str, error: Fraction | None, assuming: str) -> str:
        rows = self.wanted.assuming
        size = "" if rows is None else f", assuming {rows:,} row{'s' if rows > 1 else ''}"
        if error is None and rows is None and name in self.assumed:
            return f"depends on how many rows a group has; {assuming} shows it for 1,000"
        if error is None:
            return "cannot be said beforehand" + size
        sure = f"± {number(float(error))} at {float(100 * self.confidence):g} %"
        if self.wanted.cells > 1:
            sure += f" in all {self.wanted.cells:,} groups at once"
        elif self.grouped:
            sure += " in each group"
        return sure + (size if name in self.assumed else "")

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "dataset": self.dataset,
            "facts": {k: float(v) if isinstance(v, Fraction) else v for k, v in self.facts.items()},
            "groups": self.groups,
            "shown_from": self.shown_from,
            "measured": [
                {
                    "what": each.what,
                    "sensitivity": float(each.sensitivity),
                    "noise": each.noise,
                    "scale": float(each.scale),
                }
                for each in self.measured
            ],
            "errors": {k: None if v is None else float(v) for k, v in self.errors.items()},
            "assuming": self.wanted.assuming,
            "simultaneous": self.wanted.cells > 1,
            "confidence": float(self.confidence),
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "charge": {name: float(amount) for name, amount in self.charge.items()},
            "left": {name: float(amount) for name, amount in self.left.items()},
            "sql": self.sql,
        }


def explain(
    request: Request,
    *,
    charge: Mapping[str, Fraction],
    left: Mapping[str, Fraction],
    wanted: Wanted,
) -> Explanation:
    """Everything about a request that does not need its answer."""
    noise, core = request.noise, request.query.core
    groups = None
    if core.keys_are_public:
        groups = 1
        for key in core.keys:
            groups *= len(key.values or ())
    return Explanation(
        dataset=request.dataset.name,
        facts=facts(request),
        groups=groups,
        grouped=bool(core.keys) and all(stage.groups is None for stage in request.query.stages),
        shown_from=noise.selection.shown_from(request.confidence) if noise.selection else None,
        measured=tuple(
            Measured(
                words(primitive),
                (s.l1 if noise.kind == "laplace" else s.l2) * primitive.step,
                noise.kind,
                scale * primitive.step,
            )
            for primitive, s, scale in zip(
                noise.lowered.primitives, noise.sensitivities, noise.scales, strict=True
            )
        ),
        errors=errors(request.query, noise, wanted),
        assumed=frozenset(depends(request.query)),
        wanted=wanted,
        epsilon=noise.epsilon,
        delta=noise.delta,
        charge=charge,
        left=left,
        sql=request.measurement.sql,
    )


def words(primitive: Primitive) -> str:
    """What a primitive is, for people."""
    names = sorted(
        {n.name for n in walk(primitive.argument) if isinstance(n, Column)}
        if primitive.argument is not None
        else set()
    )
    about = f" of {', '.join(names)}" if names else ""
    kind = {"rows": "the number of rows", "units": "the number of people", "sum": "the sum"}
    centred = " around the middle of its range" if primitive.centre else ""
    filtered = " under its filter" if primitive.where is not None else ""
    return f"{kind[primitive.kind]}{about}{centred}{filtered}"


def facts(request: Request) -> dict[str, Any]:
    """What a privacy statement says, from public facts alone."""
    dataset, noise = request.dataset, request.noise
    one = "one unit added or removed"
    if dataset.relation is Relation.CHANGE_ONE:
        one = "one unit's data changed, their number public"
    bounds: dict[str, str] = {}
    for primitive in noise.lowered.primitives:
        if primitive.argument is None or primitive.kind != "sum":
            continue
        both = primitive.argument.meaning.bounds.bounded
        names = {n.name for n in walk(primitive.argument) if isinstance(n, Column)}
        if both is not None:
            bounds[", ".join(sorted(names)) or "a constant"] = (
                f"{float(both[0]):g} to {float(both[1]):g}"
            )
    kinds = {
        "laplace": "two-sided geometric (discrete Laplace)",
        "gaussian": "Gaussian, rounded to a grid",
    }
    return {
        "unit": "each row" if dataset.unit is None else f"each distinct {dataset.unit}",
        "neighbours": one,
        "rows_per_unit": dataset.rows_per_unit,
        "groups_per_unit": noise.bounding.groups if noise.bounding else None,
        "rows_in_group": noise.bounding.rows if noise.bounding else None,
        "noise": kinds[noise.kind],
        "epsilon": noise.epsilon,
        "delta": noise.delta,
        "bounds": "; ".join(f"{name} {range_}" for name, range_ in bounds.items()),
        "averaged_over": next((r.over for r in noise.lowered.recipes if r.over is not None), None),
        "threshold": noise.selection.threshold if noise.selection else None,
    }
