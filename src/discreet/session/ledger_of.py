"""The ledger that a policy's sessions are charged to: found, or begun where there never was one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from discreet.engines.secret import Secret
from discreet.errors import InvalidInput, LedgerExists, PolicyDiffers
from discreet.ledger import Ledger, create, exists, open_ledger
from discreet.ledger.asked import AskedLedger, known_as
from discreet.policy import Policy
from discreet.session.home import Home


@dataclass(frozen=True, slots=True)
class LedgerOf:
    """Where a policy keeps its budgets."""

    place: Path | Secret
    anchor: Path | None
    datasets: frozenset[str]
    """The names of its data sets and of their groups of people."""

    @classmethod
    def policy(cls, policy: Policy, home: Home) -> LedgerOf:
        """As the policy says; the file in the home if it says nothing."""
        said = policy.ledger
        names = frozenset(
            name for each in policy.datasets.values() for name in (each.name, each.pool_name)
        )
        anchor = None if said.anchor is None else Path(policy.locate(said.anchor)).resolve()
        if said.place is None:
            return cls(home.ledger, anchor, names)
        if said.is_secret:
            return cls(Secret(said.place, policy.folder), anchor, names)
        return cls(Path(policy.locate(said.place)).resolve(), anchor, names)

    @property
    def shown(self) -> str:
        """How a command names it."""
        return quote(str(self.place))

    def open(self, home: Home, *, analyst: str) -> AskedLedger:
        """Open it, or begin it; in the home's ``opening``, so that nobody else does so too.

        The ledger comes before the key: one without the other is then a loss, and no half of a
        beginning. A ledger that was begun by hand has seen no key yet, and is taken up.
        """
        address = address_of(self.place) if isinstance(self.place, Secret) else self.place
        with known_as(self.shown):
            found = self._found(address, home)
            try:
                self._require_anchor(found)
                home.require_same(found.id)
                home.key(fresh=not self._keyed(found, home))
                home.remember_ledger(found.id)
            except BaseException:
                found.close()
                raise
        return AskedLedger(found.store, analyst=analyst, known_as=self.shown)

    def _found(self, address: str | Path, home: Home) -> Ledger:
        if exists(address):
            return open_ledger(address)
        home.require_new(self.shown)
        try:
            return create(address, anchor=self.anchor)
        except LedgerExists:  # another machine was quicker
            return open_ledger(address)

    def _keyed(self, ledger: Ledger, home: Home) -> bool:
        """Whether a key is among what was promised; others' data sets may be in a shared ledger."""
        based = ledger.based()
        return bool(based if self.place == home.ledger else based & self.datasets)

    def _require_anchor(self, ledger: Ledger) -> None:
        wanted, held = self.anchor, ledger.anchor
        if wanted is None or (held is not None and held.resolve() == wanted):
            return
        raise PolicyDiffers(
            f"the policy names the anchor {wanted}, and the ledger has "
            + ("none." if held is None else f"another, {held}."),
            hint=f"discreet ledger anchor LEDGER {quote(str(wanted))}",
        )


def address_of(secret: Secret) -> str:
    """The address of a database that a variable or a file holds; it is never shown."""
    address = secret.reveal()
    if not address.startswith(("postgresql://", "postgres://")):
        raise InvalidInput(
            f"{secret} should hold the address of a PostgreSQL database.",
            hint="postgresql://user@host/database",
        )
    return address
