"""A data set's rows, on disk or live, behind one engine."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from glob import glob
from pathlib import Path

import pyarrow as pa

from discreet.engines.duckdb import TABLE, DuckDB
from discreet.engines.protocol import Progress
from discreet.policy.model import Dataset, Policy
from discreet.session.files import header
from discreet.session.home import Home
from discreet.sql.dialects import DUCKDB
from discreet.sql.snapshot import Header, duckdb_source, snapshot


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The snapshot that is on disk."""

    id: str
    current: bool
    """Whether it is what the policy defines now; if not, the next query makes it anew."""
    path: Path


class Data:
    """One data set: its snapshot, or in live mode its source."""

    def __init__(self, policy: Policy, dataset: Dataset, home: Home) -> None:
        self.dataset = dataset
        self.live = dataset.mode == "live"
        self._paths = _paths(policy, dataset)
        self._select = snapshot(
            dataset,
            source=_relation(dataset, self._paths),
            key=home.key(),
            dialect=DUCKDB,
        )
        self._engine = DuckDB(home.snapshot(dataset.name))

    @property
    def table(self) -> str:
        """What a query reads: the snapshot, or its definition in its place."""
        return f"({self._select}) AS {TABLE}" if self.live else TABLE

    def prepare(self, *, refresh: bool = False, progress: Progress | None = None) -> str:
        """Make the snapshot if it is missing or outdated; its id ('live' where there is none)."""
        if self.live:
            return "live"
        existing = self.snapshot()
        if existing is not None and existing.current and not refresh:
            return existing.id
        return self._engine.prepare(
            self._select, definition=self._definition, attach=self._attached, progress=progress
        )

    def snapshot(self) -> Snapshot | None:
        """What is on disk, if anything is."""
        existing = None if self.live else self._engine.snapshot()
        if existing is None:
            return None
        name, definition = existing
        return Snapshot(name, definition == self._definition, self._engine.path)

    def run(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The engine's answer."""
        if self.live:
            return self._engine.run_live(
                sql, paths=self._paths, attach=self._attached, timeout=timeout
            )
        return self._engine.run(sql, timeout=timeout)

    def cancel(self) -> None:
        """Stop what is running."""
        self._engine.cancel()

    def close(self) -> None:
        """Let go of the engine."""
        self._engine.close()

    @property
    def _definition(self) -> str:
        return hashlib.sha256(self._select.encode()).hexdigest()

    @property
    def _attached(self) -> Path | None:
        return Path(self._paths[0]) if self.dataset.source.kind == "duckdb" else None


def _paths(policy: Policy, dataset: Dataset) -> list[str]:
    pattern = policy.locate(dataset.source.path or "")
    found = sorted(glob(pattern, recursive=True))  # noqa: PTH207  # the pattern may be absolute
    return found or [pattern]


def _relation(dataset: Dataset, paths: list[str]) -> str:
    source = dataset.source
    headers: dict[str, Header] = {}
    if source.kind == "csv":
        # Without a line of names on top, the columns stand in the order of the policy.
        own = tuple(dataset.columns)
        headers = {path: header(source, path) if source.header else own for path in paths}
    return duckdb_source(source, paths, headers)
