"""``discreet init`` and ``discreet policy check``, as a curator runs them."""

import json
import stat
import subprocess
import sys

import duckdb
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


def test_what_a_look_finds_is_its_readers_alone(run, tmp_path):
    run("init", "visits.csv", "--look", "--out", "looked.toml")
    assert stat.S_IMODE((tmp_path / "looked.toml").stat().st_mode) == 0o600


def test_a_table_of_a_duckdb_file_is_drafted(run, tmp_path):
    with duckdb.connect(str(tmp_path / "h.duckdb")) as file:
        file.execute(
            "CREATE TABLE visits (who UUID, day TIMESTAMPTZ, cost DECIMAL(9, 2), raw BLOB)"
        )
    words = ("init", "h.duckdb", "--unit", "who", "--rows-per-unit", "2")
    text = run(*words, "--out", "-").output
    assert 'source = { kind = "duckdb", path = "h.duckdb", table = "visits" }' in text
    for line in (
        'who = { type = "text" }',
        'day = { type = "timestamp" }',
        'cost = { type = "real" }',
    ):
        assert line in text
    assert "# raw: a column of type BLOB cannot be used" in text
    assert run(*words).exit_code == 0
    assert run("policy", "check", "policy.toml").exit_code == 0
    with duckdb.connect(str(tmp_path / "h.duckdb")) as file:
        file.execute("CREATE SCHEMA ward; CREATE TABLE ward.beds (bed INTEGER)")
    done = run(*words, "--out", "-")
    assert '"h.duckdb" has the tables visits, ward.beds.' in done.stderr
    assert "Hint: discreet init h.duckdb --table visits" in done.stderr
    beds = run(
        "init", "h.duckdb", "--table", "ward.beds", "--out", "-", "--unit", "each row"
    ).output
    assert "[dataset.beds]" in beds


def test_a_parquet_file_brings_uuids_and_moments_with_a_zone(run, tmp_path):
    duckdb.execute(
        "COPY (SELECT uuid() AS who, TIMESTAMPTZ '2025-01-01 00:00:00+02' AS at) "
        f"TO '{tmp_path / 'v.parquet'}'"
    )
    text = run("init", "v.parquet", "--out", "-", "--unit", "who").output
    assert 'who = { type = "text" }' in text
    assert 'at = { type = "timestamp" }' in text


def test_a_pattern_is_drafted_from_all_of_its_files(run, tmp_path):
    parquet.write_table(pa.table({"id": [1]}), tmp_path / "v-1.parquet")
    parquet.write_table(pa.table({"id": [1], "cost": [0.5]}), tmp_path / "v-2.parquet")
    text = run("init", "v-*.parquet", "--out", "-", "--unit", "each row").output
    assert "[dataset.v]" in text
    assert 'path = "v-*.parquet"' in text
    assert 'cost = { type = "real" }' in text


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
        (["init", "odd.data"], "neither a Parquet, a CSV nor a DuckDB"),
        (["init", "false.parquet"], "could not be read"),
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


MISFIT = """\
[dataset.visits]
source = "{source}"
unit = "{unit}"
rows_per_unit = 20

[dataset.visits.columns]
patient_id = {{ type = "integer" }}
{column} = {{ type = "integer", bounds = [0, 110] }}

[dataset.visits.budget]
epsilon = {epsilon}
"""
FITS = {"source": "visits.csv", "unit": "patient_id", "column": "age", "epsilon": "1"}


@pytest.mark.parametrize(
    ("wrong", "says", "hint"),
    [
        (
            {"source": "visit.csv"},
            '2:10: dataset.visits.source: there is no file "visit.csv"',
            "visits.csv?",
        ),
        (
            {"source": "no*.csv"},
            '2:10: dataset.visits.source: there is no file "no*.csv"',
            "did you mean visits.csv?",
        ),
        (
            {"column": "aeg"},
            '8:1: dataset.visits.columns.aeg: the source has no column "aeg"',
            "mean age?",
        ),
        ({"column": "bmi"}, "it has patient_id, ward, age.", "leave it out"),
        (
            {"unit": "patient"},
            "3:8: dataset.visits.unit: the source has no column",
            'unit = "patient_id"',
        ),
        ({"epsilon": "4000000.5"}, "11:11: dataset.visits.budget.epsilon: a cap of", "epsilon = 1"),
    ],
    ids=["no file", "no match", "misspelt", "absent", "unit", "epsilon"],
)
def test_a_policy_that_cannot_work_is_told_so_at_its_line(run, tmp_path, wrong, says, hint):
    path = tmp_path / "policy.toml"
    path.write_text(MISFIT.format(**FITS))
    assert run("policy", "check", "policy.toml").exit_code == 0
    path.write_text(MISFIT.format(**FITS | wrong))
    done = run("policy", "check", "policy.toml")
    assert done.exit_code == 2
    assert says in done.stderr
    assert hint in done.stderr
    assert "1 mistake." in done.stderr
    assert "97" not in done.stderr  # names of columns, and nothing of the rows


def test_what_does_not_fit_is_told_with_everything_else(run, tmp_path):
    wrong = {"column": "aeg", "epsilon": "0", "unit": "who"}
    (tmp_path / "policy.toml").write_text(MISFIT.format(**FITS | wrong))
    told = json.loads(run("policy", "check", "policy.toml", "--json").stderr)["error"]["mistakes"]
    assert [(each["line"], each["column"]) for each in told] == [(3, 8), (8, 1), (11, 11)]
    assert all(each["message"] and each["hint"] for each in told)


def test_columns_are_looked_for_in_all_files_and_in_letters_of_any_size(run, tmp_path):
    parquet.write_table(pa.table({"id": [1]}), tmp_path / "v1.parquet")
    parquet.write_table(pa.table({"id": [1], "Cost": [0.5]}), tmp_path / "v2.parquet")
    with duckdb.connect(str(tmp_path / "h.duckdb")) as file:
        file.execute("CREATE TABLE main.v (id INTEGER, Cost DOUBLE)")
    for source in ('"v*.parquet"', '{ path = "h.duckdb", table = "v" }'):
        text = f"""
            [dataset.v]
            source = {source}
            unit = "each row"
            columns.cost = {{ type = "real", bounds = [0, 1] }}
            budget.epsilon = 1
            """
        (tmp_path / "policy.toml").write_text(text)
        assert run("policy", "check", "policy.toml").exit_code == 0
        (tmp_path / "policy.toml").write_text(text.replace("columns.cost", "columns.costs"))
        assert (
            'has no column "costs"; it has id, Cost.'
            in run("policy", "check", "policy.toml").stderr
        )


def test_two_data_sets_of_one_file_need_one_pool(run, tmp_path):
    one = MISFIT.format(**FITS)
    other = one.replace("dataset.visits", "dataset.other").replace('"visits.csv"', '"v*.csv"')
    (tmp_path / "policy.toml").write_text(one + other)
    done = run("policy", "check", "policy.toml")
    assert '"visits" reads the same rows' in done.stderr
    assert 'Hint: pool = "visits" under [dataset.other]' in done.stderr
    (tmp_path / "policy.toml").write_text(
        one + other.replace('unit = "', 'pool = "visits"\nunit = "')
    )
    assert run("policy", "check", "policy.toml").exit_code == 0


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
        source = "visits.csv"
        unit = "each row"
        columns.age = { type = "integer" }
        budget = { epsilon = 1, delta = 1e-6 }
        analysts.ann = { epsilon = 2 }
        """
    )
    said = " ".join(run("policy", "check", "policy.toml").output.split())
    for words in (
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
