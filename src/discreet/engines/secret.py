"""A secret that a policy names and never holds."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from discreet.errors import InvalidInput

_EXAMPLES = {
    "postgres": "postgresql://reader@host/database",
    "spark": "sc://host:15002",
}


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret is: ``env:NAME``, or ``file:PATH`` with the path relative to ``folder``.

    It is read when it is needed and kept nowhere, so nothing that shows this object can show it.

    >>> Secret("env:HOSPITAL_DSN")
    Secret('env:HOSPITAL_DSN')
    """

    reference: str
    folder: Path = Path()
    kind: Literal["postgres", "spark"] = "postgres"
    """What it connects to; by it, hints say what to write there."""

    def __repr__(self) -> str:
        return f"Secret({self.reference!r})"

    def __str__(self) -> str:
        return self.reference

    def reveal(self) -> str:
        """The secret itself."""
        kind, _, name = self.reference.partition(":")
        found = self._environment(name) if kind == "env" else self._file(self.folder / name)
        if not found:
            raise InvalidInput(f"{self.reference} is empty.", hint=f"{self._example}, say")
        return found

    @property
    def _example(self) -> str:
        return _EXAMPLES[self.kind]

    def _environment(self, name: str) -> str:
        if name not in os.environ:
            raise InvalidInput(
                f'the environment has no variable "{name}", which should hold the connection.',
                hint=f"export {name}='{self._example}'",
            )
        return os.environ[name].strip()

    def _file(self, path: Path) -> str:
        try:
            with path.open(encoding="utf-8") as file:
                # Asked of the file that is open, not of whatever has the name by now.
                mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                if mode & 0o077:
                    raise InvalidInput(
                        f'"{path}" holds a secret, and others than its owner may read or change it '
                        f"(mode {mode:04o}).",
                        hint=f"chmod 600 {path}",
                    )
                return file.read().strip()
        except (OSError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            raise InvalidInput(
                f'"{path}" should hold the connection, and cannot be read: {why}.',
                hint=f"write {self._example} into {path}, and chmod 600 it",
            ) from None
