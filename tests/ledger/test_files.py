"""A ledger in a file: its permissions, its versions, and the ways in which a file can fail."""

import os
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from discreet.accounting.loss import Budget
from discreet.errors import LedgerBusy, LedgerClosed, LedgerCorrupt, LedgerExists, LedgerFailed
from discreet.ledger import Ledger, create, open_ledger
from discreet.ledger.sqlite import checkpoints
from discreet.ledger.sqlite import store as sqlite_store
from discreet.ledger.sqlite.schema import APPLICATION_ID, MIGRATIONS, VERSION
from discreet.ledger.sqlite.store import SQLiteStore
from tests.ledger.workers import HUNDREDTH, ROOT, ask, digest


@pytest.fixture
def path(tmp_path) -> Path:
    return Path(tmp_path) / "ledger.db"


@pytest.fixture
def ledger(path):
    with create(path) as made:
        made.declare("visits", budget=Budget(1), accountant="pure", analysts={"ann": Budget(1)})
        yield made


def store_of(ledger: Ledger) -> SQLiteStore:
    assert isinstance(ledger.store, SQLiteStore)
    return ledger.store


def test_every_file_of_a_ledger_is_its_owners_alone(ledger, path):
    ask(ledger, "q", event=HUNDREDTH)
    names = {each.name for each in path.parent.iterdir()}
    assert names == {"ledger.db" + suffix for suffix in ("", "-wal", "-shm", ".lock", ".sock")}
    for each in path.parent.iterdir():
        assert stat.S_IMODE(each.stat().st_mode) == 0o600, each


def test_nothing_is_left_behind_when_it_is_closed(ledger, path):
    ask(ledger, "q", event=HUNDREDTH)
    ledger.close()
    assert {each.name for each in path.parent.iterdir()} == {"ledger.db", "ledger.db.lock"}


def test_a_file_that_others_can_read_is_refused(ledger, path):
    ledger.close()
    path.chmod(0o640)
    with pytest.raises(LedgerFailed, match="0640"):
        open_ledger(path)


def test_the_file_is_strict_durable_and_checks_itself(ledger):
    execute = store_of(ledger)._connection.execute
    assert execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert execute("PRAGMA synchronous").fetchone() == (2,)
    listed = "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
    tables = execute(listed).fetchall()
    assert {name for name, strict in tables if not strict} == {"sqlite_schema"}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = '{}'",
        "DELETE FROM entries",
        "UPDATE accounts SET spent = 0",
        "UPDATE accounts SET spent = cap + 1",
        "INSERT INTO charges VALUES (9, x'', '{}', x'', x'00', NULL, '', 0, 0, '', '', 0, 0)",
        "UPDATE accounts SET spent = -1",
        "UPDATE accounts SET cap = 'much'",
        "INSERT INTO entries VALUES (99, 'short', '{}')",
        "INSERT INTO answers VALUES (5, 5, x'00')",
    ],
)
def test_the_database_itself_refuses_what_no_rule_allows(ledger, path, statement):
    ask(ledger, "q", event=HUNDREDTH)
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)
    connection.close()


def test_a_full_disk_answers_nothing_and_loses_nothing(ledger):
    execute = store_of(ledger)._connection.execute
    (pages,) = execute("PRAGMA page_count").fetchone()
    execute(f"PRAGMA max_page_count = {pages}").fetchone()
    charged = 0

    def fill() -> None:
        nonlocal charged
        while True:
            ask(ledger, str(charged), event=HUNDREDTH)
            charged += 1

    with pytest.raises(LedgerFailed, match="no room left"):
        fill()
    assert ledger.verify().charges == charged
    ask(ledger, str(charged), event=HUNDREDTH)


