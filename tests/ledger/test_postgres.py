"""A ledger in PostgreSQL: what is particular to a server."""

import threading
from collections.abc import Iterator
from fractions import Fraction

import psycopg
import pytest

from discreet.accounting.loss import Budget
from discreet.errors import InsufficientBudget, LedgerBusy, LedgerFailed
from discreet.ledger import Ledger, create, open_ledger
from discreet.ledger.postgres import PostgresStore, tables
from discreet.ledger.postgres import store as stores
from discreet.ledger.postgres.schema import MIGRATIONS, VERSION
from discreet.ledger.postgres.store import _public
from tests.ledger.private_postgres import PrivatePostgres
from tests.ledger.workers import HUNDREDTH, ask


@pytest.fixture(scope="module")
def server() -> Iterator[PrivatePostgres]:
    running = PrivatePostgres()
    yield running
    running.stop()


@pytest.fixture
def place(server: PrivatePostgres) -> str:
    return server.blank()


@pytest.fixture
def ledger(place):
    with create(place) as made:
        made.declare("visits", budget=Budget(1), accountant="pure", analysts={"ann": Budget(1)})
        yield made


def connection_of(ledger: Ledger) -> psycopg.Connection:
    assert isinstance(ledger.store, PostgresStore)
    return ledger.store._connection


def test_a_charge_takes_one_statement_when_nobody_else_writes(ledger, monkeypatch):
    ask(ledger, "first", key="1", event=HUNDREDTH)
    asked: list[object] = []
    charged: list[object] = []
    connection = connection_of(ledger)
    monkeypatch.setattr(connection, "execute", lambda *words, **_: asked.append(words))

    def charge(*words):
        charged.append(words)
        return tables.charge(*words)

    monkeypatch.setattr(stores, "charge", charge)
    ask(ledger, "second", key="2", event=HUNDREDTH)
    assert (asked, len(charged)) == ([], 1)


def test_clients_that_overtake_each_other_lose_nothing(ledger, place):
    with open_ledger(place) as other:
        for number in range(10):
            ask(ledger, f"mine {number}", event=HUNDREDTH)
            ask(other, f"theirs {number}", event=HUNDREDTH)
        assert ledger.balance("visits").spent == {"epsilon": Fraction(1, 5)}
    assert ledger.verify().charges == 20


def test_a_refusal_is_never_based_on_old_news(ledger, place):
    for number in range(100):
        ask(ledger, str(number), event=HUNDREDTH)
    with pytest.raises(InsufficientBudget):
        ask(ledger, "more", event=HUNDREDTH)
    with open_ledger(place) as curator:
        curator.grant("visits", Budget(2))
        curator.grant("visits", Budget(2), analyst="ann")
    ask(ledger, "more", event=HUNDREDTH)


def test_a_crash_of_the_server_loses_no_acknowledged_charge(ledger, server):
    for number in range(20):
        ask(ledger, str(number), key=str(number), event=HUNDREDTH)
    server.crash()
    with pytest.raises(LedgerFailed, match="cannot be reached"):
        ask(ledger, "meanwhile", event=HUNDREDTH)
    server.start()
    ask(ledger, "after", event=HUNDREDTH)
    assert ledger.verify().charges == 21


def test_a_connection_that_is_cut_is_opened_again(ledger, place):
    ask(ledger, "first", event=HUNDREDTH)
    with psycopg.connect(place) as other:
        pid = connection_of(ledger).info.backend_pid
        other.execute("SELECT pg_terminate_backend(%s)", (pid,))
    ask(ledger, "second", event=HUNDREDTH)
    assert ledger.verify().charges == 2


def test_a_locked_table_is_given_up(ledger, place):
    connection_of(ledger).execute("SET lock_timeout = '50ms'")
    with psycopg.connect(place) as other:
        other.execute("LOCK TABLE discreet_ledger.entries")
        with pytest.raises(LedgerBusy):
            ask(ledger, "q", event=HUNDREDTH)
    ask(ledger, "q", event=HUNDREDTH)


def test_the_database_itself_refuses_what_no_rule_allows(ledger, place):
    ask(ledger, "q", event=HUNDREDTH)
    _holds_for_every_client(place)


