"""Spark's processes die while a question is asked: the charge is kept, the retry answered once."""

import json
import os
import subprocess
import sys

import pytest

from tests.source import ROOT
from tests.spark import require_java


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What became of the questions, by what was killed."""
    require_java()
    done = subprocess.run(
        [sys.executable, "-m", "tests.engines.spark_lost", str(tmp_path_factory.mktemp("lost"))],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("killed", ["executor", "driver"])
def test_a_process_that_is_killed_costs_one_charge_and_the_question_is_answered_once(found, killed):
    told = found[killed]
    asked = [told["first"], *told["again"]]
    answers = [each for each in asked if "failed" not in each]
    assert told["killed"]
    assert [each["charged"] for each in asked] == [1, 0, 0]
    assert len(answers) >= 2
    assert [each["stored"] for each in answers] == [False] + [True] * (len(answers) - 1)
    assert len({tuple(each["counts"]) for each in answers}) == 1


@pytest.mark.xdist_group("spark")
def test_without_its_driver_a_question_fails_and_the_next_one_starts_another(found):
    told = found["driver"]
    assert "the engine could not answer" in told["first"]["failed"]
    assert told["again"][0]["stored"] is False
