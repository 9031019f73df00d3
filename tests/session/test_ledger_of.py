"""Which ledger a session is charged to, and when it must not begin a new one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet
from discreet.accounting import Budget
from discreet.errors import (
    DiscreetError,
    InvalidInput,
    LedgerClosed,
    LedgerCorrupt,
    PolicyDiffers,
)
from discreet.ledger import create, open_ledger
from tests.ledger.private_postgres import PrivatePostgres
from tests.session.made import ward, write

COUNT = "SELECT COUNT(*) FROM visits"
OTHER = "SELECT COUNT(*) FROM other"

POLICY = """
[dataset.visits]
source = "visits.parquet"
unit = "who"
rows_per_unit = 2
columns.who = { type = "integer" }
budget.epsilon = 10
analysts.ann = { epsilon = 5 }
analysts.bob = { epsilon = 1 }

[dataset.other]
source = "other.parquet"
unit = "each row"
columns.cost = { type = "real", bounds = [0, 100], grid = 0.5 }
budget.epsilon = 10
analysts.ann = { epsilon = 5 }
"""


def stated(folder: Path, *, ledger: str = "", policy: str = POLICY) -> Path:
    """A policy file beside its data."""
    write(folder)
    write(folder, name="other")
    path = folder / "policy.toml"
    path.write_text(f"[ledger]\n{ledger}\n{policy}" if ledger else policy)
    return path


def ask(policy: Path, *, analyst: str = "ann", text: str = COUNT, epsilon: float = 1) -> None:
    """One question in a session of its own."""
    with discreet.open(policy, analyst=analyst) as session:
        session.sql(text, epsilon=epsilon)


@pytest.fixture(scope="module")
def server() -> Iterator[PrivatePostgres]:
    running = PrivatePostgres()
    yield running
    running.stop()


# What was there is not begun anew


def test_an_emptied_ledger_is_refused(tmp_path):
    with ward(tmp_path) as session:
        session.sql(COUNT, epsilon=1)
    (tmp_path / ".discreet" / "ledger.db").write_bytes(b"")
    with pytest.raises(LedgerCorrupt, match="empty"):
        ward(tmp_path)


@pytest.mark.parametrize("left", ["key", "people.json", "ledger.id"])
def test_whatever_is_left_shows_that_there_was_a_ledger(tmp_path, left):
    ask(stated(tmp_path))
    home = tmp_path / ".discreet"
    for each in ("ledger.db", "key", "people.json", "ledger.id"):
        if each != left:
            (home / each).unlink()
    with pytest.raises(LedgerClosed, match="missing") as refusal:
        ask(tmp_path / "policy.toml")
    assert str(home / "ledger.db") in (refusal.value.hint or "")
    assert f"move {home} away" in (refusal.value.hint or "")
    home.rename(tmp_path / "before")  # as the hint says, on purpose
    ask(tmp_path / "policy.toml")


def test_a_session_that_could_not_begin_can_begin_later(tmp_path):
    policy = stated(tmp_path, ledger='place = "nowhere/budget.db"')
    with pytest.raises(DiscreetError):
        ask(policy)
    (tmp_path / "nowhere").mkdir()
    ask(policy)


def test_another_ledger_is_refused_and_the_same_one_may_move(tmp_path):
    policy = stated(tmp_path, ledger='place = "budget.db"')
    ask(policy)
    with open_ledger(tmp_path / "budget.db") as ledger:
        assert ledger.balance("visits").spent == {"epsilon": 1}
    create(tmp_path / "second.db").close()
    for place in ("second.db", "third.db"):
        with pytest.raises(LedgerClosed):
            ask(stated(tmp_path, ledger=f'place = "{place}"'))
    (tmp_path / "budget.db").rename(tmp_path / "moved.db")
    ask(stated(tmp_path, ledger='place = "moved.db"'), text=OTHER)
    with open_ledger(tmp_path / "moved.db") as ledger:
        assert ledger.balance("other").spent == {"epsilon": 1}


def test_a_ledger_begun_by_hand_is_taken_up(tmp_path):
    (tmp_path / ".discreet").mkdir(mode=0o700)
    with create(tmp_path / ".discreet" / "ledger.db", anchor=tmp_path / "anchor") as ledger:
        caps = {"ann": Budget(5), "bob": Budget(1)}
        ledger.declare("visits", budget=Budget(10), accountant="pure", analysts=caps)
    policy = stated(tmp_path)
    ask(policy)
    (tmp_path / ".discreet" / "key").unlink()
    with pytest.raises(LedgerClosed, match="key"):
        ask(policy)


def test_a_key_that_is_lost_for_good_is_replaced_on_purpose(tmp_path):
    policy = stated(tmp_path)
    ask(policy)
    (tmp_path / ".discreet" / "key").unlink()
    with pytest.raises(LedgerClosed, match="key of") as refusal:
        ask(policy)
    place = tmp_path / ".discreet" / "ledger.db"
    assert f"discreet ledger grant {place} NAME" in (refusal.value.hint or "")
    with open_ledger(place) as ledger:
        for name in ("visits", "other"):
            ledger.grant(name, Budget(10), new_basis=True)
    with discreet.open(policy, analyst="ann") as session:
        assert session.balance("visits").spent == {"epsilon": 1}  # what is spent is spent
        session.sql(COUNT, epsilon=2)


# The anchor


def test_a_ledger_is_begun_with_the_anchor_that_the_policy_names(tmp_path):
    policy = stated(tmp_path, ledger='anchor = "anchor"')
    ask(policy)
    with open_ledger(tmp_path / ".discreet" / "ledger.db") as ledger:
        assert ledger.anchor == tmp_path / "anchor"
    ask(stated(tmp_path), text=OTHER)  # a policy that says nothing leaves it as it is
    shutil.rmtree(tmp_path / ".discreet")
    with pytest.raises(LedgerClosed, match="already the anchor"):
        ask(stated(tmp_path, ledger='anchor = "anchor"'))


def test_an_anchor_that_the_ledger_does_not_have_is_refused_until_it_has(tmp_path):
    ask(stated(tmp_path))
    policy = stated(tmp_path, ledger='anchor = "anchor"')
    with pytest.raises(PolicyDiffers, match="and the ledger has none") as refusal:
        ask(policy)
    place = tmp_path / ".discreet" / "ledger.db"
    assert refusal.value.hint == f"discreet ledger anchor {place} {tmp_path / 'anchor'}"
    with open_ledger(place) as ledger:
        ledger.set_anchor(tmp_path / "anchor")
    ask(policy)
    with pytest.raises(PolicyDiffers, match="another"):
        ask(stated(tmp_path, ledger='anchor = "elsewhere"'))


# A shared ledger


def test_a_ledger_in_a_database(tmp_path, server, monkeypatch):
    address = server.database()
    monkeypatch.setenv("LEDGER_DSN", address)
    policy = stated(tmp_path, ledger='place = "env:LEDGER_DSN"\nanchor = "anchor"')
    ask(policy)
    assert not (tmp_path / ".discreet" / "ledger.db").exists()
    with open_ledger(address) as ledger:
        assert ledger.balance("visits").spent == {"epsilon": 1}
        assert ledger.anchor == tmp_path / "anchor"
    (tmp_path / "ledger.dsn").write_text(address)
    kept = stated(tmp_path, ledger='place = "file:ledger.dsn"')
    (tmp_path / "ledger.dsn").chmod(0o644)
    with pytest.raises(InvalidInput, match="0644"):
        ask(kept)
    (tmp_path / "ledger.dsn").chmod(0o600)
    with discreet.open(kept, analyst="ann") as session:
        assert session.sql(COUNT, epsilon=1).stored
        with pytest.raises(DiscreetError) as refusal:
            session.sql(OTHER, epsilon=9)
        assert refusal.value.code == "insufficient_budget"


def test_a_second_machine_needs_the_key_of_the_first(tmp_path, server, monkeypatch):
    monkeypatch.setenv("LEDGER_DSN", server.database())
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
    first, second = (
        stated(tmp_path / name, ledger='place = "env:LEDGER_DSN"') for name in ("first", "second")
    )
    ask(first)
    with pytest.raises(LedgerClosed, match="key"):
        ask(second)
    shutil.copy(tmp_path / "first" / ".discreet" / "key", tmp_path / "second" / ".discreet")
    ask(second)
    # Whoever has other data sets in the same ledger has a key of their own.
    others = POLICY.replace("dataset.visits", "dataset.stays").replace("other]", "beds]")
    third = stated(tmp_path / "third", ledger='place = "env:LEDGER_DSN"', policy=others)
    ask(third, text="SELECT COUNT(*) FROM stays")


def test_a_database_that_lost_its_ledger_is_refused(tmp_path, server, monkeypatch):
    import psycopg

    address = server.database()
    monkeypatch.setenv("LEDGER_DSN", address)
    policy = stated(tmp_path, ledger='place = "env:LEDGER_DSN"')
    ask(policy)
    with psycopg.connect(address) as connection:
        connection.execute("DROP SCHEMA discreet_ledger CASCADE")
    with pytest.raises(LedgerClosed, match="missing") as refusal:
        ask(policy)
    assert "env:LEDGER_DSN" in (refusal.value.hint or "")


# Policy and ledger


def granted(tmp_path: Path):
    """The curator's hand on the ledger."""
    return open_ledger(tmp_path / ".discreet" / "ledger.db")


