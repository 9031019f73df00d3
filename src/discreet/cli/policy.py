"""``discreet init`` and ``discreet policy``: a curator's first commands."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.errors import DiscreetError, InvalidInput, InvalidPolicy, PolicyMistake

if TYPE_CHECKING:
    from discreet.policy import Proposal

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


def init(
    file: Annotated[
        Path | None, typer.Argument(help="A Parquet or CSV file; only its schema is read.")
    ] = None,
    *,
    connection: Annotated[
        str | None,
        typer.Option(metavar="env:NAME|file:PATH", help="Or a database of PostgreSQL."),
    ] = None,
    table: Annotated[str | None, typer.Option(help="And its table: hospital.visits.")] = None,
    out: Annotated[Path, typer.Option(help="Where to write the draft; - prints it.")] = Path(
        "policy.toml"
    ),
    name: Annotated[str | None, typer.Option(help="The data set's name in SQL.")] = None,
    unit: Annotated[
        str | None, typer.Option(help='The column that says whose row it is, or "each row".')
    ] = None,
    rows_per_unit: Annotated[
        int | None, typer.Option(min=1, help="The most rows of one person that are used.")
    ] = None,
    look: Annotated[
        bool,
        typer.Option(
            "--look", help="Read the rows of a CSV file too, and put what they suggest in comments."
        ),
    ] = False,
) -> None:
    """Draft a policy from the names and types of the columns of a file or a table.

    Ranges, keys and the types of CSV columns are private facts: they appear only as comments
    marked UNSAFE, for you to judge.
    """
    from discreet.policy import draft

    folder = Path() if str(out) == "-" else out.parent
    try:
        if connection is None:
            place = _require_file(file, table)
            chosen = name or place.name.partition(".")[0]
            source = Path(os.path.relpath(place, folder)).as_posix()
            columns, proposals = _schema(place, look=look)
        else:
            source = _require_table(table, file, look=look)
            chosen, proposals = name or source.rpartition(".")[2], None
            columns = _server_schema(connection, source, folder)
        _known(unit, [column for column, _ in columns])
        text = draft(
            source,
            columns,
            name=chosen,
            unit=unit,
            rows_per_unit=rows_per_unit,
            connection=connection,
            proposals=proposals,
        )
        if str(out) == "-":
            typer.echo(text, nl=False)
            return
        _write(out, text)
    except DiscreetError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_status) from None
    typer.echo(f"{out} drafts a policy for {source if connection else file}. Next:\n")
    typer.echo(f"  1. decide what is public: edit {out}")
    typer.echo(f"  2. discreet policy check {out}")
    typer.echo(f"  3. discreet ask 'SELECT COUNT(*) FROM {chosen}' --policy {out} --epsilon 0.5")  # noqa: S608
    if look:
        typer.echo(f"\nThe comments in {out} hold private facts: delete them before you share it.")


# A secret does not belong in a policy; one that is there by mistake is not repeated.
_SECRET = re.compile(r"connection|passw|secret|token|dsn|://", re.IGNORECASE)

INIT_EPILOG = (
    "Examples:  discreet init visits.parquet  |  "
    "discreet init visits.csv --unit patient_id --rows-per-unit 20 --out visits.toml  |  "
    "discreet init --connection env:HOSPITAL_DSN --table hospital.visits"
)


def _require_file(file: Path | None, table: str | None) -> Path:
    if file is None or table is not None:
        raise InvalidInput(
            "a draft needs a file, or a connection and a table.",
            hint="discreet init visits.csv, or "
            "discreet init --connection env:HOSPITAL_DSN --table hospital.visits",
        )
    return file


def _require_table(table: str | None, file: Path | None, *, look: bool) -> str:
    if table is None or file is not None or look:
        raise InvalidInput(
            "a connection is drafted from with a table, and from the types of its columns alone.",
            hint="discreet init --connection env:HOSPITAL_DSN --table hospital.visits",
        )
    return table


def _server_schema(connection: str, table: str, folder: Path) -> list[tuple[str, str]]:
    from discreet.cli.engine import require_reference
    from discreet.engines.secret import Secret
    from discreet.policy import Source
    from discreet.session.files import table_types

    secret = Secret(require_reference(connection), folder)
    source = Source(kind="postgres", table=table, connection=connection)
    return list(table_types(source, secret).items())


def _schema(file: Path, *, look: bool) -> tuple[list[tuple[str, str]], dict[str, Proposal] | None]:
    from discreet.policy import look as rows
    from discreet.policy.sources import kind_of

    kind = kind_of(file.name)
    if not file.is_file():
        raise InvalidInput(f'there is no file "{file}".', hint="discreet init visits.csv")
    if kind == "csv":
        # Nothing but the rows themselves tells the types of a CSV file.
        columns = [(column, "text") for column in rows.header(file)]
        return columns, rows.look(file) if look else None
    if kind != "parquet":
        raise InvalidInput(
            f'"{file}" is neither a Parquet nor a CSV file by its name.',
            hint="discreet init visits.parquet, or discreet init visits.csv",
        )
    if look:
        raise InvalidInput("--look reads CSV files only.", hint=f"discreet init {file}")
    return _parquet(file), None


def _parquet(file: Path) -> list[tuple[str, str]]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(file)
    except (OSError, pa.ArrowException):
        raise InvalidInput(
            f'"{file}" is not a Parquet file.',
            hint="a CSV file ends in .csv",
        ) from None
    return [(field.name, str(field.type)) for field in schema]


def _known(unit: str | None, columns: list[str]) -> None:
    from discreet.policy import EACH_ROW

    if unit is not None and unit not in (*columns, EACH_ROW):
        raise InvalidInput(
            f'there is no column "{unit}"; there are {", ".join(columns)}.',
            hint=f"--unit {columns[0]}" if columns else f'--unit "{EACH_ROW}"',
        )


def _write(out: Path, text: str) -> None:
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidInput(
            f'"{out}" is already there, and a policy is not to be lost.',
            hint=f"--out {out.stem}-draft.toml, or --out - to see the draft",
        ) from None
    except OSError as error:
        raise InvalidInput(
            f'"{out}" cannot be written: {error.strerror}.', hint="--out policy.toml"
        ) from None


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
