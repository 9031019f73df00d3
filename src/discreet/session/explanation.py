"""What a query will do, before it does it: from the policy and the query alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.answer import number
from discreet.plan.expressions import Column, walk
from discreet.plan.predict import half_width
from discreet.plan.primitives import Primitive
from discreet.session.postprocess import bare_aggregates
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
    """Unit, neighbours, rows per unit, bounds, threshold."""
    groups: int | None
    """How many groups will be shown; None where the keys are private."""
    shown_from: int | None
    """The number of rows from which a private group is shown, at the confidence."""
    measured: tuple[Measured, ...]
    errors: Mapping[str, Fraction | None]
    """For each number the error at the confidence; None where it depends on private counts."""
    confidence: Fraction
    epsilon: Fraction
    delta: Fraction
    charge: Mapping[str, Fraction]
    """What the ledger will be charged, by component of its accountant."""
    left: Mapping[str, Fraction]
    sql: str

    def __str__(self) -> str:
        facts = self.facts
        most = f"at most {facts['rows_per_unit']} rows each"
        lines = [
            f"data set     {self.dataset}",
            f"protects     {facts['unit']} ({facts['neighbours']}), {most}",
        ]
        if facts["bounds"]:
            lines.append(f"clamps       {facts['bounds']}")
        if self.groups is None:
            lines.append(
                f"groups       private: those with a noisy count of {facts['threshold']} or more; "
                f"one of {self.shown_from} rows is shown in {float(self.confidence):.0%} of cases"
            )
        elif self.groups > 1:
            lines.append(f"groups       {self.groups:,}, all public, empty ones too")
        for each in self.measured:
            lines.append(
                f"measures     {each.what}: one person changes it by at most "
                f"{number(float(each.sensitivity))}; {each.noise} noise of scale "
                f"{number(float(each.scale))}"
            )
        for name, error in self.errors.items():
            shown = "depends on the data" if error is None else f"± {number(float(error))}"
            lines.append(f"error        {name}: {shown} at {float(self.confidence):.0%}")
        charge = ", ".join(f"{name} {float(v):.6g}" for name, v in self.charge.items())
        left = ", ".join(f"{name} {float(v):.6g}" for name, v in self.left.items())
        lines += [f"costs        {charge} (left: {left})", f"runs         {self.sql}"]
        return "\n".join(lines)

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
    cells: int,
    assuming: int | None,
) -> Explanation:
    """Everything about a request that does not need its answer."""
    noise, core = request.noise, request.query.core
    bare = bare_aggregates(request.query.stages)
    errors: dict[str, Fraction | None] = {}
    for name, value in request.query.stages[-1].columns:
        if name in bare:
            errors[name] = half_width(
                noise,
                noise.lowered.recipes[bare[name]],
                confidence=request.confidence,
                cells=cells,
                assuming=assuming,
            )
        elif value.meaning.type in ("integer", "real") and not isinstance(value, Column):
            errors[name] = None
    groups = None
    if core.keys_are_public:
        groups = 1
        for key in core.keys:
            groups *= len(key.values or ())
    return Explanation(
        dataset=request.dataset.name,
        facts=facts(request),
        groups=groups,
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
        errors=errors,
        confidence=request.confidence,
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
        "noise": kinds[noise.kind],
        "epsilon": noise.epsilon,
        "delta": noise.delta,
        "bounds": "; ".join(f"{name} {range_}" for name, range_ in bounds.items()),
        "threshold": noise.selection.threshold if noise.selection else None,
    }
