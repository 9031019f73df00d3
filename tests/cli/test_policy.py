"""``discreet init`` and ``discreet policy check``, as a curator runs them."""

import json
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from discreet.cli import app

CSV = "patient_id,ward,age\n1,A,30\n2,B,97\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_text(CSV)
    return lambda *words: CliRunner().invoke(app, words)


def test_from_a_file_to_a_policy_that_can_be_used(run, tmp_path):
    done = run("init", "visits.csv", "--unit", "patient_id", "--rows-per-unit", "20")
    assert done.exit_code == 0
    assert "discreet policy check policy.toml" in done.output
    assert "97" not in (tmp_path / "policy.toml").read_text()
    done = run("policy", "check", "policy.toml")
    assert done.exit_code == 0
    assert "protects   each patient_id, of whom at most 20 rows are used" in done.output
    assert "budget     epsilon 1 in all" in done.output


def test_a_draft_without_a_unit_is_checked_with_a_hint_at_its_line(run):
    assert run("init", "visits.csv", "--look").exit_code == 0
    done = run("policy", "check", "policy.toml")
    assert done.exit_code == 2
    assert "policy.toml:6:1: dataset.visits.unit" in done.stderr
    assert "     6 | [dataset.visits]\n       | ^" in done.stderr
    assert 'Hint: unit = "patient_id"' in done.stderr


def test_only_a_look_shows_what_the_rows_hold(run):
    assert "97" not in run("init", "visits.csv", "--out", "-").output
    done = run("init", "visits.csv", "--out", "-", "--look")
    assert [line for line in done.output.splitlines() if "97" in line and "UNSAFE" in line]


def test_a_parquet_file_brings_its_types(run, tmp_path):
    parquet.write_table(pa.table({"id": [1], "cost": [0.5]}), tmp_path / "v.parquet")
    done = run("init", "v.parquet", "--out", "-", "--unit", "each row")
    assert 'cost = { type = "real" }' in done.output


def test_the_source_is_found_from_the_policy(run, tmp_path):
    (tmp_path / "policies").mkdir()
    assert (
        run("init", "visits.csv", "--out", "policies/v.toml", "--unit", "each row").exit_code == 0
    )
    assert "../visits.csv" in (tmp_path / "policies" / "v.toml").read_text()
    assert "there is no file" not in run("policy", "check", "policies/v.toml").output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["init", "nowhere.csv"], "there is no file"),
        (["init", "visits.csv", "--unit", "patient"], "there are patient_id, ward, age"),
        (["init", "visits.csv", "--out", "visits.csv"], "already there"),
        (["init", "visits.csv", "--out", "no/where.toml"], "cannot be written"),
        (["init", "odd.data"], "neither a Parquet nor a CSV"),
        (["init", "false.parquet"], "not a Parquet file"),
        (["policy", "check", "nowhere.toml"], "cannot be read"),
    ],
)
def test_what_cannot_be_done_ends_with_a_hint_and_status_2(run, tmp_path, words, why):
    (tmp_path / "odd.data").write_text(CSV)
    (tmp_path / "false.parquet").write_text(CSV)
    done = run(*words)
    assert done.exit_code == 2
    assert why in done.stderr
    assert "Hint: " in done.stderr


def test_json_holds_the_policy_or_every_mistake(run, tmp_path):
    run("init", "visits.csv", "--unit", "each row")
    whole = json.loads(run("policy", "check", "policy.toml", "--json").output)
    assert whole["policy"]["datasets"]["visits"]["budget"]["epsilon"] == "1"
    (tmp_path / "policy.toml").write_text("[dataset.visits]\nunit = 3\n")
    done = run("policy", "check", "policy.toml", "--json")
    assert done.exit_code == 2
    error = json.loads(done.stderr)["error"]
    assert set(error) == {"code", "message", "hint", "mistakes"}
    assert error["code"] == "invalid_policy"
    assert {each["line"] for each in error["mistakes"]} == {1, 2}


def test_a_line_that_may_hold_a_secret_is_not_repeated(run, tmp_path):
    (tmp_path / "policy.toml").write_text(
        '[dataset.v]\nsource = { kind = "postgres", password = "hunter2" }\n'
    )
    done = run("policy", "check", "policy.toml")
    assert done.exit_code == 2
    assert "hunter2" not in done.output + done.stderr


def test_notes_say_what_is_worth_a_second_look(run, tmp_path):
    (tmp_path / "policy.toml").write_text(
        """
        [dataset.v]
        source = "nowhere.parquet"
        unit = "each row"
        columns.age = { type = "integer" }
        budget = { epsilon = 1, delta = 1e-6 }
        analysts.ann = { epsilon = 2 }
        """
    )
    said = " ".join(run("policy", "check", "policy.toml").output.split())
    for words in (
        'there is no file "nowhere.parquet" here',
        "people is not declared",
        '"ann" may spend more than there is',
        "no bounds for age",
    ):
        assert words in said


def test_help_shows_examples(run):
    assert "discreet init visits.parquet" in run("init", "--help").output
    assert "discreet policy check policy.toml" in run("policy", "check", "--help").output


def test_the_command_runs_as_a_process(tmp_path):
    code = "from discreet.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "policy", "check", "nowhere.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "Hint: discreet init" in done.stderr
