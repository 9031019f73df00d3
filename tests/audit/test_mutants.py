"""The list of planted bugs is complete, and fits the code as it is."""

import pytest

from tests.audit.mutants.mutant import ROOT, Moved, Mutant
from tests.audit.mutants.page import PAGE
from tests.audit.mutants.planted import MUTANTS
from tests.audit.mutants.runner import Verdict, judge, sound

KINDS = {
    "floating point",
    "sensitivity",
    "null makers",
    "bounding",
    "keys",
    "noisy max",
    "randomized response",
    "state",
    "SQL",
    "errors",
    "randomness",
}


def test_there_is_a_mutant_of_every_kind_of_bug_that_has_broken_others():
    assert {mutant.kind for mutant in MUTANTS} == KINDS
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 25


def test_the_page_shows_every_mutant_and_what_caught_it():
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()[7:]]
    assert [row[1] for row in rows] == [mutant.name for mutant in MUTANTS]
    assert sum("**nothing**" in row[2] for row in rows) <= 1


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_text_that_a_mutant_replaces_is_in_the_code_once(mutant):
    place = ROOT / "src" / "discreet" / mutant.path
    assert place.read_text(encoding="utf-8").count(mutant.old) == 1, "it needs a new patch"


def test_a_mutant_whose_text_has_moved_says_so(tmp_path):
    place = tmp_path / "src" / "discreet" / "noise.py"
    place.parent.mkdir(parents=True)
    mutant = Mutant("half the noise", "noise", "noise.py", "scale * 2", "scale", ())
    for text in ("scale", "scale * 2 + scale * 2"):
        place.write_text(text)
        with pytest.raises(Moved, match="needs a new patch"):
            mutant.plant(tmp_path)
    place.write_text("1 + scale * 2")
    mutant.plant(tmp_path)
    assert place.read_text() == "1 + scale"


def test_a_test_that_fails_by_itself_catches_nothing():
    # A file that is not there fails in every copy.
    found = [Verdict("a", "noise", "tests/test_noise.py::test_absent", 1.0)]
    with pytest.raises(RuntimeError, match="do not run"):
        sound(found)


def test_a_bug_that_is_planted_is_caught_and_its_test_is_sound():
    (mutant,) = [each for each in MUTANTS if each.name == "charges rounded down"]
    verdict = judge(mutant)
    assert verdict.caught_by is not None
    assert verdict.caught_by.startswith("tests/ledger/test_units.py::")
    assert sound([verdict]) == [verdict]
