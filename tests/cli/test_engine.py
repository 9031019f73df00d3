"""From a role to a first answer, on a command line, without a word of the secret."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.cli.test_pages import blocks, commands, shape
from tests.engines.hospital import OWN_SCHEMA, PASSWORD, READER, SECRET, Hospital
from tests.source import ROOT

COUNT = "SELECT COUNT(*) FROM visits"
PAGE = ROOT / "docs" / "how-to" / "postgresql.md"


@pytest.fixture
def hospital(server, database, monkeypatch, tmp_path) -> Iterator[Hospital]:
    monkeypatch.chdir(tmp_path)
    with Hospital(server, database) as made:
        yield made


@pytest.fixture
def policy(hospital, discreet, monkeypatch) -> Path:
    """A policy that was drafted from the table, and a role that may do what it needs."""
    monkeypatch.setenv("HOSPITAL_DSN", hospital.role(*READER, OWN_SCHEMA))
    source = ("--connection", "env:HOSPITAL_DSN", "--table", "hospital.visits")
    unit = ("--unit", "patient_id", "--rows-per-unit", "3")
    assert discreet("init", *source, *unit).status == 0
    return Path("policy.toml")


def test_a_draft_comes_from_the_types_of_a_table_alone(policy, discreet):
    text = policy.read_text()
    line = (
        'source = { kind = "postgres", connection = "env:HOSPITAL_DSN", table = "hospital.visits" }'
    )
    assert line in text
    for column in (
        'patient_id = { type = "integer" }',
        'ward = { type = "text" }',
        'age = { type = "integer" }',
        'cost = { type = "real" }',
        'day = { type = "date" }',
    ):
        assert f"\n{column}\n" in text
    assert SECRET not in text
    assert "north" not in text
    done = discreet("policy", "check", "policy.toml")
    assert done.status == 0
    assert "visits: postgres, hospital.visits" in done.out


def test_the_connection_of_a_draft_may_be_in_a_file_beside_the_policy(hospital, discreet):
    folder = Path("kept")
    folder.mkdir()
    (folder / "hospital.dsn").write_text(hospital.role(*READER))
    words = ["--connection", "file:hospital.dsn", "--table", "hospital.visits"]
    words += ["--unit", "patient_id", "--rows-per-unit", "3"]
    done = discreet("init", *words, "--out", "kept/policy.toml")
    assert done.status == 2
    assert done.hint == "chmod 600 kept/hospital.dsn"
    (folder / "hospital.dsn").chmod(0o600)
    assert discreet("init", *words, "--out", "kept/policy.toml").status == 0
    assert 'connection = "file:hospital.dsn"' in (folder / "policy.toml").read_text()
    assert discreet("ask", COUNT, "--policy", "kept/policy.toml", "--epsilon", "1").status == 0


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--table", "hospital.visits"),
        ("visits.csv", "--table", "hospital.visits"),
        ("--connection", "env:HOSPITAL_DSN"),
        ("visits.csv", "--connection", "env:HOSPITAL_DSN", "--table", "hospital.visits"),
        ("--connection", "env:HOSPITAL_DSN", "--table", "hospital.visits", "--look"),
        ("--connection", f"postgresql://reader:{PASSWORD}@host/db", "--table", "v"),
        ("--connection", "env:NOT_THERE", "--table", "v"),
    ],
    ids=range(8),
)
def test_a_draft_that_cannot_be_made_says_what_to_type(discreet, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    done = discreet("init", *words)
    assert done.status == 2
    assert done.hint
    assert PASSWORD not in done.out + done.err
    assert list(tmp_path.iterdir()) == []


def test_the_grants_of_a_policy_can_be_run_as_they_are(policy, hospital, discreet, monkeypatch):
    hospital.execute("DROP SCHEMA discreet")
    done = discreet("engine", "postgres", "--policy", "policy.toml", "--grants", "--role", "nurse")
    assert done.status == 0
    assert 'GRANT SELECT ("patient_id", "ward", "age", "cost", "day", "name")' in done.out
    with psycopg.connect(hospital.administrator, autocommit=True) as connection:
        connection.execute(done.out)
        connection.execute(done.out)
    hospital._roles.append("nurse")
    address = hospital.administrator.replace("user=postgres", "user=nurse")
    monkeypatch.setenv("HOSPITAL_DSN", address)
    checked = discreet("engine", "postgres", "--policy", "policy.toml", "--check", "--json")
    assert checked.status == 0
    (findings,) = json.loads(checked.out)["connections"].values()
    assert {each["state"] for each in findings} == {"fine"}
    assert discreet("ask", COUNT, "--policy", "policy.toml", "--epsilon", "0.5").status == 0


def test_without_a_policy_the_grants_are_an_example(discreet):
    done = discreet("engine", "postgres", "--grants")
    assert done.status == 0
    assert 'GRANT SELECT ("patient_id", "ward", "age") ON "hospital"."visits"' in done.out
    shown = json.loads(discreet("engine", "postgres", "--grants", "--json").out)
    first, _, script = done.out.partition("\n")
    assert first.startswith("-- An example: these are no names of yours.")
    assert shown["example"]
    assert list(shown["grants"].values()) == [script.removesuffix("\n")]


def findings(discreet, status: int) -> dict[str, list[tuple[str, str]]]:
    done = discreet("engine", "postgres", "--policy", "policy.toml", "--check", "--json")
    assert done.status == status, done.err
    (listed,) = json.loads(done.out)["connections"].values()
    found: dict[str, list[tuple[str, str]]] = {}
    for each in listed:
        found.setdefault(each["about"], []).append((each["state"], each["says"]))
    return found


def test_a_check_says_what_the_connection_can_and_cannot_do(
    policy, hospital, discreet, monkeypatch
):
    fine = findings(discreet, 0)
    assert {state for listed in fine.values() for state, _ in listed} == {"fine"}
    assert "through a socket" in fine["server"][0][1]

    monkeypatch.setenv("HOSPITAL_DSN", hospital.administrator)
    mighty = findings(discreet, 0)
    assert mighty["role"][1][0] == "note"
    assert "a superuser" in mighty["role"][1][1]
    assert ("note", "the role may also change it.") in mighty["hospital.visits"]

    hospital.execute("GRANT USAGE ON SCHEMA discreet TO PUBLIC")
    hospital.execute("ALTER TABLE hospital.visits ENABLE ROW LEVEL SECURITY")
    monkeypatch.setenv(
        "HOSPITAL_DSN", hospital.role(READER[0], "GRANT SELECT (ward) ON hospital.visits TO {0}")
    )
    poor = findings(discreet, 1)
    (wrong,) = [says for state, says in poor["hospital.visits"] if state == "wrong"]
    assert wrong == "the role may not read the columns patient_id, age, cost, day, name."
    assert any("row security" in says for _, says in poor["hospital.visits"])
    (kept, others) = poor["schema discreet"]
    assert kept[0] == "note"
    assert "may not create tables" in kept[1]
    assert "costs twice" in kept[1]
    assert "everybody" in others[1]

    monkeypatch.setenv("HOSPITAL_DSN", hospital.role())
    assert "may not read" in findings(discreet, 1)["hospital.visits"][0][1]
    hospital.execute("ALTER TABLE hospital.visits DROP COLUMN age")
    assert findings(discreet, 1)["hospital.visits"][0][1] == "it has no column age."
    hospital.execute("DROP TABLE hospital.visits")
    assert findings(discreet, 1)["hospital.visits"][0][1] == "there is no such table."


def test_a_connection_can_be_checked_without_a_policy(hospital, discreet, monkeypatch):
    monkeypatch.setenv("HOSPITAL_DSN", hospital.role())
    done = discreet("engine", "postgres", "--check", "--connection", "env:HOSPITAL_DSN")
    assert done.status == 0
    assert re.search(r"PostgreSQL \d+\.\d+, through a socket", done.out)
    monkeypatch.setenv("HOSPITAL_DSN", f"postgresql://reader:{PASSWORD}@127.0.0.1:1/hospital")
    lost = discreet("engine", "postgres", "--check", "--connection", "env:HOSPITAL_DSN", "--json")
    assert lost.status == 1
    assert json.loads(lost.err)["error"]["code"] == "engine_failed"
    assert PASSWORD not in lost.err


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--grants", "--check"),
        ("--check",),
        ("--check", "--role", "nurse", "--connection", "env:X"),
        ("--check", "--connection", f"postgresql://reader:{PASSWORD}@host/db"),
        ("--check", "--connection", "env:NOT_THERE"),
        ("--grants", "--connection", "env:X"),
        ("--grants", "--policy", "files.toml"),
    ],
    ids=range(8),
)
def test_what_cannot_be_done_says_what_to_type(discreet, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    Path("files.toml").write_text(
        '[dataset.v]\nsource = "v.parquet"\nunit = "each row"\n'
        'columns.a = { type = "integer" }\nbudget.epsilon = 1\n'
    )
    done = discreet("engine", "postgres", *words)
    assert done.status == 2
    assert done.hint
    assert PASSWORD not in done.out + done.err


def test_a_role_that_may_not_write_answers_live_and_the_curator_is_told(
    policy, hospital, discreet, monkeypatch
):
    hospital.execute("DROP SCHEMA discreet")
    monkeypatch.setenv("HOSPITAL_DSN", hospital.role(*READER))
    assert discreet("ask", COUNT, "--policy", "policy.toml", "--epsilon", "0.5").status == 0
    done = discreet("snapshot", "status", "--policy", "policy.toml")
    assert "live" in done.out
    assert 'there is no schema "discreet"' in done.out
    assert 'there is no schema "discreet"' in Path(".discreet/curator.log").read_text()


def test_the_secret_is_nowhere(policy, hospital, discreet, monkeypatch, server):
    secret = hospital.role(*READER, OWN_SCHEMA.replace("SCHEMA", "SCHEMA IF NOT EXISTS"))
    given = ("--policy", "policy.toml")
    asked = (*given, "--epsilon", "0.1")
    commands = [
        ("policy", "check", "policy.toml", "--json"),
        ("snapshot", "build", *given),
        ("snapshot", "status", *given, "--json"),
        ("ask", COUNT, *asked),
        ("ask", COUNT, *asked, "--json"),
        ("ask", COUNT, *asked, "--explain"),
        ("ask", "SELECT nothing FROM visits", *asked),
        ("ask", "SELECT SUM(name) FROM visits", *asked),
        ("ask", COUNT, *given, "--epsilon", "1000"),
        ("engine", "postgres", *given, "--check"),
        ("engine", "postgres", *given, "--check", "--json"),
        ("engine", "postgres", *given, "--grants"),
        ("ledger", "history", ".discreet/ledger.db", "--json"),
        ("ledger", "status", ".discreet/ledger.db"),
    ]
    places = [
        secret,
        f"{secret}&sslmode=nonsense",
        secret.replace("ledger1", "nowhere"),
        f"postgresql://reader:{PASSWORD}@127.0.0.1:1/hospital",
        f"{PASSWORD} is no connection string",
    ]
    heard = []
    for place in places:
        monkeypatch.setenv("HOSPITAL_DSN", place)
        for words in commands:
            done = discreet(*words)
            heard.append(done.out + done.err)
    assert any("± " in each for each in heard)
    for file in [policy, *Path(".discreet").rglob("*")]:
        if file.is_file():
            heard.append(file.read_bytes().decode("latin-1"))
            assert file.stat().st_mode & 0o077 == 0 or file == policy, file
    for each in heard:
        assert PASSWORD not in each
        assert secret not in each
        assert SECRET not in each


def plain(text: str) -> list[str]:
    """What counts of an output: neither numbers nor the name of the database or the table."""
    named = re.sub(r"visits_\w+_\*", "visits_*", text)
    return shape(named.replace('database "ledger1"', 'database "hospital"'))


def test_every_command_of_the_how_to_prints_what_it_shows(hospital, discreet, monkeypatch):
    monkeypatch.setenv("HOSPITAL_DSN", hospital.administrator)
    (policy,) = blocks(PAGE, "toml")
    shown = commands(PAGE)
    assert len(shown) == 5
    for (name, *words), expected in shown:
        assert name == "discreet"
        done = discreet(*words)
        assert (done.status, plain(done.out)) == (0, plain(expected)), done.err
        if words[0] == "init":
            Path("policy.toml").write_text(policy)
        if "--grants" in words:
            with psycopg.connect(hospital.administrator, autocommit=True) as connection:
                connection.execute(done.out)
            hospital._roles.append("discreet_reader")
            reader = hospital.administrator.replace("user=postgres", "user=discreet_reader")
            monkeypatch.setenv("HOSPITAL_DSN", reader)
