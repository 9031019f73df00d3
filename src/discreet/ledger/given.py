"""What a ledger is given, checked and priced: names, digests, events, caps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from discreet.accounting.filters import cost, require
from discreet.accounting.loss import Budget
from discreet.accounting.measures import Measure, measure
from discreet.accounting.names import is_name
from discreet.errors import InvalidInput, InvalidName
from discreet.events import Event
from discreet.ledger.entries import compact
from discreet.ledger.requests import Cap
from discreet.ledger.units import units_down, units_up
from discreet.theory.neighbours import relation as as_relation


@lru_cache(maxsize=1024)
def name_of(value: str, what: str) -> str:
    """A name that can be written down: up to 200 characters, none of them invisible controls."""
    if not is_name(value):
        raise InvalidName(
            f"{what} = {value!r:.60} is not a name: 1 to 200 characters, no control characters.",
            hint=f'{what}="visits-2026"',
        )
    return value


_SHA256 = re.compile(r"[0-9a-f]{64}")


def digest_of(value: str | bytes) -> str:
    """A SHA-256 digest in hexadecimal."""
    text = value.hex() if isinstance(value, bytes) else value
    if _SHA256.fullmatch(text) is None:
        raise InvalidInput(
            "request_sha256 must be a SHA-256 digest: 32 bytes, or 64 lower-case hex digits.",
            hint="hashlib.sha256(canonical_request).hexdigest()",
        )
    return text


@lru_cache(maxsize=4096)
def priced(
    events: tuple[Event, ...], accountant: str, relation: str
) -> tuple[tuple[int, int], str]:
    """What events cost, in units, and how they are written."""
    if not events:
        raise InvalidInput(
            "a reservation without events would be an answer without a charge.",
            hint="pass the events of the mechanisms that will run.",
        )
    require(events, as_relation(relation))
    chosen = measure(accountant)
    price = units_up(cost(events, chosen), chosen.components)
    return price, compact([event.to_json() for event in events])


def basis_of(stated: Mapping[str, str] | None) -> str:
    """What a guarantee rests on, as it stands in an entry; empty if nothing is said of it."""
    if not stated:
        return ""
    return compact({name_of(name, "basis"): name_of(stated[name], name) for name in sorted(stated)})


def cap_of(chosen: Measure, budget: Budget) -> Cap:
    """A budget in a measure's own units, rounded down."""
    return Cap(units_down(chosen.cap(budget)), str(budget.epsilon), str(budget.delta))
