"""The page of what the audit finds is what was found, and what should have been."""

import xml.etree.ElementTree as ET

import pytest

from bench import audit_page
from discreet.audit.attacks import ATTACKS

FOUND = audit_page.findings()


def test_the_page_is_the_one_that_the_findings_give():
    assert audit_page.PAGE.read_text(encoding="utf-8") == audit_page.page()


def test_the_picture_is_the_one_that_the_findings_give():
    # Not pixel by pixel: where a letter stands depends on the fonts of the machine.
    kept = audit_page.PICTURE.read_text(encoding="utf-8")
    assert words(kept) == words(audit_page.picture().svg())
    assert kept.count('aria-label="') > 3 * len(ATTACKS)


def words(svg: str) -> list[str]:
    texts = (node for node in ET.fromstring(svg).iter() if node.tag.endswith("}text"))
    return [line for text in texts for line in text.itertext()]


def test_every_attack_is_on_the_page_below_its_ceiling_with_a_control_that_succeeds():
    assert [row["attack"] for row in FOUND["attacks"]] == list(ATTACKS)
    assert all(row["holds"] and row["control_succeeds"] for row in FOUND["attacks"])


FALSE = {
    "diffprivlib, Laplace",
    "diffprivlib, Gaussian",
    "NumPy, Laplace",
    "NumPy, normal",
    "the textbook's Laplace",
    "a running float sum, exact noise",
}


@pytest.mark.parametrize("row", FOUND["noises"], ids=lambda row: row["noise"])
def test_float_noise_is_refuted_and_exact_noise_is_not(row):
    assert row["refuted"] == (row["noise"] in FALSE)


def test_how_long_an_answer_took_did_not_tell_large_noise_from_small():
    answer, *draws = FOUND["latency"]
    assert answer["auc"] <= 0.55
    assert len(draws) == 3


def test_the_audit_was_calibrated():
    found = FOUND["calibration"]
    assert found["false_refutations"] <= 1
    assert found["short_refuted"] >= 0.95 * found["short_runs"]
    assert found["slowest_seconds"] < 60
    assert found["bound"] >= 0.95
