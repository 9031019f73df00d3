"""Group commit: who writes, what happens when the writer dies, stops or leaves."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from discreet.accounting.loss import Budget
from discreet.errors import InsufficientBudget
from discreet.ledger import Ledger, Reservation, Stored, create, open_ledger
from discreet.ledger import group as groups
from discreet.ledger.sqlite.store import SQLiteStore
from tests.ledger.workers import HUNDREDTH, ROOT, ask

OTHER = """
import sys
from discreet.ledger import open_ledger
from tests.ledger.workers import HUNDREDTH, ask
with open_ledger(sys.argv[1]) as ledger:
    ask(ledger, "theirs", event=HUNDREDTH)
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path) -> Path:
    return Path(tmp_path) / "ledger.db"


@pytest.fixture
def ledger(path):
    with create(path) as made:
        made.declare("visits", budget=Budget(1), accountant="pure", analysts={"ann": Budget(1)})
        yield made


@pytest.fixture
def writer(ledger, path):
    """Another process, which holds the office of the writer."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        yield process
        process.kill()


def group_of(ledger: Ledger) -> groups.GroupCommit:
    assert isinstance(ledger.store, SQLiteStore)
    return ledger.store._group


def connected(ledger: Ledger) -> bool:
    return bool(group_of(ledger)._lines)


def test_a_process_that_is_alone_commits_by_itself(ledger):
    ask(ledger, "q", event=HUNDREDTH)
    writer = group_of(ledger)._writer
    assert writer is not None
    assert not writer.clients
    assert not connected(ledger)


def test_a_second_process_goes_through_the_writer(ledger, writer):
    found = ask(ledger, "mine", key="k", event=HUNDREDTH)
    assert connected(ledger)
    assert isinstance(found, Reservation)
    assert ledger.settle(found, b"\0" * 500_000).answer == b"\0" * 500_000
    again = ask(ledger, "mine", event=HUNDREDTH)
    assert isinstance(again, Stored)
    assert len(again.answer) == 500_000
    assert ledger.verify().charges == 2


def test_refusals_travel_whole(ledger, writer):
    for number in range(99):
        ask(ledger, str(number), event=HUNDREDTH)
    with pytest.raises(InsufficientBudget) as refusal:
        ask(ledger, "one too many", event=HUNDREDTH)
    assert refusal.value.remaining == {"epsilon": 0}
    assert "ann" in refusal.value.whose
    assert refusal.value.hint


def test_when_the_writer_is_killed_another_takes_over(ledger, writer):
    ask(ledger, "before", event=HUNDREDTH)
    writer.kill()
    writer.wait()
    ask(ledger, "after", event=HUNDREDTH)
    assert group_of(ledger)._writer is not None
    assert ledger.verify().charges == 3


def test_a_writer_that_is_stopped_is_done_without(ledger, writer, monkeypatch):
    ask(ledger, "before", event=HUNDREDTH)
    group_of(ledger).close()
    monkeypatch.setattr(groups, "REPLY_SECONDS", 0.2)
    writer.send_signal(signal.SIGSTOP)
    # Its threads do not stop all at once: one of them could still begin a transaction.
    _, status = os.waitpid(writer.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    try:
        ask(ledger, "meanwhile", event=HUNDREDTH)
    finally:
        writer.send_signal(signal.SIGCONT)
    assert ledger.verify().charges == 3


def test_an_idle_writer_leaves_the_office_to_whoever_is_at_work(ledger, path, monkeypatch):
    monkeypatch.setattr(groups, "IDLE_SECONDS", 0.05)
    ask(ledger, "q", event=HUNDREDTH)
    with open_ledger(path) as other:
        deadline = time.monotonic() + 30
        number = 0
        while group_of(other)._writer is None and time.monotonic() < deadline and number < 90:
            ask(other, f"other {number}", event=HUNDREDTH)
            number += 1
            time.sleep(0.02)
        assert group_of(other)._writer is not None
        assert group_of(ledger)._writer is None
        ask(ledger, "q2", event=HUNDREDTH)


def test_a_path_too_long_for_a_socket_works_as_well(tmp_path):
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    path = folder / "ledger.db"
    with create(path) as ledger, open_ledger(path) as other:
        ledger.declare("visits", budget=Budget(1), accountant="pure", analysts={"ann": Budget(1)})
        ask(ledger, "q", event=HUNDREDTH)
        ask(other, "q2", event=HUNDREDTH)
        assert connected(other)
        address = Path((folder / "ledger.db.lock").read_text())
        assert address.exists()
    assert not address.parent.exists()


def test_where_no_socket_can_be_made_everyone_commits_alone(ledger, path, monkeypatch):
    def refuse(self: object, address: Path) -> None:
        raise OSError

    monkeypatch.setattr(groups.Writer, "_listen", refuse)
    with open_ledger(path) as other:
        for number in range(5):
            ask(ledger, f"mine {number}", event=HUNDREDTH)
            ask(other, f"theirs {number}", event=HUNDREDTH)
        assert group_of(ledger)._writer is None
        assert not connected(other)
    assert ledger.verify().charges == 10


def test_nonsense_on_the_socket_harms_nobody(ledger, path):
    import socket

    ask(ledger, "q", event=HUNDREDTH)
    for nonsense in (b"GET / HTTP/1.1\r\n\r\n", bytes(8), b"\0\0\0\2\0\0\0\0[]", os.urandom(5000)):
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.settimeout(5)
            stranger.connect(str(path) + ".sock")
            stranger.sendall(nonsense)
            stranger.shutdown(socket.SHUT_WR)
            assert stranger.recv(10) == b""
    with open_ledger(path) as other:
        ask(other, "q2", event=HUNDREDTH)
    assert ledger.verify().charges == 2


def test_threads_of_a_client_and_of_the_writer_mix(ledger, path):
    with open_ledger(path) as other:
        ask(ledger, "first", event=HUNDREDTH)
        failures: list[BaseException] = []

        def work(mine: Ledger, name: str) -> None:
            try:
                for number in range(10):
                    ask(mine, f"{name}.{number}", event=HUNDREDTH)
            except BaseException as error:
                failures.append(error)

        threads = [
            threading.Thread(target=work, args=(mine, f"{name}{me}"))
            for me in range(4)
            for name, mine in (("writer", ledger), ("client", other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
    assert ledger.verify().charges == 81


FORKING = """
import os, sys
from discreet.ledger import open_ledger
from tests.ledger.workers import HUNDREDTH, ask
ledger = open_ledger(sys.argv[1])
ask(ledger, "parent", event=HUNDREDTH)
children = []
for me in range(4):
    child = os.fork()
    if child == 0:
        for number in range(5):
            ask(ledger, f"{me}.{number}", event=HUNDREDTH)
        os._exit(0)
    children.append(child)
ask(ledger, "parent again", event=HUNDREDTH)
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
"""


def test_a_ledger_may_be_carried_into_forked_children(ledger, path):
    ledger.close()
    done = subprocess.run([sys.executable, "-c", FORKING, str(path)], cwd=ROOT, check=False)
    assert done.returncode == 0
    assert ledger.verify().charges == 22
