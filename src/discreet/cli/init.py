"""``discreet init``: a curator's first command."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.errors import DiscreetError, InvalidInput

if TYPE_CHECKING:
    from discreet.policy import Proposal


def init(
    file: Annotated[
        Path | None, typer.Argument(help="A Parquet, CSV or DuckDB file; only its schema is read.")
    ] = None,
    *,
    connection: Annotated[
        str | None,
        typer.Option(metavar="env:NAME|file:PATH", help="Or a database of PostgreSQL."),
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="The table of a DuckDB file or database.")
    ] = None,
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
    from discreet.policy.single import dataset_name

    folder = Path() if str(out) == "-" else out.parent
    try:
        if connection is None:
            place, table = _require_file(file, table)
            chosen = name or dataset_name(place, table)
            source = Path(os.path.relpath(place, folder)).as_posix()
            columns, proposals = _schema(place, table, look=look)
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
            table=table,
            connection=connection,
            proposals=proposals,
        )
        if str(out) == "-":
            typer.echo(text, nl=False)
            return
        # What was read off the rows is for its reader alone.
        _write(out, text, mode=0o600 if look else 0o666)
    except DiscreetError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_status) from None
    typer.echo(f"{out} drafts a policy for {source if connection else file}. Next:\n")
    typer.echo(f"  1. decide what is public: edit {out}")
    typer.echo(f"  2. discreet policy check {out}")
    typer.echo(f"  3. discreet ask 'SELECT COUNT(*) FROM {chosen}' --policy {out} --epsilon 0.5")  # noqa: S608
    if look:
        typer.echo(f"\nThe comments in {out} hold private facts: delete them before you share it.")


EPILOG = (
    "Examples:  discreet init visits.parquet  |  "
    "discreet init hospital.duckdb --table visits  |  "
    "discreet init visits.csv --unit patient_id --rows-per-unit 20 --out visits.toml  |  "
    "discreet init --connection env:HOSPITAL_DSN --table hospital.visits"
)


def _require_file(file: Path | None, table: str | None) -> tuple[Path, str | None]:
    """A file or a pattern, and for a DuckDB file its table."""
    from discreet.engines.duckdb import tables_of
    from discreet.policy.sources import kind_of
    from discreet.session.rows import is_there

    if file is None:
        raise InvalidInput(
            "a draft needs a file, or a connection and a table.",
            hint="discreet init visits.csv, or "
            "discreet init --connection env:HOSPITAL_DSN --table hospital.visits",
        )
    if not is_there(file):
        raise InvalidInput(f'there is no file "{file}".', hint="discreet init visits.csv")
    kind = kind_of(file.name)
    if kind is None:
        raise InvalidInput(
            f'"{file}" is neither a Parquet, a CSV nor a DuckDB file by its name.',
            hint="discreet init visits.parquet, or discreet init visits.csv",
        )
    typed = f"discreet init {quote(str(file))}"
    if kind != "duckdb":
        if table is not None:
            raise InvalidInput(f"a {kind} file has no tables.", hint=typed)
        return file, None
    there = tables_of(file)
    if table is None and len(there) == 1:
        return file, there[0]
    if table is None or table.lower().removeprefix("main.") not in map(str.lower, there):
        raise InvalidInput(
            f'"{file}" has {"the tables " + ", ".join(there) if there else "no table"}.',
            hint=f"{typed} --table {quote(there[0])}" if there else "discreet init visits.csv",
        )
    return file, table


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


def _schema(
    file: Path, table: str | None, *, look: bool
) -> tuple[list[tuple[str, str]], dict[str, Proposal] | None]:
    from discreet.policy import Source
    from discreet.policy import look as rows
    from discreet.policy.sources import kind_of
    from discreet.session.files import column_types

    if look and not (file.is_file() and file.suffix.lower() in (".csv", ".tsv")):
        raise InvalidInput(
            "--look reads one plain CSV file only.", hint=f"discreet init {quote(str(file))}"
        )
    kind = kind_of(file.name) or "csv"
    # Nothing but the rows themselves tells the types of a CSV file.
    found = column_types(file, source=Source(kind=kind, path=str(file), table=table))
    return list(found.items()), rows.look(file) if look else None


def _known(unit: str | None, columns: list[str]) -> None:
    from discreet.policy import EACH_ROW

    if unit is not None and unit not in (*columns, EACH_ROW):
        raise InvalidInput(
            f'there is no column "{unit}"; there are {", ".join(columns)}.',
            hint=f"--unit {columns[0]}" if columns else f'--unit "{EACH_ROW}"',
        )


def _write(out: Path, text: str, *, mode: int) -> None:
    try:
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
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