def _holds_for_every_client(place: str) -> None:
    for statement in (
        "UPDATE entries SET body = '{}'",
        "DELETE FROM entries",
        "TRUNCATE entries",
        "UPDATE accounts SET spent = 0",
        "UPDATE accounts SET spent = cap + 1",
        "UPDATE accounts SET cap = 4000000000000000001",
        "UPDATE accounts SET cap_delta = 4000000000000000001",
        "UPDATE accounts SET analyst = '', name = 'x'",
        "UPDATE accounts SET name = ''",
        "INSERT INTO accounts VALUES ('somebody', 'x', '', 1, 1, 0, 0, '1', '1', false)",
        "INSERT INTO entries VALUES (0, sha256(''), '{}')",
        "INSERT INTO entries VALUES (99, '', '{}')",
        "INSERT INTO entries VALUES (99, sha256(''), '')",
        "INSERT INTO marks VALUES ('', 1)",
    ):
        with psycopg.connect(place) as other:
            other.execute("SET search_path = discreet_ledger")
            with pytest.raises((psycopg.errors.RaiseException, psycopg.errors.CheckViolation)):
                other.execute(statement)


def test_a_read_only_server_answers_nothing(ledger):
    connection_of(ledger).execute("SET default_transaction_read_only = on")
    with pytest.raises(LedgerFailed, match="cannot be written"):
        ask(ledger, "q", event=HUNDREDTH)


TABLES = ("meta", "entries", "datasets", "accounts", "marks", "answers")


def as_written_by(place: str, version: int) -> None:
    """Give a ledger the schema of an older version, with what that had room for."""
    with psycopg.connect(place) as other:
        other.execute("SET search_path = discreet_ledger")
        dump = {table: other.execute(f"TABLE {table}").fetchall() for table in TABLES}
        other.execute("DROP SCHEMA discreet_ledger CASCADE")
        other.execute("CREATE SCHEMA discreet_ledger")
        other.execute("CREATE TABLE version (number int NOT NULL)")
        other.execute("INSERT INTO version VALUES (%s)", (version,))
        for script in MIGRATIONS[:version]:
            other.execute(script)
        for table, rows in dump.items():
            width = len(other.execute(f"TABLE {table}").description or ())
            for row in rows:
                places = ",".join(["%s"] * width)
                other.execute(f"INSERT INTO {table} VALUES ({places})", row[:width])


@pytest.mark.parametrize("version", range(1, VERSION))
def test_an_older_schema_is_brought_up_to_date(ledger, place, version):
    ask(ledger, "q", event=HUNDREDTH)
    ledger.close()
    as_written_by(place, version)
    with open_ledger(place) as old:
        assert old.verify().charges == 1
        ask(old, "q2", event=HUNDREDTH)
        assert old.verify().charges == 2
    _holds_for_every_client(place)


def test_a_newer_schema_is_refused(ledger, place):
    ledger.close()
    with psycopg.connect(place) as other:
        other.execute("UPDATE discreet_ledger.version SET number = 99")
    with pytest.raises(LedgerFailed, match="newer release"):
        open_ledger(place)


def test_two_who_begin_at_once_begin_one_ledger(place):
    outcomes = []

    def begin() -> None:
        try:
            create(place).close()
            outcomes.append("begun")
        except Exception as error:
            outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=begin) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["LedgerExists"] * 3 + ["begun"]


def test_a_server_that_does_not_sync_is_refused(server, place):
    with psycopg.connect(place, autocommit=True) as other:
        other.execute("ALTER SYSTEM SET fsync = off")
        other.execute("SELECT pg_reload_conf()")
    try:
        with pytest.raises(LedgerFailed, match="fsync = off"):
            _until_refused(place)
    finally:
        with psycopg.connect(place, autocommit=True) as other:
            other.execute("ALTER SYSTEM RESET fsync")
            other.execute("SELECT pg_reload_conf()")


def _until_refused(place: str) -> None:
    import time

    with psycopg.connect(place, autocommit=True) as other:
        while other.execute("SHOW fsync").fetchone() != ("off",):
            time.sleep(0.01)
    create(place)


def test_passwords_are_not_shown():
    assert _public("postgresql://me:secret@host:5/db?x=1") == "postgresql://host:5/db"
