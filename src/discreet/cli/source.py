"""The options that say which data a command opens, the same for all commands that do."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.grouped import grouped
from discreet.errors import InvalidInput, LedgerFailed

if TYPE_CHECKING:
    from discreet.cli.said import Said
    from discreet.ledger import Balance
    from discreet.session import Session
    from discreet.session.home import Home

BUDGET, BUDGET_DELTA = "3", "1e-6"
"""The total budget of a data file, if nobody says another."""

_PANEL = "The data"


def _option(*names: str, **about: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_PANEL, show_default=False, **about)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A data file with words about it, or a policy file."""

    data: Annotated[
        Path | None, _option(help="A Parquet, CSV or DuckDB file; you are then its curator.")
    ] = None
    policy: Annotated[Path | None, _option(help="Or the curator's policy file.")] = None
    unit: Annotated[
        str | None, _option(metavar="COLUMN", help="The column that says whose row it is.")
    ] = None
    each_row: Annotated[
        bool, _option("--each-row", help="Or: each row is a person of their own.")
    ] = False
    rows_per_unit: Annotated[
        int | None, _option(min=1, help="The most rows of one person that are used.")
    ] = None
    bounds: Annotated[
        list[str] | None,
        _option(metavar="COL=LOW:HIGH", help="A column's public range; repeat it."),
    ] = None
    keys: Annotated[
        list[str] | None,
        _option(metavar="COL=A,B,C", help="The public values to group a column by; repeat it."),
    ] = None
    types: Annotated[
        list[str] | None,
        _option(metavar="COL=TYPE", help="A CSV column's type; with bounds or keys it follows."),
    ] = None
    grid: Annotated[
        list[str] | None,
        _option(metavar="COL=STEP", help="The step that a real column is rounded to."),
    ] = None
    table: Annotated[str | None, _option(help="The table of a DuckDB file.")] = None
    delimiter: Annotated[str | None, _option(help="What separates the cells of a CSV file.")] = None
    budget: Annotated[
        str | None,
        _option(
            metavar="EPSILON",
            help=f"The total budget of --data: {BUDGET} if you do not say. Kept from then on.",
        ),
    ] = None
    budget_delta: Annotated[
        str | None, _option(metavar="DELTA", help=f"Its delta: {BUDGET_DELTA} if you do not say.")
    ] = None
    people: Annotated[
        int | None,
        _option(
            min=1, help="How many people there are, if that is public: delta is checked by it."
        ),
    ] = None
    analyst: Annotated[str | None, _option(help="Who asks, by the policy.")] = None

    @property
    def home(self) -> Home:
        """Where the key, the ledger and the snapshots are."""
        from discreet.session.home import Home
        from discreet.session.rows import folder_of

        if self.policy is None and self.data is not None:
            return Home(folder_of(self.data))
        return Home((self.policy or Path()).resolve().parent)

    def open(self) -> Session:
        """Open it, or say what is missing."""
        if self.policy is not None:
            return self._open_policy(self.policy)
        if self.data is None:
            raise InvalidInput(
                "nothing says which data to ask.",
                hint="--data visits.csv --unit patient_id, or --policy policy.toml",
            )
        try:
            opened = self._open_data(self.data)
        except OSError as error:
            raise LedgerFailed(
                f'"{self.home.folder}" cannot be used: {error.strerror}.',
                hint="copy the data into a folder of your own; key, ledger and snapshot are kept "
                "beside them.",
            ) from None
        self._log()
        return opened

    def open_for_curator(self) -> Session:
        """Open it for what is nobody's question, so that no analyst need be named."""
        from discreet.policy import read

        if self.policy is None or self.analyst is not None or self.policy.suffix != ".toml":
            return self.open()
        return replace(self, analyst=next(iter(read(self.policy).analysts), None)).open()

    def _open_policy(self, policy: Path) -> Session:
        from discreet.session import open_session

        self.require_alone(policy)
        opened = open_session(policy, analyst=self.analyst)
        self._log()
        return opened

    def require_alone(self, policy: Path) -> None:
        """Refuse words about the data beside a policy file, which says them itself."""
        from discreet.policy.sources import kind_of

        if policy.suffix != ".toml":
            other = f"--data {quote(str(policy))}" if kind_of(policy.name) else "--data visits.csv"
            raise InvalidInput(
                f'"{policy}" is no policy by its name.', hint=f"--policy policy.toml, or {other}"
            )
        stray = [
            f"--{each.name.replace('_', '-')}"
            for each in fields(self)
            if each.name not in ("policy", "analyst") and getattr(self, each.name)
        ]
        if stray:
            raise InvalidInput(
                f"{', '.join(stray)}: a policy file says this itself.",
                hint=f"--policy {quote(str(policy))}",
            )

    def _open_data(self, data: Path) -> Session:
        from discreet.cli.said import Said, require_columns, words
        from discreet.policy import EACH_ROW, type_of
        from discreet.policy.single import dataset_name
        from discreet.session import open_session
        from discreet.session.opening import held_budget, likely_unit

        self._require_file(data)
        if self.analyst is not None:
            raise InvalidInput(
                f"--analyst {self.analyst}: with --data the curator is the only one who asks.",
                hint=f"write a policy for others: discreet init {data}",
            )
        table = self.table or self._table(data)
        name = dataset_name(data, table)
        place = self.home.folder / f"{name}.json"
        if self.unit is not None and self.each_row:
            raise InvalidInput(
                "--unit and --each-row contradict each other.", hint=f"--unit {self.unit}"
            )
        now = Said(
            unit=EACH_ROW if self.each_row else self.unit,
            rows_per_unit=self.rows_per_unit,
            bounds=words("bounds", self.bounds, "0:110"),
            keys=words("keys", self.keys, "A,B,C"),
            types=words("types", self.types, "integer"),
            grids=words("grid", self.grid, "0.01"),
            table=table,
            delimiter=self.delimiter,
            people=self.people,
        )
        said = Said.read(place).then(now, name=name)
        kinds = _kinds(data, said)
        columns = [column for column, kind in kinds.items() if type_of(kind)]
        for option, named in (
            ("bounds", said.bounds),
            ("keys", said.keys),
            ("types", said.types),
            ("grid", said.grids),
            ("unit", {said.unit: ""} if said.unit and said.unit != EACH_ROW else {}),
        ):
            require_columns(option, named, columns, data.name)
        if said.unit is None:
            raise InvalidInput(
                "nothing says whose row a row is, so nobody can be protected.",
                hint=f"--unit {quote(likely_unit(columns))}, or --each-row if each row is a person "
                "of their own",
            )
        if said.unit != EACH_ROW and said.rows_per_unit is None:
            raise InvalidInput(
                f"one {said.unit} could have any number of rows, so nothing would hide them.",
                hint="--rows-per-unit 20, say: of whoever has more, 20 are used",
            )
        held = held_budget(self.home, name)
        before = BUDGET_DELTA if held is None else str(held.budget.delta)
        _require_delta(self.budget_delta or before, said.people)
        if held is not None:
            self._grant(held)
        budget: dict[str, Any] = {}
        if held is None:
            budget = {"epsilon": self.budget or BUDGET, "delta": self.budget_delta or BUDGET_DELTA}
            # With a delta of 0 too, so that a later grant can bring one.
            budget["accountant"] = f"approximate:{_per_query(budget['delta'])}"
        opened = open_session(data, **said.settings(kinds), **budget)
        said.write(place)
        if held is None:
            self._welcome(data, budget, said.people)
        kept = opened.snapshot()
        if kept is not None and not kept.current:
            _tell(
                f"{name} is now defined otherwise than before: its snapshot is made anew, and what "
                "was asked before costs anew.\n"
            )
        return opened

    def _table(self, data: Path) -> str | None:
        """The table of a DuckDB file: the only one, or the only one that was asked before."""
        from discreet.engines.duckdb import tables_of
        from discreet.policy.single import dataset_name
        from discreet.policy.sources import kind_of

        if kind_of(data.name) != "duckdb":
            return None
        there = tables_of(data)
        known = [
            each
            for each in there
            if (self.home.folder / f"{dataset_name(data, each)}.json").exists()
        ]
        for listed in (there, known):
            if len(listed) == 1:
                return listed[0]
        raise InvalidInput(
            f"{data.name} has {'the tables ' + ', '.join(there) if there else 'no table'}.",
            hint=f"--table {quote(there[0])}" if there else "--data visits.csv",
        )

    def _require_file(self, data: Path) -> None:
        from discreet.policy.sources import kind_of
        from discreet.session.rows import is_there

        if is_there(data):
            if kind_of(data.name) is None:
                raise InvalidInput(
                    f'"{data}" does not say by its ending what it is.',
                    hint="a file that ends in .parquet, .csv, .tsv or .duckdb",
                )
            return
        folder = data.parent
        there = [each.name for each in folder.glob("*") if kind_of(each.name)]
        close = get_close_matches(data.name, there, n=1, cutoff=0.4) or sorted(there)[:1]
        raise InvalidInput(
            f'there is no file "{data}".',
            hint=f"--data {quote(str(folder / close[0]))}" if close else "--data visits.csv",
        )

    def _grant(self, held: Balance) -> None:
        """The curator's word on a later run: another total than the one the ledger holds."""
        from discreet.accounting import Budget
        from discreet.ledger import open_ledger
        from discreet.session.opening import CURATOR

        wanted = Budget(
            self.budget or held.budget.epsilon,
            held.budget.delta if self.budget_delta is None else self.budget_delta,
        )
        if wanted == held.budget:
            return
        with open_ledger(self.home.ledger) as ledger:
            ledger.grant(held.dataset, wanted)
            ledger.grant(held.dataset, wanted, analyst=CURATOR)
        _tell(
            f"The total budget of {held.dataset} is now epsilon {float(wanted.epsilon):g}, "
            f"delta {float(wanted.delta):g}; it was {float(held.budget.epsilon):g}, "
            f"{float(held.budget.delta):g}.\n"
        )

    def _welcome(self, data: Path, budget: dict[str, Any], people: int | None) -> None:
        from discreet.exact import rational

        folder = os.path.relpath(self.home.folder)
        delta = rational(budget["delta"])
        few = (
            f"\nThat delta is a promise among far fewer than {int(1 / delta):,} people; --people "
            "says how many there are, if that is public."
            if delta and people is None
            else ""
        )
        _tell(
            f"You are the curator of {data.name}: keep it and {folder} private, share only answers."
            f"\nAll of them together may cost epsilon {budget['epsilon']}, delta {budget['delta']} "
            f"(--budget says another).{few}\nWhat is spent, and what you say about the columns, "
            f"is kept in {folder}: say it once.\n"
        )

    def _log(self) -> None:
        """Engines' own words, which may quote a cell, go to a file that only the curator reads."""
        log = logging.getLogger("discreet.curator")
        path = self.home.folder / "curator.log"
        if any(getattr(each, "baseFilename", None) == str(path) for each in log.handlers):
            return
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
            handler = logging.FileHandler(path, encoding="utf-8", delay=True)
            handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
            log.addHandler(handler)


