"""What every store of a ledger must do; each test runs on all of them."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting.loss import Budget
from discreet.errors import (
    AccessRevoked,
    InsufficientBudget,
    InvalidCharge,
    InvalidInput,
    InvalidName,
    KeyReused,
    LedgerClosed,
    LedgerCorrupt,
    MixedRelations,
    PolicyDiffers,
    Refused,
    RequestChanged,
    UnknownAccount,
    UnknownEvent,
)
from discreet.events import Event
from discreet.ledger import Ledger, Reservation, Stored, create, open_ledger
from discreet.ledger.anchor import Anchor
from discreet.ledger.asked import AskedLedger
from discreet.ledger.given import priced
from discreet.ledger.requests import Reserve, Reserved
from tests.ledger import workers
from tests.ledger.private_postgres import PrivatePostgres
from tests.ledger.workers import HUNDREDTH, ROOT, ask, digest

HALF = Event("geometric", {"scale": 2}, 1)


@pytest.fixture(scope="session")
def server() -> Iterator[PrivatePostgres]:
    running = PrivatePostgres()
    yield running
    running.stop()


class Files:
    """Ledgers in files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self) -> str:
        return str(self.folder / "ledger.db")

    def restore(self, place: str, *, of: str) -> None:
        shutil.copy(of, place)

    def backup(self, place: str) -> str:
        shutil.copy(place, place + ".backup")
        return place + ".backup"

    def tamper(self, place: str, statement: str) -> None:
        import sqlite3

        connection = sqlite3.connect(place)
        triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
        for (name,) in connection.execute(triggers).fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        assert connection.execute(statement).rowcount > 0
        connection.commit()
        connection.close()


class Databases:
    """Ledgers in PostgreSQL."""

    def __init__(self, server: PrivatePostgres) -> None:
        self.server = server

    def place(self) -> str:
        return self.server.blank()

    def _name(self, place: str) -> str:
        found = re.search(r"(ledger\d+)", place)
        assert found is not None
        return found[1]

    def backup(self, place: str) -> str:
        return self.server.database(template=self._name(place))

    def restore(self, place: str, *, of: str) -> None:
        import psycopg

        old, new = self._name(place), self._name(of)
        with psycopg.connect(self.server.address("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {old}")
            connection.execute(f"ALTER DATABASE {new} RENAME TO {old}")

    def tamper(self, place: str, statement: str) -> None:
        import psycopg

        with psycopg.connect(place) as connection:
            connection.execute("SET search_path = discreet_ledger")
            for table in ("entries", "answers", "accounts"):
                connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
            assert connection.execute(statement).rowcount > 0


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path) -> Files | Databases:
    if request.param == "sqlite":
        return Files(tmp_path)
    return Databases(request.getfixturevalue("server"))


@pytest.fixture
def place(store: Files | Databases) -> str:
    return store.place()


@pytest.fixture
def ledger(place) -> Iterator[Ledger]:
    with create(place) as made:
        visits(made)
        yield made


def visits(ledger: Ledger, **changes: Any) -> None:
    stated: dict[str, Any] = {
        "budget": Budget(1),
        "accountant": "pure",
        "analysts": {"ann": Budget(1), "bob": Budget("3/5")},
    }
    ledger.declare("visits", **(stated | changes))


def spent(ledger: Ledger, analyst: str | None = None) -> Fraction:
    return ledger.balance("visits", analyst=analyst).spent["epsilon"]


def reserved(found: Reservation | Stored) -> Reservation:
    assert isinstance(found, Reservation)
    return found


# Charging


def test_a_charge_is_taken_from_the_data_set_and_from_the_analyst(ledger):
    ask(ledger, "q", event=HUNDREDTH)
    assert spent(ledger) == spent(ledger, "ann") == Fraction(1, 100)
    assert spent(ledger, "bob") == 0
    assert ledger.balance("visits").remaining == {"epsilon": Fraction(99, 100)}


def test_what_is_charged_is_there_after_opening_again(ledger, place):
    ask(ledger, "q", event=HUNDREDTH)
    ledger.close()
    with open_ledger(place) as again:
        assert spent(again) == Fraction(1, 100)


def test_a_reservation_that_is_never_settled_stays_spent(ledger, place):
    ask(ledger, "q", event=HALF)
    ledger.close()
    with open_ledger(place) as again:
        again.verify()
        assert spent(again) == Fraction(1, 2)


def test_overspending_is_refused_and_says_whose_cap_it_was(ledger):
    ask(ledger, "first", analyst="bob", event=HALF)
    with pytest.raises(InsufficientBudget) as refusal:
        ask(ledger, "second", analyst="bob", event=HALF)
    assert refusal.value.asked == {"epsilon": Fraction(1, 2)}
    assert refusal.value.remaining == {"epsilon": Fraction(1, 10)}
    assert "bob" in refusal.value.whose
    assert spent(ledger) == spent(ledger, "bob") == Fraction(1, 2)
    ask(ledger, "second", event=HALF)
    with pytest.raises(InsufficientBudget) as refusal:
        ask(ledger, "third", analyst="bob", event=HUNDREDTH)
    assert refusal.value.whose == "the data set 'visits'"
    assert ledger.verify().charges == 2


