"""``discreet ledger``: budgets, what was spent of them, and the proof."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from discreet.cli.shown import amounts, console, plain_table
from discreet.errors import InvalidInput, LedgerExists
from discreet.exact import float_up

if TYPE_CHECKING:
    from discreet.accounting import Budget
    from discreet.ledger import Balance, Ledger

app = typer.Typer(no_args_is_help=True, help="Budgets that survive crashes, and their proof.")

Place = Annotated[
    str,
    typer.Argument(
        metavar="LEDGER",
        help="A file; or env:NAME or file:PATH, a variable or a file of mode 0600 that holds the "
        "address of a PostgreSQL database: use these, an address with a password is refused.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Dataset = Annotated[str, typer.Argument(help="The data set.")]
Analyst = Annotated[str | None, typer.Option(help="One analyst on it; else the data set itself.")]


@app.callback()
def ledger() -> None:
    """Budgets that survive crashes, and their proof."""


@app.command(
    epilog="Example:  discreet ledger init budget.db --dataset visits --epsilon 10 --delta 1e-6 "
    "--accountant zcdp --analyst ann=2,1e-7 --anchor /mnt/other/budget.anchor"
)
def init(
    place: Place,
    *,
    dataset: Annotated[str | None, typer.Option(help="A data set to open.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="Its cap.")] = None,
    delta: Annotated[str, typer.Option(help="Its cap on delta.")] = "0",
    accountant: Annotated[
        str, typer.Option(help='"pure", "approximate", "zcdp" or "rdp:ORDER"; fixed for good.')
    ] = "pure",
    relation: Annotated[str, typer.Option(help="Who is a neighbour.")] = "add_remove",
    people: Annotated[
        str | None, typer.Option(help="Data sets over the same people share one cap.")
    ] = None,
    analyst: Annotated[
        list[str] | None, typer.Option(help="NAME=EPSILON or NAME=EPSILON,DELTA; repeat it.")
    ] = None,
    anchor: Annotated[
        Path | None, typer.Option(help="A second place that remembers how far it has come.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Begin a ledger, or open one more data set in it."""
    from discreet.accounting import Budget

    if dataset is not None and epsilon is None:
        raise InvalidInput(
            f"the data set {dataset!r} has no cap, and a cap is mandatory.",
            hint=f"discreet ledger init {place} --dataset {dataset} --epsilon 10",
        )
    caps = dict(_analyst(each) for each in analyst or ())
    with _begun(place, anchor, again=dataset is not None) as opened:
        if dataset is not None and epsilon is not None:
            opened.declare(
                dataset,
                budget=Budget(epsilon, delta),
                accountant=accountant,
                analysts=caps,
                people=people,
                relation=relation,
            )
        _balances(opened.balances(), as_json=as_json)


@app.command(epilog="Example:  discreet ledger status budget.db")
def status(place: Place, *, as_json: Json = False) -> None:
    """Show every cap, what is spent of it and what is left."""
    with _opened(place) as opened:
        _balances(opened.balances(), as_json=as_json)


@app.command(epilog="Example:  discreet ledger history budget.db --dataset visits --analyst ann")
def history(
    place: Place,
    *,
    dataset: Annotated[str | None, typer.Option(help="Only this data set.")] = None,
    analyst: Analyst = None,
    as_json: Json = False,
) -> None:
    """Show the entries in order, with what each of them cost."""
    from discreet.ledger.balance import texts

    with _opened(place) as opened:
        entries = opened.history(dataset, analyst=analyst)
        if as_json:
            for entry in entries:
                cost = {"charged": texts(opened.charged(entry))} if "cost" in entry.data else {}
                typer.echo(json.dumps(entry.data | cost))
            return
        rows = [
            (
                str(data["seq"]),
                data["at"][:19],
                data["kind"],
                data.get("dataset", ""),
                data.get("analyst") or "",
                amounts(cost, up=True),
                _details(data),
            )
            for data, cost in ((entry.data, opened.charged(entry)) for entry in entries)
        ]
    _table(("entry", "at (UTC)", "what", "data set", "analyst", "cost", "details"), rows)