with_source = grouped("source", Source)
"""Give a command the options of ``Source``; it receives them as its argument ``source``."""


def _tell(people: str) -> None:
    """A word for people, where no program reads what we say."""
    if "--json" not in sys.argv:
        typer.echo(people, err=True)


def _kinds(data: Path, said: Said) -> dict[str, str]:
    """The type of each column, before its keys are read by it."""
    from discreet.cli.said import require_types
    from discreet.policy import Source as Place
    from discreet.policy.sources import kind_of
    from discreet.session.files import column_types

    require_types(said.types)
    found: dict[str, Any] = {
        "kind": kind_of(data.name),
        "path": str(data),
        "table": said.table,
    }
    if said.delimiter is not None:
        found["delimiter"] = said.delimiter
    kinds = column_types(
        data,
        source=Place.model_validate(found),
        bounds=said.ranges(),
        grids=said.steps(),
        types=said.types,
    )
    if len(kinds) == 1 and said.delimiter is None:
        only = next(iter(kinds))
        for mark, typed in ((";", "';'"), ("\t", "$'\\t'"), ("|", "'|'")):
            if mark in only:
                raise InvalidInput(
                    f"the first line of {data.name} has one column by commas, and more by "
                    f"{mark!r}.",
                    hint=f"--delimiter {typed}",
                )
    return kinds


def _require_delta(typed: str, people: int | None) -> None:
    """Refuse a chance to fail that would let one whole row be published."""
    from discreet.exact import rational
    from discreet.policy.model import LARGEST_DELTA, power_below

    delta = rational(typed)
    if people is not None and delta * people >= 1:
        raise InvalidInput(
            f"delta = {float(delta):g} is 1/{people} or more: it would allow publishing one "
            "person's row in full.",
            hint=f"--budget-delta {power_below(Fraction(1, 10 * people))}",
        )
    if people is None and delta > LARGEST_DELTA:
        raise InvalidInput(
            f"delta = {float(delta):g} would be a promise among fewer than {int(1 / delta)} people "
            "only, and nothing says how many there are.",
            hint=f"--budget-delta {BUDGET_DELTA}, or --people 50 if there are so few and that is "
            "public",
        )


def _per_query(delta: str) -> str:
    """The delta that Gaussian noise is charged: a hundredth of the total."""
    from discreet.exact import rational

    total = rational(delta)
    return str((total or rational(BUDGET_DELTA)) / 100)