def test_a_charge_of_exactly_what_is_left_is_taken(ledger):
    ask(ledger, "first", event=HALF)
    ask(ledger, "second", event=HALF)
    assert ledger.balance("visits").remaining == {"epsilon": 0}


def test_events_of_one_request_are_summed_before_they_are_rounded_up(ledger):
    third = Event("declared", {"epsilon": "1/3", "delta": 0}, 1)
    ledger.reserve(
        dataset="visits", analyst="ann", key=None, request_sha256=digest("q"), events=[third] * 3
    )
    assert spent(ledger) == 1


def test_a_third_is_rounded_up_to_the_unit_and_stays_exact_in_the_entry(ledger):
    third = Event("declared", {"epsilon": "1/3", "delta": 0}, 1)
    ask(ledger, "q", event=third)
    assert spent(ledger) == Fraction(333_333_333_334, 10**12)
    assert ledger.events("visits") == [third]


def test_delta_has_a_cap_of_its_own(place):
    with create(place) as ledger:
        visits(
            ledger,
            budget=Budget(9, 1e-6),
            accountant="approximate",
            analysts={"ann": Budget(9, 1e-6)},
        )
        event = Event("declared", {"epsilon": "1/100", "delta": 4e-7}, 1)
        ask(ledger, "1", event=event)
        ask(ledger, "2", event=event)
        with pytest.raises(InsufficientBudget) as refusal:
            ask(ledger, "3", event=event)
        assert refusal.value.remaining["delta"] == Fraction(2, 10**7)
        assert ledger.balance("visits").spent["delta"] == Fraction(8, 10**7)


def test_a_zcdp_ledger_sums_rho(place):
    with create(place) as ledger:
        visits(ledger, budget=Budget(1, 1e-6), accountant="zcdp", analysts={"ann": Budget(1, 1e-6)})
        ask(ledger, "q", event=Event("gaussian", {"sigma": 100, "grid": 1}, 1))
        balance = ledger.balance("visits")
        assert balance.spent == {"rho": Fraction(1, 20000), "delta": 0}
        assert 0 < balance.cap["rho"] < 1
        ledger.verify()


# What cannot be charged


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("1e-13", 0), (Fraction(1, 10**12 + 1), 0), ("1/100", "1e-19")],
)
def test_charges_too_small_to_count_are_refused(place, epsilon, delta):
    with create(place) as ledger:
        visits(
            ledger,
            budget=Budget(1, 1e-6),
            accountant="approximate",
            analysts={"ann": Budget(1, 1e-6)},
        )
        with pytest.raises(InvalidCharge):
            ask(ledger, "q", event=Event("declared", {"epsilon": epsilon, "delta": delta}, 1))
        assert spent(ledger) == 0


@pytest.mark.parametrize(
    "epsilon", ["nan", "inf", -1, 0, float("nan"), float("inf"), "1e-999999999"]
)
def test_a_cap_is_a_positive_finite_number(ledger, epsilon):
    with pytest.raises(InvalidInput):
        ledger.grant("visits", Budget(epsilon))


@pytest.mark.parametrize("epsilon", [10**7, "1e-13"])
def test_a_cap_that_integers_cannot_keep_is_refused(ledger, epsilon):
    with pytest.raises(InvalidInput, match="cannot be kept"):
        ledger.grant("visits", Budget(epsilon))


def test_a_gigantic_charge_is_merely_refused(ledger):
    with pytest.raises(InsufficientBudget):
        ask(ledger, "q", event=Event("declared", {"epsilon": 10**30, "delta": 0}, 1))


def test_events_without_a_price_are_refused(ledger):
    with pytest.raises(UnknownEvent):
        ask(ledger, "q", event=Event("gaussian", {"sigma": 1, "grid": 1}, 1))
    with pytest.raises(MixedRelations):
        ask(ledger, "q", event=Event("geometric", {"scale": 2}, 1, "change_one"))
    with pytest.raises(InvalidInput, match="without events"):
        ledger.reserve(
            dataset="visits", analyst="ann", key=None, request_sha256=digest("q"), events=[]
        )


@pytest.mark.parametrize("name", ["", "a\0b", "a\nb", "x" * 201, "\ud800"])
def test_names_that_cannot_be_written_down_are_refused(ledger, name):
    with pytest.raises(InvalidName):
        ask(ledger, "q", analyst=name, event=HUNDREDTH)
    with pytest.raises(InvalidName):
        ask(ledger, "q", key=name, event=HUNDREDTH)


def test_names_may_hold_quotes_and_every_alphabet(ledger):
    for name in ("O'Neil; DROP TABLE entries --", 'say "no"', "Žofie", "{}", "%s", "a/b"):
        ledger.grant("visits", Budget("1/10"), analyst=name)
        ask(ledger, name, analyst=name, key=name, event=HUNDREDTH)
    ledger.verify()


