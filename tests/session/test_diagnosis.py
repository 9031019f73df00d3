"""What no interval shows can be asked for: privately, at a price, and exactly where noise is 0."""

from __future__ import annotations

import pytest

import discreet
from discreet.errors import Unsupported
from tests.session.made import EXACT, ROWS, ward


def counted(answer) -> dict[str, int]:
    return {column.name: column.values[0] for column in answer.columns}


def test_people_over_the_cap_are_counted_once_each(tmp_path):
    with ward(tmp_path, rows_per_unit=1) as session:
        over = counted(session.diagnose(epsilon=EXACT))
    assert over == {"over_the_cap": 1, "people": 4, "share": 0.25}


def test_cells_that_are_null_or_no_key_are_counted_by_column(tmp_path):
    with ward(tmp_path) as session:
        found = counted(session.diagnose_cells(epsilon=EXACT))
    # One of the six rows is nobody's; a ward is missing in one, and not declared in another.
    assert found == {
        "rows": 5,
        "ward_undeclared": 2,
        "age_null": 1,
        "cost_null": 1,
        "urgent_null": 1,
    }


def test_a_cell_that_cannot_be_read_as_its_type_is_counted(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,ward\n30,N\nthirty,N\n,S\n40,\n1e3,S\n")
    with discreet.open(
        path,
        unit="each row",
        bounds={"age": (0, 110)},
        keys={"ward": ["N", None]},
        epsilon=2 * EXACT,
    ) as session:
        found = counted(session.diagnose_cells(epsilon=EXACT))
    assert found == {"rows": 5, "age_null": 2, "ward_undeclared": 2}


def test_where_a_missing_cell_counts_as_something_none_is_left_out(tmp_path):
    policy = """
[dataset.visits]
source = "visits.parquet"
unit = "who"
rows_per_unit = 2
columns.who = { type = "integer" }
columns.age = { type = "integer", bounds = [0, 110], missing = 0 }
columns.ward = { type = "text" }
budget = { epsilon = 1 }
analysts.ann = { epsilon = 1 }
"""
    ward(tmp_path).close()
    (tmp_path / "other").mkdir()
    (tmp_path / "visits.parquet").rename(tmp_path / "other" / "visits.parquet")
    (tmp_path / "other" / "policy.toml").write_text(policy)
    with discreet.open(tmp_path / "other" / "policy.toml") as session:
        with pytest.raises(Unsupported, match="it fits"):
            session.diagnose_cells(epsilon=1)
        assert session.balance().remaining["epsilon"] == 1


def test_a_diagnosis_is_charged_like_any_query_and_stored_like_any_answer(tmp_path):
    with ward(tmp_path, epsilon=1) as session:
        first = session.diagnose_cells(epsilon="0.25")
        again = session.diagnose_cells(epsilon="0.25")
        assert float(first.cost.epsilon) == 0.25
        assert (again.stored, counted(again)) == (True, counted(first))
        assert float(session.balance().remaining["epsilon"]) == 0.75


def test_one_person_changes_every_count_by_no_more_than_their_rows(tmp_path):
    with ward(tmp_path) as session:
        all_of_them = counted(session.diagnose_cells(epsilon=EXACT))
    for gone in (1, 2, 3, 4):
        folder = tmp_path / str(gone)
        folder.mkdir()
        with ward(folder, [row for row in ROWS if row["who"] != gone]) as session:
            without = counted(session.diagnose_cells(epsilon=EXACT))
        assert all(abs(without[name] - n) <= 2 for name, n in all_of_them.items())
