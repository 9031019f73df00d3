"""Opening a session: from a policy file, or from a data file and a few words about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, InvalidInput
from discreet.exact import Rational
from discreet.exact import delta as exact_delta
from discreet.ledger import Balance, open_ledger
from discreet.policy import EACH_ROW, Policy, Source, read, single
from discreet.policy.single import dataset_name
from discreet.policy.sources import kind_of
from discreet.session.files import column_types
from discreet.session.home import Home
from discreet.session.ledger_of import LedgerOf
from discreet.session.rows import folder_of, lasting, passing
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
    delta: Rational | None = None,
    analyst: str | None = None,
    **settings: Any,
) -> Session:
    """Open a policy file, or a data file as its own curator.

    With a data file, ``unit`` is the column that says whose row it is, or ``"each row"``, and
    ``epsilon`` and ``delta`` are the total budget. It is written down in ``.discreet`` beside the
    data when the file is first opened, and holds from then on: later it may be left out. A delta
    of 1 in ``people``, if that number is public, is refused. The columns of a CSV file are text;
    ``types={"age": "integer"}``, or bounds and keys, say more. A path may be a pattern.
    """
    place = Path(path)
    if place.suffix == ".toml":
        given: dict[str, Any] = {
            "unit": unit,
            "rows_per_unit": rows_per_unit,
            "bounds": bounds,
            "keys": keys,
        }
        given |= {"epsilon": epsilon, "delta": delta}
        stray = [name for name, value in (given | settings).items() if value is not None]
        if stray:
            raise InvalidInput(
                f"{', '.join(stray)}: a policy file says this itself.",
                hint=f'discreet.open("{place}")',
            )
        return open_policy(read(place), analyst=analyst)
    kind = kind_of(place.name) or "parquet"
    source = Source.model_validate(
        {"kind": kind, "path": str(place), "table": settings.get("table")}
        | {name: settings[name] for name in ("delimiter",) if settings.get(name)}
    )
    types = column_types(
        place,
        source=source,
        bounds=bounds,
        keys=keys,
        grids=settings.get("grids"),
        types=settings.pop("types", None),
    )
    if unit is None:
        raise InvalidInput(
            "nothing says whose row a row is, so nobody can be protected.",
            hint=f'unit="{likely_unit(list(types))}", or unit="{EACH_ROW}" if each row is a '
            "person of their own.",
        )
    name = settings.get("name") or dataset_name(place, settings.get("table"))
    held = held_budget(Home(folder_of(place)), name)
    if held is not None:
        epsilon = held.budget.epsilon if epsilon is None else epsilon
        delta = held.budget.delta if delta is None else delta
        settings.setdefault("accountant", held.accountant)
    if epsilon is None:
        raise InvalidInput("a data file needs a total budget.", hint="epsilon=3")
    if delta and not {"accountant", "delta_per_query"} & settings.keys():
        # Gaussian noise is charged one delta each, which has to be fixed beforehand.
        settings["accountant"] = f"approximate:{exact_delta(delta) / 100}"
    policy = single(
        place.resolve(),
        types=types,
        unit=None if unit == EACH_ROW else unit,
        rows_per_unit=rows_per_unit,
        bounds=bounds,
        keys=keys,
        epsilon=epsilon,
        delta=delta or 0,
        analyst=analyst or CURATOR,
        **settings,
    )
    return open_policy(policy, analyst=analyst or CURATOR, beside=folder_of(place))


def open_policy(
    policy: Policy, *, analyst: str | None = None, beside: Path | None = None
) -> Session:
    """Open the data sets of a policy for one of its analysts."""
    home = Home(beside or policy.folder.resolve())
    named = policy.analysts
    who = analyst or (named[0] if len(named) == 1 else None)
    if who is None or who not in named:
        raise InvalidInput(
            "the policy does not say that you may ask: "
            + (f"it names {', '.join(named)}" if named else "it names no analyst")
            + (f", not {analyst}." if analyst else "."),
            hint=f'analyst="{named[0]}"'
            if named
            else "under [dataset.NAME.analysts]: ann = { epsilon = 1 }",
        )
    pools = [(dataset.source, dataset.pool_name) for dataset in policy.datasets.values()]
    folder, root = policy.folder, home.folder.parent
    sources = [(each, pool) for place, pool in pools for each in lasting(place, folder, root)]
    now = [(each, pool) for place, pool in pools for each in passing(place, folder)]
    with home.opening():
        home.check_people([*sources, *now])
        ledger = LedgerOf.policy(policy, home).open(home, analyst=who)
    try:
        session = Session(policy, ledger=ledger, home=home, analyst=who)
        ledger.require_one(name for name, d in policy.datasets.items() if who in d.analysts)
        home.remember(sources)
    except DiscreetError:
        ledger.close()
        raise
    return session


def held_budget(home: Home, dataset: str) -> Balance | None:
    """The budget of a data set as the ledger holds it, if there is one yet."""
    if not home.ledger.exists():
        return None
    with home.opening(), open_ledger(home.ledger) as ledger:
        return next(
            (each for each in ledger.balances() if each.dataset == dataset and not each.analyst),
            None,
        )


def likely_unit(columns: Sequence[str]) -> str:
    """The column that sounds most like a person's, for a hint.

    >>> likely_unit(["day", "patient_id", "ward"])
    'patient_id'
    """
    names = [name for name in columns if name.lower().endswith(("id", "email", "user"))]
    return next(iter([*names, *columns]), "patient_id")