@pytest.mark.parametrize("request_sha256", ["", "00", "zz" * 32, "AA" * 32, b"short"])
def test_a_request_is_named_by_its_digest(ledger, request_sha256):
    with pytest.raises(InvalidInput, match="SHA-256"):
        ledger.reserve(
            dataset="visits", analyst="ann", key="k", request_sha256=request_sha256, events=[HALF]
        )


def test_strangers_have_no_budget(ledger):
    with pytest.raises(UnknownAccount, match="eve"):
        ask(ledger, "q", analyst="eve", event=HUNDREDTH)
    with pytest.raises(UnknownAccount, match="nothing"):
        ledger.reserve(
            dataset="nothing", analyst="ann", key=None, request_sha256=digest("q"), events=[HALF]
        )


# Retries, and answers that are already there


def test_a_retry_gets_the_same_reservation_and_then_the_same_bytes(ledger):
    first = reserved(ask(ledger, "q", key="k", event=HALF))
    assert ask(ledger, "q", key="k", event=HALF) == first
    assert ledger.settle(first, b"41\0\xff").answer == b"41\0\xff"
    again = ask(ledger, "q", key="k", event=HALF)
    assert isinstance(again, Stored)
    assert again.answer == b"41\0\xff"
    assert spent(ledger) == Fraction(1, 2)


def test_the_first_answer_stays(ledger):
    reservation = reserved(ask(ledger, "q", event=HALF))
    assert ledger.settle(reservation, b"first").answer == b"first"
    assert ledger.settle(reservation, b"second").answer == b"first"
    assert ledger.verify().answers == 1


def test_a_key_stands_for_one_request_for_ever(ledger):
    ask(ledger, "q", key="k", event=HUNDREDTH)
    with pytest.raises(KeyReused):
        ask(ledger, "other", key="k", event=HUNDREDTH)
    ask(ledger, "q", key="k2", event=HUNDREDTH)
    with pytest.raises(KeyReused):
        ask(ledger, "other", key="k2", event=HUNDREDTH)
    assert spent(ledger) == Fraction(1, 100)


def test_each_analyst_has_keys_of_their_own(ledger):
    ask(ledger, "q", key="k", event=HUNDREDTH)
    ask(ledger, "other", analyst="bob", key="k", event=HUNDREDTH)
    assert spent(ledger) == Fraction(2, 100)


def test_the_same_request_is_free_to_the_same_analyst(ledger):
    ledger.settle(reserved(ask(ledger, "q", key="k", event=HALF)), b"41")
    for key in ("other", None):
        found = ask(ledger, "q", key=key, event=HALF)
        assert isinstance(found, Stored)
        assert found.answer == b"41"
    assert spent(ledger) == spent(ledger, "ann") == Fraction(1, 2)


def test_a_second_analyst_pays_for_a_stored_answer_once_and_the_data_set_does_not(ledger):
    bought = reserved(ask(ledger, "q", event=HALF))
    assert not bought.shared
    ledger.settle(bought, b"41")
    for turn in range(3):
        found = ask(ledger, "q", analyst="bob", event=HALF)
        assert isinstance(found, Stored)
        assert found.answer == b"41"
        assert found.shared == (turn == 0)  # who was charged is told with the answer
    assert spent(ledger) == spent(ledger, "bob") == Fraction(1, 2)
    assert ledger.verify().charges == 2


def test_a_stored_answer_is_not_shown_to_an_analyst_who_cannot_pay(ledger):
    ledger.settle(reserved(ask(ledger, "q", event=HALF)), b"41")
    ask(ledger, "mine", analyst="bob", event=HALF)
    with pytest.raises(InsufficientBudget, match="bob"):
        ask(ledger, "q", analyst="bob", event=HALF)


def test_two_analysts_who_ask_at_once_share_one_draw(ledger):
    first = reserved(ask(ledger, "q", event=HALF))
    second = reserved(ask(ledger, "q", analyst="bob", event=HALF))
    assert (first.shared, second.shared) == (False, True)
    assert ledger.settle(second, b"bob's draw").answer == b"bob's draw"
    assert ledger.settle(first, b"ann's draw").answer == b"bob's draw"
    assert spent(ledger) == spent(ledger, "ann") == spent(ledger, "bob") == Fraction(1, 2)


def test_one_request_cannot_stand_for_two_sets_of_events(ledger):
    reservation = reserved(ask(ledger, "q", event=HALF))
    with pytest.raises(RequestChanged):
        ask(ledger, "q", event=HUNDREDTH)
    ledger.settle(reservation, b"41")
    found = ask(ledger, "q", event=HUNDREDTH)
    assert isinstance(found, Stored)
    assert spent(ledger) == Fraction(1, 2)


