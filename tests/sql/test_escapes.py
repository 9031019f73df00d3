"""No way out: whatever is not on the list is refused by the reader, in its own words."""

from __future__ import annotations

import pytest

from discreet.errors import DiscreetError, InvalidQuery, Refused, TooLarge, Unsupported
from tests.sql.escapes import LONG, STATEMENTS, doubled
from tests.sql.made import core, query


def test_there_are_hundreds_of_them():
    assert len(set(STATEMENTS)) >= 300


@pytest.mark.parametrize("text", STATEMENTS)
def test_it_is_refused(text):
    with pytest.raises(DiscreetError) as refusal:
        query(text)
    error = refusal.value
    assert isinstance(error, InvalidQuery | Refused | TooLarge)
    assert error.hint
    assert "Traceback" not in str(error)
    assert len(error.message) < 1000


@pytest.mark.parametrize("place", range(len(LONG)))
def test_what_is_too_long_or_empty_is_refused(place):
    with pytest.raises(DiscreetError):
        query(LONG[place])


@pytest.mark.parametrize("levels", [13, 20, 60])
def test_names_that_stand_for_huge_expressions_are_refused(levels):
    with pytest.raises(TooLarge):
        query(doubled(levels))


def test_a_quoted_name_is_a_name_and_no_text():
    with pytest.raises(InvalidQuery, match="there is no column"):
        query("""SELECT COUNT(*) FROM visits WHERE "x' OR '1'='1" = 1""")


def test_comments_mean_nothing():
    commented = "SELECT /* a */ COUNT(*) -- b\nFROM visits /* ; DROP TABLE visits */ WHERE age > 3"
    assert core(commented) == core("SELECT COUNT(*) FROM visits WHERE age > 3")


def test_words_of_the_refusal_are_the_analysts_own():
    with pytest.raises(Unsupported, match="READ_TEXT"):
        query("SELECT COUNT(*) FROM read_text('/etc/passwd')")
