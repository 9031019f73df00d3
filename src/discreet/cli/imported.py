"""Modules and functions of users, by name, found from the current folder too."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from discreet.errors import InvalidInput


def module(name: str) -> ModuleType:
    """The module of a name, or of a file ``mine.py`` in the current folder."""
    named = name.removesuffix(".py").replace("/", ".") if name.endswith(".py") else name
    sys.path.insert(0, "")
    try:
        return importlib.import_module(named)
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"there is no module {error.name!r}, here or installed.",
            hint=f"run it in the folder that holds {named.replace('.', '/')}.py",
        ) from None
    except Exception as error:
        # Whatever it is, it is the user's own code that speaks.
        raise InvalidInput(
            f"{named} cannot be imported: {type(error).__name__}: {error}",
            hint=f"try it by hand: python -c 'import {named}'",
        ) from error
    finally:
        sys.path.remove("")


def function(name: str) -> Callable[[Any, int], Any]:
    """The function that ``module:function`` names."""
    where, colon, attribute = name.partition(":")
    if not (where and colon and attribute):
        raise InvalidInput(
            f"{name!r} does not name a function in a module.", hint="mine:noisy_count"
        )
    found: Any = module(where)
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [n for n in dir(found) if n[0] != "_" and callable(getattr(found, n))]
            raise InvalidInput(
                f"{where} has no {attribute!r}.", hint=f"{where}:{[*public, 'function'][0]}"
            )
        found = getattr(found, part)
    if not callable(found):
        raise InvalidInput(f"{name} is not a function.", hint="def noisy_count(value, n): ...")
    return found  # type: ignore[no-any-return]