def test_a_forged_reservation_settles_nothing(ledger):
    reservation = reserved(ask(ledger, "q", event=HALF))
    with pytest.raises(RequestChanged):
        ledger.settle(Reservation("visits", "ann", None, digest("x"), reservation.seq), b"!")
    with pytest.raises(LedgerCorrupt):
        ledger.settle(Reservation("visits", "ann", None, digest("q"), 999), b"!")


def test_answers_of_every_size_come_back(ledger):
    for size in (0, 1, 70_000, 3_000_000):
        answer = os.urandom(size)
        ledger.settle(reserved(ask(ledger, str(size), event=HUNDREDTH)), answer)
        found = ask(ledger, str(size), event=HUNDREDTH)
        assert isinstance(found, Stored)
        assert found.answer == answer


def retries(ledger: Ledger, place: str, count: int) -> None:
    outputs = workers.together("retry", place, count // 8)
    answers = {answer for output in outputs for answer in json.loads(output)}
    assert len(answers) == 1
    assert spent(ledger) == Fraction(1, 100)
    assert ledger.verify().answers == 1


def test_retries_of_eight_processes_make_one_charge_and_one_answer(ledger, place):
    retries(ledger, place, 400)


@pytest.mark.deep
def test_ten_thousand_retries_make_one_charge_and_one_answer(ledger, place):
    retries(ledger, place, 10_000)


# Many at once


def test_eight_processes_spend_the_cap_and_not_one_unit_more(ledger, place):
    outputs = workers.together("race", place, 40)
    assert sum(map(int, outputs)) == 100
    assert spent(ledger) == spent(ledger, "ann") == 1
    assert ledger.verify().charges == 100


def test_threads_share_one_ledger(ledger):
    taken: Counter[str] = Counter()

    def work(me: int) -> None:
        for number in range(20):
            try:
                ask(ledger, f"{me}.{number}", event=HUNDREDTH)
                taken["charged"] += 1
            except InsufficientBudget:
                taken["refused"] += 1

    threads = [threading.Thread(target=work, args=(me,)) for me in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken == {"charged": 100, "refused": 60}
    assert ledger.verify().charges == 100


def killing(ledger: Ledger, place: str, log: Path, kills: int) -> None:
    """Check 12: kill -9 in the middle of concurrent charges, again and again."""
    ledger.grant("visits", Budget(1000))
    ledger.grant("visits", Budget(1000), analyst="ann")
    ledger.close()
    log.touch()
    # A connection takes longer to open than a file: with more of them, each lives longer.
    crowd = "12" if place.startswith("postgresql:") else "4"
    running = workers.start("nursery", place, str(log), str(kills), crowd)
    running.communicate()
    assert running.returncode == 0
    lines = [line.split() for line in log.read_text().splitlines()]
    charged = {line[1] for line in lines if line[0] == "charged"}
    settled = {line[1]: line[2] for line in lines if line[0] == "settled"}
    with open_ledger(place) as after:
        after.verify()
        entries = [entry.data for entry in after.history("visits")]
        charges = [entry["request"] for entry in entries if entry["kind"] == "reserve"]
        assert len(charged) > kills / 10, "the workers hardly got to work"
        assert charged <= set(charges), "an acknowledged charge was lost"
        assert len(charges) == len(set(charges)), "a request was charged twice"
        assert spent(after) == Fraction(len(charges), 10**6)
        with after.store.reading() as reader:
            answers = {
                entry["request"]: (reader.answer(entry["seq"]) or b"").hex()
                for entry in entries
                if entry["kind"] == "reserve"
            }
        assert settled.items() <= answers.items(), "an acknowledged answer was lost or changed"


def test_killed_processes_lose_no_charge(ledger, place, tmp_path):
    killing(ledger, place, tmp_path / "log", 60)


@pytest.mark.deep
def test_ten_thousand_killed_processes_lose_no_charge(ledger, place, tmp_path):
    killing(ledger, place, tmp_path / "log", 10_000)


# The curator


def test_a_policy_that_is_unchanged_writes_nothing(ledger):
    before = ledger.verify()
    visits(ledger)
    assert ledger.verify() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"budget": Budget(2)},
        {"analysts": {"ann": Budget(1)}},
        {"analysts": {"ann": Budget(1), "bob": Budget("3/5"), "eve": Budget(1)}},
        {"analysts": {"ann": Budget(2), "bob": Budget("3/5")}},
        {"accountant": "approximate"},
        {"relation": "change_one"},
        {"people": "patients"},
    ],
)
def test_a_policy_that_differs_is_refused(ledger, changes):
    with pytest.raises(PolicyDiffers):
        visits(ledger, **changes)


def test_a_difference_counts_once_it_is_granted(ledger):
    ledger.grant("visits", Budget(2))
    ledger.grant("visits", Budget(1), analyst="eve")
    ledger.revoke("visits", analyst="bob")
    visits(ledger, budget=Budget(2), analysts={"ann": Budget(1), "eve": Budget(1)})
    ledger.verify()


# One analyst's session