@app.command(epilog="Example:  discreet ledger verify budget.db")
def verify(place: Place, *, as_json: Json = False) -> None:
    """Check every page, every link of the chain and every balance; exit status 1 if one is off."""
    from discreet.ledger.entries import entries

    with _opened(place) as opened:
        found = opened.verify()
    if as_json:
        typer.echo(json.dumps(found.to_json()))
        return
    typer.echo(
        f"sound: {entries(found.entries)}, {_counted(found.charges, 'charge')}, "
        f"{_counted(found.answers, 'answer')}, {_counted(found.pending, 'reservation')} without one"
        f"\nhead {found.head}"
    )


@app.command(epilog="Example:  discreet ledger export budget.db --out chain.jsonl")
def export(
    place: Place,
    *,
    out: Annotated[Path, typer.Option(help="Where to; - prints it.")] = Path("-"),
    answers: Annotated[bool, typer.Option("--answers", help="With the stored answers.")] = False,
) -> None:
    """Write the chain as JSON lines that any program can check; the file is its owner's alone."""
    from discreet.ledger.entries import entries

    with _opened(place) as opened:
        if str(out) == "-":
            opened.export(sys.stdout, answers=answers)
            return
        with _private(out) as file:
            count = opened.export(file, answers=answers)
    typer.echo(f"{entries(count)} written to {out}", err=True)


