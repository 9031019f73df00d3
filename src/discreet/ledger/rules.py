"""The rules of a ledger, once for all stores: what each request writes, or why it is refused.

A *release* is one answer to one canonical request on a data set. It is charged to the data set
once, whoever asks; each analyst who sees it is charged for it once; and it has one answer, ever.
So a request that is sent twice, by a retry, by a second process or by a second analyst, can join
what is on record without a second draw of noise.

Every rule checks first and writes last: a refusal leaves the draft as it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

from discreet.accounting.filters import insufficient
from discreet.accounting.measures import measure
from discreet.errors import (
    AccessRevoked,
    InvalidInput,
    KeyReused,
    LedgerCorrupt,
    RequestChanged,
    UnknownAccount,
)
from discreet.ledger.accounts import Account, DataSet, Place
from discreet.ledger.draft import Draft, mark
from discreet.ledger.entries import fields, quoted
from discreet.ledger.requests import (
    Anchoring,
    Answered,
    Cap,
    Declare,
    Done,
    Grant,
    Reopen,
    Reply,
    Request,
    Reserve,
    Reserved,
    Revoke,
    Settle,
)
from discreet.ledger.terms import granted, require_same_people, require_unchanged
from discreet.ledger.units import Units, amounts


def decide(draft: Draft, request: Request, at: str) -> Reply:
    """Write what the request asks for into the draft, or raise."""
    return _RULES[type(request)](draft, request, at)


def reserve(draft: Draft, request: Reserve, at: str) -> Reply:
    """Charge a release to the data set and the analyst, or join one that is on record."""
    dataset, people, analyst = open_accounts(draft, request.dataset, request.analyst)
    release = mark("release", request.dataset, request.request)
    key = release
    if request.key is not None:
        key = mark("key", request.dataset, request.analyst, request.key)
    found = draft.find(release, key)
    if key is not release and key in found:
        _same_request(draft, found[key], request)
    if release in found:
        return _join(draft, request, at, found, (release, key), (dataset, analyst))
    for account in (analyst, people):
        _afford(account, request.cost, dataset)
    seq = draft.append(at, "reserve", _reserve_fields(request))
    for account in (analyst, people):
        account.spend(request.cost)
        draft.touch(account)
    draft.new_marks[release] = seq
    draft.new_marks[key] = seq
    return Reserved(seq)


def _join(
    draft: Draft,
    request: Reserve,
    at: str,
    found: dict[bytes, int],
    marks: tuple[bytes, bytes],
    accounts: tuple[DataSet, Account],
) -> Reply:
    """The release is on record: charge a second analyst, bind a new key, give what there is."""
    release, key = marks
    dataset, analyst = accounts
    reserved = found[release]
    record = _record(draft, reserved)
    if record["request"] != request.request:
        raise LedgerCorrupt(f"entry {reserved} was found for a request that is not its own.")
    answer = draft.answer(reserved)
    if answer is None and json.loads(request.events) != record["events"]:
        raise RequestChanged(
            f"entry {reserved} charges this request for other events, and has no answer yet.",
            hint="whatever changes the events (epsilon, noise, bounds) must change request_sha256.",
        )
    text = fields(
        dataset=request.dataset,
        analyst=request.analyst,
        key=request.key,
        request=request.request,
        reserved=reserved,
    )
    share = mark("share", request.dataset, request.analyst, request.request)
    shared = record["analyst"] != request.analyst and not draft.find(share)
    if shared:
        cost: Units = (record["cost"][0], record["cost"][1])
        _afford(analyst, cost, dataset)
        seq = draft.append(at, "share", f'{text},"cost":[{cost[0]},{cost[1]}]')
        analyst.spend(cost)
        draft.touch(analyst)
        draft.new_marks[share] = seq
        if key is not release:
            draft.new_marks[key] = seq
    elif key is not release and key not in found:
        draft.new_marks[key] = draft.append(at, "repeat", text)
    if answer is None:
        return Reserved(reserved, shared)
    return Answered(reserved, answer, shared)


def settle(draft: Draft, request: Settle, at: str) -> Reply:
    """Keep the first answer; later ones are dropped and get the first."""
    record = _record(draft, request.reserved)
    if record["kind"] != "reserve" or record["request"] != request.request:
        raise RequestChanged(
            f"entry {request.reserved} is not the reservation of this request.",
            hint="settle the reservation that reserve(...) returned.",
        )
    answer = draft.answer(request.reserved)
    if answer is None:
        answer = request.answer
        digest = sha256(answer).hexdigest()
        seq = draft.append(
            at, "settle", fields(reserved=request.reserved, answer=digest, bytes=len(answer))
        )
        draft.new_answers[request.reserved] = (seq, answer)
    return Answered(request.reserved, answer)


def declare(draft: Draft, request: Declare, at: str) -> Reply:
    """Open a data set, or make sure that the ledger holds what the policy states."""
    place = Place("people", request.people)
    people = draft.account(place)
    known = draft.dataset(request.dataset)
    wanted = request.terms
    if known is not None:
        require_unchanged(draft, known, wanted, request)
        if request.basis and not known.basis:
            named = f'"dataset":{quoted(request.dataset)},"basis":{request.basis}'
            draft.append(at, "basis", named)
            draft.change_dataset(wanted)
        return Done(draft.head.seq)
    if people is not None:
        require_same_people(draft, people, wanted, request.cap)
    text = fields(
        dataset=request.dataset,
        people=request.people,
        relation=request.relation,
        accountant=request.accountant,
        cap=_cap_json(request.cap),
        analysts={name: _cap_json(cap) for name, cap in sorted(request.analysts.items())},
    )
    if request.basis:
        text += f',"basis":{request.basis}'
    seq = draft.append(at, "declare", text)
    draft.add_dataset(wanted)
    if people is None:
        draft.add_account(_new_account(place, request.cap))
    for name, cap in sorted(request.analysts.items()):
        draft.add_account(_new_account(Place("analyst", request.dataset, name), cap))
    return Done(seq)


def grant(draft: Draft, request: Grant, at: str) -> Reply:
    """Set one cap; the analyst may be new, the data set may not."""
    dataset = _dataset(draft, request.dataset)
    place = dataset.place
    if request.analyst is not None:
        place = Place("analyst", request.dataset, request.analyst)
    account = draft.account(place)
    if account is not None and any(
        spent > cap for spent, cap in zip(account.spent, request.cap.units, strict=True)
    ):
        spent = amounts(account.spent, measure(dataset.accountant))
        shown = ", ".join(f"{name} {float(amount):g}" for name, amount in spent.items())
        raise InvalidInput(
            f"the cap of {place} cannot be lowered to epsilon {request.cap.epsilon}: "
            f"{shown} is already spent, and nothing is refunded.",
            hint="`discreet ledger revoke` closes a budget at what is spent.",
        )
    text = fields(dataset=request.dataset, analyst=request.analyst, cap=_cap_json(request.cap))
    if request.new_basis:
        text += ',"basis":null'
        draft.change_dataset(replace(dataset, basis=""))
    seq = draft.append(at, "grant", text)
    if account is None:
        draft.add_account(_new_account(place, request.cap))
    else:
        account.cap = request.cap.units
        account.epsilon, account.delta = request.cap.epsilon, request.cap.delta
        account.revoked = False
        draft.touch(account)
    return Done(seq)


def revoke(draft: Draft, request: Revoke, at: str) -> Reply:
    """Close one account, stored answers included."""
    dataset = _dataset(draft, request.dataset)
    place = dataset.place
    if request.analyst is not None:
        place = Place("analyst", request.dataset, request.analyst)
    account = _account(draft, place)
    seq = draft.append(at, "revoke", fields(dataset=request.dataset, analyst=request.analyst))
    account.revoked = True
    draft.touch(account)
    return Done(seq)


def reopen(draft: Draft, request: Reopen, at: str) -> Reply:
    """Lower every cap to what is known to be spent: more was, and nobody knows how much."""
    seq = draft.append(at, "reopen", fields(lost=request.lost))
    for account in draft.accounts():
        account.cap = account.spent
        draft.touch(account)
    return Done(seq)


def anchor(draft: Draft, request: Anchoring, at: str) -> Reply:
    """Remember which file is to remember how far the ledger has come."""
    draft.new_meta["anchor"] = request.path
    return Done(draft.append(at, "anchor", fields(path=request.path)))


_RULES: dict[type, Callable[[Draft, Any, str], Reply]] = {
    Reserve: reserve,
    Settle: settle,
    Declare: declare,
    Grant: grant,
    Revoke: revoke,
    Reopen: reopen,
    Anchoring: anchor,
}


def open_accounts(draft: Draft, dataset: str, analyst: str) -> tuple[DataSet, Account, Account]:
    """The data set and its two accounts, both of them open."""
    known = _dataset(draft, dataset)
    people = _account(draft, known.place)
    own = _account(draft, Place("analyst", dataset, analyst))
    for account in (people, own):
        if account.revoked:
            raise AccessRevoked(
                f"the curator has closed the budget of {account.place}.",
                hint=f"the curator can open it again: discreet ledger grant LEDGER "
                f"{granted(dataset, account.place)} --epsilon E",
            )
    return known, people, own


def _dataset(draft: Draft, name: str) -> DataSet:
    known = draft.dataset(name)
    if known is None:
        raise UnknownAccount(
            f"the ledger has no data set {name!r}.",
            hint="the curator opens it: discreet ledger init LEDGER --dataset NAME --epsilon E",
        )
    return known


def _account(draft: Draft, place: Place) -> Account:
    account = draft.account(place)
    if account is None:
        raise UnknownAccount(
            f"the ledger has no budget for {place}.",
            hint=f"the curator grants one: discreet ledger grant LEDGER {place.name} "
            "--analyst NAME --epsilon E",
        )
    return account


def _afford(account: Account, cost: Units, dataset: DataSet) -> None:
    if not account.covers(cost):
        chosen = measure(dataset.accountant)
        asked, left = (amounts(units, chosen) for units in (cost, account.remaining))
        raise insufficient(
            chosen, tuple(asked.values()), tuple(left.values()), whose=str(account.place)
        )


def _record(draft: Draft, seq: int) -> dict[str, Any]:
    entry = draft.entry(seq)
    if entry is None:
        raise LedgerCorrupt(
            f"entry {seq} is not in the ledger.", hint="discreet ledger verify LEDGER"
        )
    return entry.data


def _same_request(draft: Draft, seq: int, request: Reserve) -> None:
    if _record(draft, seq)["request"] != request.request:
        raise KeyReused(
            f"the key {request.key!r} already stands for another request (entry {seq}).",
            hint="use a new key for a new request; the same key only to retry the same one.",
        )


def _reserve_fields(request: Reserve) -> str:
    key = "null" if request.key is None else quoted(request.key)
    return (
        f'"dataset":{quoted(request.dataset)},"analyst":{quoted(request.analyst)},"key":{key},'
        f'"request":{quoted(request.request)},"cost":[{request.cost[0]},{request.cost[1]}],'
        f'"events":{request.events}'
    )


def _new_account(place: Place, cap: Cap) -> Account:
    return Account(place, cap.units, (0, 0), cap.epsilon, cap.delta)


def _cap_json(cap: Cap) -> dict[str, object]:
    return {"units": cap.units, "epsilon": cap.epsilon, "delta": cap.delta}
