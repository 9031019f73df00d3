"""Hints as a command line spells them.

The library's hints are written for Python (``delta=1e-9``). Here they become options, or the
shell's settings, so that what a hint says can be typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import (
    DiscreetError,
    EngineFailed,
    InsufficientBudget,
    InvalidPolicy,
    WrongType,
)

if TYPE_CHECKING:
    from discreet.cli.source import Source
    from discreet.session import Session

Spelling = Callable[[str, str], str]
"""How a setting is typed, from its name and value."""

_SETTING = re.compile(
    r"\b(epsilon|delta|within|confidence|column|assuming|unit|rows_per_unit|analyst|key)\s?=\s?"
    r'("[^"]*"|[\w./+-]*\w)'
)
QUOTE = '"'
_EXAMPLE = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"


def as_option(name: str, value: str) -> str:
    """An option of the command.

    >>> as_option("rows_per_unit", "20"), as_option("unit", '"each row"')
    ('--rows-per-unit 20', '--each-row')
    """
    if value == '"each row"':
        return "--each-row"
    bare = value.strip(QUOTE)
    return f"--{name.replace('_', '-')} {bare if ' ' not in bare else value}"


def as_setting(name: str, value: str) -> str:
    r"""A setting of the shell.

    >>> print(as_setting("epsilon", "0.5"))
    \set epsilon 0.5
    """
    return f"\\set {name} {value.strip(QUOTE)}"


def spelled(hint: str, spelling: Spelling) -> str:
    """A hint in the words of a command line.

    >>> spelled("delta=1e-9 (far below 1 / the number of people)", as_option)
    '--delta 1e-9 (far below 1 / the number of people)'
    """
    return _SETTING.sub(lambda found: spelling(found[1], found[2]), hint)


@contextmanager
def hinting(
    source: Source, session: Session | None = None, *, sql: str = "", spelling: Spelling = as_option
) -> Iterator[None]:
    """Let errors through with hints that can be typed here."""
    try:
        yield
    except DiscreetError as error:
        hint = _better(error, source, session, sql, spelling)
        # What is wrong in a policy file is put right there, in the file's own words.
        if hint is not None and not (isinstance(error, InvalidPolicy) and source.policy):
            error.hint = spelled(hint, spelling)
            error.args = (f"{error.message}\n\nHint: {error.hint}",)
        raise


def example(session: Session) -> str:
    """A question that works."""
    from discreet.sql.syntax import name

    return f"SELECT COUNT(*) FROM {name(next(iter(session.policy.datasets)))}"  # noqa: S608


def _better(
    error: DiscreetError, source: Source, session: Session | None, sql: str, spelling: Spelling
) -> str | None:
    if isinstance(error, EngineFailed):
        return f"{source.home.folder / 'curator.log'} says why; only the curator may read it."
    if error.hint is None or session is None:
        return error.hint
    if error.hint.startswith("give an int"):
        # Of the ways to write a number in Python, a command line has the last one.
        return "".join(found[0] for found in [*_SETTING.finditer(error.hint)][-1:]) or error.hint
    if isinstance(error, InsufficientBudget):
        return _affordable(error, source, session, spelling)
    hint = error.hint.replace(_EXAMPLE, example(session))
    if source.data is None:
        return hint
    if isinstance(error, WrongType) and ".csv" in source.data.name.lower():
        return _typed(session, error.message) or _typed(session, sql) or hint
    clamped = re.search(r"\(CLAMP\((\w+), 0, 100\)\)", hint)
    if clamped:
        hint = hint.replace("bounds in the policy", f"--bounds {clamped[1]}=0:100")
    group = _undeclared(session, sql.lower().partition("group by")[2])
    named = group[0] if group else "COLUMN"
    return hint.replace("declare the keys", f"--keys {named}=A,B,C if you know them all")


def _affordable(
    error: InsufficientBudget, source: Source, session: Session, spelling: Spelling
) -> str:
    """What would still fit, and who can give more."""
    from discreet.plan.predict import three_digits_up

    asked, left = error.asked, error.remaining
    short = next(name for name in asked if asked[name] > left[name])
    parts = []
    if short in ("epsilon", "delta") and left[short] > 0:
        parts.append(f"{spelling(short, _floor(left[short]))} is what is left")
    if source.data is None:
        parts.append("the curator can grant more: discreet ledger grant --help")
    else:
        budget = session.balance().budget
        total = budget.delta if short == "delta" else budget.epsilon
        option = "--budget-delta" if short == "delta" else "--budget"
        enough = three_digits_up(total + asked[short] - left[short])
        parts.append(f"a larger total is yours to decide: {option} {float(enough):g}")
    return "; ".join(parts) + "."


def _floor(left: Fraction) -> str:
    """Six digits, rounded down: what is typed must fit."""
    context = Context(prec=6, rounding=ROUND_FLOOR)
    return f"{context.divide(Decimal(left.numerator), Decimal(left.denominator)).normalize():f}"


def _undeclared(session: Session, sql: str) -> list[str]:
    """The columns in a query about which neither bounds nor keys are declared."""
    dataset = next(iter(session.policy.datasets.values()))
    return [
        name
        for name, column in dataset.columns.items()
        if column.keys is None
        and column.bounds is None
        and name != dataset.unit
        and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE)
    ]


def _typed(session: Session, sql: str) -> str | None:
    """What to say about a column of a CSV file that is still text, where it must not be."""
    dataset = next(iter(session.policy.datasets.values()))
    texts = [name for name in _undeclared(session, sql) if dataset.columns[name].type == "text"]
    if not texts:
        return None
    return (
        "the columns of a CSV file are text until you say more: "
        f"--bounds {texts[0]}=0:100 (its public range), or --types {texts[0]}=integer"
    )
