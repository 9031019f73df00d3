"""What every engine must do: make a snapshot once, then answer queries on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

import pyarrow as pa

Progress: TypeAlias = Callable[[float], None]
"""Called with how much is done, from 0 to 1."""


class Engine(Protocol):
    """An engine that holds private rows. It receives text and returns integers and keys.

    Whatever goes wrong inside is raised as ``EngineFailed`` with the same words every time; what
    the engine itself said, which may quote a cell, goes to the curator's log alone.
    """

    def prepare(
        self, select: str, *, definition: str = "", progress: Progress | None = None
    ) -> str:
        """Run the SELECT that defines a snapshot, keep its rows, and return the snapshot's id."""
        ...

    def run(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query on the snapshot."""
        ...

    def cancel(self) -> None:
        """Stop what is running; it then fails as it would for any other reason."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
