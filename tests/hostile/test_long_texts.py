"""How much one row can make an engine do is bounded: its clock would tell of that row."""

from __future__ import annotations

import pytest

from discreet.errors import TooLarge
from tests.session.made import EXACT, ROWS, ward

DOUBLED = (
    "WITH a AS (SELECT ward || ward || ward AS t FROM visits) "
    "SELECT COUNT(*) FROM a WHERE t || t || t || t = 'x'"
)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """One ward has a name of a million letters."""
    rows = [
        {**row, "ward": "x" * 1_000_000} if place == 0 else row for place, row in enumerate(ROWS)
    ]
    with ward(tmp_path_factory.mktemp("long"), rows, keys={}) as opened:
        yield opened


@pytest.mark.parametrize(("condition", "count"), [("> 1000", 0), ("= 1000", 1)])
def test_a_long_cell_is_cut_off(session, condition, count):
    answer = session.sql(
        f"SELECT COUNT(*) AS n FROM visits WHERE LENGTH(ward) {condition}", epsilon=EXACT
    )
    assert list(answer["n"]) == [count]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits WHERE ward = '" + "x" * 1001 + "'",
        "SELECT COUNT(*) FROM visits WHERE " + " || ".join(["ward"] * 11) + " = 'x'",
        DOUBLED,
        "SELECT COUNT(*) FROM visits WHERE "
        + "TRIM(" * 120
        + " || ".join(["ward"] * 9)
        + ")" * 120
        + " = 'x'",
    ],
    ids=["constant", "joined", "doubled", "again and again"],
)
def test_texts_that_grow_are_refused(session, text):
    with pytest.raises(TooLarge):
        session.explain(text, epsilon=1)
