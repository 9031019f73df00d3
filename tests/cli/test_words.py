"""Words that no command understands: a page for people, the one shape of errors for programs."""

import json

import pytest

WRONG = {
    "option": ["ask", "SELECT 1", "--nope"],
    "command": ["askk"],
    "missing": ["ask"],
    "value": ["ask", "SELECT 1", "--assuming", "many"],
    "deeper": ["snapshot", "status", "--nope"],
}


@pytest.mark.parametrize("words", WRONG.values(), ids=WRONG)
def test_a_program_is_told_in_the_one_shape_of_errors(discreet, words):
    done = discreet(*words, "--json")
    assert (done.status, done.out) == (2, "")
    error = json.loads(done.err)["error"]
    assert set(error) == {"code", "message", "hint"}
    assert error["code"] == "invalid_input"
    assert error["message"]
    assert "discreet" in error["hint"]


@pytest.mark.parametrize("words", WRONG.values(), ids=WRONG)
def test_people_are_shown_how_it_is_used(discreet, words):
    done = discreet(*words)
    assert done.status == 2
    assert "Usage: " in done.err


def test_help_is_help_for_programs_too(discreet):
    done = discreet("ask", "--json", "--help")
    assert (done.status, done.err) == (0, "")
    assert "Exit status: 0 answered" in done.out
