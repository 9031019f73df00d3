"""Doubles that cancel leave their bounds by any amount; no row can make a query fail by it."""

from __future__ import annotations

import pytest

from tests.session.made import ROWS, ward

CANCELS = "((age * 0.0 + 1e99 + 1e99 + 1e99) - 3e99)"
SOMEBODY = "CASE WHEN ward = 'south' AND age = 30 THEN {} ELSE 0 END"


@pytest.mark.parametrize(
    "value",
    [
        *(f"{name}({CANCELS})" for name in ("FLOOR", "CEIL", "ROUND")),
        f"CAST({CANCELS} AS INTEGER)",
        " * ".join([CANCELS] * 4),
        f"FLOOR({CANCELS}) % 3",
    ],
)
@pytest.mark.parametrize(
    "question",
    [
        "SELECT SUM(CLAMP({}, 0, 1)) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE {} = 0",
        "SELECT CLAMP(FLOOR({}), 0, 5) AS k, COUNT(*) FROM visits GROUP BY 1",
    ],
)
def test_a_query_is_answered_with_and_without_the_one_who_would_overflow(tmp_path, question, value):
    text = question.format(SOMEBODY.format(value))
    there = next(row["who"] for row in ROWS if row["ward"] == "south" and row["age"] == 30)
    others = [row for row in ROWS if row["who"] != there]
    for name, rows in (("with", ROWS), ("without", others)):
        folder = tmp_path / name
        folder.mkdir()
        with ward(folder, rows) as session:
            assert len(session.sql(text, epsilon="1/1000").to_arrow()) >= 1
