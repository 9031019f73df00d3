"""An old ledger put back, as an analyst and a curator meet it on the command line."""

import shutil
from pathlib import Path

import pytest

POLICY = """
[ledger]
anchor = "elsewhere/anchor"

[dataset.visits]
source = "visits.csv"
unit = "patient_id"
rows_per_unit = 7
columns.patient_id = { type = "text" }
columns.age = { type = "integer", bounds = [0, 110] }
budget.epsilon = 3
analysts.ann = { epsilon = 2 }
"""
LEDGER = Path(".discreet/ledger.db")


@pytest.fixture
def ask(discreet, visits):
    Path("policy.toml").write_text(POLICY)
    Path("elsewhere").mkdir()

    def ask(text: str, *words: str):
        return discreet("ask", text, "--policy", "policy.toml", "--epsilon", "1", *words)

    return ask


def test_an_old_copy_is_noticed_and_closed_until_the_curator_reopens_it(discreet, ask):
    assert ask("SELECT COUNT(*) FROM visits").status == 0
    shutil.copy(LEDGER, "copy.db")
    assert ask("SELECT SUM(age) FROM visits").status == 0
    shutil.copy("copy.db", LEDGER)
    closed = ask("SELECT AVG(age) FROM visits")
    assert closed.status == 3
    assert "restored backup" in closed.err
    place = LEDGER.resolve()
    assert f"discreet ledger reopen {place}" in closed.hint
    assert ask("SELECT COUNT(*) FROM visits").status == 3  # nor what was bought before

    assert discreet("ledger", "reopen", str(place)).status == 0
    differs = ask("SELECT AVG(age) FROM visits")
    assert "since it was reopened" in differs.err
    assert differs.hint == f"discreet ledger grant {place} visits --epsilon 3 --delta 0"
    assert discreet(*differs.hint.split()[1:]).status == 0
    own = ask("SELECT AVG(age) FROM visits")
    assert own.hint == f"discreet ledger grant {place} visits --analyst ann --epsilon 2 --delta 0"
    assert discreet(*own.hint.split()[1:]).status == 0
    assert ask("SELECT AVG(age) FROM visits").status == 0


def test_a_ledger_begun_by_the_command_is_taken_up(discreet, ask):
    begun = discreet("ledger", "init", str(LEDGER), "--anchor", "elsewhere/anchor")
    assert begun.status == 0, begun.err
    assert ask("SELECT COUNT(*) FROM visits").status == 0
    history = discreet("ledger", "history", str(LEDGER)).out
    assert [word in history for word in ("begin", "declare", "reserve", "epsilon 1")]


def test_a_tiny_epsilon_is_refused_in_the_words_of_who_gave_it(discreet, ask):
    refused = ask("SELECT COUNT(*) FROM visits", "--epsilon", "1e-13")
    assert refused.status == 2
    assert "epsilon 1e-13 is too small to be counted" in refused.err
