"""Drafts, and what may stand in them."""

import re
import tomllib

import pytest

from discreet.errors import InvalidPolicy
from discreet.policy import Proposal, draft, reads
from discreet.policy.look import propose

COLUMNS = [("patient_id", "BIGINT"), ("age", "INTEGER"), ("a b", "VARCHAR"), ("photo", "BLOB")]


def test_a_draft_leaves_the_unit_to_the_curator():
    text = draft("visits.parquet", COLUMNS, name="visits")
    with pytest.raises(InvalidPolicy) as caught:
        reads(text)
    assert {each.where for each in caught.value.mistakes} == {
        "dataset.visits.unit",
        "dataset.visits.rows_per_unit",
    }
    assert '# unit = "patient_id"' in text


def test_a_draft_with_a_unit_can_be_used_and_declares_nothing_private():
    text = draft("v.parquet", COLUMNS, name="my visits", unit="patient_id", rows_per_unit=20)
    (dataset,) = reads(text).datasets.values()
    assert list(dataset.columns) == ["patient_id", "age", "a b"]
    assert [each for each in dataset.columns.values() if each.bounds or each.keys] == []
    assert "# photo" in text


def test_what_was_read_off_the_data_is_a_comment_marked_unsafe():
    proposals = {"age": Proposal("integer", "bounds = [3, 97]")}
    text = draft("v.csv", [("age", "text")], name="v", unit="each row", proposals=proposals)
    assert reads(text).datasets["v"].columns["age"].bounds is None
    (line,) = [line for line in text.splitlines() if "97" in line]
    assert line.startswith("#")
    assert "UNSAFE" in line


def test_every_proposal_is_valid_once_it_is_enabled():
    kinds = ["BIGINT", "DOUBLE", "VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP"]
    text = draft("v.parquet", [(f"c{kind}", kind) for kind in kinds], name="v", unit="each row")
    proposed = re.findall(r"^# (c\w+ = .*)$", text, re.MULTILINE)
    assert len(proposed) == 5  # a boolean needs none
    for line in proposed:
        name = line.partition(" ")[0]
        enabled = reads(re.sub(rf"^{name} = .*$", line, text, flags=re.MULTILINE))
        column = enabled.datasets["v"].columns[name]
        assert column.bounds is not None or column.keys is not None


@pytest.mark.parametrize(
    ("cells", "kind", "settings"),
    [
        (["17", "4"], "integer", "bounds = [4, 17]"),
        (["1.5", "2"], "real", "bounds = [1.5, 2]"),
        (["true", "False"], "boolean", ""),
        (["2026-01-31"], "date", "bounds = [2026-01-31, 2026-01-31]"),
        (
            ["2026-01-31T10:00:00"],
            "timestamp",
            "bounds = [2026-01-31T10:00:00, 2026-01-31T10:00:00]",
        ),
        (["B", "A", "B"], "text", 'keys = ["A", "B"]'),
        (['say "x"\n'], "text", r'keys = ["say \"x\"\n"]'),
        ([str(n) + "x" for n in range(21)], "text", ""),
        ([], "text", ""),
    ],
)
def test_rows_suggest_a_type_and_a_range(cells, kind, settings):
    assert propose(cells) == Proposal(kind, settings)
    tomllib.loads(settings)
