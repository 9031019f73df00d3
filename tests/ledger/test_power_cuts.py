"""Crash images: what is left on disk when the power fails at any moment."""

import random
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.accounting.loss import Budget
from discreet.errors import LedgerFailed
from discreet.ledger import Ledger, Reservation, open_ledger
from discreet.ledger.sqlite import SQLiteStore
from tests.ledger.recording import Recorder, RecordingFiles, Standard
from tests.ledger.workers import HUNDREDTH, TINY, ask, digest


class Played:
    """A ledger on recorded files, with a note of when each charge was acknowledged."""

    def __init__(self, folder: Path, charges: int) -> None:
        path = folder / "ledger.db"
        with Ledger(SQLiteStore.create(path)) as plain:
            plain.declare(
                "visits", budget=Budget(1), accountant="pure", analysts={"ann": Budget(1)}
            )
        self.start = {path.name: path.read_bytes()}
        self.recorder = Recorder()
        self.files = RecordingFiles(f"recording-{folder.name}", self.recorder)
        store = SQLiteStore(path, connect=lambda each: Standard(each, self.files.name))  # type: ignore[arg-type, return-value]
        # A short log, so that many power cuts fall into the copying of it.
        store._connection.execute("PRAGMA wal_autocheckpoint = 20")
        self.acknowledged: list[tuple[int, str]] = []
        self.answers: list[tuple[int, str, bytes]] = []
        with Ledger(store) as ledger:
            for number in range(charges):
                name = f"{number}"
                found = ask(ledger, name, key=name, event=TINY)
                self.acknowledged.append((len(self.recorder.log), digest(name)))
                if number % 3 == 0:
                    assert isinstance(found, Reservation)
                    answer = ledger.settle(found, name.encode() * 50).answer
                    self.answers.append((len(self.recorder.log), digest(name), answer))

    def cut(self, folder: Path, chance: random.Random) -> None:
        """Play one power cut, open what is left, and hold it against what was promised."""
        moment = chance.randrange(len(self.recorder.log) + 1)
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for name, content in self.recorder.image(self.start, moment, chance).items():
            (folder / name).write_bytes(content)
            (folder / name).chmod(0o600)
        with open_ledger(folder / "ledger.db") as ledger:
            ledger.verify()
            charges = {
                entry.data["request"]: entry.seq
                for entry in ledger.history("visits")
                if entry.data["kind"] == "reserve"
            }
            promised = {request for when, request in self.acknowledged if when <= moment}
            assert promised <= set(charges), "an acknowledged charge was lost"
            spent = ledger.balance("visits").spent["epsilon"]
            assert spent == Fraction(len(charges), 10**6) >= Fraction(len(promised), 10**6)
            with ledger.store.reading() as reader:
                for when, request, answer in self.answers:
                    if when <= moment:
                        assert reader.answer(charges[request]) == answer


def cuts(tmp_path: Path, count: int) -> None:
    chance = random.Random(20260101)
    played = Played(tmp_path, 120)
    assert {what for what, *_ in played.recorder.log} >= {"write", "sync"}
    synced = {name for what, name, *_ in played.recorder.log if what == "sync"}
    assert synced == {"ledger.db", "ledger.db-wal"}, "the log was never copied back"
    for _ in range(count):
        played.cut(tmp_path / "image", chance)


def test_no_power_cut_loses_an_acknowledged_charge(tmp_path):
    cuts(tmp_path, 150)


@pytest.mark.deep
def test_ten_thousand_power_cuts_lose_no_acknowledged_charge(tmp_path):
    cuts(tmp_path, 10_000)


def test_the_images_would_show_a_ledger_that_does_not_sync(tmp_path):
    played = Played(tmp_path, 60)
    played.recorder.log = [
        ("skip" if what == "sync" else what, name, offset, data)
        for what, name, offset, data in played.recorder.log
    ]
    chance = random.Random(1)
    lost = 0
    for _ in range(30):
        try:
            played.cut(tmp_path / "image", chance)
        except (AssertionError, LedgerFailed):
            lost += 1
    assert lost > 0


@pytest.mark.parametrize("call", ["xWrite", "xSync"])
def test_a_failing_disk_acknowledges_nothing(tmp_path, call):
    played = Played(tmp_path, 1)
    recorder = played.recorder
    store = SQLiteStore(
        tmp_path / "ledger.db",
        connect=lambda each: Standard(each, played.files.name),  # type: ignore[arg-type, return-value]
    )
    with Ledger(store) as ledger:
        before = ledger.balance("visits").spent
        recorder.fail = call
        for _ in range(3):
            with pytest.raises(LedgerFailed, match="the disk failed"):
                ask(ledger, "q", key="k", event=HUNDREDTH)
        recorder.fail = None
        ask(ledger, "q", key="k", event=HUNDREDTH)
        assert ledger.balance("visits").spent["epsilon"] == before["epsilon"] + Fraction(1, 100)
        ledger.verify()
