"""What may be said beside a query, and that nothing else is overheard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from discreet.errors import InvalidInput, InvalidQuery
from tests.session.made import ward

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def session(tmp_path):
    with ward(tmp_path, epsilon=10) as opened:
        yield opened


ASKED: dict[str, Callable[..., Any]] = {
    "sql": lambda session, **terms: session.sql(COUNT, **terms),
    "explain": lambda session, **terms: session.explain(COUNT, **terms),
    "plan": lambda session, **terms: session.plan(COUNT, **terms),
    "diagnose": lambda session, **terms: session.diagnose(**terms),
    "diagnose_cells": lambda session, **terms: session.diagnose_cells(**terms),
}


@pytest.mark.parametrize("way", ASKED)
@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [("witin", "within"), ("confidnce", "confidence"), ("collumn", "column"), ("Delta", "delta")],
)
def test_a_misspelt_term_is_refused_and_nothing_is_spent(session, way, misspelt, meant):
    with pytest.raises(InvalidInput, match=f"{misspelt} is no term") as caught:
        ASKED[way](session, epsilon=1, **{misspelt: 0.5})
    assert caught.value.hint == f"did you mean {meant}?"
    assert session.balance().spent["epsilon"] == 0


def test_a_term_that_is_like_no_other_is_refused_too(session):
    with pytest.raises(InvalidInput, match="there are epsilon, delta, within"):
        session.sql(COUNT, epsilon=1, colour="red")
    assert session.balance().spent["epsilon"] == 0


def test_a_data_set_that_is_not_there_is_refused_with_one_that_is(session):
    for ask in (session.balance, session.prepare, session.snapshot, session.obstacle):
        with pytest.raises(InvalidInput, match="no data set 'visit'") as caught:
            ask("visit")
        assert caught.value.hint == '"visits"'
    with pytest.raises(InvalidInput, match="no data set"):
        session.diagnose("visit", epsilon=1)


@pytest.mark.parametrize("text", [None, 5, b"SELECT 1"], ids=["none", "number", "bytes"])
def test_what_is_no_text_is_no_query(session, text):
    for ask in (session.sql, session.explain):
        with pytest.raises(InvalidQuery, match="a query is text") as caught:
            ask(text, epsilon=1)
        assert COUNT.split(" FROM ")[1] in str(caught.value.hint)


def test_a_closed_session_neither_answers_nor_charges(tmp_path):
    session = ward(tmp_path, epsilon=10)
    session.sql(COUNT, epsilon=1)
    session.close()
    for way in ASKED.values():
        with pytest.raises(InvalidInput, match="closed"):
            way(session, epsilon=2)
    for ask in (session.balance, session.prepare, session.snapshot):
        with pytest.raises(InvalidInput, match="closed"):
            ask()
    with ward(tmp_path, epsilon=10) as again:
        assert again.balance().spent["epsilon"] == 1
