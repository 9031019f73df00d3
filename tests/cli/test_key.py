"""The key's custody: it is changed as the page says, and in no other way."""

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import write_visits
from tests.cli.test_pages import blocks
from tests.source import ROOT

POLICY = """
[dataset.visits]
source = "visits.csv"
unit = "patient_id"
rows_per_unit = 2
columns.patient_id = { type = "text" }
budget = { epsilon = 3, delta = 1e-6 }
analysts.ann = { epsilon = 3, delta = 1e-6 }
"""
ASK = ("ask", "SELECT COUNT(*) FROM visits", "--policy", "policy.toml", "--epsilon", "1")


@pytest.fixture
def opened(discreet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_visits(tmp_path / "visits.csv", patients=50)
    (tmp_path / "policy.toml").write_text(POLICY)
    assert discreet(*ASK).status == 0
    return tmp_path / ".discreet" / "key"


def commands() -> list[list[str]]:
    page = ROOT / "docs" / "explanation" / "privacy-promise.md"
    (block,) = blocks(page, "sh")
    return [shlex.split(line) for line in block.splitlines()]


def test_the_key_is_changed_as_the_page_says(discreet, opened):
    before = opened.read_text()
    (move, old, away), *rest = commands()
    assert move == "mv"
    Path(old).rename(away)
    assert "--new-basis" in discreet(*ASK).hint  # closed until the curator decides
    for name, *words in rest:
        assert name == "discreet"
        assert discreet(*words).status == 0
    assert opened.read_text() != before
    done = discreet(*ASK)
    assert "cost: epsilon 1. Left: epsilon 1" in done.out  # another snapshot, the same budget
    shown = discreet("ledger", "history", ".discreet/ledger.db", "--json").out
    entries = [json.loads(line) for line in shown.splitlines()]
    kinds = [each["kind"] for each in entries if "dataset" in each]
    assert kinds == ["declare", "reserve", "grant", "basis", "reserve"]


def test_a_key_that_was_exchanged_is_refused_with_the_same_way_out(discreet, opened):
    opened.write_text("ab" * 32 + "\n")
    done = discreet(*ASK)
    assert done.status != 0
    assert "--new-basis" in done.hint
