"""How long texts can be. What one row can make an engine do is bounded, or its clock would tell."""

from __future__ import annotations

from discreet.plan.expressions import Column, Expression, Literal

LONGEST_TEXT = 1000
"""Characters of a cell that are kept, and that a constant may have."""

LONGEST_MADE = 10_000
"""Characters of a text that is put together."""

_OTHER = 30  # a number or a day that was made a text is shorter


def longest(expression: Expression) -> int:
    """How many characters a text can have at most.

    >>> from discreet.plan.expressions import literal
    >>> from discreet.plan.operations import call
    >>> longest(call("concat", literal("ward "), literal("north")))
    10
    """
    if isinstance(expression, Literal):
        return len(expression.value) if isinstance(expression.value, str) else 0
    if isinstance(expression, Column):
        return LONGEST_TEXT
    inner = [longest(each) for each in expression.arguments if each.meaning.type == "text"]
    if expression.operation == "concat":
        return sum(inner)
    if expression.operation == "substring":
        length = expression.arguments[2]
        assert isinstance(length, Literal)  # noqa: S101  # the operation's rule says so
        return min([*inner, int(length.value)])  # type: ignore[arg-type]
    return max(inner, default=_OTHER)
