"""What a policy states, held against what the ledger holds: the ledger is the truth.

A difference is refused until the curator grants it. Where one analyst asks, only what that analyst
uses must agree: the cap of the data set and their own. Nobody gets more than both allow, and what
the curator does to one analyst's budget is no concern of another's.
"""

from __future__ import annotations

import json
from dataclasses import replace
from shlex import quote

from discreet.errors import PolicyDiffers
from discreet.ledger.accounts import Account, DataSet, Place
from discreet.ledger.draft import Draft
from discreet.ledger.requests import Cap, Declare


def require_unchanged(draft: Draft, known: DataSet, wanted: DataSet, request: Declare) -> None:
    """Refuse a policy that states other terms or caps than the ledger holds."""
    differences = [
        f"{what} is {old}, not {new}"
        for what, old, new in (
            ("the accountant", known.accountant, wanted.accountant),
            ("the relation", known.relation, wanted.relation),
            ("the group of people", known.people, wanted.people),
        )
        if old != new
    ]
    if differences:
        raise PolicyDiffers(
            f"the data set {known.name!r} was opened with other terms: {'; '.join(differences)}.",
            hint="these are fixed for good; put the old ones back into the policy.",
        )
    if known.basis and wanted.basis and known.basis != wanted.basis:
        raise _moved(known, wanted, request.cap)
    stated = {known.place: request.cap} | {
        _own(known, name): cap
        for name, cap in request.analysts.items()
        if request.asking in (None, name)
    }
    for place, cap in stated.items():
        account = draft.account(place)
        if account is None or account.revoked or account.cap != cap.units:
            raise _differs(known.name, place, cap, account)
    for account in _unstated(draft, known, stated, request.asking):
        raise PolicyDiffers(
            f"the policy states no budget for {account.place}, and the ledger holds "
            f"epsilon {account.epsilon}.",
            hint=f"discreet ledger revoke LEDGER {granted(known.name, account.place)}",
        )


def require_same_people(draft: Draft, people: Account, wanted: DataSet, cap: Cap) -> None:
    """A second data set over the same people: one budget, one accountant, one relation."""
    others = [each for each in draft.reader.datasets() if each.people == wanted.people]
    for other in others:
        if replace(other, name=wanted.name, basis=wanted.basis) != wanted:
            raise PolicyDiffers(
                f"{wanted.name!r} shares the budget of {wanted.people!r} with {other.name!r}, "
                f"which is counted by {other.accountant} under {other.relation}.",
                hint=f'accountant="{other.accountant}", relation="{other.relation}"',
            )
    if people.cap != cap.units:
        # The new data set is not there yet: its people are known by the name of another.
        raise _differs(others[0].name if others else wanted.name, people.place, cap, people)


def granted(dataset: str, place: Place) -> str:
    """Whose budget it is, as the words of ``discreet ledger grant`` and ``revoke``.

    >>> granted("visits", Place("analyst", "visits", "ann lee"))
    "visits --analyst 'ann lee'"
    """
    whose = f" --analyst {quote(place.analyst)}" if place.kind == "analyst" else ""
    return f"{quote(dataset)}{whose}"


def _own(dataset: DataSet, analyst: str) -> Place:
    return Place("analyst", dataset.name, analyst)


def _unstated(
    draft: Draft, known: DataSet, stated: dict[Place, Cap], asking: str | None
) -> list[Account]:
    """Open budgets of analysts that the policy says nothing about; or the one of who asks."""
    if asking is not None:
        own = draft.account(_own(known, asking))
        found = [] if own is None else [own]
    else:
        found = [
            account
            for account in draft.accounts()
            if account.place == _own(known, account.place.analyst)
        ]
    return [each for each in found if not each.revoked and each.place not in stated]


def _moved(known: DataSet, wanted: DataSet, cap: Cap) -> PolicyDiffers:
    old, new = json.loads(known.basis), json.loads(wanted.basis)
    differences = "; ".join(
        f"{name} was {old.get(name, 'not stated')}, and is now {new.get(name, 'not stated')}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    )
    return PolicyDiffers(
        f"what has been spent on {known.name!r} was spent on another basis: {differences}. "
        "Charges on both do not add up to one guarantee.",
        hint="put back what it was; or, if the curator accepts that the spent budget protects "
        f"something else: discreet ledger grant LEDGER {quote(known.name)} "
        f"--epsilon {cap.epsilon} --delta {cap.delta} --new-basis",
    )


def _differs(dataset: str, place: Place, cap: Cap, held: Account | None) -> PolicyDiffers:
    return PolicyDiffers(
        f"the policy states epsilon {cap.epsilon}, delta {cap.delta} for {place}, "
        f"and the ledger holds {_holds(held, cap)}. "
        "The ledger is the truth until the curator grants the difference.",
        hint=f"discreet ledger grant LEDGER {granted(dataset, place)} "
        f"--epsilon {cap.epsilon} --delta {cap.delta}",
    )


def _holds(held: Account | None, cap: Cap) -> str:
    if held is None:
        return "none"
    if held.revoked:
        return "a closed one"
    if held.epsilon == cap.epsilon and held.delta == cap.delta:
        return "no more than what is spent, since it was reopened"
    delta = "" if held.delta == cap.delta else f", delta {held.delta}"
    return f"epsilon {held.epsilon}{delta}"
