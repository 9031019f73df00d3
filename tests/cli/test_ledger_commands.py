"""``discreet ledger``, run as a user runs it."""

import io
import json
import stat
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from discreet.cli import main
from discreet.events import Event
from discreet.ledger import open_ledger
from tests.ledger.private_postgres import PrivatePostgres
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


def test_history_says_what_each_entry_cost(path):
    with open_ledger(path) as ledger:
        ask(ledger, "q", event=HUNDREDTH)
    (line,) = [line for line in discreet("history", path).stdout.splitlines() if "reserve" in line]
    assert "epsilon 0.01" in line
    *_, before, charge = map(json.loads, discreet("history", path, "--json").stdout.splitlines())
    assert charge["charged"] == {"epsilon": "1/100"}
    assert charge["cost"] == [10**10, 0]
    assert "charged" not in before


def test_history_speaks_in_the_units_of_the_accountant(tmp_path):
    place = tmp_path / "budget.db"
    words = ("--dataset", "d", "--epsilon", 1, "--delta", "1e-6", "--accountant", "zcdp")
    discreet("init", place, *words, "--analyst", "ann=1,1e-6")
    with open_ledger(place) as ledger:
        ledger.reserve(
            dataset="d",
            analyst="ann",
            key=None,
            request_sha256="00" * 32,
            events=[Event("gaussian", {"sigma": 100, "grid": 1}, 1)],
        )
    assert "rho 5e-05" in discreet("history", place).stdout


def test_an_export_is_its_owners_alone(path, tmp_path):
    for name, mode in (("new", None), ("old", 0o644)):
        out = tmp_path / name
        if mode is not None:
            out.touch(mode)
        assert discreet("export", path, "--answers", "--out", out).returncode == 0
        assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_is_said(path, tmp_path):
    done = discreet("export", path, "--out", tmp_path / "nowhere" / "chain")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert discreet("init", tmp_path / "no" / "where" / "budget.db").returncode == 1


def test_one_is_not_many(path, tmp_path):
    empty = tmp_path / "empty.db"
    discreet("init", empty)
    assert "sound: 1 entry, 0 charges" in discreet("verify", empty).stdout
    assert "1 entry written" in discreet("export", empty, "--out", tmp_path / "chain").stderr
    with open_ledger(path) as ledger:
        ask(ledger, "q", event=HUNDREDTH)
    assert "1 charge, 0 answers, 1 reservation without" in discreet("verify", path).stdout
    assert "1 event charged" in discreet("reaccount", path, "visits").stdout


def test_an_emptied_ledger_is_not_sound(path):
    path.write_bytes(b"")
    for command in ("status", "verify", "history", "export"):
        done = discreet(command, path, "--json" if command != "export" else "--answers")
        assert done.returncode == 1
        assert "empty" in done.stderr


def test_a_ledger_gets_an_anchor_later(path, tmp_path):
    anchor = tmp_path / "anchor of visits"
    refused = discreet("init", path, "--anchor", anchor)
    assert refused.returncode == 3
    assert f"discreet ledger anchor {path} '{anchor}'" in refused.stderr
    done = discreet("anchor", path, anchor)
    assert done.returncode == 0, done.stderr
    assert json.loads(discreet("anchor", path, anchor, "--json").stdout) == {"anchor": str(anchor)}
    assert str(anchor) in discreet("history", path).stdout
    anchor.unlink()
    closed = discreet("status", path)
    assert closed.returncode == 3
    assert f"discreet ledger reopen {path}" in closed.stderr


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:s3cret@host/db",
        "postgres://ann:s3/cret@host:5432/db",
        "postgresql://host/db?user=ann&password=s3cret",
        "host=localhost password=s3cret",
    ],
)
def test_a_password_on_the_command_line_is_refused_and_not_repeated(address):
    done = discreet("status", address)
    assert done.returncode == 2
    assert "s3" not in done.stdout + done.stderr
    assert "env:LEDGER_DSN" in done.stderr


@pytest.mark.parametrize("words", [("env:NOBODYS_LEDGER",), ("file:nowhere.dsn",)])
def test_a_place_that_holds_no_address_is_refused(words):
    done = discreet("status", *words, "--json")
    assert json.loads(done.stderr)["error"]["code"] == "invalid_input"


def test_what_a_variable_holds_is_an_address(monkeypatch, tmp_path):
    monkeypatch.setenv("LEDGER_DSN", f"{tmp_path}/s3cret.db")
    done = discreet("status", "env:LEDGER_DSN")
    assert done.returncode == 2
    assert "s3cret" not in done.stderr
    assert "postgresql://user@host/database" in done.stderr


def test_help_says_how_an_address_is_given():
    shown = " ".join(discreet("status", "--help").stdout.replace("│", " ").split())
    assert "env:NAME or file:PATH" in shown


def test_a_ledger_in_a_database_is_named_by_a_variable_or_a_file(monkeypatch, tmp_path):
    server = PrivatePostgres()
    try:
        address = server.blank()
        monkeypatch.setenv("LEDGER_DSN", address)
        kept = tmp_path / "ledger.dsn"
        kept.write_text(address)
        words = ("--dataset", "visits", "--epsilon", 1, "--analyst", "ann=0.5")
        done = discreet("init", "env:LEDGER_DSN", *words)
        assert done.returncode == 0, done.stderr
        assert discreet("status", f"file:{kept}").returncode == 2  # others could read it
        kept.chmod(0o600)
        assert "visits" in discreet("status", f"file:{kept}").stdout
        again = discreet("init", "env:LEDGER_DSN")
        assert "discreet ledger status env:LEDGER_DSN" in again.stderr
        assert discreet("verify", address).returncode == 0  # no password in it
    finally:
        server.stop()


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
        "reopen",
        "anchor",
    ):
        assert command in listed.stdout
        assert f"discreet ledger {command}" in " ".join(discreet(command, "--help").stdout.split())


def test_an_event_of_no_known_price_is_refused_before_it_is_charged(path):
    from discreet.errors import UnknownEvent

    with open_ledger(path) as ledger, pytest.raises(UnknownEvent):
        ask(ledger, "q", event=Event("gaussian", {"sigma": 1, "grid": 1}, 1))