def asked(place: str, analyst: str, **changes: Any) -> AskedLedger:
    """The ledger as a session of one analyst opens it."""
    ledger = AskedLedger(open_ledger(place).store, analyst=analyst, known_as="budget.db")
    visits(ledger, **changes)
    return ledger


def test_what_is_done_to_one_analyst_is_no_concern_of_another(ledger, place):
    ledger.revoke("visits", analyst="bob")
    ledger.grant("visits", Budget(5), analyst="zoe")
    with asked(place, "ann") as anns:
        ask(anns, "q", event=HUNDREDTH)
        assert anns.balance("visits", analyst="ann").spent == {"epsilon": Fraction(1, 100)}
    with (
        asked(place, "bob") as bobs,
        pytest.raises(PolicyDiffers, match="'bob' on 'visits', and the ledger holds a closed one"),
    ):
        ask(bobs, "q", analyst="bob", event=HUNDREDTH)


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        (
            {"analysts": {"ann": Budget(2), "bob": Budget("3/5")}},
            "discreet ledger grant budget.db visits --analyst ann --epsilon 2 --delta 0",
        ),
        ({"budget": Budget(2)}, "discreet ledger grant budget.db visits --epsilon 2 --delta 0"),
        (
            {"analysts": {"bob": Budget("3/5")}},
            "discreet ledger revoke budget.db visits --analyst ann",
        ),
    ],
    ids=["her cap", "the data set's cap", "not in the policy"],
)
def test_nobody_spends_more_than_policy_and_ledger_both_allow(ledger, place, changes, hint):
    with asked(place, "ann", **changes) as anns:
        for attempt in (
            lambda: ask(anns, "q", event=HUNDREDTH),
            lambda: anns.balance("visits", analyst="ann"),
            lambda: anns.require_one(["visits"]),
        ):
            with pytest.raises(PolicyDiffers) as refusal:
                attempt()
            assert refusal.value.hint == hint
            assert hint in str(refusal.value)
    assert ledger.verify().charges == 0


def test_a_session_goes_on_once_the_difference_is_granted(ledger, place):
    with asked(place, "ann", budget=Budget(2)) as anns:
        with pytest.raises(PolicyDiffers):
            ask(anns, "q", event=HUNDREDTH)
        ledger.grant("visits", Budget(2))
        ask(anns, "q", event=HUNDREDTH)
    ledger.verify()


def test_what_is_granted_beyond_the_policy_is_not_spent_by_an_open_session(ledger, place):
    with asked(place, "ann") as anns:
        ask(anns, "q", event=HUNDREDTH)
        ledger.grant("visits", Budget(5), analyst="ann")
        with pytest.raises(PolicyDiffers, match="the ledger holds epsilon 5"):
            ask(anns, "q2", event=HUNDREDTH)
        ledger.grant("visits", Budget(1), analyst="ann")
        ledger.grant("visits", Budget(9), analyst="bob")
        ask(anns, "q2", event=HUNDREDTH)


def test_an_open_session_does_not_go_on_with_the_basis_before(ledger, place):
    with asked(place, "ann", basis=BASIS) as anns:
        ask(anns, "q", event=HUNDREDTH)
        ledger.grant("visits", Budget(1), new_basis=True)
        with pytest.raises(PolicyDiffers, match="accepted another basis"):
            ask(anns, "q2", event=HUNDREDTH)
        visits(ledger, basis=BASIS | {"unit": "ward"})
        with pytest.raises(PolicyDiffers, match="unit was ward, and is now patient_id"):
            ask(anns, "q2", event=HUNDREDTH)


def test_a_data_set_that_differs_closes_no_other(ledger, place):
    ledger.declare("labs", budget=Budget(1), accountant="pure", analysts={"ann": Budget(1)})
    with asked(place, "ann", budget=Budget(7)) as anns:
        anns.declare("labs", budget=Budget(1), accountant="pure", analysts={"ann": Budget(1)})
        anns.require_one(["visits", "labs"])
        anns.reserve(
            dataset="labs", analyst="ann", key=None, request_sha256=digest("q"), events=[HUNDREDTH]
        )
        with pytest.raises(PolicyDiffers):
            ask(anns, "q", event=HUNDREDTH)


BASIS = {"unit": "patient_id", "key": "5a17"}


def test_another_basis_is_refused_until_the_curator_accepts_it(ledger, place):
    visits(ledger, basis=BASIS)
    for other in (BASIS | {"unit": "ward"}, BASIS | {"key": "c0de"}, {"unit": "patient_id"}):
        with pytest.raises(PolicyDiffers, match="another basis") as refusal:
            visits(ledger, basis=other)
        assert "--new-basis" in (refusal.value.hint or "")
    ledger.grant("visits", Budget(1), new_basis=True)
    with open_ledger(place) as second:
        visits(second, basis=BASIS | {"unit": "ward"})
        with pytest.raises(PolicyDiffers, match="unit was ward, and is now patient_id"):
            visits(second, basis=BASIS)
        second.verify()