def in_a_child(path: Path, code: str) -> str:
    """Run code with a ledger in a process of its own."""
    program = f"""
import os, sys
from discreet.accounting import Budget
from discreet.errors import DiscreetError
from discreet.ledger import create, open_ledger
from tests.ledger.workers import HUNDREDTH, ask
import discreet.ledger.sqlite
path = {str(path)!r}
try:
{code}
except DiscreetError as error:
    print(error.code, error.message)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_a_file_size_limit_answers_nothing(ledger, path):
    output = in_a_child(
        path,
        """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    ledger = open_ledger(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    ask(ledger, "q", event=HUNDREDTH)
""",
    )
    assert output.startswith("ledger_failed"), output
    assert ledger.verify().charges == 0


def test_a_file_that_cannot_be_written_answers_nothing(ledger, path, tmp_path):
    ledger.close()
    tmp_path.chmod(0o755)
    path.chmod(0o400)
    drop = "os.setuid(65534); " if os.getuid() == 0 else ""
    if drop:
        os.chown(path, 65534, 65534)
        os.chown(tmp_path, 65534, 65534)
    output = in_a_child(
        path,
        f"""
    {drop}ledger = open_ledger(path)
    ask(ledger, "q", event=HUNDREDTH)
""",
    )
    assert output.startswith("ledger_failed"), output


def test_a_locked_file_is_waited_for_and_then_given_up(ledger, path, monkeypatch):
    monkeypatch.setattr(sqlite_store, "BUSY_SECONDS", 0.05)
    ledger.close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerBusy):
        ask(ledger, "q", event=HUNDREDTH)
    other.execute("ROLLBACK")
    other.close()
    ask(ledger, "q", event=HUNDREDTH)


@pytest.mark.parametrize("page", range(8))
def test_a_damaged_page_answers_nothing(ledger, path, page):
    offset = 4096 * page
    for number in range(50):
        ask(ledger, str(number), key=str(number), event=HUNDREDTH)
    ledger.close()
    content = bytearray(path.read_bytes())
    content[offset : offset + 100] = bytes(b ^ 0x5A for b in content[offset : offset + 100])
    path.write_bytes(content)
    with pytest.raises((LedgerCorrupt, LedgerFailed)), open_ledger(path) as damaged:
        damaged.verify()


def test_what_is_not_a_ledger_is_refused(path):
    path.write_text("a letter to my aunt, and not at all a database\n" * 20)
    path.chmod(0o600)
    with pytest.raises(LedgerCorrupt):
        open_ledger(path)
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.commit()
    connection.close()
    path.chmod(0o600)
    with pytest.raises(LedgerFailed, match="not a ledger"):
        open_ledger(path)


def test_an_emptied_file_is_not_a_fresh_ledger(ledger, path):
    ask(ledger, "q", event=HUNDREDTH)
    ledger.close()
    path.write_bytes(b"")
    for _ in range(2):  # looking does not make it one
        with pytest.raises(LedgerCorrupt, match="empty"):
            open_ledger(path)
    with pytest.raises(LedgerCorrupt, match="empty"):
        ask(ledger, "q2", event=HUNDREDTH)
    with pytest.raises(LedgerExists):
        create(path)


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(LedgerFailed):
        create(tmp_path / "nowhere" / "ledger.db")
    with pytest.raises(LedgerClosed):
        open_ledger(tmp_path / "nowhere" / "ledger.db")


def test_a_ledger_that_vanishes_while_open_is_not_begun_anew(ledger, path):
    ledger.close()
    path.unlink()
    with pytest.raises(LedgerClosed):
        ask(ledger, "q", event=HUNDREDTH)
    assert not path.exists()


TABLES = ("meta", "entries", "datasets", "accounts", "marks", "answers")


def as_written_by(path: Path, version: int) -> None:
    """Give a file the schema of an older version, with what that had room for."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    dump = {table: connection.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
    connection.close()
    path.unlink()
    connection = sqlite3.connect(path)
    connection.executescript("".join(MIGRATIONS[:version]))
    for table, rows in dump.items():
        width = len(connection.execute(f"PRAGMA table_info({table})").fetchall())
        places = ",".join("?" * width)
        connection.executemany(
            f"INSERT INTO {table} VALUES ({places})", [row[:width] for row in rows]
        )
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.commit()
    connection.close()
    path.chmod(0o600)


@pytest.mark.parametrize("version", range(1, VERSION))
def test_an_older_file_is_brought_up_to_date(ledger, path, version):
    ask(ledger, "q", event=HUNDREDTH)
    ledger.close()
    as_written_by(path, version)
    with open_ledger(path) as old:
        assert store_of(old)._connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert old.verify().charges == 1
        ask(old, "q2", event=HUNDREDTH)
        assert old.verify().charges == 2
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="never changed"):
        connection.execute("UPDATE entries SET body = '{}'")
    connection.close()


