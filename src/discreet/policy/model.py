"""The curator's policy, checked: frozen, exact, and valid once constructed.

Files are read by ``discreet.policy.read``, which explains mistakes at their lines; a model that
is built in Python raises pydantic's ``ValidationError``, a ``ValueError``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from discreet.accounting.names import is_name
from discreet.exact.parameters import confidence as exact_confidence
from discreet.exact.parameters import delta as exact_delta
from discreet.policy.budget import AnalystCap, Budget, cap_mistakes
from discreet.policy.columns import RESERVED, Column, KeysFrom
from discreet.policy.engine import EngineSettings
from discreet.policy.ledger import LedgerSettings
from discreet.policy.mistakes import Mistake, refuse
from discreet.policy.schedule import Schedule
from discreet.policy.sources import Kind, Source
from discreet.policy.values import Named, number
from discreet.theory.neighbours import Relation
from discreet.theory.neighbours import relation as as_relation

EACH_ROW = "each row"
"""How a file writes ``unit = None``: each row is a person."""

LARGEST_DELTA = Fraction(1, 1000)
"""The most where nobody says how many people there are: there may be a thousand."""

Delta = Annotated[Fraction, BeforeValidator(lambda raw: exact_delta(number(raw)))]
Confidence = Annotated[Fraction, BeforeValidator(lambda raw: exact_confidence(number(raw)))]
Positive = Annotated[int, Field(ge=1)]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Dataset(_Model):
    """One private table: where it is, whom it is about, what is public, what may be spent."""

    name: str
    source: Source
    unit: str | None
    """The column that says whose row it is; None: each row is a person."""
    relation: Annotated[Relation, BeforeValidator(as_relation)] = Relation.ADD_REMOVE
    rows_per_unit: Positive
    """The most rows of one person that are used."""
    people: Positive | None = None
    """The public number of people, if it is public."""
    delta_per_query: Delta | None = None
    confidence: Confidence = Fraction(95, 100)
    bounding: Literal["auto", "rows", "groups"] = "auto"
    groups_per_unit: Positive | None = None
    """The most groups of one query that a person is counted in; left out, as many as rows."""
    rows_in_group: Positive | None = None
    """The most rows of one person in one group; left out, as many as are used at all."""
    columns: Named[Column]
    budget: Budget
    analysts: Named[AnalystCap] = Field(default_factory=dict, validate_default=True)
    pool: str | None = None
    """Data sets of one pool are about the same people and share one budget."""
    mode: Literal["snapshot", "live"] = "snapshot"
    refresh: str | None = None
    """A public schedule: ``every 6 hours``, ``daily at 03:00`` (UTC)."""
    tick: float | None = Field(default=None, gt=0, le=3600, allow_inf_nan=False)
    """Answers come whole multiples of so many seconds after the engine was asked."""
    engine: EngineSettings = Field(default_factory=EngineSettings)

    @model_validator(mode="before")
    @classmethod
    def _one_row(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and raw.get("unit", "") is None:
            return {"rows_per_unit": 1} | raw
        return raw

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse(
            [
                *_name_mistakes([self.name], "data set", ()),
                *_name_mistakes(self.analysts, "analyst", ("analysts",)),
                *self._pool_mistakes(),
                *self._column_mistakes(),
                *self._unit_mistakes(),
                *self._delta_mistakes(),
                *self._refresh_mistakes(),
                *self._engine_mistakes(),
                *self._bounding_mistakes(),
            ]
        )
        return self

    @property
    def pool_name(self) -> str:
        """Whose budget it is: the pool's, or its own."""
        return self.name if self.pool is None else self.pool

    @property
    def schedule(self) -> Schedule | None:
        """When its snapshot is made anew, if not on command alone."""
        return None if self.refresh is None else Schedule.read(self.refresh)

    def _pool_mistakes(self) -> Iterator[Mistake]:
        if self.pool is not None and not is_name(self.pool):
            yield Mistake(
                ("pool",),
                "the name of the pool is not 1 to 200 visible characters.",
                'pool = "patients"',
            )

    def _column_mistakes(self) -> Iterator[Mistake]:
        if not self.columns:
            yield Mistake(
                ("columns",),
                "no column is declared, so no query could use any.",
                'age = { type = "integer", bounds = [0, 110] }',
            )
        seen: dict[str, str] = {}
        for name, column in self.columns.items():
            twin = seen.setdefault(name.lower(), name)
            if twin != name:
                yield Mistake(
                    ("columns", name),
                    f'"{name}" and "{twin}" are one name in SQL.',
                    "rename one of them in a view of the source",
                    in_key=True,
                )
            if column.name != name:
                yield Mistake(
                    ("columns", name), f'it is called "{column.name}" too.', "one name for both"
                )

    def _unit_mistakes(self) -> Iterator[Mistake]:
        if self.unit is None:
            if self.rows_per_unit != 1:
                yield Mistake(
                    ("rows_per_unit",),
                    "where each row is a person, a person has one row.",
                    "rows_per_unit = 1, or leave it out",
                )
            return
        column = self.columns.get(self.unit)
        if column is None:
            yield Mistake(
                ("unit",),
                f'the unit column "{self.unit}" is not declared among the columns.',
                f'under [dataset.{self.name}.columns]: {self.unit} = {{ type = "integer" }}; '
                f'or unit = "{EACH_ROW}" if each row is a person',
            )
            return
        here = ("columns", self.unit)
        if column.type not in ("integer", "text"):
            yield Mistake(
                (*here, "type"),
                f"people cannot be told apart by a column of type {column.type}.",
                'type = "integer", of whatever length, or type = "text"',
            )
        for setting in ("bounds", "keys", "keys_from", "missing", "grid"):
            if getattr(column, setting) is not None:
                yield Mistake(
                    (*here, setting),
                    f"the unit column only says whose row it is; it has no {setting}.",
                    f"leave {setting} out",
                )

    def _delta_mistakes(self) -> Iterator[Mistake]:
        budget = self.budget
        for analyst, cap in self.analysts.items():
            yield from cap_mistakes(budget.accountant, cap, ("analysts", analyst))
        given = {("budget", "delta"): budget.delta, ("delta_per_query",): self.delta_per_query}
        for analyst, cap in self.analysts.items():
            given["analysts", analyst, "delta"] = cap.delta
        for where, delta in given.items():
            if delta is None:
                continue
            if self.people is None and delta > LARGEST_DELTA:
                yield Mistake(
                    where,
                    f"delta = {float(delta):g} would be a promise among fewer than "
                    f"{math.ceil(1 / delta)} people only, and nothing says how many there are.",
                    f"{where[-1]} = 1e-6; or people = {max(1, math.ceil(1 / delta) - 1)}, if there "
                    "are so few and that is public",
                )
            elif self.people is not None and delta * self.people >= 1:
                yield Mistake(
                    where,
                    f"delta = {float(delta):g} is 1/{self.people} or more: it would allow "
                    "publishing one person's row in full.",
                    f"{where[-1]} = {power_below(Fraction(1, self.people))}",
                )
        # zCDP and RDP keep a part of the budget's delta for turning their sums into epsilon.
        caps = dict(zip(budget.measure.components, budget.measure.cap(budget.total), strict=True))
        most = caps.get("delta", Fraction(0))
        if self.delta_per_query is not None and self.delta_per_query > most:
            yield Mistake(
                ("delta_per_query",),
                f"queries can spend {float(most):g} of delta in all, so not this on one of them.",
                f"delta_per_query = {power_below(most / 100)}"
                if most
                else "leave delta_per_query out, or give the budget a delta",
            )

    def _bounding_mistakes(self) -> Iterator[Mistake]:
        if self.bounding == "groups" and self.groups_per_unit is None:
            yield Mistake(
                ("bounding",),
                "bounding by groups needs to know how many groups a person may be counted in.",
                "groups_per_unit = 5",
            )
        if self.rows_in_group is not None and self.groups_per_unit is None:
            yield Mistake(
                ("rows_in_group",),
                "rows in each group are bounded together with the number of groups.",
                "groups_per_unit = 5",
            )
        if self.unit is None and self.groups_per_unit is not None:
            yield Mistake(
                ("groups_per_unit",),
                "where each row is a person, a person is in one group.",
                "leave it out",
            )

    def _refresh_mistakes(self) -> Iterator[Mistake]:
        if self.refresh is None:
            return
        if self.mode == "live":
            yield Mistake(("refresh",), "live data is read anew each time.", "leave refresh out")
        elif self.schedule is None:
            yield Mistake(
                ("refresh",),
                f'"{self.refresh:.60}" is no schedule.',
                'refresh = "every 6 hours" or refresh = "daily at 03:00"',
            )

    def _engine_mistakes(self) -> Iterator[Mistake]:
        embedded = self.source.kind in ("parquet", "csv", "duckdb")
        for name in () if embedded else self.engine.model_fields_set:
            yield Mistake(
                ("engine", name),
                f"a {self.source.kind} source is read by an engine that has its own {name}.",
                "leave it out",
            )


