"""The page on SQL: every operation is on it, every example is read, every refusal refused."""

from __future__ import annotations

import re

import pytest

from discreet.errors import DiscreetError
from discreet.plan.expressions import HIGHEST as TALLEST
from discreet.plan.expressions import MOST_KEYS, Call, walk
from discreet.plan.operations import PARTS, STAGE_AGGREGATES, TRUNCATIONS, names
from discreet.sql.syntax import HIGHEST, LONGEST
from tests.source import ROOT
from tests.sql.made import core, query

PAGE = (ROOT / "docs" / "reference" / "sql.md").read_text()
SECTIONS = {
    part.partition("\n")[0]: part.partition("\n")[2] for part in re.split(r"^## ", PAGE, flags=re.M)
}
BLOCKS = re.findall(r"^```sql\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def rows(section: str) -> list[list[str]]:
    """The cells of a section's table, without its head."""
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("|")]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[2:]]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


ROWWISE = [(code(row[0]), code(row[1])) for row in rows("Expressions")]
STAGED = [(code(row[0]), code(row[1])) for row in rows("Above the noisy table")]


@pytest.mark.parametrize("text", BLOCKS)
def test_every_example_is_understood(text):
    assert query(text).core.dataset == "visits"


@pytest.mark.parametrize("text", [code(row[0])[0] for row in rows("Aggregates over private rows")])
def test_every_aggregate_is_understood(text):
    assert len(core(f"SELECT {text} FROM visits").aggregates) == 1


def test_every_operation_is_listed_once():
    listed = [name for operations, _ in (*ROWWISE, *STAGED) for name in operations]
    assert sorted(listed) == names()
    assert {name for operations, _ in STAGED for name in operations} == STAGE_AGGREGATES


@pytest.mark.parametrize(("operations", "examples"), ROWWISE, ids=" ".join)
def test_every_operation_is_what_its_examples_are_made_of(operations, examples):
    used: set[str] = set()
    for text in examples:
        counted = core(f"SELECT COUNT(*) FROM visits WHERE ({text}) IS NULL").where
        assert counted is not None
        used |= {node.operation for node in walk(counted) if isinstance(node, Call)}
    assert set(operations) <= used


@pytest.mark.parametrize(("operations", "examples"), STAGED, ids=" ".join)
def test_every_aggregate_of_released_numbers_is_understood(operations, examples):
    used: set[str] = set()
    for text in examples:
        inner = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
        ((_, value),) = query(f"SELECT {text} FROM ({inner}) AS g").stages[-1].columns
        assert isinstance(value, Call)
        used.add(value.operation)
    assert used == set(operations)


@pytest.mark.parametrize("text", [code(row[0])[0] for row in rows("What is refused, and why")])
def test_every_refusal_is_one(text):
    with pytest.raises(DiscreetError):
        query(text)


@pytest.mark.parametrize(
    ("expression", "public"),
    [
        ("ward", True),
        ("COALESCE(ward, 'none')", True),
        ("urgent", True),
        ("CASE WHEN age < 18 THEN 'young' ELSE 'old' END", True),
        ("EXTRACT(month FROM day)", True),
        ("FLOOR(age / 10)", True),
        ("DATE_TRUNC('week', day)", True),
        ("name", False),
        ("stay", False),
        ("LOWER(ward)", False),
    ],
)
def test_groups_are_public_where_the_page_says_so(expression, public):
    assert core(f"SELECT {expression}, COUNT(*) FROM visits GROUP BY 1").keys_are_public is public


def test_parts_and_limits_are_those_of_the_code():
    listed = {
        tuple(operations): row[2]
        for operations, row in zip(
            [code(row[0]) for row in rows("Expressions")], rows("Expressions"), strict=True
        )
    }
    assert code(listed["extract",]) == list(PARTS)
    assert code(listed["date_trunc",]) == list(TRUNCATIONS)
    assert f"at most {MOST_KEYS:,} values" in PAGE
    assert f"{LONGEST:,} characters" in PAGE
    assert f"at most {HIGHEST} deep" in PAGE
    assert HIGHEST == TALLEST
