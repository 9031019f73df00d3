"""``discreet audit sql``: a whole answer, over two files that differ in one person."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.grouped import grouped
from discreet.cli.source import Source, with_source
from discreet.cli.trial import Trial, shown_after
from discreet.cli.typed import typed
from discreet.errors import InvalidInput

if TYPE_CHECKING:
    from discreet.session import Session
    from discreet.session.terms import Terms

EPILOG = shown_after(
    'discreet audit sql "SELECT ward, COUNT(*) FROM visits GROUP BY ward" --policy policy.toml '
    "--neighbour without_ann.csv --epsilon 1",
    'discreet audit sql "SELECT COUNT(*) FROM visits" --data visits.csv --neighbour '
    "without_ann.csv --unit patient_id --rows-per-unit 20 --epsilon 1",
)


@with_source
@grouped("trial", Trial, samples=1_000_000)
@typed
def sql(
    query: Annotated[str, typer.Argument(help="The query that would be asked.")],
    *,
    source: Source,
    trial: Trial,
    neighbour: Annotated[
        Path, typer.Option(help="The same data with one unit added, removed or changed.")
    ],
    epsilon: Annotated[str, typer.Option(help="What the answer would be charged.")],
    delta: Annotated[str | None, typer.Option(help="Its delta, where one is needed.")] = None,
    claim: Annotated[
        str | None, typer.Option(help="Another epsilon to refute than the one charged.")
    ] = None,
) -> None:
    """Try to refute that an answer over two neighbouring files costs no more than it is charged.

    You vouch that the files differ in one unit. They are copied to a folder of their own; nothing
    is charged, and what is printed is as private as the files.
    """
    from discreet.audit import Claim
    from discreet.audit.sql import audit_sql, pair

    if source.data is None and source.policy is None:
        raise InvalidInput(
            "an audit of SQL needs two files.",
            hint="--data visits.csv --neighbour without_ann.csv, or --policy policy.toml",
        )
    if not neighbour.is_file():
        raise InvalidInput(f'there is no file "{neighbour}".', hint="--neighbour without_ann.csv")
    terms: Terms = {"epsilon": epsilon} if delta is None else {"epsilon": epsilon, "delta": delta}
    with _copied(source, query) as (session, copy), trial.limits() as limits:
        found = pair(session, lambda: _swap(neighbour, copy), query, **terms)
        other = None if claim is None else Claim(claim, delta=found.claim.delta)
        report = audit_sql(found, claim=other, **limits)
    trial.show(report)


@contextmanager
def _copied(source: Source, query: str) -> Iterator[tuple[Session, Path]]:
    """A session over a copy of the data, and the copy."""
    from discreet.audit.copies import copied
    from discreet.policy import read
    from discreet.session.opening import open_policy

    with TemporaryDirectory() as name:
        folder = Path(name)
        if source.policy is not None:
            source.require_alone(source.policy)
            policy, copy = copied(read(source.policy), query, folder)
            with open_policy(policy, analyst=source.analyst, beside=folder) as session:
                yield session, copy
            return
        data = source.data or Path()
        if not data.is_file():
            raise InvalidInput(f'there is no file "{data}".', hint="--data visits.csv")
        copy = folder / data.name
        shutil.copyfile(data, copy)
        given = {each.name: getattr(source, each.name) for each in fields(Source)}
        with _Copied(**given | {"data": copy}).open() as session:
            yield session, copy


class _Copied(Source):
    """A copy that is thrown away: nobody becomes its curator."""

    def _welcome(self, data: Path, budget: dict[str, Any], people: int | None) -> None:
        del data, budget, people

    def _log(self) -> None:
        return


def _swap(file: Path, copy: Path) -> None:
    shutil.copyfile(file, copy)
