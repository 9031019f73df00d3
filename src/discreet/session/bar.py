"""How far a snapshot is, for whoever waits for it: a bar on a terminal or in a notebook."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """Drawn when the first report comes, gone when it is done; nothing where nobody would see it.

    >>> with Bar("building the snapshot") as bar:
    ...     bar(0.5)
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._drawn: tuple[Progress, TaskID] | None = None

    def __call__(self, done: float) -> None:
        """So much is done, from 0 to 1."""
        if self._drawn is None:
            self._drawn = _drawn(self._what)
        bar, task = self._drawn
        bar.update(task, completed=done)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn is not None:
            self._drawn[0].stop()


def _drawn(what: str) -> tuple[Progress, TaskID]:
    # Loaded now and not before: most queries find their snapshot made.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (sys.stderr.isatty() or console.is_jupyter),
    )
    bar.start()
    return bar, bar.add_task(what, total=1.0)
