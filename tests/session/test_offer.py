"""Whoever asks for too much is offered what fits, and it does fit."""

from __future__ import annotations

import re

import pytest

from discreet.errors import InsufficientBudget
from tests.session.made import ward

QUERIES = [
    "SELECT COUNT(*) FROM visits",
    "SELECT ward, COUNT(*), AVG(age) FROM visits GROUP BY ward",
    "SELECT age, COUNT(*) FROM visits WHERE urgent GROUP BY age",
]


@pytest.mark.parametrize("accountant", ["pure", "approximate", "zcdp", "rdp:16"])
@pytest.mark.parametrize("text", QUERIES)
def test_the_offer_fits_and_little_more_would(accountant, text, tmp_path):
    delta = {"delta": 0, "delta_per_query": None} if accountant == "pure" else {"delta": 1e-6}
    with ward(tmp_path, epsilon=2, accountant=accountant, **delta) as session:
        with pytest.raises(InsufficientBudget) as caught:
            session.sql(text, epsilon=900)
        found = re.match(r"epsilon=(\S+) would fit", caught.value.hint or "")
        assert found is not None
        offer = float(found[1])
        with pytest.raises(InsufficientBudget):
            session.sql(text, epsilon=offer * 1.25)
        assert session.sql(text, epsilon=offer).cost.epsilon == pytest.approx(offer)


def test_where_nothing_is_left_nothing_is_offered(tmp_path):
    with ward(tmp_path, epsilon=1, delta=0, delta_per_query=None) as session:
        session.sql(QUERIES[0], epsilon=1)
        with pytest.raises(InsufficientBudget) as caught:
            session.sql(QUERIES[1], epsilon=1)
        assert "smaller epsilon" in (caught.value.hint or "")
