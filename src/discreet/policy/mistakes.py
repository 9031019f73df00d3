"""One mistake in a policy: where, what, and the text to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

Where: TypeAlias = tuple[str | int, ...]
"""A path of keys and list positions, such as ``("columns", "age", "bounds", 1)``."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A rule that was broken, and what to write instead."""

    where: Where
    message: str
    hint: str
    in_key: bool = False
    """Whether the key itself is wrong, not what it is set to."""


def refuse(mistakes: Iterable[Mistake]) -> None:
    """Raise all of them at once, inside a model's validation; none is no error."""
    found = list(mistakes)
    if found:
        _raise(found)


def _raise(found: list[Mistake]) -> NoReturn:
    # pydantic puts the place of the surrounding model in front of each ``loc``.
    raise ValidationError.from_exception_data(
        "policy",
        [
            InitErrorDetails(
                # The message is an argument: braces in it are no placeholders.
                type=PydanticCustomError(
                    "policy",
                    "{message}",
                    {"message": each.message, "hint": each.hint, "in_key": each.in_key},
                ),
                loc=each.where,
                input=None,
            )
            for each in found
        ],
    )
