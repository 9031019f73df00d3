"""Commands whose hints can be typed: the library says ``epsilon=1``, a shell ``--epsilon 1``."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from discreet.errors import DiscreetError

Options = ParamSpec("Options")

_SETTING = re.compile(r"\A([a-z_]+)=(\"[^\"]*\"|[^\s;]+)")

# The mathematics' letters have longer names among the options.
_NAMES = {"k": "count", "scale": "scales"}


def typed(command: Callable[Options, None]) -> Callable[Options, None]:
    """The same command; a hint that begins with a setting of Python's becomes an option."""

    @wraps(command)
    def run(*args: Options.args, **kwargs: Options.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except DiscreetError as error:
            if error.hint is not None:
                error.hint = _SETTING.sub(_option, error.hint)
                error.args = (f"{error.message}\n\nHint: {error.hint}",)
            raise

    return run


def _option(found: re.Match[str]) -> str:
    name = _NAMES.get(found[1], found[1]).replace("_", "-")
    return f"--{name} {found[2]}"
