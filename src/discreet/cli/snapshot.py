"""``discreet snapshot``: the cleaned copy that questions are asked of."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.hints import hinting
from discreet.cli.interrupt import interruptible
from discreet.cli.shown import console, plain_table
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
    """Say which snapshots there are, whether they are current, and when the next is due."""
    with hinting(source):
        session = source.open_for_curator()
    with session, hinting(source, session):
        _report(session, as_json=as_json)


def _make(source: Source, *, refresh: bool, as_json: bool) -> None:
    with hinting(source):
        session = source.open_for_curator()
    with session, interruptible(session), hinting(source, session):
        for name in session.policy.datasets:
            session.prepare(name, refresh=refresh)
        _report(session, as_json=as_json)


def _report(session: Session, *, as_json: bool) -> None:
    found = {name: _about(session, name) for name in session.policy.datasets}
    if as_json:
        typer.echo(json.dumps({"snapshots": found}))
        return
    scheduled = any(each["due"] for each in found.values())
    named = ["data set", "snapshot", "built (UTC)", *["due (UTC)"] * scheduled, "place"]
    rows = [
        [
            *(name, each["state"], _clock(each["built"])),
            *[_clock(each["due"])] * scheduled,
            each["path"] or "",
        ]
        for name, each in found.items()
    ]
    console().print(plain_table(named, rows))
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
        empty = {"id": None, "built": None, "due": None, "path": None}
        return empty | {"state": state, "why": why}
    return {
        "id": there.id,
        "state": "current" if there.good else "due" if there.current else "outdated",
        "built": there.built.isoformat(),
        "due": None if there.due is None else there.due.isoformat(),
        "why": None,
        "path": os.path.relpath(there.place) if Path(there.place).exists() else there.place,
    }


def _clock(moment: str | None) -> str:
    return (moment or "")[:19].replace("T", " ")
