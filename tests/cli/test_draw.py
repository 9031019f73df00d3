"""``discreet draw`` as its users run it."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from discreet.cli import app
from discreet.errors import DiscreetError
from discreet.pictures import CATALOGUE, laplace

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(app, ["draw", *words])


def words(file: Path) -> list[str]:
    texts = (node for node in ET.parse(file).iter() if node.tag.endswith("}text"))
    return [line for text in texts for line in text.itertext()]


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_every_picture_is_drawn_by_its_name(run, tmp_path, name):
    done = run(name, "--out", "picture.svg")
    assert done.exit_code == 0
    title = CATALOGUE[name]().title
    assert done.output == f"picture.svg: {title}\n"
    assert title in words(tmp_path / "picture.svg")


def test_options_reach_the_picture(run, tmp_path):
    done = run("laplace", "--scales", "1, 5/2", "--out", "p.json")
    assert done.exit_code == 0
    assert json.loads((tmp_path / "p.json").read_text()) == laplace(scales=["1", "5/2"]).spec


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["neighbours", "--epsilon", "ln 3", "--sensitivity", "2", "--observed", "1"], "ε = ln 3"),
        (["error", "--counts", "1,3143", "--confidence", "0.9"], "0.9 confidence"),
        (["people", "--epsilon", "0.5"], "ε = 0.5"),
        (["beliefs", "--epsilons", "0.1,1"], "0.1"),
        (["delta", "--epsilon", "2"], "noise for ε = 2"),
        (["composition", "--epsilon", "1/2", "--delta", "1e-9", "--queries", "50"], "δ = 1e-9"),
        (["survey", "--epsilons", "1", "--people", "5000", "--share", "1/4"], "5,000 people, 25 %"),
    ],
)
def test_a_pictures_words_name_its_parameters(run, tmp_path, line, said):
    assert run(*line, "--out", "p.svg").exit_code == 0
    assert any(said in text for text in words(tmp_path / "p.svg"))


def test_the_list_names_every_picture_and_option(run):
    found = json.loads(run("--list", "--json").output)["pictures"]
    assert {each["picture"] for each in found} == {*CATALOGUE, "answer"}
    assert "--queries" in next(e for e in found if e["picture"] == "composition")["options"]
    assert all(each["shows"].endswith(".") for each in found)
    text = run("--list").output
    assert all(each["shows"] in text for each in found)


def test_json_says_where_the_picture_is(run):
    found = json.loads(run("delta", "--out", "p.png", "--json").output)
    assert found["file"] == "p.png"
    assert found["picture"] == "delta"


ANSWER = {
    "columns": ["ward", "sex", "visits"],
    "rows": [
        {
            "ward": {"value": "north", "low": None, "high": None, "flag": None},
            "sex": {"value": None, "low": None, "high": None, "flag": None},
            "visits": {"value": 120, "low": 112, "high": 128, "flag": None},
        },
        {
            "ward": {"value": "south", "low": None, "high": None, "flag": None},
            "sex": {"value": "f", "low": None, "high": None, "flag": None},
            "visits": {"value": None, "low": None, "high": None, "flag": "unreliable"},
        },
    ],
}


def test_an_answer_is_drawn_by_all_of_its_keys(run, tmp_path):
    (tmp_path / "answer.json").write_text(json.dumps(ANSWER))
    done = run("answer", "--from", "answer.json", "--out", "p.svg")
    assert done.exit_code == 0
    said = words(tmp_path / "p.svg")
    assert {"north, NULL", "south, f", "120 ± 8", "no number"} <= set(said)
    assert "visits by ward, sex" in said


def test_a_single_number_is_drawn_too(run, tmp_path):
    lone = {"columns": ["n"], "rows": [{"n": {"value": 5, "low": 1, "high": 9, "flag": None}}]}
    (tmp_path / "answer.json").write_text(json.dumps(lone))
    assert run("answer", "--from", "answer.json", "--out", "p.svg").exit_code == 0


def test_a_survey_is_drawn_in_percent(run, tmp_path):
    shares = [{"answer": "yes", "value": 0.3, "low": 0.25, "high": 0.35}]
    (tmp_path / "estimate.json").write_text(json.dumps({"shares": shares}))
    words_given = ("--from", "estimate.json", "--title", "Have you ever?", "--out", "p.svg")
    assert run("answer", *words_given).exit_code == 0
    assert {"30.0 ± 5.0 %", "Have you ever?"} <= set(words(tmp_path / "p.svg"))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ([], "which picture"),
        (["laplac", "--out", "p.svg"], "Hint: discreet draw laplace"),
        (["laplace"], "--out laplace.svg"),
        (["laplace", "--out", "p.pdf"], "by its ending"),
        (["laplace", "--out", "no/where.svg"], "cannot be written"),
        (["laplace", "--epsilon", "1", "--out", "p.svg"], "it has --scales"),
        (["laplace", "--scales", "0", "--out", "p.svg"], "greater than 0"),
        (["composition", "--queries", "many", "--out", "p.svg"], "whole number"),
        (["answer", "--out", "p.svg"], "--from answer.json"),
        (["answer", "--from", "none.json", "--out", "p.svg"], "not a JSON file"),
        (["answer", "--from", "other.json", "--out", "p.svg"], "not the JSON of an answer"),
        (["answer", "--from", "odd.json", "--out", "p.svg"], "not the JSON of an answer"),
        (["answer", "--from", "keys.json", "--out", "p.svg"], "no number with an interval"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_status_2(run, tmp_path, line, why):
    (tmp_path / "other.json").write_text('{"rows": []}')
    (tmp_path / "odd.json").write_text('{"shares": [1]}')
    key = {"value": "a", "low": None, "high": None}
    (tmp_path / "keys.json").write_text(json.dumps({"columns": ["k"], "rows": [{"k": key}]}))
    done = run(*line)
    assert isinstance(done.exception, DiscreetError)
    assert done.exception.exit_status == 2
    assert why in str(done.exception)
    assert "\n\nHint: " in str(done.exception)
    assert not list(tmp_path.glob("p.*"))


def test_the_installed_command_draws_and_refuses(tmp_path):
    command = [str(Path(sys.executable).parent / "discreet"), "draw", "laplace"]
    done = subprocess.run(
        [*command, "--out", "p.png"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("p.png: Laplace noise")
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    done = subprocess.run(
        [*command, "--out", "p.gif", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["code"] == "invalid_value"