def test_whoever_else_is_revoked_or_granted_closes_nothing(tmp_path):
    policy = stated(tmp_path)
    ask(policy)
    with granted(tmp_path) as ledger:
        ledger.revoke("visits", analyst="bob")
        ledger.grant("visits", Budget(3), analyst="zoe")
    ask(policy, epsilon=2)
    ask(policy, text=OTHER)
    with pytest.raises(PolicyDiffers) as refusal:
        ask(policy, analyst="bob")
    assert "--analyst bob --epsilon 1 --delta 0" in (refusal.value.hint or "")
    with pytest.raises(InvalidInput, match="not zoe"):
        ask(policy, analyst="zoe")


def test_a_data_set_that_differs_is_refused_when_it_is_asked(tmp_path):
    policy = stated(tmp_path)
    ask(policy)
    with granted(tmp_path) as ledger:
        ledger.grant("visits", Budget(20))
    place = tmp_path / ".discreet" / "ledger.db"
    with discreet.open(policy, analyst="ann") as session:
        session.sql(OTHER, epsilon=1)
        for attempt in (session.sql, session.explain):
            with pytest.raises(PolicyDiffers) as refusal:
                attempt(COUNT, epsilon=2)
            hint = f"discreet ledger grant {place} visits --epsilon 10 --delta 0"
            assert refusal.value.hint == hint
    with pytest.raises(PolicyDiffers):  # bob has no other
        discreet.open(policy, analyst="bob")


def test_a_budget_in_the_ledger_alone_cannot_be_spent(tmp_path):
    policy = stated(tmp_path)
    ask(policy)
    with granted(tmp_path) as ledger:
        ledger.grant("other", Budget(3), analyst="bob")
    with discreet.open(policy, analyst="bob") as session:
        session.sql(COUNT, epsilon=1)
        with pytest.raises(PolicyDiffers, match="states no budget for the analyst 'bob'"):
            session.sql(OTHER, epsilon=1)
