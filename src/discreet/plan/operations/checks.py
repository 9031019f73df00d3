"""What a rule asks of the arguments of its operation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from discreet.errors import WrongType
from discreet.plan.expressions import Expression, Literal, Type, Value
from discreet.plan.scale import Scale


def expect(arguments: Sequence[Expression], count: int, words: str) -> None:
    """Refuse a wrong number of arguments."""
    if len(arguments) != count:
        raise WrongType(f"{words} takes {count} argument(s), not {len(arguments)}.")


def numbers(arguments: Sequence[Expression], words: str) -> None:
    """Refuse what is no number."""
    types(arguments, ("integer", "real", "null"), words, "numbers")


def types(
    arguments: Sequence[Expression], allowed: tuple[Type, ...], words: str, kind: str
) -> None:
    """Refuse what is not of one of these types."""
    for argument in arguments:
        if argument.meaning.type not in allowed:
            raise WrongType(
                f"{words} works on {kind}, and this is {argument.meaning.type}.",
                hint=f"give it {kind}, or CAST where that cannot fail.",
            )


def may_be_null(arguments: Sequence[Expression]) -> bool:
    """Whether one of them can be NULL."""
    return any(argument.meaning.nullable for argument in arguments)


def constant(argument: Expression, words: str) -> Value:
    """The value of an argument that must be written out."""
    if not isinstance(argument, Literal):
        raise WrongType(f"{words} must be a constant.", hint="write the value itself there.")
    return argument.value


def common_type(arguments: Sequence[Expression], words: str) -> Type:
    """The one type of several expressions: whole numbers widen to reals, NULL fits anything."""
    kinds = {argument.meaning.type for argument in arguments} - {"null"}
    if kinds <= {"integer", "real"} and kinds:
        return "real" if "real" in kinds else "integer"
    if kinds == {"date", "timestamp"}:
        return "timestamp"
    if len(kinds) > 1:
        raise WrongType(
            f"{words} needs values of one type, not {' and '.join(sorted(kinds))}.",
            hint="CAST one of them where that cannot fail.",
        )
    return kinds.pop() if kinds else "null"


def joined(values: Sequence[Expression]) -> Scale:
    """The scale of something that is one of several numbers."""
    return reduce(Scale.join, (value.meaning.extent for value in values))
