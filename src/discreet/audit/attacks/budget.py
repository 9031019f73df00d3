"""Attacks on the budget: many at once, and yesterday's ledger."""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from discreet.accounting import Budget
from discreet.audit.attacks.game import Outcome, Score
from discreet.errors import InsufficientBudget, LedgerClosed
from discreet.events import Event
from discreet.ledger import Ledger, create, open_ledger

_CLIENTS = 8
_WHOLE = Event("geometric", {"scale": 1}, 1)  # epsilon 1: all that there is


def race(games: int = 25) -> Outcome:
    """Many clients, and budget for one."""
    won = unsafe = 0
    for game in range(games):
        with TemporaryDirectory() as folder, create(Path(folder) / "ledger.db") as ledger:
            _declare(ledger)

            def charge(client: int, ledger: Ledger = ledger, game: int = game) -> bool:
                return _ask(ledger, f"{game} {client}")

            won += _at_once(charge) > 1
        unsafe += _at_once(_checked_then_deducted()) > 1
    return Outcome(
        "race",
        f"{_CLIENTS} clients ask at the same moment, and the budget is enough for one of them. "
        "Unsafe: what is left is looked up, the query runs, then it is deducted.",
        Score.of(won, games),
        Score.of(unsafe, games),
        0.0,
    )


def rollback(games: int = 10) -> Outcome:
    """Spend, put yesterday's ledger back, spend again."""
    won = unsafe = 0
    for game in range(games):
        with TemporaryDirectory() as folder:
            place = Path(folder)
            won += _again(place / "ours", place / "anchor", game)
            unsafe += _again_in_a_file(place / "spent.txt")
    return Outcome(
        "rollback",
        "The ledger is copied, the budget spent, the copy put back, and the budget spent again; "
        "the anchor lies elsewhere. Unsafe: a file that says how much is spent.",
        Score.of(won, games),
        Score.of(unsafe, games),
        0.0,
    )


def _again(place: Path, anchor: Path, game: int) -> bool:
    place.mkdir()
    with create(place / "ledger.db", anchor=anchor) as ledger:
        _declare(ledger)
    copy = place.with_name("copy")
    shutil.copytree(place, copy)
    with open_ledger(place / "ledger.db") as ledger:
        first = _ask(ledger, f"{game} first")
    shutil.rmtree(place)
    shutil.copytree(copy, place)
    try:
        with open_ledger(place / "ledger.db") as ledger:
            return first and _ask(ledger, f"{game} second")
    except LedgerClosed:
        return False


def _again_in_a_file(spent: Path) -> bool:
    answered = 0
    spent.write_text("0")
    for _ in range(2):
        copy = spent.read_text()
        if Fraction(copy) + 1 <= 1:
            spent.write_text("1")
            answered += 1
        spent.write_text(copy)
    return answered > 1


def _declare(ledger: Ledger) -> None:
    ledger.declare("visits", budget=Budget(1), accountant="pure", analysts={"mallory": Budget(1)})


def _ask(ledger: Ledger, request: str) -> bool:
    try:
        ledger.reserve(
            dataset="visits",
            analyst="mallory",
            key=None,
            request_sha256=hashlib.sha256(request.encode()).hexdigest(),
            events=[_WHOLE],
        )
    except InsufficientBudget:
        return False
    return True


def _checked_then_deducted() -> Callable[[int], bool]:
    left, query = [1], threading.Barrier(_CLIENTS)

    def charge(_: int) -> bool:
        enough = left[0] >= 1
        query.wait(timeout=60)  # the query runs
        left[0] -= 1
        return enough

    return charge


def _at_once(charge: Callable[[int], bool]) -> int:
    ready = threading.Barrier(_CLIENTS)

    def client(number: int) -> bool:
        ready.wait(timeout=60)
        return charge(number)

    with ThreadPoolExecutor(_CLIENTS) as pool:
        return sum(pool.map(client, range(_CLIENTS)))
