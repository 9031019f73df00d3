"""The command as people run it, in this process."""

import csv
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from discreet.cli import main

WARDS = ("North", "South", "East", "West")


class Done(NamedTuple):
    """What a command left."""

    status: int
    out: str
    err: str

    @property
    def hint(self) -> str:
        """The text to try."""
        assert self.err.count("Hint: ") == 1, self.err
        return self.err.split("Hint: ")[1].strip()


@pytest.fixture
def discreet(capsys, monkeypatch):
    """Run ``discreet WORDS...`` and give back what it printed."""

    def run(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["discreet", *words])
        capsys.readouterr()
        try:
            main()
        except SystemExit as left:
            status = left.code
        else:
            status = 0
        shown = capsys.readouterr()
        assert "Traceback" not in shown.err
        return Done(int(status or 0), shown.out, shown.err)

    return run


def write_visits(path: Path, *, patients: int = 2000, delimiter: str = ",") -> None:
    """Visits as a CSV file: the patient with number n has 1 + n % 7 of them."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file, delimiter=delimiter)
        rows.writerow(["patient_id", "ward", "age", "cost", "day"])
        for patient in range(patients):
            for visit in range(1 + patient % 7):
                rows.writerow(
                    [
                        f"P{patient}",
                        WARDS[(patient + visit * visit) % 4],
                        18 + patient * 37 % 80,
                        f"{40 + (patient * 131 + visit * 977) % 2500 / 100:.2f}",
                        f"2025-{1 + visit:02d}-{1 + patient % 28:02d}",
                    ]
                )


@pytest.fixture
def visits(tmp_path, monkeypatch) -> Path:
    """A folder with visits.csv in it, and we are there."""
    monkeypatch.chdir(tmp_path)
    path = Path(tmp_path) / "visits.csv"
    write_visits(path)
    return path
