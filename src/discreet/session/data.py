"""A data set's rows, in a snapshot or live, behind the engine that its source names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from glob import glob
from pathlib import Path

import pyarrow as pa

from discreet.engines.duckdb import DuckDB
from discreet.engines.protocol import Engine, Progress
from discreet.engines.words import LOG
from discreet.policy.model import Dataset, Policy
from discreet.session.files import header
from discreet.session.home import Home
from discreet.sql.dialects import DUCKDB, POSTGRES, SPARK, Dialect
from discreet.sql.relations import Header, duckdb_source, relation
from discreet.sql.snapshot import snapshot

_VERSION = 2
"""Of what a definition means; another one makes every snapshot anew."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The snapshot that is there."""

    id: str
    current: bool
    """Whether it is what the policy defines now; if not, the next query makes it anew."""
    place: str
    """The file or the table that holds it."""
    built: datetime
    due: datetime | None
    """When it is to be made anew by the policy's schedule: by the clock, whatever is in it."""

    @property
    def good(self) -> bool:
        """Whether a query may be asked of it now."""
        return self.current and (self.due is None or now() < self.due)


@dataclass(frozen=True, slots=True)
class Reached:
    """A source behind its engine."""

    engine: Engine
    relation: str
    """What the engine calls the source, quoted."""
    dialect: Dialect
    reader: Dialect | None = None
    """The words of whatever reads the snapshot, where that is not the engine itself."""


class Data:
    """One data set: its snapshot, or in live mode its source."""

    def __init__(self, policy: Policy, dataset: Dataset, home: Home) -> None:
        self.dataset = dataset
        self._home = home
        self._key = home.key()
        reached = reach(policy, dataset, home)
        self._dialect, self._reader = reached.dialect, reached.reader
        self._engine, self._relation = reached.engine, reached.relation

    @property
    def dialect(self) -> Dialect:
        """The words in which a query is asked."""
        return self._dialect if self._reader is None or self.live else self._reader

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
        return None if there is not None and there.good else why

    @property
    def table(self) -> str:
        """What a query reads: the snapshot, or its definition in its place."""
        return f"({self._select}) AS snapshot" if self.live else self._engine.table

    @property
    def shown(self) -> str:
        """The same for an analyst to read: a word stands where the key would."""
        if not self.live:
            return self._engine.table
        return f"({self._written(None, self._types)}) AS snapshot"

    def prepare(self, *, refresh: bool = False, progress: Progress | None = None) -> str:
        """Make the snapshot if it is missing, outdated or due; its id ('live' where none is kept).

        When it is due says the clock, and nothing else.
        """
        if self.live:
            return "live"
        existing = self._kept()
        if existing is not None and existing.good and not refresh:
            return existing.id
        with self._home.building(self.dataset.name):
            existing = self._kept()  # another builder may have been quicker
            if existing is not None and existing.good and not refresh:
                return existing.id
            if existing is not None:
                self._home.outlived(self.dataset.name, existing.id)
            return self._engine.prepare(
                self._select, definition=self._definition, progress=progress
            )

    def snapshot(self) -> Snapshot | None:
        """What is there, if anything is."""
        return None if self.live else self._kept()

    def earlier(self) -> list[str]:
        """The ids of the snapshots before this one, the last first."""
        return [] if self.live else self._home.earlier(self.dataset.name)

    def run(
        self, sql: str, *, snapshot: str | None = None, timeout: float | None = None
    ) -> pa.Table:
        """The engine's answer, from the snapshot that a query was planned for."""
        if self.live:
            return self._engine.run_live(sql, timeout=timeout)
        return self._engine.run(sql, snapshot=snapshot, timeout=timeout)

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
        current, schedule = existing.definition == self._definition, self.dataset.schedule
        due = None if schedule is None else schedule.next(existing.built)
        return Snapshot(existing.id, current, self._engine.place, existing.built, due)

    @property
    def _select(self) -> str:
        return self._written(self._key, self._types)

    def _written(self, key: str | None, types: Mapping[str, str] | None) -> str:
        return snapshot(
            self.dataset, source=self._relation, key=key, dialect=self._dialect, types=types
        )

    @property
    def _types(self) -> Mapping[str, str] | None:
        """What the source says of its columns, where that decides how they are read.

        DuckDB tries each cast, so there it is only how long the numbers of people may be; and since
        another file may have come, it is asked each time.
        """
        if self._dialect is not DUCKDB:
            return self._served
        unit = self.dataset.unit
        numbered = unit is not None and self.dataset.columns[unit].type == "integer"
        return self._engine.types() if numbered else None

    @cached_property
    def _served(self) -> Mapping[str, str]:
        return self._engine.types()

    @property
    def _definition(self) -> str:
        # A file may be away while its snapshot serves, so it is not asked for its types.
        types = None if self._dialect is DUCKDB else self._types
        text = f"{_VERSION} {self._written(self._key, types)}"
        return hashlib.sha256(text.encode()).hexdigest()


