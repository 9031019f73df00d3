"""A data set's rows, in a snapshot or live, behind the engine that its source names."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from glob import glob
from pathlib import Path

import pyarrow as pa

from discreet.engines.duckdb import DuckDB
from discreet.engines.protocol import Engine, Progress
from discreet.engines.words import LOG
from discreet.errors import Unsupported
from discreet.policy.model import Dataset, Policy
from discreet.session.files import header
from discreet.session.home import Home
from discreet.sql.dialects import DUCKDB, Dialect
from discreet.sql.snapshot import Header, duckdb_source, snapshot


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The snapshot that is there."""

    id: str
    current: bool
    """Whether it is what the policy defines now; if not, the next query makes it anew."""
    place: str
    """The file or the table that holds it."""
    built: datetime


@dataclass(frozen=True, slots=True)
class Reached:
    """A source behind its engine."""

    engine: Engine
    relation: str
    """What the engine calls the source, quoted."""
    dialect: Dialect


class Data:
    """One data set: its snapshot, or in live mode its source."""

    def __init__(self, policy: Policy, dataset: Dataset, home: Home) -> None:
        self.dataset = dataset
        self._key = home.key()
        reached = reach(policy, dataset, home)
        self.dialect = reached.dialect
        self._engine, self._relation = reached.engine, reached.relation

    @cached_property
    def live(self) -> bool:
        """Whether each query reads the source itself: as the policy says, or of necessity."""
        if self.dataset.mode == "live":
            return True
        why = self.obstacle()
        if why is not None:
            LOG.warning("%s: every query reads the source itself, since %s", self.dataset.name, why)
        return why is not None

    def obstacle(self) -> str | None:
        """Why no snapshot is kept although the policy wants one, for the curator."""
        if self.dataset.mode == "live":
            return None
        why = self._engine.obstacle()
        # One that is there already is as good as one that could be made.
        there = None if why is None else self._kept()
        return None if there is not None and there.current else why

    @property
    def table(self) -> str:
        """What a query reads: the snapshot, or its definition in its place."""
        return f"({self._select}) AS snapshot" if self.live else self._engine.table

    def prepare(self, *, refresh: bool = False, progress: Progress | None = None) -> str:
        """Make the snapshot if it is missing or outdated; its id ('live' where there is none)."""
        if self.live:
            return "live"
        existing = self._kept()
        if existing is not None and existing.current and not refresh:
            return existing.id
        return self._engine.prepare(self._select, definition=self._definition, progress=progress)

    def snapshot(self) -> Snapshot | None:
        """What is there, if anything is."""
        return None if self.live else self._kept()

    def run(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The engine's answer."""
        ask = self._engine.run_live if self.live else self._engine.run
        return ask(sql, timeout=timeout)

    def cancel(self) -> None:
        """Stop what is running."""
        self._engine.cancel()

    def close(self) -> None:
        """Let go of the engine."""
        self._engine.close()

    def _kept(self) -> Snapshot | None:
        existing = self._engine.snapshot()
        if existing is None:
            return None
        current = existing.definition == self._definition
        return Snapshot(existing.id, current, self._engine.place, existing.built)

    @cached_property
    def _select(self) -> str:
        return snapshot(self.dataset, source=self._relation, key=self._key, dialect=self.dialect)

    @property
    def _definition(self) -> str:
        return hashlib.sha256(self._select.encode()).hexdigest()


def reach(policy: Policy, dataset: Dataset, home: Home) -> Reached:
    """The engine that a source's kind names. Nothing else here or above depends on the kind."""
    match dataset.source.kind:
        case "parquet" | "csv" | "duckdb":
            return _files(policy, dataset, home)
        case kind:
            raise Unsupported(
                f'"{dataset.name}" is a {kind} source, and there is no engine for one here.',
                hint='source = "visits.parquet"',
            )


def _files(policy: Policy, dataset: Dataset, home: Home) -> Reached:
    source = dataset.source
    pattern = policy.locate(source.path or "")
    found = sorted(glob(pattern, recursive=True))  # noqa: PTH207  # the pattern may be absolute
    paths = found or [pattern]
    headers: dict[str, Header] = {}
    if source.kind == "csv":
        # Without a line of names on top, the columns stand in the order of the policy.
        own = tuple(dataset.columns)
        headers = {path: header(source, path) if source.header else own for path in paths}
    relation = duckdb_source(source, paths, headers)
    attach = Path(paths[0]) if source.kind == "duckdb" else None
    engine = DuckDB(home.snapshot(dataset.name), source=relation, paths=paths, attach=attach)
    return Reached(engine, relation, DUCKDB)
