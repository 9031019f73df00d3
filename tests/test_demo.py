"""What `make demo` shows."""

import subprocess
import sys

import numpy as np
import pytest

from demo.__main__ import WARDS, off_grid
from tests.source import ROOT


@pytest.fixture(scope="module")
def shown() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "demo"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stderr == ""
    return done.stdout


def test_it_shows_every_ward(shown):
    assert [ward for ward in WARDS if ward not in shown] == []


def test_the_attack_breaks_the_textbook_and_not_us(shown):
    (textbook,) = [line for line in shown.splitlines() if "textbook Laplace" in line]
    (ours,) = [line for line in shown.splitlines() if "discreet.laplace" in line]
    # 27 % is expected of 100,000 draws; 25 % is fourteen standard deviations away.
    assert 25 < int(textbook.split("%")[0].split()[-1]) < 29
    assert textbook.count(" 0%") == 1
    assert ours.count(" 0%") == 2


def test_an_output_off_the_grid_is_counted():
    assert off_grid(np.array([0.5, 0.25, -0.5, 0.125]), 0.25) == 0.25
