"""Programs to audit: a command, or an HTTP endpoint, that gives one output a line."""

from __future__ import annotations

import shlex
import subprocess
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import numpy as np

from discreet.audit.features import Array
from discreet.errors import InvalidInput

_LONGEST = 600  # seconds for one call; an audit that waits for ever says nothing


@dataclass(frozen=True)
class Command:
    """A command with ``{input}`` and ``{n}`` in its words, called like any function.

    No shell reads it: the words are handed over as they are.

    >>> Command("seq {input} {n}")(1, 3).tolist()
    [1, 2, 3]
    """

    words: str

    def __post_init__(self) -> None:
        if "{input}" not in self.words or "{n}" not in self.words:
            raise InvalidInput(
                f"{self.words!r} does not say where the input and the number of outputs go.",
                hint='"./noisy_count {input} {n}"',
            )

    def __call__(self, value: Any, n: int) -> Array:
        """Run it once for n outputs."""
        given = [
            word.replace("{input}", str(value)).replace("{n}", str(n))
            for word in shlex.split(self.words)
        ]
        try:
            done = subprocess.run(  # noqa: S603
                given, capture_output=True, text=True, check=True, timeout=_LONGEST
            )
        except OSError as error:
            raise InvalidInput(
                f"{given[0]!r} cannot be run: {error.strerror}.", hint="./noisy_count, or its path"
            ) from None
        except subprocess.SubprocessError as error:
            status = getattr(error, "returncode", None)
            ended = f"did not end in {_LONGEST} s" if status is None else f"ended with {status}"
            raise InvalidInput(
                f"{given[0]!r} {ended}.",
                hint=f"try it by hand: {shlex.join(given)}",
            ) from None
        return outputs(done.stdout.split("\n")[:-1])


@dataclass(frozen=True)
class Endpoint:
    """An address with ``{input}`` and ``{n}`` in it that answers GET with one output a line."""

    address: str

    def __post_init__(self) -> None:
        plain = self.address.startswith(("http://", "https://"))
        if not plain or "{input}" not in self.address or "{n}" not in self.address:
            raise InvalidInput(
                f"{self.address!r} is not an address with places for the input and for n.",
                hint="http://localhost:8000/noisy?value={input}&n={n}",
            )

    def __call__(self, value: Any, n: int) -> Array:
        """Ask once for n outputs."""
        address = self.address.replace("{input}", quote(str(value))).replace("{n}", str(n))
        try:
            with urlopen(address, timeout=_LONGEST) as answer:  # noqa: S310  # http and https only
                return outputs(answer.read().decode().splitlines())
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(
                f"{address!r} gave no answer that can be read ({type(error).__name__}).",
                hint="try it by hand with curl",
            ) from None


def outputs(lines: list[str]) -> Array:
    """Lines as whole numbers if they all are, else as floats, else as text.

    >>> outputs(["1", "2.5"]).tolist(), outputs(["yes", "no"]).tolist()
    ([1.0, 2.5], ['yes', 'no'])
    """
    read = np.array(lines)
    for kind in (np.int64, np.float64):
        try:
            return read.astype(kind)
        except (ValueError, OverflowError):
            continue
    return read
