"""``discreet survey``: from a question to an estimate, in the shell."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    code = "from discreet.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "survey", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def as_json(folder: Path, *words: str) -> Any:
    status, out, err = run(folder, *words, "--json")
    assert status == 0, err
    return json.loads(out)


def test_a_survey_from_its_design_to_its_estimate(tmp_path):
    made = as_json(tmp_path, "new", "--question", "Have you ever ...?", "--epsilon", "ln 3")
    assert made["survey"]["randomizer"]["kind"] == "two_coins"
    assert made["survey"]["options"] == ["yes", "no"]

    shares = ("--shares", "3/10,7/10")
    plan = as_json(tmp_path, "simulate", "survey.json", "--n", "7500", *shares)
    assert plan["expected"]["standard_error"] == pytest.approx(0.01)
    assert plan["expected"]["times_worse_than_central"] > 50

    (tmp_path / "incoming").mkdir()
    for name in ("a.jsonl", "b.arrow", "c.parquet"):
        file = f"incoming/{name}"
        as_json(tmp_path, "simulate", "survey.json", "--n", "2000", *shares, "--reports", file)
    with (tmp_path / "incoming" / "a.jsonl").open("a") as opened:
        opened.write("nonsense\n")
    collected = as_json(tmp_path, "collect", "survey.json", "incoming")
    assert (collected["files"], collected["reports"]) == (3, 6000)
    assert collected["dropped"] == {"malformed": 1}
    again = as_json(tmp_path, "collect", "survey.json", "incoming")
    assert (again["skipped"], again["added"], again["reports"]) == (3, 0, 6000)

    found = as_json(tmp_path, "estimate", "survey.json", "--picture", "picture.svg")
    yes = found["shares"][0]
    # One false alarm in a million: 4.9 standard errors.
    assert abs(yes["value"] - 0.3) < 4.9 * yes["standard_error"]
    assert yes["low"] < yes["value"] < yes["high"]
    assert sum(share["consistent"] for share in found["shares"]) == pytest.approx(1)
    assert "<svg" in (tmp_path / "picture.svg").read_text()


def test_a_survey_of_numbers(tmp_path):
    numbers = ("--low", "0", "--high", "110", "--epsilon", "2", "--n", "5000")
    as_json(tmp_path, "new", "--question", "How old?", *numbers)
    made = as_json(tmp_path, "simulate", "survey.json", "--n", "5000", "--reports", "r.parquet")
    simulated = made["simulated"]
    assert abs(simulated["mean"]["value"] - 55) < 4.9 * simulated["mean"]["standard_error"]
    as_json(tmp_path, "collect", "survey.json", "r.parquet")
    found = as_json(tmp_path, "estimate", "survey.json", "--picture", "mean.json")
    assert found["mean"] == simulated["mean"]
    assert json.loads((tmp_path / "mean.json").read_text())["layer"]


def test_a_question_asked_again_and_again(tmp_path):
    words = ("--epsilon", "2", "--once", "1", "--most-values", "3", "--options", "a,b,c")
    made = as_json(tmp_path, "new", "--question", "Which?", *words)
    assert made["survey"]["randomizer"]["most_values"] == 3


def test_what_people_read(tmp_path):
    words = ("--question", "Which?", "--options", "red,green,blue", "--epsilon", "1")
    status, out, _ = run(tmp_path, "new", *words)
    assert status == 0
    assert "written: survey.json" in out
    assert "standard error" in out
    _, out, _ = run(tmp_path, "simulate", "survey.json", "--n", "1000", "--reports", "r.jsonl")
    assert "green" in out
    _, out, _ = run(tmp_path, "collect", "survey.json", "r.jsonl")
    assert "1,000 reports added" in out
    _, out, _ = run(tmp_path, "estimate", "survey.json")
    assert "trusted curator" in out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("new", "--question", "?", "--epsilon", "0"), "invalid_epsilon"),
        (("new", "--question", "?", "--epsilon", "many"), "invalid_epsilon"),
        (("new", "--question", "", "--epsilon", "1"), "invalid_value"),
        (("new", "--question", "?", "--epsilon", "1", "--options", "a"), "invalid_value"),
        (("new", "--question", "?", "--epsilon", "1", "--options", "a,a"), "invalid_value"),
        (("new", "--question", "?", "--epsilon", "1", "--low", "0"), "invalid_value"),
        (("new", "--question", "?", "--epsilon", "1", "--randomizer", "x"), "invalid_value"),
        (("new", "--question", "?", "--epsilon", "1", "--once", "2"), "invalid_epsilon"),
        (("simulate", "none.json", "--n", "5"), "invalid_survey"),
        (("collect", "none.json", "."), "invalid_survey"),
        (("estimate", "none.json"), "invalid_survey"),
    ],
)
def test_what_cannot_be_is_refused_with_a_hint(tmp_path, words, code):
    status, _, err = run(tmp_path, *words, "--json")
    assert status == 2
    error = json.loads(err)["error"]
    assert error["code"] == code
    assert error["hint"]


def test_nothing_to_estimate_from_is_refused(tmp_path):
    run(tmp_path, "new", "--question", "?", "--epsilon", "1")
    status, _, err = run(tmp_path, "estimate", "survey.json")
    assert status == 2
    assert "Hint" in err
