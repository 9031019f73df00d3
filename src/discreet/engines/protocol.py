"""What every engine must do: make a snapshot once, then answer queries on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple, Protocol, TypeAlias

import pyarrow as pa

Progress: TypeAlias = Callable[[float], None]
"""Called with how much is done, from 0 to 1."""


class Kept(NamedTuple):
    """The snapshot that an engine holds."""

    id: str
    definition: str
    """What it was made from: another one means that it is outdated."""
    built: datetime
    """When its making began."""


class Engine(Protocol):
    """An engine that holds private rows of one source. It receives text and returns integers, keys.

    Where the source is, and how it is reached, is said when an engine is made. Whatever goes wrong
    inside is raised as ``EngineFailed`` with the same words every time (see
    ``discreet.engines.words``); what the engine itself said, which may quote a cell, goes to the
    curator's log alone.
    """

    @property
    def table(self) -> str:
        """What a query on the snapshot reads, quoted."""
        ...

    @property
    def place(self) -> str:
        """Where the snapshot is, for the curator: a file, or a table."""
        ...

    def types(self) -> Mapping[str, str]:
        """The source's columns and the engine's own words for their types, in small letters."""
        ...

    def obstacle(self) -> str | None:
        """Why no snapshot can be kept, for the curator; ``None`` where one can."""
        ...

    def snapshot(self) -> Kept | None:
        """The snapshot that is there, if one is; one that is damaged or emptied is not."""
        ...

    def prepare(
        self, select: str, *, definition: str = "", progress: Progress | None = None
    ) -> str:
        """Run the SELECT that defines a snapshot, keep its rows, and return the snapshot's id.

        The new one takes the old one's place at once, or not at all.
        """
        ...

    def run(
        self, sql: str, *, snapshot: str | None = None, timeout: float | None = None
    ) -> pa.Table:
        """The answer to one query on the snapshot of an id: the one that it was planned for.

        Another may have taken its place since, by another definition: it is not read instead.
        """
        ...

    def run_live(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query on the source itself."""
        ...

    def cancel(self) -> None:
        """Stop what is running; it then fails as it would for any other reason."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
