"""``discreet policy``: what is wrong in the curator's policy file, or what it promises."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.errors import InvalidPolicy, PolicyMistake

if TYPE_CHECKING:
    pass

app = typer.Typer(no_args_is_help=True, help="Check the curator's policy file.")


@app.callback()
def policy() -> None:
    """Check the curator's policy file."""


@app.command(
    epilog="Examples:  discreet policy check policy.toml  |  "
    "discreet policy check policy.toml --json"
)
def check(
    file: Annotated[Path, typer.Argument(help="The policy, a TOML file.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain every mistake at its line, or say what the policy protects.

    Of the files only the names of their columns are read; no server is asked.

    Exit status: 0 if the policy can be used, 2 if it cannot.
    """
    from discreet.policy import read, to_json
    from discreet.policy.summary import notes, summary
    from discreet.session.files import look

    try:
        found = read(file, look=look)
    except InvalidPolicy as error:
        _refuse(file, error, as_json=as_json)
        raise typer.Exit(error.exit_status) from None
    if as_json:
        remarks = {name: list(notes(each)) for name, each in found.datasets.items()}
        typer.echo(json.dumps({"policy": to_json(found), "notes": remarks}, indent=2))
        return
    typer.echo(f"{file} can be used.\n\n{summary(found)}")


# A secret does not belong in a policy; one that is there by mistake is not repeated.
_SECRET = re.compile(r"connection|passw|secret|token|dsn|://", re.IGNORECASE)


def _refuse(file: Path, error: InvalidPolicy, *, as_json: bool) -> None:
    if as_json:
        mistakes = [each._asdict() for each in error.mistakes]
        body: dict[str, object] = {**error.to_json()["error"], "mistakes": mistakes}
        typer.echo(json.dumps({"error": body}, indent=2), err=True)
        return
    if not error.mistakes:
        typer.echo(str(error), err=True)
        return
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    for each in error.mistakes:
        typer.echo(_shown(file, each, lines), err=True)
    count = len(error.mistakes)
    typer.echo(f"{file}: {count} mistake{'s' * (count != 1)}.", err=True)


def _shown(file: Path, mistake: PolicyMistake, lines: list[str]) -> str:
    """A mistake with its line of the file and a mark under its column."""
    line, column = mistake.line or 1, mistake.column or 1
    head = f"{file}:{line}:{column}: " + (f"{mistake.where}: " if mistake.where else "")
    parts = [head + mistake.message]
    if line <= len(lines) and _SECRET.search(lines[line - 1]) is None:
        gutter = f"{line:>6} | "
        parts.append(gutter + lines[line - 1].replace("\t", " "))
        parts.append(" " * (len(gutter) - 2) + "| " + " " * (column - 1) + "^")
    return "\n".join([*parts, "", f"Hint: {mistake.hint}", ""])