def test_a_basis_is_fixed_by_the_first_who_states_it(place):
    with create(place) as ledger:
        visits(ledger, basis=BASIS)
        visits(ledger)
        visits(ledger, basis=dict(reversed(BASIS.items())))
        entries = ledger.verify().entries
        with pytest.raises(PolicyDiffers, match="another basis"):
            visits(ledger, basis={"unit": "ward"})
        assert ledger.verify().entries == entries


def test_data_sets_over_the_same_people_may_name_them_differently(ledger):
    visits(ledger, basis=BASIS)
    terms = {"budget": Budget(1), "accountant": "pure", "analysts": {}, "people": "visits"}
    ledger.declare("labs", **terms, basis=BASIS | {"unit": "person"})
    ledger.verify()


def test_a_basis_that_was_changed_by_hand_is_noticed(ledger, place, store):
    visits(ledger, basis=BASIS)
    ledger.close()
    store.tamper(place, "UPDATE datasets SET basis = ''")
    with open_ledger(place) as opened, pytest.raises(LedgerCorrupt, match="data sets"):
        opened.verify()


def test_one_analyst_has_no_basis(ledger):
    with pytest.raises(InvalidInput, match="not one analyst's"):
        ledger.grant("visits", Budget(1), analyst="ann", new_basis=True)


def test_what_is_on_record_is_found_among_what_is_new(ledger):
    old = ask(ledger, "old", key="old", event=HUNDREDTH)
    ask(ledger, "new", key="new", event=HUNDREDTH)
    price, text = priced((HUNDREDTH,), "pure", "add_remove")
    replies = ledger.store.commit(
        [
            Reserve("visits", "ann", name, digest(request), price, text)
            for name, request in (
                ("a", "a"),
                ("old", "old"),
                ("a", "a"),
                ("new", "other"),
                ("b", "old"),
                ("c", "c"),
            )
        ]
    )
    first, again, same, reused, bound, last = replies
    assert again == bound == Reserved(old.seq)
    assert same == first
    assert isinstance(reused, KeyReused)
    assert isinstance(last, Reserved)
    assert ledger.balance("visits").spent == {"epsilon": Fraction(4, 100)}
    ledger.verify()


def test_two_who_write_by_turns_decide_on_what_the_other_has_written(ledger, place):
    price, text = priced((HUNDREDTH,), "pure", "add_remove")

    def charge(one: Ledger, name: str) -> object:
        (reply,) = one.store.commit([Reserve("visits", "ann", name, digest(name), price, text)])
        return reply

    with open_ledger(place) as other:
        for turn in range(50):
            mine, theirs = charge(ledger, f"{turn}"), charge(other, f"other {turn}")
            assert isinstance(mine, Reserved)
            assert isinstance(theirs, Reserved)
            assert charge(ledger, f"other {turn}") == theirs
            assert charge(other, f"{turn}") == mine
        for one in (ledger, other):
            assert isinstance(charge(one, "too much"), InsufficientBudget)
        ledger.grant("visits", Budget(2))
        ledger.grant("visits", Budget(2), analyst="ann")
        assert isinstance(charge(other, "granted"), Reserved)
        assert isinstance(charge(ledger, "granted, too"), Reserved)
        assert spent(ledger) == spent(other, "ann") == Fraction(102, 100)
        ledger.verify()


def test_what_is_on_record_is_free_when_nothing_is_left(ledger):
    bought = ask(ledger, "q", event=HALF)
    ask(ledger, "q2", event=HALF)
    for _ in range(3):
        with pytest.raises(InsufficientBudget):
            ask(ledger, "q3", event=HALF)
        assert ask(ledger, "q", event=HALF).seq == bought.seq


def test_a_cap_never_falls_below_what_is_spent(ledger):
    ask(ledger, "q", event=HALF)
    with pytest.raises(InvalidInput, match="nothing is refunded"):
        ledger.grant("visits", Budget("1/4"))
    ledger.grant("visits", Budget("1/2"))
    with pytest.raises(InsufficientBudget):
        ask(ledger, "q2", event=HUNDREDTH)


def test_a_revoked_budget_buys_nothing_and_shows_nothing(ledger):
    ledger.settle(reserved(ask(ledger, "q", event=HALF)), b"41")
    ledger.revoke("visits", analyst="ann")
    for request in ("q", "new"):
        with pytest.raises(AccessRevoked):
            ask(ledger, request, event=HALF)
    ledger.grant("visits", Budget(1), analyst="ann")
    assert isinstance(ask(ledger, "q", event=HALF), Stored)
    ledger.revoke("visits")
    with pytest.raises(AccessRevoked):
        ask(ledger, "q", analyst="bob", event=HALF)
    ledger.verify()


