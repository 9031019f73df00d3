"""What `make demo` shows."""

import re
import subprocess
import sys

import pytest
from pyarrow import compute, parquet

from demo.hospital import DIAGNOSES, PATIENTS, WARDS, write
from tests.source import ROOT


@pytest.fixture(scope="module")
def shown() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "demo"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stderr == ""
    return done.stdout


def part(shown: str, number: int) -> str:
    """What is shown of one question."""
    (_, rest) = shown.split(f"\n{number}. ", 1)
    return rest.split(f"\n{number + 1}. ", 1)[0]


def test_every_ward_has_counts_with_an_error(shown):
    for ward in WARDS:
        assert re.search(rf"{ward} +[\d,]+ ± \d+ +[\d,]+ ± \d+", part(shown, 1))


def test_averages_and_their_ratio_have_errors(shown):
    # A ratio's interval may be skewed, and is then shown from end to end.
    lines = part(shown, 2).splitlines()
    errors = [re.findall(r" ± [\d,.]+| \(-?[\d,.]+ to [\d,.]+\)", line) for line in lines]
    assert [len(found) for found in errors].count(3) == 4


def test_common_diagnoses_are_found_and_rare_ones_are_not(shown):
    # A threshold near 920 with noise of scale 40 shows a group of 70,000 with a probability below
    # 1e-700 of failing, and one of 60 with at most the delta of 1e-9.
    assert "back pain" in part(shown, 3)
    assert "leprosy" not in part(shown, 3)


def test_a_refusal_says_what_to_try(shown):
    assert "refused: SUM(donation)" in part(shown, 4)
    assert "SUM(CLAMP(donation, 0, 100))" in part(shown, 4)


def test_an_error_target_is_kept_at_the_least_price(shown):
    found = part(shown, 5)
    assert len(re.findall(r"^ [678] +[\d,]+ ± (?:200|19\d)", found, re.MULTILINE)) == 3
    (price,) = re.findall(r"cost: epsilon (0\.\d+)\.", found)
    assert 0.2 < float(price) < 0.4


def test_the_same_question_is_free_and_has_the_same_answer(shown):
    assert "free: this answer was bought before" in part(shown, 6)
    numbers = [re.findall(r"[\d,]+ ± \d+", part(shown, each)) for each in (1, 6)]
    assert numbers[0] == numbers[1]
    assert "the same numbers as before" in shown


def test_what_can_be_published_is_stated(shown):
    assert "differentially private with epsilon = 0.5" in shown


def test_the_hospital_has_the_promised_size(tmp_path):
    table = parquet.read_table(write(tmp_path))
    assert len(compute.unique(table["patient_id"])) == PATIENTS
    assert 550_000 < len(table) < 700_000
    assert set(compute.unique(table["diagnosis"]).to_pylist()) == set(DIAGNOSES)