def test_a_file_from_the_future_is_refused(ledger, path):
    ledger.close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(LedgerFailed, match="newer release"):
        open_ledger(path)


def test_the_version_counts_the_migrations(ledger):
    execute = store_of(ledger)._connection.execute
    assert execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def test_a_failed_beginning_leaves_nothing(tmp_path):
    (tmp_path / "anchor").write_text("taken")
    with pytest.raises(LedgerClosed):
        create(tmp_path / "ledger.db", anchor=tmp_path / "anchor")
    assert {each.name for each in tmp_path.iterdir()} == {"anchor"}
    create(tmp_path / "ledger.db").close()
    with pytest.raises(LedgerExists):
        create(tmp_path / "ledger.db")


def test_a_full_anchor_disk_answers_nothing(path, tmp_path):
    anchor = tmp_path / "anchor"
    with create(path, anchor=anchor) as ledger:
        ledger.declare("visits", budget=Budget(1), accountant="pure", analysts={"ann": Budget(1)})
        kept = anchor.read_bytes()
        anchor.unlink()
        with pytest.raises(LedgerFailed, match="anchor"):
            ask(ledger, "q", key="k", event=HUNDREDTH)
        anchor.write_bytes(kept)
        ask(ledger, "q", key="k", event=HUNDREDTH)
        assert ledger.verify().charges == 1


def test_a_million_charges_of_a_tenth_are_exactly_a_hundred_thousand(path):
    from discreet.events import Event
    from discreet.ledger.given import priced
    from discreet.ledger.requests import Reserve

    price, text = priced((Event("geometric", {"scale": 10}, 1),), "pure", "add_remove")
    assert price[0] * 1_000_000 == 100_000 * 10**12
    with create(path) as ledger:
        many = Budget(100_000)
        ledger.declare("visits", budget=many, accountant="pure", analysts={"ann": many})
        requests = [
            Reserve("visits", "ann", None, digest(str(number)), price, text)
            for number in range(20_000)
        ]
        ledger.store.commit(requests)
        assert ledger.balance("visits").spent == {"epsilon": 2000}


def test_pages_are_copied_into_the_file_beside_the_commits(ledger, path, monkeypatch):
    monkeypatch.setattr(checkpoints, "ENTRIES", 5)
    before = path.stat().st_mtime_ns
    deadline = time.monotonic() + 30
    number = 0
    while path.stat().st_mtime_ns == before and time.monotonic() < deadline and number < 90:
        ask(ledger, f"q{number}", event=HUNDREDTH)
        number += 1
        time.sleep(0.01)
    assert path.stat().st_mtime_ns != before
    assert ledger.verify().charges == number


def test_a_child_forked_while_pages_are_copied_can_charge(ledger, path, monkeypatch):
    monkeypatch.setattr(checkpoints, "ENTRIES", 1)
    for number in range(8):
        ask(ledger, f"parent {number}", event=HUNDREDTH)
        child = os.fork()
        if child == 0:
            try:
                ask(ledger, f"child {number}", event=HUNDREDTH)
                os._exit(0)
            finally:
                os._exit(9)
        assert os.waitpid(child, 0)[1] == 0
    assert ledger.verify().charges == 16