def test_data_sets_over_the_same_people_share_one_budget(place):
    with create(place) as ledger:
        for name in ("visits", "labs"):
            ledger.declare(
                name,
                budget=Budget(1),
                accountant="pure",
                analysts={"ann": Budget(1)},
                people="patients",
            )
        ask(ledger, "q", event=HALF)
        assert ledger.balance("labs").spent == {"epsilon": Fraction(1, 2)}
        assert ledger.balance("labs", analyst="ann").spent == {"epsilon": 0}
        with pytest.raises(PolicyDiffers):
            ledger.declare("x", budget=Budget(2), accountant="pure", analysts={}, people="patients")
        with pytest.raises(PolicyDiffers):
            ledger.declare(
                "x", budget=Budget(1, 1e-6), accountant="zcdp", analysts={}, people="patients"
            )
        ledger.verify()


def test_a_ledger_is_begun_once(ledger, place):
    with pytest.raises(Refused, match="already"):
        create(place)


def test_a_missing_ledger_is_not_a_fresh_one(store):
    with pytest.raises(LedgerClosed, match="no ledger"):
        open_ledger(store.place())


def without_a_line(store: Files | Databases, place: str) -> None:
    """Remove every row of every table, and keep the tables."""
    for table in ("entries", "marks", "answers", "accounts", "datasets", "meta"):
        store.tamper(place, f"DELETE FROM {table}")


def test_an_emptied_ledger_is_not_a_fresh_one(ledger, place, store):
    ledger.settle(reserved(ask(ledger, "q", key="k", event=HALF)), b"41")
    with open_ledger(place) as second:
        ledger.close()
        without_a_line(store, place)
        with pytest.raises(LedgerCorrupt, match="empty"):
            visits(second)
        with pytest.raises(LedgerCorrupt, match="empty"):
            second.verify()
    with pytest.raises(LedgerCorrupt, match="empty"):
        open_ledger(place)


def test_a_ledger_begins_with_its_first_entry(ledger, place, store):
    ledger.close()
    store.tamper(place, "UPDATE meta SET value = 'another' WHERE name = 'ledger'")
    with pytest.raises(LedgerCorrupt, match="begin this ledger"):
        open_ledger(place)


# Proof


def test_history_tells_everything_in_order(ledger):
    first = reserved(ask(ledger, "q", key="k", event=HALF))
    ledger.settle(first, b"41")
    ask(ledger, "q", analyst="bob", event=HALF)
    assert [entry.data["kind"] for entry in ledger.history()] == [
        "begin",
        "declare",
        "reserve",
        "settle",
        "share",
    ]
    assert [entry.data["kind"] for entry in ledger.history(analyst="bob")] == ["share"]
    assert [entry.data["kind"] for entry in ledger.history("visits", analyst="ann")] == [
        "reserve",
        "settle",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = replace(body, 'ann', 'eve') WHERE seq = 3",
        "UPDATE entries SET hash = (SELECT hash FROM entries WHERE seq = 1) WHERE seq = 3",
        "DELETE FROM entries WHERE seq = 3",
        "UPDATE entries SET seq = 9 WHERE seq = 4",
        "UPDATE accounts SET spent = 0 WHERE kind = 'people'",
        "UPDATE accounts SET cap = cap + 1 WHERE kind = 'analyst'",
        "DELETE FROM accounts WHERE analyst = 'bob'",
        "UPDATE datasets SET accountant = 'zcdp'",
        "DELETE FROM marks",
        "UPDATE answers SET reserved = 2",
    ],
)
def test_whoever_changes_the_tables_is_found_out(ledger, place, store, statement):
    ledger.settle(reserved(ask(ledger, "q", key="k", event=HALF)), b"41")
    ledger.verify()
    ledger.close()
    store.tamper(place, statement)
    with pytest.raises(LedgerCorrupt), open_ledger(place) as after:
        after.verify()


def test_a_broken_chain_answers_nothing(ledger, place, store):
    ask(ledger, "q", event=HUNDREDTH)
    ledger.close()
    store.tamper(place, "UPDATE entries SET body = replace(body, 'ann', 'eve') WHERE seq = 3")
    with pytest.raises(LedgerCorrupt, match="entry 3"):
        open_ledger(place)


def test_another_program_can_check_an_export(ledger, tmp_path):
    ledger.settle(reserved(ask(ledger, "q", key="k", event=HALF)), b"41")
    ask(ledger, "q", analyst="bob", event=HALF)
    ledger.grant("visits", Budget(2))
    file = io.StringIO()
    assert ledger.export(file, answers=True) == 6
    guide = (ROOT / "docs" / "how-to" / "ledger.md").read_text()
    (checker,) = re.findall(r"```python\n(# check\.py.*?)```", guide, re.DOTALL)
    assert checker.count("\n") <= 40
    assert "discreet" not in checker
    program = tmp_path / "check.py"
    program.write_text(checker)

    def check(text: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", program], input=text, capture_output=True, text=True, check=False
        )

    good = check(file.getvalue())
    assert good.returncode == 0, good.stderr
    assert "6 entries" in good.stdout
    lines = file.getvalue().splitlines(keepends=True)
    forged = file.getvalue().replace("500000000000", "400000000000")
    for bad in (forged, "".join(lines[1:]), "".join(lines[:2] + lines[3:])):
        assert check(bad).returncode != 0


