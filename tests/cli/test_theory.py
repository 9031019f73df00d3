"""``discreet theory`` as its users run it."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from discreet.cli import main
from discreet.exact import Real
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.geometric import Geometric
from discreet.theory import (
    GaussianNoise,
    GeometricNoise,
    LaplaceNoise,
    central_sample_size,
    epsilon_for_error,
    gaussian_delta,
    local_sample_size,
    two_coins,
)
from tests.source import ROOT

COINS = ",yes,no\nyes,3/4,1/4\nno,1/4,3/4\n"
PAGE = (ROOT / "docs" / "reference" / "theory-cli.md").read_text(encoding="utf-8")


class Done(NamedTuple):
    status: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command as ``main`` does, in a folder with a table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coins.csv").write_text(COINS)

    def command(*words: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["discreet", "theory", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        status = ended.value.code
        return Done(int(status or 0), shown.out, shown.err)

    return command


# epsilon -----------------------------------------------------------------------------------------


def test_two_coins_have_ln_3(run):
    found = run("epsilon", "coins.csv", "--json").json()
    assert found["exact"] == "ln(3)"
    assert found["epsilon"] == two_coins().epsilon().float_up()
    assert found["worst"]["ratio"] == "3"


def test_the_worst_output_is_the_one_whose_ratio_is_the_largest(run, tmp_path):
    (tmp_path / "t.csv").write_text(",p,q,r\na,1/2,1/4,1/4\nb,2/5,1/10,1/2\nc,1/2,1/4,1/4\n")
    worst = run("epsilon", "t.csv", "--json").json()["worst"]
    assert (worst["input"], worst["neighbour"], worst["output"]) == ("a", "b", "q")
    assert worst["ratio"] == "5/2"
    assert Fraction(worst["probability"]) / Fraction(worst["neighbour_probability"]) == Fraction(
        5, 2
    )


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("t.csv", COINS),
        ("t.csv", "\ufeffx,yes,no\r\nyes, 0.75 ,0.25\r\nno,0.25,3/4\r\n\r\n"),
        ("t.csv", "0.75,0.25\n0.25,0.75\n"),
        ("t.json", '{"yes": {"yes": 0.75, "no": "1/4"}, "no": {"no": 0.75, "yes": 0.25}}'),
        ("t.json", "[[0.75, 0.25], [0.25, 0.75]]"),
    ],
)
def test_a_table_may_be_csv_or_json_with_names_or_without(run, tmp_path, file, text):
    (tmp_path / file).write_text(text, encoding="utf-8")
    assert run("epsilon", file, "--json").json()["exact"] == "ln(3)"


def test_decimals_are_the_numbers_they_show(run, tmp_path):
    (tmp_path / "t.json").write_text("[[0.1, 0.2, 0.7], [0.2, 0.1, 0.7]]")
    assert run("epsilon", "t.json", "--json").json()["exact"] == "ln(2)"


def test_only_neighbours_are_compared(run, tmp_path):
    (tmp_path / "t.csv").write_text(",p,q\na,1/2,1/2\nb,1/4,3/4\nc,1/8,7/8\n")
    exact = {
        how: run("epsilon", "t.csv", "--neighbours", how, "--json").json()["exact"]
        for how in ("all", "chain", "a:b", "a:b,b:c", "c:a")
    }
    assert exact == {
        "all": "ln(4)",
        "chain": "ln(2)",
        "a:b": "ln(2)",
        "a:b,b:c": "ln(2)",
        "c:a": "ln(4)",
    }


def test_an_output_that_only_one_input_gives_makes_epsilon_infinite(run, tmp_path):
    (tmp_path / "t.json").write_text('{"a": {"x": 0.9, "y": 0.1}, "b": {"x": 1}}')
    found = run("epsilon", "t.json", "--curve", "100,inf", "--json").json()
    assert found["epsilon"] is None
    assert found["exact"] == "infinity"
    assert found["worst"]["output"] == "y"
    assert found["worst"]["ratio"] is None
    assert [point["exact"] for point in found["curve"]] == ["1/10", "1/10"]
    assert "not private at any epsilon" in run("epsilon", "t.json").out


def test_the_curve_is_the_channels_and_rounded_up(run):
    points = run("epsilon", "coins.csv", "--curve", "0, 0.5,ln 2,2", "--json").json()["curve"]
    for point in points:
        exact = two_coins().delta(point["epsilon"])
        assert Fraction(point["delta"]) >= exact.upper(40) - Fraction(1, 10**9)
        assert point["delta"] == pytest.approx(float(exact))
    assert points[2]["exact"] == "1/4"
    found = run("epsilon", "coins.csv", "--at-delta", "1/4", "--json").json()["at_delta"]
    assert found["exact"] == "ln(2)"


def test_a_claim_that_holds_ends_with_status_0(run):
    done = run("epsilon", "coins.csv", "--epsilon", "ln 3")
    assert done.status == 0
    assert "epsilon ln 3, delta 0: holds" in done.out


def test_a_refuted_claim_ends_with_status_1_and_a_witness_that_shows_it(run):
    done = run("epsilon", "coins.csv", "--epsilon", "1", "--delta", "0.01", "--json")
    assert done.status == 1
    claim = done.json()["claim"]
    assert claim["holds"] is False
    here = Fraction(claim["witness"]["probability"])
    there = Fraction(claim["witness"]["neighbour_probability"])
    assert Real(here) > Real(1).exp() * there + Fraction(1, 100)


def test_numbers_for_people_are_never_rounded_down(run):
    assert "at most 1.09862" in run("epsilon", "coins.csv").out


# sample-size, error, epsilon-for -----------------------------------------------------------------


def test_sample_sizes_are_the_theorys(run):
    found = run("sample-size", "--error", "0.01", "--epsilon", "ln 3", "--json").json()
    assert found["central"]["people"] == central_sample_size(error="0.01", epsilon="ln 3").people
    assert (
        found["local"]["people"] == local_sample_size(error="0.01", epsilon="ln 3").people == 7500
    )


def test_a_model_may_be_chosen_and_sampling_included(run):
    words = ("sample-size", "--error", "0.01", "--epsilon", "ln 3", "--json")
    assert "local" not in run(*words, "--model", "central").json()
    found = run(*words, "--model", "local", "--population").json()
    assert found["local"]["people"] == 10_000
    assert "central" not in found


def test_the_counties_have_the_errors_of_the_textbook(run):
    words = ("error", "--epsilon", "0.1", "--count", "3143", "--json")
    found = run(*words, "--sensitivity", "2").json()
    noise = LaplaceNoise(20)
    assert found["mean_error"] == 20
    assert found["within"] == noise.error("0.05", 3143).float_up()
    assert found["textbook"] == noise.error_bound("0.05", 3143).float_up()
    assert found["expected_largest"] == noise.expected_largest(3143).float_up()
    assert run(*words).json()["mean_error"] == 10


def test_geometric_errors_are_whole_numbers(run):
    found = run("error", "--epsilon", "ln 2", "--mechanism", "geometric", "--json").json()
    noise = GeometricNoise.for_privacy(sensitivity=1, epsilon="ln 2")
    assert found["within"] == noise.error("0.05")
    assert found["textbook"] is None
    assert found["rms_error"] == pytest.approx(float(noise.rms_error()))


def test_gaussian_errors_come_from_the_least_certified_sigma(run):
    words = ("--mechanism", "gaussian", "--delta", "1e-6", "--sensitivity", "2", "--json")
    found = run("error", "--epsilon", "1", "--confidence", "0.9", *words).json()
    sigma = Gaussian.from_epsilon(sensitivity=2, epsilon=1, delta="1e-6").sigma
    assert found["scale"] == pytest.approx(float(sigma))
    assert found["within"] == pytest.approx(float(GaussianNoise(sigma).error("0.1")))


def test_an_error_can_be_turned_into_an_epsilon_and_back(run):
    found = run("epsilon-for", "--within", "50", "--count", "10", "--json").json()
    exact = epsilon_for_error(error=50, beta="0.05", k=10)
    assert found["epsilon"] == exact.float_up()
    again = run("error", "--epsilon", repr(found["epsilon"]), "--count", "10", "--json").json()
    assert again["within"] == pytest.approx(50)


def test_a_geometric_epsilon_keeps_the_error_and_a_smaller_one_does_not(run):
    words = ("epsilon-for", "--within", "50", "--mechanism", "geometric", "--json")
    epsilon = run(*words).json()["epsilon"]
    made = Geometric.from_error(sensitivity=1, within=50, confidence="0.95")
    assert epsilon == pytest.approx(float(made.epsilon))

    def reach(at: float) -> int:
        return GeometricNoise.for_privacy(sensitivity=1, epsilon=at).error("0.05")

    assert reach(epsilon) == 50
    assert reach(epsilon * 0.999) > 50


def test_a_gaussian_epsilon_is_enough_for_its_delta(run):
    words = ("epsilon-for", "--within", "50", "--mechanism", "gaussian", "--delta", "1e-6")
    epsilon = run(*words, "--json").json()["epsilon"]
    sigma = (50 / GaussianNoise(1).error("0.05")).lower()
    reached = gaussian_delta(sigma=sigma, sensitivity=Fraction(1), epsilon=Fraction(epsilon))
    assert float(reached) == pytest.approx(1e-6, rel=1e-6)


# Bad input ---------------------------------------------------------------------------------------

BAD = [
    ("epsilon nowhere.csv", "nowhere.csv"),
    ("epsilon off.csv", "sums to 1.1"),
    ("epsilon negative.csv", "negative"),
    ("epsilon ragged.csv", "a probability for every output"),
    ("epsilon header.csv", "at least one row"),
    ("epsilon empty.csv", "empty"),
    ("epsilon twice.csv", "different inputs"),
    ("epsilon words.csv", "not a finite number"),
    ("epsilon broken.json", "not JSON"),
    ("epsilon list.json", "neither a table"),
    ("epsilon empty.json", "neither a table"),
    ("epsilon coins.csv --neighbours yes:maybe", "there are yes, no"),
    ("epsilon coins.csv --neighbours near", "there are yes, no"),
    ("epsilon coins.csv --curve -1", "0 or more"),
    ("epsilon coins.csv --at-delta 2", "between 0 and 1"),
    ("epsilon coins.csv --epsilon much", "finite number"),
    ("sample-size --error 0 --epsilon 1", "greater than 0"),
    ("sample-size --error 0.01 --epsilon 0", "above 0"),
    ("sample-size --error 0.01 --epsilon inf", "finite"),
    ("error --epsilon 0", "above 0"),
    ("error --epsilon inf", "finite"),
    ("error --epsilon 1 --confidence 1", "strictly between 0 and 1"),
    ("error --epsilon 1 --sensitivity 0", "greater than 0"),
    ("error --epsilon 1 --count 2000000", "1,000,000"),
    ("error --epsilon 1 --delta 1e-6", "no delta"),
    ("error --epsilon 1 --mechanism gaussian", "needs a delta"),
    ("epsilon-for --within 0", "greater than 0"),
    ("epsilon-for --within 50 --delta 1e-6", "no delta"),
]

FILES = {
    "off.csv": ",x,y\na,0.5,0.6\n",
    "negative.csv": ",x,y\na,1.5,-0.5\n",
    "ragged.csv": ",x,y\na,1\n",
    "header.csv": ",x,y\n",
    "empty.csv": "\n",
    "twice.csv": ",x,y\na,0.5,0.5\na,0.4,0.6\n",
    "words.csv": ",x,y\na,some,more\n",
    "broken.json": "{",
    "list.json": "[1, 2]",
    "empty.json": "{}",
}


@pytest.mark.parametrize(("line", "why"), BAD, ids=[line for line, _ in BAD])
def test_what_breaks_a_rule_ends_with_status_2_and_a_hint(run, tmp_path, line, why):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    done = run(*shlex.split(line))
    assert done.status == 2
    assert why in done.err
    assert "\n\nHint: " in done.err
    assert done.out == ""
    error = json.loads(run(*shlex.split(line), "--json").err)["error"]
    assert set(error) == {"code", "message", "hint"}


def test_hints_are_spelled_as_options(run):
    assert "Hint: --epsilon 0.5" in run("error", "--epsilon", "0").err
    assert "Hint: --count 1000000" in run("error", "--epsilon", "1", "--count", "2000000").err


@pytest.mark.parametrize("command", ["epsilon", "sample-size", "error", "epsilon-for"])
def test_help_has_examples(run, command):
    done = run(command, "--help")
    assert done.status == 0
    assert f"discreet theory {command}" in done.out


# The page ----------------------------------------------------------------------------------------

SESSIONS = re.findall(r"^```console\n\$ (.*?)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def test_the_page_has_an_example_of_every_command():
    used = {shlex.split(line)[2] for line, _ in SESSIONS}
    assert used == {"epsilon", "sample-size", "error", "epsilon-for"}


@pytest.mark.parametrize(("line", "shown"), SESSIONS, ids=[line for line, _ in SESSIONS])
def test_what_the_page_shows_is_what_is_printed(run, tmp_path, line, shown):
    (table,) = re.findall(r"^```text file=coins.csv\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "coins.csv").write_text(table)
    assert run(*shlex.split(line)[2:]).out == shown


def test_every_option_is_on_the_page(run):
    for command in ("epsilon", "sample-size", "error", "epsilon-for"):
        options = set(re.findall(r"--[a-z-]+", run(command, "--help").out))
        assert {option for option in options if f"`{option}" not in PAGE} == set(), command


def test_the_installed_command_answers(tmp_path):
    (tmp_path / "coins.csv").write_text(COINS)
    done = subprocess.run(
        [str(Path(sys.executable).parent / "discreet"), "theory", "epsilon", "coins.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("epsilon   ln(3), at most 1.09862\n")
