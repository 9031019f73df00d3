"""``discreet ask``: one question, one private answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.hints import hinting
from discreet.cli.interrupt import interruptible
from discreet.cli.shown import console, show
from discreet.cli.source import Source, with_source
from discreet.errors import InvalidInput
from discreet.exact import epsilon as exact_epsilon

if TYPE_CHECKING:
    from discreet.answer import Answer
    from discreet.session.terms import Terms

EPILOG = """\
The first question about a file says who is protected and what is public:

discreet ask "SELECT ward, COUNT(*), AVG(age) FROM visits GROUP BY ward" --data visits.csv
--unit patient_id --rows-per-unit 20 --bounds age=0:110 --keys ward=North,South --epsilon 0.5

Later ones need not:

discreet ask "SELECT COUNT(*) FROM visits" --data visits.csv --within 50 --epsilon 1

Exit status: 0 answered, 1 failed, 2 usage, 3 refused, 4 over budget.
"""

_QUESTION, _OUTPUT = "The question", "The answer"


@with_source
def ask(
    sql: Annotated[str, typer.Argument(help="A SELECT over the data set; a file is its own name.")],
    *,
    source: Source,
    epsilon: Annotated[
        str | None,
        typer.Option(help="What it may cost; with --within, at most.", rich_help_panel=_QUESTION),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            help="The delta it may cost; private groups need one.", rich_help_panel=_QUESTION
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            metavar="ERROR",
            help="Find the least epsilon that keeps the error within this.",
            rich_help_panel=_QUESTION,
        ),
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(help="Of each interval and of --within.", rich_help_panel=_QUESTION),
    ] = None,
    assuming: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="ROWS",
            help="The size of group for which errors of averages and ratios are meant.",
            rich_help_panel=_QUESTION,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(help="The one column that --within is for.", rich_help_panel=_QUESTION),
    ] = None,
    simultaneous: Annotated[
        bool,
        typer.Option(
            "--simultaneous",
            help="Keep all groups within the error at once, not each.",
            rich_help_panel=_QUESTION,
        ),
    ] = False,
    key: Annotated[
        str | None, typer.Option(help="A name that makes a retry safe.", rich_help_panel=_QUESTION)
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Say what it would cost and how far off it would be; spend nothing.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    diagnose: Annotated[
        str | None,
        typer.Option(
            metavar="EPSILON",
            help="Spend this too, on how many people have more rows than are used; with --csv it "
            "goes to standard error.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    diagnose_cells: Annotated[
        str | None,
        typer.Option(
            metavar="EPSILON",
            help="Spend this too, on how many cells of each column are NULL or none of its keys.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON.", rich_help_panel=_OUTPUT)
    ] = False,
    as_csv: Annotated[
        bool,
        typer.Option(
            "--csv", help="Print CSV, each number with its ends.", rich_help_panel=_OUTPUT
        ),
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw it with error bars: .svg, .png or .html.", rich_help_panel=_OUTPUT),
    ] = None,
) -> None:
    """Ask private data in SQL: a table with ± on every number, and what it cost."""
    terms: Terms = {
        "epsilon": epsilon,
        "delta": delta,
        "within": within,
        "confidence": confidence,
        "assuming": assuming,
        "column": column,
        "simultaneous": simultaneous,
    }
    if as_json and as_csv:
        raise InvalidInput("--json and --csv contradict each other.", hint="--json")
    if plot is not None:
        _require_drawable(plot)
    with hinting(source):
        session = source.open()
    with session, interruptible(session), hinting(source, session, sql=sql):
        if explain:
            explanation = session.explain(sql, **terms)
            told = explanation.told(assuming="--assuming 1000")
            typer.echo(json.dumps(explanation.to_json()) if as_json else told)
            return
        diagnoses = [
            (name, how, exact_epsilon(price))
            for name, how, price in (
                ("diagnosis", session.diagnose, diagnose),
                ("cells", session.diagnose_cells, diagnose_cells),
            )
            if price is not None
        ]
        answer = session.sql(sql, key=key, **terms)
        if as_csv:
            write_csv(answer)
            typer.echo("\n".join(answer.notes()), err=True)
        elif not as_json:
            show(answer, console())
        written = answer.to_json()
        # What was paid for is shown, whatever becomes of the rest.
        try:
            if plot is not None:
                answer.plot().save(plot)
            for name, how, price in diagnoses:
                found = how(answer.dataset, epsilon=price)
                written[name] = found.to_json()
                if not as_json:
                    show(found, console(stderr=as_csv))
        finally:
            if as_json:
                typer.echo(json.dumps(written))


def _require_drawable(plot: Path) -> None:
    """Said before anything is spent."""
    endings = (".svg", ".png", ".html", ".json")
    if plot.suffix.lower() not in endings:
        raise InvalidInput(
            f'"{plot}" does not say by its ending what kind of picture it is to be: one of '
            f"{', '.join(endings)}.",
            hint=f"--plot {plot.stem or 'answer'}.svg",
        )
    if not plot.resolve().parent.is_dir():
        raise InvalidInput(f'there is no folder "{plot.parent}".', hint=f"--plot {plot.name}")


def write_csv(answer: Answer) -> None:
    """The table as CSV on standard output."""
    from pyarrow import csv

    sys.stdout.flush()
    csv.write_csv(answer.to_arrow(), sys.stdout.buffer)
    sys.stdout.buffer.flush()