def now() -> datetime:
    """What the public clock says."""
    return datetime.now(UTC)


def reach(policy: Policy, dataset: Dataset, home: Home) -> Reached:
    """The engine that a source's kind names. Nothing else here or above depends on the kind."""
    match dataset.source.kind:
        case "parquet" | "csv" | "duckdb":
            return _files(policy, dataset, home)
        case "postgres":
            return _postgres(policy, dataset, home)
        case "spark":
            return _spark(policy, dataset, home)


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
    named = duckdb_source(source, paths, headers)
    attach = Path(paths[0]) if source.kind == "duckdb" else None
    settings = dataset.engine
    engine = DuckDB(
        home.snapshot(dataset.name),
        source=named,
        paths=paths,
        attach=attach,
        memory=settings.memory,
        threads=settings.threads,
        spill=None if settings.spill is None else Path(policy.locate(settings.spill)),
    )
    return Reached(engine, named, DUCKDB)


def _postgres(policy: Policy, dataset: Dataset, home: Home) -> Reached:
    from discreet.engines.postgres import Postgres
    from discreet.engines.secret import Secret

    source = dataset.source
    table = ".".join(source.schema_and_table)
    named = relation(source.model_copy(update={"table": table}), POSTGRES)
    # Several policies may share a database: each has snapshots of its own, by its own key.
    mark = hashlib.sha256(f"{home.key()} {dataset.name}".encode()).hexdigest()[:12]
    safe = "".join(c if c.isascii() and c.isalnum() else "_" for c in dataset.name.lower())
    engine = Postgres(
        Secret(source.connection or "", policy.folder),
        named,
        name=f"{safe[:30]}_{mark}",
        schema=source.snapshots or "discreet",
        timeout=source.timeout,
    )
    return Reached(engine, named, POSTGRES)


def _spark(policy: Policy, dataset: Dataset, home: Home) -> Reached:
    from discreet.engines.secret import Secret
    from discreet.engines.spark import Spark

    source = dataset.source
    if source.path is not None and ":/" not in source.path:
        source = source.model_copy(update={"path": str(Path(policy.locate(source.path)).resolve())})
    named = relation(source, SPARK, form=source.format or "parquet")
    if source.connection is not None:
        where = source.connection
        address = Secret(where, policy.folder, kind="spark").reveal()
    else:
        address = where = source.master or "local[*]"
    engine = Spark(
        home.snapshot(dataset.name).with_suffix(".spark"),
        relation=named,
        address=address,
        where=where,
        snapshots=source.snapshots,
        reader=source.reader,
        settings=dict(each.split("=", maxsplit=1) for each in source.settings),
        timeout=source.timeout,
    )
    return Reached(engine, named, SPARK, DUCKDB if engine.reader == "duckdb" else None)
