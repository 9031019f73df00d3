"""Where the budgets of a policy are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from discreet.policy.mistakes import Mistake, refuse

_CONNECTION = re.compile(r"://|\b(host|dbname|password|user|service)\s*=")


class LedgerSettings(BaseModel):
    """The ledger that sessions are charged to, and the anchor that it must have.

    >>> LedgerSettings(place="env:LEDGER_DSN").is_secret, LedgerSettings(place="a.db").is_secret
    (True, False)
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    place: str | None = None
    """A file, relative to the policy file; or ``env:NAME`` or ``file:PATH``, which hold the address
    of a PostgreSQL database. Left out: ``ledger.db`` in the folder ``.discreet``."""
    anchor: str | None = None
    """The file, relative to the policy file, that remembers how far the ledger has come."""

    @property
    def is_secret(self) -> bool:
        """Whether the place holds an address, and is not a ledger itself."""
        return self.place is not None and self.place.startswith(("env:", "file:"))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse(self._mistakes())
        return self

    def _mistakes(self) -> Iterator[Mistake]:
        place, anchor = self.place, self.anchor
        if place is not None and not self.is_secret and _CONNECTION.search(place):
            # The text may hold a password: it is not repeated.
            yield Mistake(
                ("place",),
                "the address of a database does not belong in a policy, but in an environment "
                "variable or a file that its owner alone can read.",
                'place = "env:LEDGER_DSN" or place = "file:ledger.dsn"',
            )
        elif place is not None and not _names(place.removeprefix("env:").removeprefix("file:")):
            yield Mistake(("place",), "a ledger has a place.", 'place = "budget.db"')
        if anchor is not None and not _names(anchor):
            yield Mistake(("anchor",), "an anchor is a file.", 'anchor = "/mnt/other/anchor"')


def _names(text: str) -> bool:
    return bool(text.strip()) and "\0" not in text
