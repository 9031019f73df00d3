"""Processes that charge a ledger at once, and a nursery that kills them in the middle of it.

Run as a program, so that no thread of the test runner is ever forked.
"""

import hashlib
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

from discreet.errors import InsufficientBudget
from discreet.events import Event
from discreet.ledger import Ledger, Reservation, Stored, open_ledger

ROOT = Path(__file__).parents[2]

HUNDREDTH = Event("geometric", {"scale": 100}, 1)
TINY = Event("geometric", {"scale": 10**6}, 1)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def ask(
    ledger: Ledger, request: str, *, analyst: str = "ann", key: str | None = None, event: Event
) -> Reservation | Stored:
    return ledger.reserve(
        dataset="visits", analyst=analyst, key=key, request_sha256=digest(request), events=[event]
    )


def race(place: str, me: str, tries: int) -> str:
    """Charge a hundredth as often as allowed; say how often it was."""
    taken = 0
    with open_ledger(place) as ledger:
        for number in range(tries):
            try:
                ask(ledger, f"{me}.{number}", key=f"{me}.{number}", event=HUNDREDTH)
                taken += 1
            except InsufficientBudget:
                pass
    return str(taken)


def retry(place: str, me: str, tries: int) -> str:
    """Ask one thing under one key, over and over; tell every answer that was seen."""
    seen = set()
    with open_ledger(place) as ledger:
        for number in range(tries):
            found = ask(ledger, "one", key="one", event=HUNDREDTH)
            if isinstance(found, Reservation):
                found = ledger.settle(found, f"{me}.{number}".encode())
            seen.add(found.answer.decode())
    return json.dumps(sorted(seen))


def charge(place: str, log: str) -> None:
    """Charge, settle, and write down what was acknowledged, until killed or left alone."""
    nurse = os.getppid()
    record = os.open(log, os.O_WRONLY | os.O_APPEND)
    ledger = open_ledger(place)
    while os.getppid() == nurse:
        name = secrets.token_hex(8)
        reservation = ask(ledger, name, key=name, event=TINY)
        assert isinstance(reservation, Reservation)
        os.write(record, f"charged {digest(name)}\n".encode())
        if secrets.randbelow(4) == 0:
            answer = ledger.settle(reservation, name.encode()).answer
            os.write(record, f"settled {digest(name)} {answer.hex()}\n".encode())


def nursery(place: str, log: str, kills: int, workers: int) -> None:
    """Keep some workers charging, and kill one after the other with SIGKILL."""

    def born() -> int:
        child = os.fork()
        if child == 0:
            try:
                charge(place, log)
            finally:
                os._exit(9)
        return child

    warm(place)
    children = [born() for _ in range(workers)]
    for _ in range(kills):
        time.sleep(random.uniform(0, 0.03))
        victim = random.randrange(workers)
        os.kill(children[victim], signal.SIGKILL)
        _, status = os.waitpid(children[victim], 0)
        assert os.WIFSIGNALED(status), f"a worker failed by itself: {status}"
        children[victim] = born()
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def together(task: str, place: str, tries: int, *, processes: int = 8) -> list[str]:
    """Run one task in several processes at once; what each of them wrote."""
    running = start("crowd", place, task, str(tries), str(processes))
    output, _ = running.communicate()
    assert running.returncode == 0
    return output.split("\n")[:-1]


def crowd(place: str, task: str, tries: int, processes: int) -> None:
    """Fork the processes, rather than start an interpreter for each."""
    warm(place)
    work = {"race": race, "retry": retry}[task]
    children = []
    for me in range(processes):
        child = os.fork()
        if child == 0:
            try:
                sys.stdout.write(work(place, str(me), tries) + "\n")
                sys.stdout.flush()
                os._exit(0)
            finally:
                os._exit(9)
        children.append(child)
    for child in children:
        _, status = os.waitpid(child, 0)
        assert status == 0, "a process of the crowd failed"


def warm(place: str) -> None:
    """Import here what every child would."""
    if place.startswith("postgresql:"):
        import discreet.ledger.postgres
    else:
        import discreet.ledger.sqlite  # noqa: F401


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.ledger.workers", *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def main() -> None:
    task, place, *rest = sys.argv[1:]
    if task == "nursery":
        nursery(place, rest[0], int(rest[1]), int(rest[2]))
    else:
        crowd(place, rest[0], int(rest[1]), int(rest[2]))


if __name__ == "__main__":
    main()
