"""Durable charges against the bare disk, and PostgreSQL's against its own durable insert.

The raw side writes a block of 4 KiB at the end of a file and syncs it: the least that any durable
charge must do. Clients are processes, each with the public call and nothing else.
"""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.harness import Row, Sheet
from discreet.accounting import Budget
from discreet.events import Event
from discreet.ledger import Ledger, create, open_ledger
from discreet.ledger.given import priced
from discreet.ledger.requests import Reserve

CLIENTS = 64
SECONDS = 2.0  # of a crowd's round
ROUNDS = 3
TURN = 0.3  # seconds; disks have moods, so a side's turns are short and many
TURNS = 12
BLOCK = bytes(4096)

ALONE_TARGET = 0.7
GROUP_TARGET = 15.0  # times the raw rate, where a sync takes 2 ms or more
GROUP_RATE = 10_000.0  # charges a second, where it takes less
SLOW_SYNC = 0.002
FLAT_TARGET = 1 / 1.2
POSTGRES_TARGET = 0.7

EVENTS = (Event("laplace", {"scale": 1_000_000, "grid": 1}, 1),)


def digest(name: str) -> str:
    """What stands for a canonical request."""
    return hashlib.sha256(name.encode()).hexdigest()


def begin(place: str) -> None:
    """A ledger that will not run out."""
    with create(place) as ledger:
        most = Budget(1_000_000)
        ledger.declare("visits", budget=most, accountant="pure", analysts={"ann": most})


def charge(ledger: Ledger, name: str, *, keyed: bool = True) -> None:
    """One new charge through the public call; sessions give no key unless their user does."""
    ledger.reserve(
        dataset="visits",
        analyst="ann",
        key=name if keyed else None,
        request_sha256=digest(name),
        events=EVENTS,
    )


def fill(place: str, entries: int) -> None:
    """Bring a ledger to a number of entries, a thousand at a time."""
    price, text = priced(EVENTS, "pure", "add_remove")
    with open_ledger(place) as ledger:
        for start in range(0, entries, 1000):
            names = [f"old {number}" for number in range(start, start + 1000)]
            ledger.store.commit(
                [
                    Reserve(
                        "visits",
                        "ann",
                        each,
                        hashlib.sha256(each.encode()).hexdigest(),
                        price,
                        text,
                    )
                    for each in names
                ]
            )


def rate(work: Callable[[int], object], seconds: float) -> float:
    """How often a second work can be done, one after the other."""
    start, count = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < seconds:
        work(count)
        count += 1
    return count / passed


@contextmanager
def disk(folder: Path) -> Iterator[Callable[[int], None]]:
    """Write a block at the end of a file and sync it."""
    handle = os.open(folder / "raw", os.O_RDWR | os.O_CREAT | os.O_TRUNC)

    def work(_: int) -> None:
        os.write(handle, BLOCK)
        os.fdatasync(handle)

    try:
        yield work
    finally:
        os.close(handle)


def client(place: str, me: int, seconds: float, begin_at: float) -> list[float]:
    """Charge until the time is up; how long each charge took."""
    times: list[float] = []
    with open_ledger(place) as ledger:
        charge(ledger, f"{begin_at}.{me}.first")
        while time.time() < begin_at:
            time.sleep(0.001)
        end = begin_at + seconds
        while (start := time.time()) < end:
            charge(ledger, f"{begin_at}.{me}.{len(times)}")
            times.append(time.time() - start)
    return times


def crowd(place: str, clients: int, seconds: float) -> list[float]:
    """Many client processes at once; the times of all their charges."""
    read, write = os.pipe()
    begin_at = time.time() + 1.0 + clients * 0.02
    children = []
    for me in range(clients):
        child = os.fork()
        if child == 0:
            try:
                _tell(write, client(place, me, seconds, begin_at))
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    os.close(write)
    times: list[float] = []
    with os.fdopen(read) as names:
        for name in names:
            told = Path(name.strip())
            times += json.loads(told.read_text())
            told.unlink()
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    return sorted(times)


def _tell(write: int, times: list[float]) -> None:
    with tempfile.NamedTemporaryFile("w", delete=False) as file:
        json.dump(times, file)
    os.write(write, f"{file.name}\n".encode())


def charges(ledger: Ledger, prefix: str, *, keyed: bool = True) -> Callable[[int], None]:
    """A new charge for each number."""
    return lambda number: charge(ledger, f"{prefix}.{number}", keyed=keyed)


