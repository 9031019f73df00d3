"""Options that several commands share, as the fields of one dataclass."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, get_type_hints

Command = Callable[..., None]


def grouped(argument: str, kind: type, **defaults: Any) -> Callable[[Command], Command]:
    """Give a command the options of ``kind``; it receives them together, as one argument.

    ``defaults`` are other than those of the dataclass, for this command.
    """
    hints = get_type_hints(kind, include_extras=True)
    shared = {
        each.name: inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=defaults.get(each.name, _default(each)),
            annotation=hints[each.name],
        )
        for each in fields(kind)
    }

    def with_options(command: Command) -> Command:
        @functools.wraps(command)
        def run(*args: Any, **options: Any) -> None:
            given = kind(**{name: options.pop(name) for name in shared})
            command(*args, **{argument: given}, **options)

        own = inspect.signature(command, eval_str=True).parameters
        kept = [parameter for name, parameter in own.items() if name != argument]
        parameters = sorted([*kept, *shared.values()], key=lambda parameter: parameter.kind)
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return with_options


def _default(field: Field[Any]) -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default
