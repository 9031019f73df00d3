"""``discreet engine``: the servers that data already live in."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.shown import console, plain_table
from discreet.errors import InvalidInput

if TYPE_CHECKING:
    from discreet.engines.grants import Wanted
    from discreet.engines.postgres.check import Finding
    from discreet.engines.secret import Secret
    from discreet.policy import Policy

app = typer.Typer(no_args_is_help=True, help="The servers that data already live in.")


@app.callback()
def engine() -> None:
    """The servers that data already live in."""


@app.command(
    epilog="Examples:  discreet engine postgres --policy policy.toml --grants > grants.sql  |  "
    "discreet engine postgres --policy policy.toml --check"
)
def postgres(
    *,
    policy: Annotated[Path | None, typer.Option(help="The curator's policy file.")] = None,
    grants: Annotated[
        bool, typer.Option("--grants", help="Print the SQL that gives a role what it needs.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Say what the connection can and cannot do.")
    ] = False,
    role: Annotated[
        str | None, typer.Option(help="The role of the grants: discreet_reader if you do not say.")
    ] = None,
    connection: Annotated[
        str | None,
        typer.Option(metavar="env:NAME|file:PATH", help="Check this connection, without a policy."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Set a role of PostgreSQL up with the least that it needs, and see whether it has it.

    Exit status: 0 if questions can be answered, 1 if they cannot.
    """
    if grants == check:
        raise InvalidInput(
            "say what is wanted: the grants, or a check.",
            hint="discreet engine postgres --policy policy.toml --check",
        )
    if grants:
        _grants(policy, role, connection, as_json=as_json)
    else:
        _check(policy, role, connection, as_json=as_json)


def _grants(
    policy: Path | None, role: str | None, connection: str | None, *, as_json: bool
) -> None:
    from discreet.engines.grants import ROLE, Wanted, grants

    if connection is not None:
        raise InvalidInput(
            "--connection: grants are made from a policy alone.", hint="--policy policy.toml"
        )
    if policy is None:
        # An example to read, with names that nobody has.
        example = Wanted("hospital", "visits", ("patient_id", "ward", "age"), "discreet")
        wanted = {"": [example]}
    else:
        wanted = {str(secret): tables for secret, tables in _sources(policy).items()}
    scripts = {place: grants(tables, role=role or ROLE) for place, tables in wanted.items()}
    if as_json:
        typer.echo(json.dumps({"grants": scripts, "example": policy is None}))
        return
    if policy is None:
        typer.echo("-- An example: these are no names of yours. --policy policy.toml knows those.")
    for place, script in scripts.items():
        if len(scripts) > 1:
            typer.echo(f"-- In the database of {place}:")
        typer.echo(script)


def _check(policy: Path | None, role: str | None, connection: str | None, *, as_json: bool) -> None:
    from discreet.engines.secret import Secret

    if role is not None:
        raise InvalidInput("--role: the connection says which role it is.", hint="leave it out")
    if (policy is None) == (connection is None):
        raise InvalidInput(
            "a check needs a policy or a connection.",
            hint="--policy policy.toml, or --connection env:HOSPITAL_DSN",
        )
    sources: dict[Secret, list[Wanted]] = {}
    if policy is not None:
        sources = _sources(policy)
    elif connection is not None:
        sources = {Secret(require_reference(connection)): []}
    from discreet.engines.postgres.check import check

    found = {
        str(secret): [_named(each, policy) for each in check(secret, tables)]
        for secret, tables in sources.items()
    }
    if as_json:
        shown = {place: [asdict(each) for each in listed] for place, listed in found.items()}
        typer.echo(json.dumps({"connections": shown}))
    else:
        for place, listed in found.items():
            _show(place, listed)
    if any(each.state == "wrong" for listed in found.values() for each in listed):
        raise typer.Exit(1)


def _named(finding: Finding, policy: Path | None) -> Finding:
    """A finding whose hint names the policy that was given."""
    if policy is None or finding.hint is None:
        return finding
    return replace(finding, hint=finding.hint.replace("policy.toml", str(policy)))


def _show(place: str, findings: list[Finding]) -> None:
    rows: list[tuple[str, str, str]] = []
    for each in findings:
        rows.append((each.state, each.about, each.says))
        if each.hint is not None:
            rows.append(("", "", f"Hint: {each.hint}"))
    out = console()
    out.print(f"{place}:")
    out.print(plain_table(("", "", ""), rows))


def _sources(path: Path) -> dict[Secret, list[Wanted]]:
    """What each connection of a policy has to give."""
    from discreet.engines.grants import Wanted
    from discreet.engines.secret import Secret
    from discreet.policy import read

    policy: Policy = read(path)
    found: dict[Secret, list[Wanted]] = {}
    for dataset in policy.datasets.values():
        source = dataset.source
        if source.kind != "postgres":
            continue
        schema, table = source.schema_and_table
        kept = source.snapshots or "discreet"
        wanted = Wanted(
            schema, table, tuple(dataset.columns), None if dataset.mode == "live" else kept
        )
        found.setdefault(Secret(source.connection or "", policy.folder), []).append(wanted)
    if not found:
        raise InvalidInput(
            f"{path} has no source in PostgreSQL.",
            hint='source = { kind = "postgres", table = "hospital.visits", '
            'connection = "env:HOSPITAL_DSN" }',
        )
    return found


def require_reference(connection: str) -> str:
    """A place that holds a secret, not the secret, which others would see on a command line."""
    kind, _, rest = connection.partition(":")
    if kind not in ("env", "file") or not rest:
        raise InvalidInput(
            "--connection names an environment variable or a file that holds the connection "
            "string; on a command line everybody could read it.",
            hint="--connection env:HOSPITAL_DSN, or --connection file:hospital.dsn",
        )
    return connection
