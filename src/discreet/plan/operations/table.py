"""The table of operations, and how one is applied."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import TypeAlias

from discreet.errors import TooLarge, UnknownName
from discreet.plan.expressions import (
    HIGHEST,
    LARGEST_SIZE,
    MOST_KEYS,
    Call,
    Expression,
    Meaning,
    Value,
    size_of,
)
from discreet.plan.lengths import longest

Rule: TypeAlias = Callable[[Sequence[Expression]], Meaning]
_CHARACTERS = 100  # of a text weigh as much as an operation

Preparation: TypeAlias = Callable[[Sequence[Expression]], Sequence[Expression]]

RULES: dict[str, Rule] = {}
PREPARED: dict[str, Preparation] = {}
"""What is done to the arguments of some operations before they are applied."""


def call(operation: str, *arguments: Expression) -> Call:
    """Apply an operation, or say why it cannot be.

    >>> from discreet.plan.expressions import literal
    >>> from discreet.plan.operations import call
    >>> call("add", literal(2), literal(3)).meaning.bounds
    Interval(5, 5)
    """
    rule = RULES.get(operation)
    if rule is None:
        raise UnknownName(
            f"{operation.upper()} is not a function that is known here.",
            hint="`discreet help sql` lists the functions.",
        )
    if operation in PREPARED:
        arguments = tuple(PREPARED[operation](arguments))
    size = 1 + sum(size_of(argument) for argument in arguments)
    height = 1 + max((a.height for a in arguments if isinstance(a, Call)), default=0)
    if size > LARGEST_SIZE or height > HIGHEST:
        # Names of subqueries stand for whole expressions: a short text can mean a huge one.
        raise TooLarge(
            f"an expression of the query has more than {LARGEST_SIZE:,} parts, or more than "
            f"{HIGHEST} inside each other, once the names of its subqueries are written out.",
            hint="simplify it.",
        )
    made = Call(operation, arguments, with_domain(rule(arguments)), size, height)
    if made.meaning.type != "text":
        return made
    return replace(made, size=size + longest(made) // _CHARACTERS)


def names() -> list[str]:
    """Every operation, in alphabetical order."""
    return sorted(RULES)


def with_domain(meaning: Meaning) -> Meaning:
    """Few values in a known range are public keys, whether or not anybody listed them."""
    both = meaning.bounds.bounded
    if meaning.domain is not None or meaning.type not in ("integer", "boolean", "date"):
        return meaning
    values: list[Value]
    if meaning.type == "boolean":
        values = [False, True]
    elif both is not None and both[1] - both[0] < MOST_KEYS:
        whole = range(math.ceil(both[0]), math.floor(both[1]) + 1)
        # The bounds of dates are numbers of days.
        values = [date.fromordinal(day) for day in whole] if meaning.type == "date" else [*whole]
    else:
        return meaning
    return replace(meaning, domain=(*values, None) if meaning.nullable else tuple(values))


def rule(*operations: str) -> Callable[[Rule], Rule]:
    """Enter a rule into the table."""

    def register(rule: Rule) -> Rule:
        for operation in operations:
            RULES[operation] = rule
        return rule

    return register