@app.command(epilog="Example:  discreet ledger grant budget.db visits --analyst ann --epsilon 2")
def grant(
    place: Place,
    dataset: Dataset,
    *,
    epsilon: Annotated[str, typer.Option(help="The new cap, in all, not in addition.")],
    delta: Annotated[str, typer.Option(help="The new cap on delta.")] = "0",
    analyst: Analyst = None,
    new_basis: Annotated[
        bool,
        typer.Option("--new-basis", help="Go on with another unit or key."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Set a cap anew; never below what is spent."""
    from discreet.accounting import Budget

    with _opened(place) as opened:
        opened.grant(dataset, Budget(epsilon, delta), analyst=analyst, new_basis=new_basis)
        _balances([opened.balance(dataset, analyst=analyst)], as_json=as_json)


@app.command(epilog="Example:  discreet ledger revoke budget.db visits --analyst bob")
def revoke(
    place: Place, dataset: Dataset, *, analyst: Analyst = None, as_json: Json = False
) -> None:
    """Close a budget, until it is granted anew."""
    with _opened(place) as opened:
        opened.revoke(dataset, analyst=analyst)
        _balances([opened.balance(dataset, analyst=analyst)], as_json=as_json)


@app.command(epilog="Example:  discreet ledger reaccount budget.db visits --delta 1e-6")
def reaccount(
    place: Place,
    dataset: Dataset,
    *,
    delta: Annotated[str | None, typer.Option(help="At which delta; else the budget's.")] = None,
    as_json: Json = False,
) -> None:
    """Show what the history would have cost under other accountants; it gives nothing back."""
    from discreet.ledger.reaccount import reaccount as report

    with _opened(place) as opened:
        found = report(opened, dataset, delta=delta)
    if as_json:
        typer.echo(json.dumps(found.to_json()))
        return
    rows = [
        (loss.accountant, f"{float_up(loss.epsilon):.6g}", f"{float_up(loss.delta):.3g}", note)
        for note, losses in (("this ledger", [found.kept]), ("report", found.others.losses))
        for loss in losses
    ]
    typer.echo(f"{_counted(found.events, 'event')} charged to {dataset}\n")
    _table(("accountant", "epsilon", "delta", ""), rows)


@app.command(epilog="Example:  discreet ledger reopen budget.db")
def reopen(place: Place, *, as_json: Json = False) -> None:
    """Go on with a ledger older than its anchor: every cap falls to what is known to be spent."""
    from discreet.ledger.entries import entries

    with _opened(place, despite_anchor=True) as opened:
        lost = opened.reopen()
        if not as_json:
            is_lost = "is lost" if lost == 1 else "are lost"
            typer.echo(f"{entries(lost)} {is_lost}; grant what may be spent from here on.\n")
        _balances(opened.balances(), as_json=as_json)


@app.command(epilog="Example:  discreet ledger anchor budget.db /mnt/other/budget.anchor")
def anchor(
    place: Place,
    file: Annotated[Path, typer.Argument(help="A file that is not there yet, on another disk.")],
    *,
    as_json: Json = False,
) -> None:
    """Give a ledger a second place that remembers how far it has come, or another one.

    A copy of the ledger that is put back later is then noticed, and closed until `reopen`.
    """
    with _opened(place) as opened:
        opened.set_anchor(file)
        if as_json:
            typer.echo(json.dumps({"anchor": str(opened.anchor)}))
        else:
            typer.echo(f"{opened.anchor} remembers from now on how far the ledger has come.")


@contextmanager
def _opened(place: str, *, despite_anchor: bool = False) -> Iterator[Ledger]:
    """The ledger of a command; hints name it as the command did."""
    from discreet.ledger import open_ledger
    from discreet.ledger.asked import known_as

    with (
        known_as(quote(place)),
        open_ledger(_address(place), despite_anchor=despite_anchor) as opened,
    ):
        yield opened


@contextmanager
def _begun(place: str, anchor: Path | None, *, again: bool) -> Iterator[Ledger]:
    """A new ledger; or, to open a data set ``again``, the one that is there."""
    from discreet.ledger import create, exists, open_ledger
    from discreet.ledger.asked import known_as

    address = _address(place)
    with known_as(quote(place)):
        there = exists(address)
        if there and anchor is not None:
            raise LedgerExists(
                f"{quote(place)} is already there.",
                hint=f"discreet ledger anchor LEDGER {quote(str(anchor))}",
            )
        if address == place and "://" not in place:
            # The folder .discreet, say, before the first question makes it.
            with suppress(OSError):  # what is wrong with it, the ledger will say
                Path(place).absolute().parent.mkdir(mode=0o700, exist_ok=True)
        with open_ledger(address) if there and again else create(address, anchor=anchor) as opened:
            yield opened


def _address(place: str) -> str:
    """The place itself, or the address that it holds."""
    from discreet.engines.secret import Secret
    from discreet.session.ledger_of import address_of

    if place.startswith(("env:", "file:")):
        return address_of(Secret(place))
    if _PASSWORD.search(place):
        # Not repeated: it is on the screen once too often already.
        raise InvalidInput(
            "the address holds a password, which everybody on this machine can read on a command "
            "line.",
            hint="put the address into a variable or a file (chmod 600) and name that: "
            "env:LEDGER_DSN, or file:ledger.dsn",
        )
    return place


_PASSWORD = re.compile(r"://[^@?]*:[^@?]*@|\bpassword\s*=")


@contextmanager
def _private(path: Path) -> Iterator[TextIO]:
    """A file that its owner alone can read, also if it was there before."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise InvalidInput(
            f'"{path}" cannot be written: {error.strerror}.', hint="--out chain.jsonl"
        ) from None
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        if stat.S_ISREG(os.fstat(handle).st_mode):
            os.fchmod(handle, 0o600)
        yield file


def _analyst(text: str) -> tuple[str, Budget]:
    from discreet.accounting import Budget

    name, equals, numbers = text.rpartition("=")
    epsilon, _, delta = numbers.partition(",")
    if not equals:
        raise InvalidInput(f"--analyst {text!r} does not say how much.", hint=f"--analyst {text}=1")
    return name, Budget(epsilon, delta or 0)


def _balances(found: Iterable[Balance], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"balances": [balance.to_json() for balance in found]}))
        return
    rows = [
        (
            balance.dataset,
            balance.analyst or "(all)",
            balance.accountant,
            amounts(balance.cap, up=False),
            amounts(balance.spent, up=True),
            "closed" if balance.revoked else amounts(balance.remaining, up=False),
        )
        for balance in found
    ]
    _table(("data set", "analyst", "accountant", "cap", "spent", "left"), rows)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _details(data: dict[str, Any]) -> str:
    what = ""
    match data["kind"]:
        case "reserve":
            what = ", ".join(event["mechanism"] for event in data["events"])
        case "share" | "repeat":
            what = f"the answer of entry {data['reserved']}"
        case "settle":
            what = f"the answer of entry {data['reserved']}, {_counted(data['bytes'], 'byte')}"
        case "declare" | "grant":
            what = f"epsilon {data['cap']['epsilon']}, delta {data['cap']['delta']}"
        case "basis":
            what = ", ".join(f"{name} {value}" for name, value in data["basis"].items())
        case "anchor":
            what = data["path"]
        case "reopen":
            what = f"{data['lost']} lost"
    return what


def _table(columns: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    console().print(plain_table(columns, rows))
