"""The command line: one module for each group of commands."""

from __future__ import annotations

import json
import sys

import typer
from typer.exceptions import TyperException

from discreet.cli import (
    ask,
    audit,
    draw,
    engine,
    init,
    ledger,
    pages,
    policy,
    shell,
    snapshot,
    survey,
    theory,
)
from discreet.errors import DiscreetError, InvalidInput

app = typer.Typer(
    name="discreet",
    no_args_is_help=True,
    help="Differential privacy with exact noise.",
    epilog='A first private answer:  discreet ask "SELECT COUNT(*) FROM visits" --data visits.csv '
    "--unit patient_id --rows-per-unit 20 --epsilon 0.5",
    pretty_exceptions_enable=False,  # a traceback with local variables could show private values
)
app.command("ask", epilog=ask.EPILOG)(ask.ask)
app.command("shell", epilog=shell.EPILOG)(shell.shell)
app.command("init", epilog=init.EPILOG)(init.init)
app.add_typer(snapshot.app, name="snapshot")
app.add_typer(policy.app, name="policy")
app.add_typer(engine.app, name="engine")
app.add_typer(ledger.app, name="ledger")
app.add_typer(survey.app, name="survey")
app.add_typer(theory.app, name="theory")
app.add_typer(audit.app, name="audit")
app.command("draw", epilog=draw.EPILOG)(draw.draw)
app.command("help", epilog=pages.EPILOG)(pages.help_)


def main() -> None:
    """Run the command; an error that we raise on purpose is shown as text, not as a traceback."""
    as_json = "--json" in sys.argv
    try:
        # For people words that are not understood are answered with a page of help.
        raise SystemExit(app(standalone_mode=False) if as_json else app())
    except DiscreetError as error:
        typer.echo(json.dumps(error.to_json()) if as_json else str(error), err=True)
        raise SystemExit(error.exit_status) from None
    except TyperException as error:
        misread = InvalidInput(error.format_message().strip(), hint="discreet --help")
        typer.echo(json.dumps(misread.to_json()), err=True)
        raise SystemExit(error.exit_code) from None
    except (typer.Abort, BrokenPipeError):
        raise SystemExit(1) from None
