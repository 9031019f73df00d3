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
from shlex import quote
from typing import TYPE_CHECKING

from discreet.errors import (
    DiscreetError,
    EngineFailed,
    InsufficientBudget,
    InvalidPolicy,
    InvalidQuery,
    PolicyDiffers,
    UnknownName,
    Unsupported,
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
_PAGE = "`discreet help sql`"
_EXAMPLE = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"


def as_option(name: str, value: str) -> str:
    """An option of the command.

    >>> as_option("rows_per_unit", "20"), as_option("unit", '"each row"')
    ('--rows-per-unit 20', '--each-row')
    """
    if value == '"each row"':
        return "--each-row"
    return f"--{name.replace('_', '-')} {quote(value.strip(QUOTE))}"


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
    pool = re.search(r'pool = "[^"]*"', error.hint or "")
    if isinstance(error, PolicyDiffers) and pool and source.data is not None:
        # Nobody chooses the name of a data file's rows, and only a policy has pools.
        return (
            "open them by the same --data as before, or by a policy "
            f"(discreet init {quote(str(source.data))}) with {pool[0]}"
        )
    if error.hint is None or session is None:
        return error.hint
    if error.hint.startswith("give an int"):
        # Of the ways to write a number in Python, a command line has the last one.
        return "".join(found[0] for found in [*_SETTING.finditer(error.hint)][-1:]) or error.hint
    if isinstance(error, InsufficientBudget):
        return _affordable(error, source, session, spelling)
    hint = _in_sql(error, error.hint.replace(_EXAMPLE, example(session)), session, sql, spelling)
    if source.data is None:
        return hint
    if isinstance(error, WrongType) and ".csv" in source.data.name.lower():
        return _typed(session, error.message) or _typed(session, sql) or hint
    clamped = re.search(r'\(CLAMP\((\w+|"[^"]+"), 0, 100\)\)', hint)
    if clamped:
        bounds = quote(f"{clamped[1].strip(QUOTE)}=0:100")
        hint = hint.replace("bounds in the policy", f"--bounds {bounds}")
    group = _undeclared(session, sql.lower().partition("group by")[2], bounds=True)
    named = quote(f"{group[0] if group else 'COLUMN'}=A,B,C")
    return hint.replace("declare the keys", f"--keys {named} if you know them all")


def _in_sql(error: DiscreetError, hint: str, session: Session, sql: str, spelling: Spelling) -> str:
    """What a newcomer to SQL may have missed, with a question that works."""
    from discreet.sql.syntax import name as written

    if isinstance(error, InvalidQuery) and not sql.strip():
        return _shown(example(session), spelling)
    datasets = list(session.policy.datasets)
    unknown = re.search(r"no table '(\w+)'", error.message)
    everything = re.match(r"\s*SELECT\s+\*", sql, re.IGNORECASE)  # refused under any name
    if isinstance(error, UnknownName) and unknown and len(datasets) == 1 and not everything:
        right = rf"(?<!\w){re.escape(unknown[1])}(?!\w)"
        return _shown(re.sub(right, lambda _: written(datasets[0]), sql), spelling)
    quoted = _with_quotes(session, sql)
    if isinstance(error, InvalidQuery) and quoted is not None:
        return f"{_shown(quoted, spelling)} (names that are no plain words stand in quotes)"
    if isinstance(error, UnknownName) and (name := re.search(r"no column '(\w+)'", error.message)):
        return f"{hint.rstrip('.')}; a text stands in single quotes: '{name[1]}'."
    if isinstance(error, Unsupported) and (_PAGE in hint or hint == "COUNT, SUM or AVG"):
        return f"{hint.rstrip('.')}; this works: {_shown(example(session), spelling)}"
    return hint


def _with_quotes(session: Session, sql: str) -> str | None:
    """The question with names in quotes that need them, if one stands without."""
    names = {
        name
        for dataset in session.policy.datasets.values()
        for name in (dataset.name, *dataset.columns)
        if not re.fullmatch(r"[A-Za-z_]\w*", name)
    }
    if not names:
        return None
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    better = re.sub(rf'(?<!["\w])(?:{listed})(?!["\w])', lambda found: _quoted(found[0]), sql)
    return None if better == sql else better


def _quoted(name: str) -> str:
    return QUOTE + name.replace(QUOTE, 2 * QUOTE) + QUOTE


def _shown(sql: str, spelling: Spelling) -> str:
    """A question as it is typed: for a command in quotes that keep its own."""
    return quote(sql) if spelling is as_option and QUOTE in sql else sql


def _affordable(
    error: InsufficientBudget, source: Source, session: Session, spelling: Spelling
) -> str:
    """What would still fit, and who can give more."""
    from discreet.plan.predict import three_digits_up

    asked, left = error.asked, error.remaining
    short = next(name for name in asked if asked[name] > left[name])
    parts = []
    if short in ("epsilon", "delta"):
        if left[short] > 0:
            parts.append(f"{spelling(short, _floor(left[short]))} is what is left")
    elif fitting := re.search(r"epsilon=\S+ would fit", error.hint or ""):
        parts.append(fitting[0])
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


def _undeclared(session: Session, sql: str, *, bounds: bool = False) -> list[str]:
    """The columns in a query about which no keys are declared, and no bounds unless they may be."""
    dataset = next(iter(session.policy.datasets.values()))
    return [
        name
        for name, column in dataset.columns.items()
        if column.keys is None
        and (bounds or column.bounds is None)
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
        "the columns of a CSV file are text until you say more: --bounds "
        f"{quote(f'{texts[0]}=0:100')} (its public range), or --types "
        f"{quote(f'{texts[0]}=integer')}"
    )