# The anchor


def test_a_restored_backup_is_noticed_and_closes_the_ledger(store, place, tmp_path):
    anchor = tmp_path / "elsewhere" / "anchor"
    anchor.parent.mkdir()
    with create(place, anchor=anchor) as ledger:
        visits(ledger)
        ask(ledger, "q", event=HUNDREDTH)
    copy = store.backup(place)
    with open_ledger(place) as ledger:
        ask(ledger, "q2", event=HALF)
    store.restore(place, of=copy)
    with pytest.raises(LedgerClosed, match="1 entry is missing"):
        open_ledger(place)
    with open_ledger(place, despite_anchor=True) as ledger:
        with pytest.raises(LedgerClosed):
            ask(ledger, "q2", event=HUNDREDTH)
        assert ledger.reopen() == 1
        with pytest.raises(InsufficientBudget):
            ask(ledger, "q2", event=HUNDREDTH)
        ledger.grant("visits", Budget("1/2"))
        ledger.grant("visits", Budget("1/2"), analyst="ann")
        ask(ledger, "q2", event=HUNDREDTH)
        ledger.verify()
    with open_ledger(place) as ledger, pytest.raises(Refused, match="not closed"):
        ledger.reopen()


def test_an_anchor_without_its_ledger_begins_no_new_one(store, place, tmp_path):
    with create(place, anchor=tmp_path / "anchor") as ledger:
        visits(ledger)
    with pytest.raises(LedgerClosed, match="already the anchor"):
        create(str(tmp_path / "other.db"), anchor=tmp_path / "anchor")


def test_a_lost_anchor_closes_the_ledger(store, place, tmp_path):
    anchor = tmp_path / "anchor"
    with create(place, anchor=anchor) as ledger:
        visits(ledger)
    anchor.write_text("scribble")
    with pytest.raises(LedgerClosed, match="cannot be read"):
        open_ledger(place)
    anchor.unlink()
    with pytest.raises(LedgerClosed, match="cannot be read"):
        open_ledger(place)
    with open_ledger(place, despite_anchor=True) as ledger:
        assert ledger.reopen() == 0
    with open_ledger(place) as ledger:
        ledger.verify()


def test_a_ledger_can_be_given_an_anchor_later(store, place, tmp_path, ledger):
    ask(ledger, "q", event=HUNDREDTH)
    assert ledger.anchor is None
    ledger.set_anchor(tmp_path / "anchor")
    ledger.set_anchor(tmp_path / "anchor")
    assert ledger.anchor == tmp_path / "anchor"
    assert [entry.data["kind"] for entry in ledger.history()][-2:] == ["reserve", "anchor"]
    ledger.verify()
    ledger.close()
    copy = store.backup(place)
    with open_ledger(place) as again:
        again.set_anchor(tmp_path / "another")
        ask(again, "q2", event=HUNDREDTH)
    store.restore(place, of=copy)
    with pytest.raises(LedgerClosed, match="1 entry is missing"):
        open_ledger(place)  # by the anchor that it had then


def test_an_anchor_of_another_ledger_is_not_taken(ledger, tmp_path):
    create(str(tmp_path / "other.db"), anchor=tmp_path / "anchor").close()
    with pytest.raises(LedgerClosed, match="another ledger"):
        ledger.set_anchor(tmp_path / "anchor")
    (tmp_path / "letter").write_text("dear aunt")
    with pytest.raises(LedgerClosed, match="cannot be read"):
        ledger.set_anchor(tmp_path / "letter")
    assert ledger.anchor is None
    ask(ledger, "q", event=HUNDREDTH)


def test_an_anchor_that_was_almost_given_is_taken_later(ledger, tmp_path):
    Anchor.create(tmp_path / "anchor", ledger.id)
    ledger.set_anchor(tmp_path / "anchor")
    ask(ledger, "q", event=HUNDREDTH)
    assert Anchor(tmp_path / "anchor", ledger.id).read().seq == ledger.verify().entries


def test_an_old_copy_put_back_under_a_running_process_is_noticed(store, place):
    with create(place) as ledger:
        visits(ledger)
    copy = store.backup(place)
    with open_ledger(place) as ledger:
        ask(ledger, "q", event=HALF)
        ledger.close()
        store.restore(place, of=copy)
        with pytest.raises(LedgerClosed, match="not the one last seen"):
            ask(ledger, "q2", event=HUNDREDTH)


# What is not kept


def test_nothing_but_events_and_released_answers_is_kept(ledger):
    ledger.settle(reserved(ask(ledger, "q", key="k", event=HALF)), b"41")
    allowed = {
        "seq", "at", "kind", "format", "ledger", "dataset", "people", "relation", "accountant",
        "cap", "analysts", "analyst", "key", "request", "cost", "events", "reserved", "answer",
        "bytes",
    }  # fmt: skip
    assert {name for entry in ledger.history() for name in entry.data} <= allowed
