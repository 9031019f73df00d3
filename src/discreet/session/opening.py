"""Opening a session: from a policy file, or from a data file and a few words about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.engines.duckdb import schema_of
from discreet.errors import InvalidInput
from discreet.exact import Rational
from discreet.ledger import create, open_ledger
from discreet.policy import Policy, read, single
from discreet.session.home import Home
from discreet.session.session import Session

CURATOR = "curator"


def open_session(
    path: str | Path,
    *,
    unit: str | None = None,
    rows_per_unit: int | None = None,
    bounds: Mapping[str, Sequence[Any]] | None = None,
    keys: Mapping[str, Sequence[Any]] | None = None,
    epsilon: Rational | None = None,
    delta: Rational = 0,
    analyst: str | None = None,
    **settings: Any,
) -> Session:
    """Open a policy file, or a data file as its own curator.

    With a data file, ``epsilon`` and ``delta`` are the total budget. It is written down in
    ``.discreet`` beside the data when the file is first opened, and holds from then on.
    """
    place = Path(path)
    if place.suffix == ".toml":
        given = {"unit": unit, "rows_per_unit": rows_per_unit, "bounds": bounds, "keys": keys}
        stray = [name for name, value in (given | settings).items() if value is not None]
        if stray or epsilon is not None:
            raise InvalidInput(
                f"{', '.join(stray) or 'epsilon'}: a policy file says this itself.",
                hint=f'discreet.open("{place}")',
            )
        return open_policy(read(place), analyst=analyst)
    if epsilon is None:
        raise InvalidInput(
            "a data file needs a total budget.", hint='discreet.open("visits.parquet", epsilon=3)'
        )
    policy = single(
        place.resolve(),
        types=schema_of(place),
        unit=unit,
        rows_per_unit=rows_per_unit,
        bounds=bounds,
        keys=keys,
        epsilon=epsilon,
        delta=delta,
        analyst=analyst or CURATOR,
        **settings,
    )
    return open_policy(policy, analyst=analyst or CURATOR, beside=place.resolve().parent)


def open_policy(
    policy: Policy, *, analyst: str | None = None, beside: Path | None = None
) -> Session:
    """Open the data sets of a policy for one of its analysts."""
    home = Home(beside or policy.folder.resolve())
    named = sorted({name for d in policy.datasets.values() for name in d.analysts})
    who = analyst or (named[0] if len(named) == 1 else None)
    if who is None or (named and who not in named):
        raise InvalidInput(
            f"analyst = {analyst!r} is not named in the policy.",
            hint=f"one of: {', '.join(named)}.",
        )
    home.key()
    ledger = open_ledger(home.ledger) if home.ledger.exists() else create(home.ledger)
    return Session(policy, ledger=ledger, home=home, analyst=who)
