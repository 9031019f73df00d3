"""``discreet audit`` as it is typed."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner

from discreet.audit.attacks import ATTACKS
from discreet.cli import app
from discreet.errors import InvalidInput
from tests.audit import mechanisms


@pytest.fixture
def run():
    def typed(*words: str) -> Any:
        return CliRunner().invoke(app, ["audit", *words], catch_exceptions=True)

    return typed


CLAIM = ("--inputs", "0.0", "1.0", "--epsilon", "1", "--samples", "100000")


def test_numpys_laplace_is_refuted_and_the_exit_status_says_so(run):
    found = run("mechanism", "tests.audit.mechanisms:numpy_laplace", *CLAIM)
    assert found.exit_code == 1
    assert "REFUTED: epsilon 1 does not hold." in found.stdout
    assert "lowest set bit" in found.stdout


def test_the_textbook_laplace_is_refuted_as_json(run):
    found = run("mechanism", "tests.audit.mechanisms:textbook_laplace", *CLAIM, "--json")
    assert found.exit_code == 1
    told = json.loads(found.stdout)
    assert told["refuted"]
    assert told["epsilon_at_least"] > 4


def test_ours_is_not_refuted_and_the_report_is_honest(run):
    # False alarm: at most 1e-6, the confidence asked for.
    claim = (*CLAIM, "--confidence", "0.999999")
    found = run("mechanism", "tests.audit.mechanisms:grid_laplace", *claim)
    assert found.exit_code == 0
    assert "Not refuting is not proving" in found.stdout


def test_inputs_are_numbers_json_or_text(run):
    claim = ("--epsilon", "1", "--delta", "0.005", "--samples", "100000")
    found = run("mechanism", "tests.audit.mechanisms:words", "--inputs", "ann", "bob", *claim)
    assert found.exit_code == 1


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("noisy_count", "mine:noisy_count"),
        ("no_such_module:f", "no_such_module.py"),
        ("tests.audit.mechanisms:absent", "tests.audit.mechanisms:"),
        ("tests.audit.mechanisms:__doc__", "def noisy_count"),
    ],
)
def test_what_is_no_function_is_refused_with_a_hint(run, name, hint):
    found = run("mechanism", name, *CLAIM)
    assert isinstance(found.exception, InvalidInput)
    assert hint in str(found.exception.hint)


def test_help_shows_how(run):
    found = run("mechanism", "--help")
    assert "discreet audit mechanism mine:noisy_count" in " ".join(found.stdout.split())


def test_a_sampler_is_enumerated_on_every_tape(run):
    found = run("exact", "geometric", "--scale", "2", "--depth", "10", "--json")
    assert found.exit_code == 0
    told = json.loads(found.stdout)
    assert not told["refuted"]
    assert told["depth"] == 10
    assert "no tape contradicts" in run("exact", "gaussian", "--scale", "5/2").stdout


def test_an_attack_is_told_with_its_ceiling(run):
    found = run("attack", "reconstruction")
    assert found.exit_code == 0
    assert "ceiling" in found.stdout
    told = json.loads(run("attack", "rollback", "--json").stdout)["attacks"]
    assert [each["success"] for each in told] == [0.0]


@pytest.mark.parametrize("names", [[], ["hypnosis"]])
def test_an_attack_that_nobody_knows_is_refused_with_the_list(run, names):
    found = run("attack", *names)
    assert isinstance(found.exception, InvalidInput)
    assert "floating-point" in str(found.exception)


PROGRAM = """
import sys
import numpy as np
value, n = float(sys.argv[1]), int(sys.argv[2])
print(*(value + np.random.default_rng().laplace(size=n)).tolist(), sep="\\n")
"""


def test_a_program_in_any_language_is_refuted_by_what_it_prints(run, tmp_path):
    (tmp_path / "noise.py").write_text(PROGRAM)
    words = f"{sys.executable} {tmp_path / 'noise.py'} {{input}} {{n}}"
    found = run("command", words, *CLAIM)
    assert found.exit_code == 1
    assert "REFUTED" in found.stdout


@pytest.mark.parametrize("words", ["seq 3", "no_such_program {input} {n}", "false {input} {n}"])
def test_a_command_that_cannot_be_audited_is_refused(run, words):
    found = run("command", words, *CLAIM)
    assert isinstance(found.exception, InvalidInput)
    assert found.exception.hint


class Noisy(BaseHTTPRequestHandler):
    def do_GET(self):
        given = parse_qs(urlsplit(self.path).query)
        drawn = mechanisms.short_geometric(int(given["value"][0]), int(given["n"][0]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write("\n".join(map(str, drawn.tolist())).encode())

    def log_message(self, *words):
        pass


@pytest.fixture
def address():
    with ThreadingHTTPServer(("127.0.0.1", 0), Noisy) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/noisy"
        server.shutdown()


def test_an_endpoint_is_refuted_by_what_it_answers(run, address):
    claim = ("--inputs", "0", "1", "--epsilon", "1", "--samples", "1000000")
    found = run("endpoint", address + "?value={input}&n={n}", *claim)
    assert found.exit_code == 1


@pytest.mark.parametrize("words", ["http://localhost/", "http://localhost:1/{input}/{n}"])
def test_an_address_that_gives_no_outputs_is_refused(run, words):
    assert isinstance(run("endpoint", words, *CLAIM).exception, InvalidInput)


def test_an_endpoint_that_keeps_its_claim_is_not_refuted(run, address):
    # A scale 5 % short of epsilon 1 is enough for 1.1. False alarm: at most 1e-6.
    claim = ("--inputs", "0", "1", "--epsilon", "1.1", "--samples", "100000")
    found = run("endpoint", address + "?value={input}&n={n}", *claim, "--confidence", "0.999999")
    assert found.exit_code == 0
    assert "Not refuting is not proving" in found.stdout


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_attacks_are_drawn_against_their_ceilings(run, tmp_path, ending):
    place = tmp_path / f"attacks.{ending}"
    found = run("attack", "reconstruction", "rollback", "--plot", str(place))
    assert found.exit_code == 0
    assert place.read_bytes().startswith(b"<svg" if ending == "svg" else b"\x89PNG")


def test_the_list_of_attacks_says_what_each_does(run):
    told = json.loads(run("attack", "--list", "--json").stdout)["attacks"]
    assert list(told) == list(ATTACKS)
    assert all(len(story) > 20 for story in told.values())
    assert "diagnosis" in run("attack", "--list").stdout


COMMANDS = ["mechanism", "module", "command", "endpoint", "sql", "exact", "attack"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example_and_says_what_the_exit_status_means(run, name):
    told = " ".join(run(name, "--help").stdout.split())
    assert f"discreet audit {name} " in told
    assert "Exit status: 0 if " in told


def test_a_function_that_fails_is_told_as_the_users_own(run):
    found = run("mechanism", "tests.audit.mechanisms:fails", *CLAIM)
    assert isinstance(found.exception, InvalidInput)
    assert "ZeroDivisionError" in str(found.exception)