class Policy(_Model):
    """Every data set of one curator."""

    datasets: Named[Dataset]
    ledger: LedgerSettings = Field(default_factory=LedgerSettings)
    path: Path | None = None
    """The file it was read from; relative paths start there."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse([*self._name_mistakes(), *self._pool_mistakes()])
        return self

    @property
    def folder(self) -> Path:
        """Where relative paths start."""
        return Path() if self.path is None else self.path.parent

    @property
    def analysts(self) -> list[str]:
        """Everybody who may ask anything, by name."""
        return sorted({name for dataset in self.datasets.values() for name in dataset.analysts})

    def locate(self, path: str) -> str:
        """A path or glob of the policy, seen from the current directory.

        >>> Policy.model_construct(path=Path("/data/policy.toml")).locate("visits/*.parquet")
        '/data/visits/*.parquet'
        """
        return str(self.folder / path)

    def _name_mistakes(self) -> Iterator[Mistake]:
        if not self.datasets:
            yield Mistake(("datasets",), "no data set is named.", "[dataset.visits]")
        seen: dict[str, str] = {}
        for name, dataset in self.datasets.items():
            twin = seen.setdefault(name.lower(), name)
            if twin != name:
                yield Mistake(
                    ("datasets", name),
                    f'"{name}" and "{twin}" are one name in SQL.',
                    "rename one of them",
                    in_key=True,
                )
            if dataset.name != name:
                yield Mistake(
                    ("datasets", name), f'it is called "{dataset.name}" too.', "one name for both"
                )

    def _pool_mistakes(self) -> Iterator[Mistake]:
        first: dict[str, Dataset] = {}
        for name, dataset in self.datasets.items():
            other = first.setdefault(dataset.pool_name, dataset)
            if other.budget != dataset.budget or other.relation != dataset.relation:
                yield Mistake(
                    ("datasets", name, "budget"),
                    f'"{name}" and "{other.name}" share the budget of "{dataset.pool_name}", so '
                    "epsilon, delta, accountant and relation must be the same.",
                    f"copy the lines of [dataset.{other.name}.budget]",
                )
            if (other.unit is None) != (dataset.unit is None):
                # What is lost of a row and what is lost of a person do not add up.
                yield Mistake(
                    ("datasets", name, "unit"),
                    f'"{name}" and "{other.name}" share one budget, and only in one of them a row '
                    "is a person.",
                    "name the column that says whose row it is in both",
                )


def _name_mistakes(names: Iterable[str], what: str, where: tuple[str, ...]) -> Iterator[Mistake]:
    for name in names:
        here = (*where, name) if where else ()
        if not is_name(name):
            yield Mistake(
                here,
                f"the name of the {what} is not 1 to 200 visible characters.",
                "visits-2026",
                in_key=True,
            )
        elif name.lower().startswith(RESERVED):
            yield Mistake(
                here, f'names that start with "{RESERVED}" are kept.', "another name", in_key=True
            )


def power_below(most: Fraction) -> str:
    """A power of ten below ``most``, as a policy would write it."""
    exponent = 1
    while Fraction(1, 10**exponent) >= most:
        exponent += 1
    return f"1e-{exponent}"


__all__ = [
    "EACH_ROW",
    "AnalystCap",
    "Budget",
    "Column",
    "Dataset",
    "EngineSettings",
    "KeysFrom",
    "Kind",
    "LedgerSettings",
    "Policy",
    "Source",
]
