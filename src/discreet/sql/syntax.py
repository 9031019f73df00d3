"""From text to sqlglot's tree, with nothing lost on the way.

A tree is only handed on where every node is of a kind that is listed by whoever reads it, and every
argument of every node was asked for: what is not understood is refused, never passed over.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.errors import InvalidQuery, TooLarge, Unsupported

# What cannot be parsed is refused below; it need not be announced on standard error as well.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

LONGEST = 100_000
DEEPEST = 100
HIGHEST = 150

_UNSENDABLE = re.compile("[\0\ud800-\udfff]")

# Arguments that sqlglot sets on its own account and that do not change the meaning.
_SILENT = frozenset({"big_int", "typed", "safe", "ignore_nulls", "nested", "is_string", "_type"})


def parse(text: str, *, example: str = "SELECT COUNT(*) FROM visits") -> exp.Select:
    """The one SELECT of a text, or a refusal that suggests the ``example``."""
    if len(text) > LONGEST:
        raise TooLarge(
            f"the query has {len(text)} characters; {LONGEST} are the most.",
            hint="shorten its lists of values, or declare them as keys in the policy.",
        )
    if _UNSENDABLE.search(text):
        raise InvalidQuery(
            "the query holds a NUL character or half a surrogate pair.", hint="remove it."
        )
    _check_depth(text)
    try:
        statements = sqlglot.parse(text, read="duckdb")
    except Exception as error:  # a parser that stumbles has not read the text
        raise InvalidQuery(
            f"this is not SQL that can be read: {_first_line(error)}",
            hint=_respelled(text) or example,
        ) from None
    found = [statement for statement in statements if statement is not None]
    if len(found) != 1:
        raise InvalidQuery(
            f"{len(found)} statements were given; one at a time, please.",
            hint="send each SELECT on its own.",
        )
    statement = found[0]
    _check_height(statement)
    if not isinstance(statement, exp.Select):
        raise Unsupported(
            f"{_words(statement)} is not allowed: only SELECT is.",
            hint=example,
        )
    return statement


def only(node: exp.Expression, *known: str) -> None:
    """Refuse a node that carries an argument which its reader does not know."""
    for name, value in node.args.items():
        if name not in known and name not in _SILENT and not _empty(value):
            raise Unsupported(
                f"{_words(node)} with {name.rstrip('_').upper()} is not allowed here.",
                hint="`discreet help sql` lists what can be written.",
            )


def terms(node: exp.Expression) -> list[exp.Expression]:
    """The terms of a chain of AND, or of OR: however long it is, it is one operation."""
    found: list[exp.Expression] = []
    left = [node]
    while left:
        each = left.pop()
        if type(each) is type(node):
            only(each, "this", "expression")
            left += [each.expression, each.this]
        else:
            found.append(each)
    return found


def part(node: exp.Expression, name: str) -> Any:
    """An argument that a node must have; a damaged text may have lost it."""
    value = node.args.get(name)
    if value is None:
        raise InvalidQuery(
            f"{_words(node)} lacks an argument: {excerpt(node)}",
            hint="`discreet help sql` shows how it is written.",
        )
    return value


def unsupported(node: exp.Expression, hint: str | None = None) -> Unsupported:
    """The refusal of a node that nobody reads."""
    return Unsupported(
        f"{_words(node)} is not allowed here: {excerpt(node)}",
        hint=hint or "`discreet help sql` lists what can be written.",
    )


def excerpt(node: exp.Expression, length: int = 80) -> str:
    """A node as SQL, for messages and names of columns: the analyst's own words."""
    text = node.sql(dialect="duckdb", comments=False)
    return text if len(text) <= length else text[: length - 3] + "..."


def name(of: str) -> str:
    """A name as a query must write it.

    >>> name("visits"), name("my-visits")
    ('visits', '"my-visits"')
    """
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", of)
    return of if plain else '"' + of.replace('"', '""') + '"'


def _words(node: exp.Expr) -> str:
    if isinstance(node, exp.Command):
        return str(node.this).upper()
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name.upper()}"
    return type(node).__name__.upper()


def _empty(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, list | str) and not value)


def _first_line(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply."
    if not isinstance(error, SqlglotError):
        return "the parser gave up."
    # sqlglot underlines with terminal codes; the first line has words and position alone.
    return str(error).splitlines()[0].split("\x1b")[0].strip()[:200]


_KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "BETWEEN", "DISTINCT"),
    *("CASE", "WHEN", "THEN", "ELSE", "COUNT", "FILTER", "WITH"),
)


def _respelled(text: str) -> str | None:
    """The query with a misspelt keyword put right, if it has one.

    >>> _respelled("SELECT ward, COUNT(*) FORM visits GRUOP BY ward")
    'SELECT ward, COUNT(*) FROM visits GROUP BY ward'
    """

    def corrected(word: re.Match[str]) -> str:
        if word[0].upper() in _KEYWORDS:
            return word[0]
        return next(iter(get_close_matches(word[0].upper(), _KEYWORDS, 1, 0.75)), word[0])

    better = re.sub(r"\b[A-Za-z]{4,9}\b", corrected, text)
    if better == text:
        return None
    try:
        sqlglot.parse(better, read="duckdb")
    except Exception:  # what cannot be read either is no help
        return None
    return better


def _check_depth(text: str) -> None:
    """Refuse nesting that would exhaust the parser's stack, without being fooled by quotes."""
    depth = deepest = 0
    quote = ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]":
            depth -= 1
    if deepest > DEEPEST or text.upper().count("CASE") > DEEPEST:
        raise TooLarge(f"the query is nested more than {DEEPEST} deep.", hint="split it into CTEs.")


def _check_height(statement: exp.Expr) -> None:
    """Refuse chains such as a + b + c + ... that whoever reads them would climb one by one.

    Chains of AND and OR are read as a whole.
    """
    level: list[exp.Expr] = [statement]
    height = 0
    while level:
        height += 1
        if height > HIGHEST:
            raise TooLarge(
                f"the query chains or nests more than {HIGHEST} operations.",
                hint="x IN (1, 2, 3) instead of a chain of OR; split the rest into CTEs.",
            )
        level = [child for node in level for child in _below(node)]


def _below(node: exp.Expr) -> Iterable[exp.Expr]:
    return terms(node) if isinstance(node, exp.And | exp.Or) else node.iter_expressions()
