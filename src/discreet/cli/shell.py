"""``discreet shell``: ask one question after another."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.hints import as_setting, example, hinting
from discreet.cli.interrupt import STOPPED
from discreet.cli.shown import amounts, console, plain_table, show
from discreet.cli.source import Source, with_source
from discreet.errors import DiscreetError, InvalidInput, UnknownAccount
from discreet.exact import confidence, delta, epsilon, positive

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.policy import Column
    from discreet.session import Session

EPILOG = """\
Example:  discreet shell --data visits.csv --epsilon 0.1

Questions end with a semicolon and may span lines. \\help lists the commands.
"""

HELP = """\
SELECT ...;        ask; it may span lines and ends with a semicolon
\\explain SELECT ... what it would cost and how far off it would be; spends nothing
\\budget            what is spent and what is left
\\d                 tables, columns, types, public bounds and keys
\\set epsilon 0.5   what each question may cost; also delta, within, confidence, assuming, column
\\set               the settings
\\unset within      forget a setting
\\help              this
\\q                 leave"""

_PROMPT, _MORE = "discreet> ", "     ...> "
_HISTORY = 1000


def _rows(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise InvalidInput(f"{text!r} is not a number of rows.", hint="\\set assuming 1000")
    return int(text)


_SETTINGS: dict[str, Callable[[str], Any]] = {
    "epsilon": epsilon,
    "delta": delta,
    "within": lambda text: positive(text, name="within"),
    "confidence": confidence,
    "assuming": _rows,
    "column": str,
}


@with_source
def shell(
    *,
    source: Source,
    epsilon: Annotated[
        str | None, typer.Option(help="What each question may cost; \\set epsilon changes it.")
    ] = None,
) -> None:
    """Ask private data in SQL, one question after another."""
    with hinting(source):
        session = source.open()
    with session:
        running = Shell(source, session, console(), console(stderr=True))
        if epsilon is not None:
            running.set(f"epsilon {epsilon}")
        interactive = sys.stdin.isatty()
        if interactive:
            running.welcome()
        with _history(source.home.folder / "history", running.names, enabled=interactive):
            running.run(_lines if interactive else _piped)
    # A script notices that something in it went wrong.
    if running.status and not interactive:
        raise typer.Exit(running.status)


class Shell:
    """The state of one sitting: settings, and the lines of a question that is not finished."""

    def __init__(self, source: Source, session: Session, out: Console, err: Console) -> None:
        self.source = source
        self.session = session
        self.out = out
        self.err = err
        self.terms: dict[str, Any] = {}
        self.typed: dict[str, str] = {}
        self.status = 0
        self.finished = False
        self._commands: dict[str, Callable[[str], None]] = {
            "explain": self.explain,
            "budget": self.budget,
            "d": self.describe,
            "set": self.set,
            "unset": self.unset,
            "help": self.help,
            "?": self.help,
            "q": self.quit,
            "quit": self.quit,
        }

    @property
    def names(self) -> list[str]:
        """What the tab key completes."""
        datasets = self.session.policy.datasets
        columns = {column for each in datasets.values() for column in each.columns}
        words = ["SELECT", "COUNT(*)", "SUM(", "AVG(", "FROM", "WHERE", "GROUP BY", "ORDER BY"]
        return [*words, *datasets, *sorted(columns), *(f"\\{name}" for name in self._commands)]

    def welcome(self) -> None:
        """A line for people."""
        tables = ", ".join(self.session.policy.datasets)
        self.out.print(f"Private SQL over {tables}. \\help lists the commands, \\q leaves.")

    def run(self, lines: Callable[[Callable[[], str]], Iterator[str]]) -> None:
        """Take lines until there are no more."""
        waiting: list[str] = []
        for line in lines(lambda: _MORE if waiting else _PROMPT):
            if line == "\x03":  # the interrupt key drops what was typed so far
                waiting.clear()
            elif not waiting and line.lstrip().startswith("\\"):
                self.command(line.strip())
            else:
                waiting.append(line)
                text = "\n".join(waiting).strip()
                if not text or complete(text):
                    waiting.clear()
                    self.ask(text.rstrip(";"))
            if self.finished:
                return
        self.ask("\n".join(waiting))

    def ask(self, sql: str) -> None:
        """One question."""
        if sql.strip():
            with self._told(sql):
                show(self.session.sql(sql, **self.terms), self.out)

    def command(self, line: str) -> None:
        r"""One of the commands that start with a backslash."""
        name, _, rest = line[1:].partition(" ")
        run = self._commands.get(name.rstrip(";"))
        with self._told(rest):
            if run is None:
                raise InvalidInput(f"there is no command \\{name}.", hint="\\help")
            run(rest.strip().rstrip(";"))

    def explain(self, sql: str) -> None:
        """What a question would cost."""
        if not sql:
            raise InvalidInput(
                "there is nothing to explain.", hint=f"\\explain {example(self.session)}"
            )
        explained = self.session.explain(sql, **self.terms)
        self.out.print(explained.told(assuming="\\set assuming 1000"), markup=False)

    def budget(self, _: str) -> None:
        """What is left of each table that the analyst may ask: of their cap and of all there is."""
        rows, others = [], []
        for name in self.session.policy.datasets:
            try:
                balance, left = self.session.balance(name), self.session.left(name)
            except DiscreetError as error:
                others.append(error)
                continue
            rows.append(
                (
                    name,
                    amounts(balance.cap, up=False),
                    amounts(balance.spent, up=True),
                    amounts(left, up=False),
                )
            )
        if rows:
            self.out.print(plain_table(("table", "total", "spent", "left"), rows))
        # A table that is not theirs is no news, unless there is no other.
        for other in others:
            if not rows or not isinstance(other, UnknownAccount):
                raise other

    def describe(self, _: str) -> None:
        """The tables and what is public about them."""
        for name, dataset in self.session.policy.datasets.items():
            whom = "each row" if dataset.unit is None else f"each {dataset.unit}"
            rows = "1 row" if dataset.rows_per_unit == 1 else f"{dataset.rows_per_unit} rows"
            self.out.print(f"{name}: protects {whom}, at most {rows} of theirs", markup=False)
            self.out.print(
                plain_table(
                    ("column", "type", "bounds", "keys"),
                    [
                        (column, *("the unit", "", ""))
                        if column == dataset.unit
                        else (column, each.type, *_public(each))
                        for column, each in dataset.columns.items()
                    ],
                )
            )

    def set(self, words: str) -> None:
        """Change a setting, or list all."""
        name, _, value = words.partition(" ")
        if not name:
            listed = [f"{each} = {typed}" for each, typed in self.typed.items()]
            self.out.print("\n".join(listed) or "nothing is set.", markup=False)
            return
        read = _SETTINGS.get(name)
        if read is None or not value:
            what = f"there is no setting {name!r}" if read is None else f"{name} needs a value"
            raise InvalidInput(
                f"{what}; the settings are {', '.join(_SETTINGS)}.", hint="\\set epsilon 0.5"
            )
        value = value.strip().removeprefix("=").strip()
        self.terms[name] = read(value)
        self.typed[name] = value

    def unset(self, name: str) -> None:
        """Forget a setting."""
        self.terms.pop(name, None)
        self.typed.pop(name, None)

    def help(self, _: str) -> None:
        """List the commands."""
        self.out.print(HELP, markup=False)

    def quit(self, _: str) -> None:
        """Leave."""
        self.finished = True

    @contextmanager
    def _told(self, sql: str) -> Iterator[None]:
        """An error ends the question, not the sitting."""
        try:
            with hinting(self.source, self.session, sql=sql, spelling=as_setting):
                yield
        except DiscreetError as error:
            self.status = self.status or error.exit_status
            self.err.print(str(error), markup=False)
        except KeyboardInterrupt:
            self.session.cancel()
            self.err.print(STOPPED, markup=False)


def complete(text: str) -> bool:
    """Whether a question is finished: a semicolon ends it, unless it stands in quotes.

    >>> complete("SELECT 1;"), complete("SELECT ';"), complete("SELECT 1")
    (True, False, False)
    """
    quote = ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
    return not quote and text.rstrip().endswith(";")


def _public(column: Column) -> tuple[str, str]:
    from discreet.policy.values import shown

    bounds = "" if column.bounds is None else " to ".join(shown(end) for end in column.bounds)
    keys = [] if column.keys is None else list(column.keys)
    few = ", ".join("NULL" if key is None else str(key) for key in keys[:6])
    return bounds, few + (f", ... ({len(keys)})" if len(keys) > 6 else "")


def _lines(prompt: Callable[[], str]) -> Iterator[str]:
    while True:
        try:
            yield input(prompt())
        except EOFError:
            typer.echo()
            return
        except KeyboardInterrupt:
            typer.echo()
            yield "\x03"


def _piped(_: Callable[[], str]) -> Iterator[str]:
    for line in sys.stdin:
        yield line.rstrip("\n")


@contextmanager
def _history(path: Path, names: list[str], *, enabled: bool) -> Iterator[None]:
    """Lines of earlier sittings, and the tab key; the file is its owner's alone."""
    if not enabled:
        yield
        return
    try:
        import readline
    except ImportError:  # not on every system
        yield
        return

    def completed(text: str, state: int) -> str | None:
        found = [name for name in names if name.lower().startswith(text.lower())]
        return found[state] if state < len(found) else None

    readline.set_completer(completed)
    readline.set_completer_delims(" \t\n,(")
    readline.parse_and_bind("tab: complete")
    with suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        readline.read_history_file(path)
    readline.set_history_length(_HISTORY)
    try:
        yield
    finally:
        with suppress(OSError):
            readline.write_history_file(path)
            path.chmod(0o600)
