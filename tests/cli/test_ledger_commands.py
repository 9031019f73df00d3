"""``discreet ledger``, run as a user runs it."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from discreet.cli import main
from discreet.events import Event
from discreet.ledger import open_ledger
from tests.ledger.workers import HUNDREDTH, ask


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")


def discreet(*words: object) -> Done:
    """Run the command in this process, as the console script does."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["discreet", "ledger", *map(str, words)])
        try:
            main()
            status = 0
        except SystemExit as stop:
            status = int(stop.code or 0)
    return Done(status, out.getvalue(), err.getvalue())


@pytest.fixture
def path(tmp_path) -> Path:
    made = Path(tmp_path) / "budget.db"
    done = discreet("init", made, "--dataset", "visits", "--epsilon", 1, "--analyst", "ann=0.5")
    assert done.returncode == 0, done.stderr
    return made


def test_init_shows_the_caps(tmp_path):
    place = tmp_path / "budget.db"
    done = discreet("init", place, "--dataset", "visits", "--epsilon", "1/3", "--analyst", "ann=.1")
    assert done.returncode == 0, done.stderr
    assert "visits" in done.stdout
    assert "epsilon 0.333333" in done.stdout
    more = discreet("init", place, "--dataset", "labs", "--epsilon", 2, "--people", "patients")
    assert more.returncode == 0, more.stderr
    assert "labs" in more.stdout


def test_a_data_set_without_a_cap_is_not_opened(tmp_path):
    done = discreet("init", tmp_path / "budget.db", "--dataset", "visits")
    assert done.returncode == 2
    assert "mandatory" in done.stderr
    assert "Hint:" in done.stderr
    assert not (tmp_path / "budget.db").exists()


def test_status_in_both_forms(path):
    with open_ledger(path) as ledger:
        ask(ledger, "q", event=HUNDREDTH)
    assert "0.99" in discreet("status", path).stdout
    found = json.loads(discreet("status", path, "--json").stdout)["balances"]
    assert [each["spent"] for each in found] == [{"epsilon": "1/100"}] * 2
    assert found[0]["remaining"] == {"epsilon": "99/100"}
    assert found[1]["analyst"] == "ann"


def test_history_verify_and_export_tell_the_same_story(path, tmp_path):
    with open_ledger(path) as ledger:
        ask(ledger, "q", event=HUNDREDTH)
    shown = discreet("history", path)
    assert [word in shown.stdout for word in ("begin", "declare", "reserve", "geometric")]
    lines = discreet("history", path, "--json").stdout.splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["begin", "declare", "reserve"]
    verified = json.loads(discreet("verify", path, "--json").stdout)
    assert verified["entries"] == 3
    assert "3 entries" in discreet("verify", path).stdout
    exported = [json.loads(line) for line in discreet("export", path).stdout.splitlines()]
    assert exported[-1]["hash"] == verified["head"]
    assert discreet("export", path, "--out", tmp_path / "chain").returncode == 0
    assert len((tmp_path / "chain").read_text().splitlines()) == 3


def test_grant_and_revoke(path):
    done = discreet("grant", path, "visits", "--analyst", "eve", "--epsilon", "0.2")
    assert "0.2" in done.stdout, done.stderr
    done = discreet("revoke", path, "visits", "--analyst", "eve", "--json")
    assert json.loads(done.stdout)["balances"][0]["revoked"] is True
    assert "closed" in discreet("status", path).stdout


def test_reaccount_reports_and_gives_nothing_back(path):
    with open_ledger(path) as ledger:
        for number in range(20):
            ask(ledger, str(number), event=HUNDREDTH)
    done = discreet("reaccount", path, "visits", "--delta", "1e-6", "--json")
    report = json.loads(done.stdout)
    assert report["events"] == 20
    assert report["ledger"]["exact"]["epsilon"] == "1/5"
    assert {"pure", "zcdp", "rdp"} <= {loss["accountant"] for loss in report["others"]}
    assert "20 events" in discreet("reaccount", path, "visits").stdout
    with open_ledger(path) as ledger:
        assert str(ledger.balance("visits").spent["epsilon"]) == "1/5"


def test_reopen_is_for_closed_ledgers(path, tmp_path):
    done = discreet("reopen", path)
    assert done.returncode == 3
    anchored = tmp_path / "anchored.db"
    discreet("init", anchored, "--anchor", tmp_path / "anchor", "--dataset", "d", "--epsilon", 1)
    (tmp_path / "anchor").unlink()
    closed = discreet("status", anchored, "--json")
    assert closed.returncode == 3
    assert json.loads(closed.stderr)["error"]["code"] == "ledger_closed"
    assert discreet("reopen", anchored).returncode == 0
    assert discreet("status", anchored).returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (("status", "missing.db"), "ledger_closed", 3),
        (("grant", "PATH", "visits", "--epsilon", "nan"), "invalid_epsilon", 2),
        (("grant", "PATH", "nothing", "--epsilon", "1"), "unknown_account", 3),
        (("revoke", "PATH", "visits", "--analyst", "eve"), "unknown_account", 3),
        (("init", "PATH"), "ledger_exists", 3),
        (("init", "PATH", "--dataset", "visits", "--epsilon", "9"), "policy_differs", 3),
    ],
)
def test_errors_have_one_shape_and_an_exit_status(path, words, code, status):
    given = [str(path) if word == "PATH" else word for word in words]
    done = discreet(*given, "--json")
    assert done.returncode == status
    error = json.loads(done.stderr)["error"]
    assert error["code"] == code
    assert set(error) == {"code", "message", "hint"}
    plain = discreet(*given)
    assert plain.returncode == status
    assert plain.stderr.startswith(error["message"])


def test_a_damaged_ledger_fails_with_status_one(path):
    path.write_bytes(path.read_bytes()[:3000] + bytes(100))
    assert discreet("verify", path).returncode == 1


def test_every_command_shows_an_example():
    listed = discreet("--help")
    assert listed.returncode == 0
    for command in (
        "init",
        "status",
        "history",
        "verify",
        "export",
        "grant",
        "revoke",
        "reaccount",
    ):
        assert command in listed.stdout
        assert f"discreet ledger {command}" in " ".join(discreet(command, "--help").stdout.split())


def test_an_event_of_no_known_price_is_refused_before_it_is_charged(path):
    from discreet.errors import UnknownEvent

    with open_ledger(path) as ledger, pytest.raises(UnknownEvent):
        ask(ledger, "q", event=Event("gaussian", {"sigma": 1, "grid": 1}, 1))