def alone(sheet: Sheet, folder: Path) -> float:
    """One client against the disk, by turns; returns the seconds of a sync."""
    place = str(folder / "alone.db")
    begin(place)
    ours = keyed = raw = 0.0
    with open_ledger(place) as ledger, disk(folder) as work:
        for turn in range(TURNS):
            raw = max(raw, rate(work, TURN))
            ours = max(ours, rate(charges(ledger, f"{turn}.", keyed=False), TURN))
            keyed = max(keyed, rate(charges(ledger, str(turn)), TURN))
    for who, found in (("one client", ours), ("one client who gives keys", keyed)):
        name = f"{who}, against write + fdatasync of 4 KiB"
        sheet.add(Row.of(name, ours=found, peer=raw, unit="charges/s", target=ALONE_TARGET))
    return 1 / raw


def together(sheet: Sheet, folder: Path) -> None:
    """Many client processes against the disk, by turns."""
    place = str(folder / "together.db")
    begin(place)
    best: list[float] = []
    raw = 0.0
    with disk(folder) as work:
        for _ in range(ROUNDS):
            raw = max(raw, rate(work, TURN))
            times = crowd(place, CLIENTS, SECONDS)
            if len(times) > len(best):
                best = times
    ours, sync = len(best) / SECONDS, 1 / raw
    what = f"{CLIENTS} client processes"
    if sync >= SLOW_SYNC:
        name = f"{what}, against write + fdatasync of 4 KiB"
        sheet.add(Row.of(name, ours=ours, peer=raw, unit="charges/s", target=GROUP_TARGET))
    else:
        sheet.add(Row.of(what, ours=ours, unit="charges/s", target=GROUP_RATE))
        name = f"{what}, against write + fdatasync of 4 KiB"
        sheet.add(Row.of(name, ours=ours, peer=raw, unit="charges/s", target=None))
    most = max(10 * sync, 0.020) * 1000
    p99 = best[int(len(best) * 0.99)] * 1000
    sheet.add(Row.of(f"{what}: 99th percentile of a charge", ours=p99, unit="ms", target=most))
    with open_ledger(place) as ledger:
        ledger.verify()


def flat(sheet: Sheet, folder: Path, entries: int) -> None:
    """A charge in a long ledger against one in a short ledger, by turns."""
    ledgers = []
    for size in (1_000, entries):
        place = str(folder / f"{size}.db")
        begin(place)
        fill(place, size)
        ledgers.append(open_ledger(place))
    rates = [0.0, 0.0]
    for turn in range(TURNS):
        for side, ledger in enumerate(ledgers):
            rates[side] = max(rates[side], rate(charges(ledger, str(turn)), TURN))
    for ledger in ledgers:
        ledger.close()
    name = f"one client at {entries:,} entries, against the same at 1,000"
    sheet.add(
        Row.of(name, ours=rates[1], peer=rates[0], unit="charges/s", target=round(FLAT_TARGET, 4))
    )


def postgres(sheet: Sheet) -> None:
    """One client of the PostgreSQL store against a durable insert of one row of the same size."""
    import psycopg

    from tests.ledger.private_postgres import PrivatePostgres

    server = PrivatePostgres()
    try:
        place = server.database()
        begin(place)
        ours = plain = 0.0
        with open_ledger(place) as ledger, psycopg.connect(server.database(), autocommit=True) as c:
            c.execute("CREATE TABLE entries (seq bigint PRIMARY KEY, hash bytea, body text)")
            row = (bytes(32), "x" * 420)
            query = "INSERT INTO entries VALUES (%s, %s, %s)"
            count = 0
            for turn in range(TURNS):
                first = count

                def insert(number: int, first: int = first) -> None:
                    c.execute(query, (first + number, *row), prepare=True)

                plain = max(plain, rate(insert, TURN))
                count += 1_000_000
                ours = max(ours, rate(charges(ledger, str(turn)), TURN))
    finally:
        server.stop()
    name = "PostgreSQL: one client, against its durable insert of one row"
    sheet.add(Row.of(name, ours=ours, peer=plain, unit="charges/s", target=POSTGRES_TARGET))


def run(sheet: Sheet, *, long: bool) -> None:  # noqa: ARG001 - nothing here takes long
    """All of it, on the disk that holds the results."""
    folder = Path(tempfile.mkdtemp(prefix=".ledger-", dir=Path(__file__).parent))
    try:
        alone(sheet, folder)
        together(sheet, folder)
        flat(sheet, folder, 1_000_000)
        postgres(sheet)
    finally:
        shutil.rmtree(folder)
