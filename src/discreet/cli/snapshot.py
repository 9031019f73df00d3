"""``discreet snapshot``: the cleaned copy that questions are asked of."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.hints import hinting
from discreet.cli.shown import console, plain_table, progress
from discreet.cli.source import Source, with_source

if TYPE_CHECKING:
    from discreet.session import Session

app = typer.Typer(no_args_is_help=True, help="The cleaned copy that questions are asked of.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback()
def snapshot() -> None:
    """The cleaned copy that questions are asked of."""


@app.command(epilog="Example:  discreet snapshot build --policy policy.toml")
@with_source
def build(*, source: Source, as_json: Json = False) -> None:
    """Make the snapshots that are missing or outdated; the first question would do it too."""
    _make(source, refresh=False, as_json=as_json)


@app.command(epilog="Example:  discreet snapshot refresh --data visits.csv")
@with_source
def refresh(*, source: Source, as_json: Json = False) -> None:
    """Make the snapshots anew from the source; the budget goes on, since the people are the same.

    Questions that were asked before are then about other rows, and cost anew.
    """
    _make(source, refresh=True, as_json=as_json)


@app.command(epilog="Example:  discreet snapshot status --policy policy.toml")
@with_source
def status(*, source: Source, as_json: Json = False) -> None:
    """Say which snapshots there are, and whether they are what the policy defines."""
    with hinting(source):
        session = source.open()
    with session, hinting(source, session):
        _report(session, as_json=as_json)


def _make(source: Source, *, refresh: bool, as_json: bool) -> None:
    with hinting(source):
        session = source.open()
    with session, progress() as bar, hinting(source, session):
        for name in session.policy.datasets:
            session.prepare(name, refresh=refresh, progress=bar)
        _report(session, as_json=as_json)


def _report(session: Session, *, as_json: bool) -> None:
    found = {name: _about(session, name) for name in session.policy.datasets}
    if as_json:
        typer.echo(json.dumps({"snapshots": found}))
        return
    rows = [
        (name, each["state"], (each["built"] or "")[:19].replace("T", " "), each["path"] or "")
        for name, each in found.items()
    ]
    console().print(plain_table(("data set", "snapshot", "built (UTC)", "place"), rows))
    for name, each in found.items():
        if each["why"] is not None:
            console().print(
                f"\n{name} is read live although the policy wants a snapshot: {each['why']}"
            )


def _about(session: Session, name: str) -> dict[str, Any]:
    there = session.snapshot(name)
    if there is None:
        why = session.obstacle(name)
        live = session.policy.datasets[name].mode == "live" or why is not None
        state = "live" if live else "missing"
        return {"id": None, "state": state, "built": None, "path": None, "why": why}
    return {
        "id": there.id,
        "state": "current" if there.current else "outdated",
        "built": there.built.isoformat(),
        "why": None,
        "path": os.path.relpath(there.place) if Path(there.place).exists() else there.place,
    }
