"""The interrupt key: what is running is stopped, and what was charged stays charged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from discreet.session import Session

STOPPED = (
    "stopped. If it was charged, it stays charged: the same question again is answered for it "
    "(of live data, with the same key)."
)


@contextmanager
def interruptible(session: Session) -> Iterator[None]:
    """Stop the engine's query with the interrupt key, and say what that means."""
    try:
        yield
    except KeyboardInterrupt:
        session.cancel()
        typer.echo(STOPPED, err=True)
        raise typer.Exit(1) from None
