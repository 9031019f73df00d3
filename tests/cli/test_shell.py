"""``discreet shell`` and ``discreet snapshot``."""

import io
import json
import os
import pty
import re
import stat
import subprocess
import sys

import pytest

from discreet.cli.shell import complete
from tests.cli.conftest import WARDS

WHO = ("--data", "visits.csv", "--unit", "patient_id", "--rows-per-unit", "7")
MORE = ("--keys", "ward=" + ",".join(WARDS), "--bounds", "age=0:110")


@pytest.fixture
def sit(discreet, visits, monkeypatch):
    """Type lines into a shell."""

    def typed(*lines: str):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines) + "\n"))
        return discreet("shell", *WHO, *MORE, "--epsilon", "0.1")

    return typed


def test_a_question_may_span_lines_and_ends_with_a_semicolon(sit):
    done = sit("SELECT ward,", "COUNT(*) AS n FROM visits", "GROUP BY ward;")
    assert done.status == 0
    assert len(re.findall(r"^ (?:North|South|East|West) +-?[\d,]+ ± \d+", done.out, re.M)) == 4


def test_the_last_question_needs_no_semicolon(sit):
    assert "cost: epsilon 0.1" in sit("SELECT COUNT(*) FROM visits").out


def test_settings_change_the_price(sit):
    done = sit("\\set epsilon 0.5", "SELECT COUNT(*) FROM visits;", "\\set", "\\budget")
    assert "cost: epsilon 0.5" in done.out
    assert "epsilon = 0.5" in done.out
    assert re.search(r"visits +epsilon 3, delta 1e-06 +epsilon 0.5, delta 0 +epsilon 2.5", done.out)


def test_an_error_target_can_be_set_and_unset(sit):
    done = sit(
        *("\\set within 100", "\\set epsilon 1", "SELECT COUNT(*) FROM visits;"),
        *("\\unset within", "SELECT COUNT(*) FROM visits;"),
    )
    found = re.findall(r"cost: epsilon ([\d.]+)\.", done.out)
    assert float(found[0]) < 0.5
    assert float(found[1]) == 1


def test_an_explanation_spends_nothing(sit):
    done = sit("\\explain SELECT AVG(age) FROM visits;", "\\budget")
    assert "clamps       age 0 to 110" in done.out
    assert "epsilon 0, delta 0" in done.out


def test_tables_are_described_by_what_is_public(sit):
    done = sit("\\d")
    assert "visits: protects each patient_id, at most 7 rows of theirs" in done.out
    assert re.search(r"age +integer +0 to 110", done.out)
    assert re.search(r"ward +text +North, South, East, West", done.out)


def test_an_error_ends_the_question_and_not_the_sitting(sit):
    done = sit(
        "SELECT wrd FROM visits;", "\\nonsense", "\\set epsilon much", "\\help", "\\q", "\\d"
    )
    assert "Hint: ward; " in done.err
    assert "Hint: \\help" in done.err
    assert "Hint: \\set epsilon 0.1" in done.err
    assert "\\budget" in done.out
    assert "protects" not in done.out  # nothing is read after \q
    assert done.status == 2


def test_hints_are_in_the_shells_own_words(sit):
    done = sit("SELECT day, COUNT(*) FROM visits GROUP BY day;")
    assert "Hint: \\set delta 1e-9" in done.err
    done = sit("\\set delta 1e-9", "SELECT day, COUNT(*) FROM visits GROUP BY day;")
    assert done.status == 0


@pytest.mark.parametrize(
    ("text", "done"),
    [("SELECT 1;", True), ("SELECT 1", False), ("SELECT ';", False), ("SELECT ';';", True)],
)
def test_a_semicolon_in_quotes_ends_nothing(text, done):
    assert complete(text) is done


def test_on_a_terminal_there_is_a_prompt_and_a_history(visits):
    mine, theirs = pty.openpty()
    code = "from discreet.cli import main; main()"
    shell = subprocess.Popen(
        [sys.executable, "-c", code, "shell", *WHO, "--epsilon", "0.1"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=os.environ | {"TERM": "dumb"},
    )
    os.close(theirs)
    shown = b""

    def until(text: bytes) -> None:
        nonlocal shown
        while text not in shown:
            shown += os.read(mine, 4096)

    until(b"discreet> ")
    os.write(mine, b"SELECT COUNT(*)\n")
    until(b"...> ")
    os.write(mine, b"FROM visits;\n")
    until(b"cost: epsilon 0.1")
    os.write(mine, b"\\q\n")
    assert shell.wait() == 0
    os.close(mine)
    history = visits.parent / ".discreet" / "history"
    assert "FROM visits;" in history.read_text()
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_the_status_of_a_snapshot_says_when_the_next_one_is_due(discreet, visits):
    visits.with_name("policy.toml").write_text(
        """
        [dataset.visits]
        source = "visits.csv"
        unit = "each row"
        refresh = "daily at 03:00"
        columns.age = { type = "integer" }
        budget.epsilon = 1
        analysts.ann = { epsilon = 1 }
        """
    )
    before = discreet("snapshot", "status", "--policy", "policy.toml")
    assert (before.status, "missing" in before.out, "due (UTC)" in before.out) == (0, True, False)
    discreet("snapshot", "build", "--policy", "policy.toml")
    after = discreet("snapshot", "status", "--policy", "policy.toml")
    assert "due (UTC)" in after.out
    assert " 03:00:00 " in after.out
    found = json.loads(discreet("snapshot", "status", "--policy", "policy.toml", "--json").out)
    assert found["snapshots"]["visits"]["due"].endswith("T03:00:00+00:00")


def test_a_snapshot_is_built_refreshed_and_found_outdated(discreet, visits):
    def state(*words: str) -> dict[str, str]:
        done = discreet("snapshot", *words, "--json")
        assert done.status == 0, done.err
        return dict(json.loads(done.out)["snapshots"]["visits"])

    assert state("status", *WHO)["state"] == "missing"
    built = state("build", "--data", "visits.csv")
    assert built["state"] == "current"
    assert state("build", "--data", "visits.csv")["id"] == built["id"]
    assert state("refresh", "--data", "visits.csv")["id"] != built["id"]
    assert state("status", "--data", "visits.csv", "--rows-per-unit", "3")["state"] == "outdated"
    shown = discreet("snapshot", "status", "--data", "visits.csv").out
    assert re.search(r"visits +outdated", shown)


def test_a_refresh_does_not_reset_the_budget(discreet, visits):
    words = ("ask", "SELECT COUNT(*) FROM visits", *WHO, "--epsilon", "1", "--json")
    assert json.loads(discreet(*words).out)["left"]["epsilon"] == 2
    discreet("snapshot", "refresh", "--data", "visits.csv")
    again = json.loads(discreet(*words).out)
    assert again["stored"] is False
    assert again["left"]["epsilon"] == 1
