"""What an embedded engine may use of the machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from discreet.policy.mistakes import Mistake, refuse

_MEMORY = re.compile(r"[1-9][0-9]{0,5}(\.[0-9])? ?(MB|GB|TB)")


class EngineSettings(BaseModel):
    """Memory, threads and the folder for what does not fit into memory.

    >>> EngineSettings(memory="4 GB", threads=2).threads
    2
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    memory: str | None = None
    """The most memory of one data set's engine; left out, most of the machine's."""
    threads: Annotated[int, Field(ge=1, le=1024)] | None = None
    """How many threads a query uses; left out, one for each core."""
    spill: str | None = None
    """The folder for what does not fit, relative to the policy file; left out, beside the
    snapshot."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse(self._mistakes())
        return self

    def _mistakes(self) -> Iterator[Mistake]:
        if self.memory is not None and _MEMORY.fullmatch(self.memory) is None:
            yield Mistake(
                ("memory",), f'"{self.memory:.60}" is no amount of memory.', 'memory = "4 GB"'
            )
        if self.spill is not None and (not self.spill.strip() or "\0" in self.spill):
            yield Mistake(("spill",), "a folder has a name.", 'spill = "spilled"')
