"""Good policies, and what they mean."""

import tomllib
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidPolicy
from discreet.policy import Column, Policy, read, reads, to_json, to_toml
from discreet.policy.positions import positions
from discreet.theory.neighbours import Relation
from tests.policy.made import policies

WHOLE = """
[dataset.visits]
source = { path = "visits/*.csv", delimiter = ";", encoding = "latin-1", null = ["", "NA"] }
unit = "patient_id"
relation = "change_one"
rows_per_unit = 20
people = 100_000
delta_per_query = 1e-9
confidence = 0.9
bounding = "groups"
groups_per_unit = 5
rows_in_group = 2
pool = "patients"
refresh = "daily at 03:00"
engine = { memory = "4 GB", threads = 2, spill = "spilled" }

[dataset.visits.columns]
patient_id = { type = "text" }
age = { type = "integer", bounds = [0, 110], missing = 40 }
cost = { type = "real", bounds = [-0.5, 500], grid = 0.01 }
share = { type = "real", bounds = ["1/3", 1] }
ward = { type = "text", keys = ["A", "B", { null = true }] }
urgent = { type = "boolean" }
day = { type = "date", bounds = [2020-01-01, 2026-12-31] }
"at" = { type = "timestamp", bounds = [2020-01-01T00:00:00, 2020-01-01T00:00:01.5] }

[dataset.visits.columns."date of birth"]
type = "date"

[dataset.visits.budget]
epsilon = 0.1
delta = 1e-6
accountant = "zcdp"

[dataset.visits.analysts]
ann = { epsilon = "1/3", delta = 1e-7 }
"bob@example.org" = { epsilon = 7, delta = 1e-7 }

[dataset.people]
source = { path = "hospital.duckdb", table = "main.people" }
unit = "each row"
mode = "live"
columns.age.type = "integer"
budget.epsilon = 1
"""


def test_every_setting_arrives_as_written():
    policy = reads(WHOLE)
    visits = policy.datasets["visits"]
    assert visits.source.kind == "csv"
    assert (visits.source.delimiter, visits.source.null) == (";", ("", "NA"))
    assert (visits.unit, visits.rows_per_unit, visits.people) == ("patient_id", 20, 100_000)
    assert visits.relation is Relation.CHANGE_ONE
    assert visits.pool_name == "patients"
    assert visits.columns["ward"].keys == ("A", "B", None)
    assert visits.columns["day"].bounds == (date(2020, 1, 1), date(2026, 12, 31))
    assert "date of birth" in visits.columns
    assert visits.budget.measure.name == "zcdp"
    people = policy.datasets["people"]
    assert (people.unit, people.rows_per_unit, people.mode) == (None, 1, "live")
    assert (people.source.kind, people.source.table) == ("duckdb", "main.people")
    assert (people.confidence, people.bounding) == (Fraction(95, 100), "auto")
    assert people.budget.accountant == "pure"


def test_numbers_mean_what_they_say():
    visits = reads(WHOLE).datasets["visits"]
    assert visits.budget.epsilon == Fraction(1, 10)
    assert visits.budget.delta == Fraction(1, 10**6)
    assert visits.analysts["ann"].epsilon == Fraction(1, 3)
    assert visits.columns["cost"].bounds == (Fraction(-1, 2), Fraction(500))
    assert visits.columns["share"].bounds == (Fraction(1, 3), Fraction(1))


def test_bounds_become_integers_on_the_grid():
    columns = reads(WHOLE).datasets["visits"].columns
    assert columns["age"].limits == (0, 110)
    assert columns["cost"].limits == (-50, 50_000)
    share = columns["share"]
    assert share.step == Fraction(1, 3_000_000)
    assert share.limits == (1_000_000, 3_000_000)
    assert columns["day"].limits == (18_262, 20_818)
    assert columns["at"].limits == (1_577_836_800_000_000, 1_577_836_801_500_000)
    assert columns["ward"].limits is None


def test_a_column_with_a_value_for_missing_cells_is_never_null():
    columns = reads(WHOLE).datasets["visits"].columns
    assert not columns["age"].nullable
    assert columns["cost"].nullable


def test_all_values_of_a_boolean_are_public():
    assert Column(name="b", type="boolean").public_keys == (False, True, None)
    assert Column(name="b", type="boolean", missing=False).public_keys == (False, True)
    assert Column(name="b", type="boolean", keys=(True,)).public_keys == (True,)
    assert Column(name="t", type="text").public_keys is None


def test_a_policy_cannot_be_changed_and_has_a_hash():
    visits = reads(WHOLE).datasets["visits"]
    assert hash(visits) == hash(reads(WHOLE).datasets["visits"])
    with pytest.raises(ValueError, match="frozen"):
        visits.rows_per_unit = 21
    with pytest.raises(TypeError):
        visits.columns["new"] = visits.columns["age"]  # type: ignore[index]


def test_paths_start_at_the_policy(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_text(WHOLE)
    policy = read(file)
    assert policy.path == file
    assert policy.locate("visits/*.csv") == str(tmp_path / "visits/*.csv")
    assert policy.locate("/elsewhere/x.csv") == "/elsewhere/x.csv"


def test_a_byte_order_mark_and_windows_lines_are_read_as_well(tmp_path):
    file = tmp_path / "policy.toml"
    file.write_bytes(b"\xef\xbb\xbf" + WHOLE.replace("\n", "\r\n").encode())
    assert read(file).datasets == reads(WHOLE).datasets


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, content):
    file = tmp_path / "policy.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidPolicy) as caught:
        read(file)
    assert caught.value.hint


def table(tmp_path: Path, content: str, keys_from: str) -> Policy:
    (tmp_path / "wards.csv").write_text(content)
    (tmp_path / "policy.toml").write_text(
        f"""
        [dataset.visits]
        source = "visits.parquet"
        unit = "each row"
        columns.ward = {{ type = "integer", keys_from = {keys_from} }}
        budget.epsilon = 1
        """
    )
    return read(tmp_path / "policy.toml")


def test_keys_come_from_a_public_table(tmp_path):
    content = "district,ward\nnorth,7\nsouth,3\nsouth,7\n\n"
    policy = table(tmp_path, content, '{ path = "wards.csv", column = "ward", null = true }')
    assert policy.datasets["visits"].columns["ward"].keys == (7, 3, None)
    assert reads(to_toml(policy), path=policy.path) == policy
    policy = table(tmp_path, "ward,name\n7,A\n", '"wards.csv"')
    assert policy.datasets["visits"].columns["ward"].keys == (7,)


@pytest.mark.parametrize(
    ("content", "keys_from", "why"),
    [
        ("ward\n7\n", '{ path = "wards.csv", column = "wrad" }', 'no column "wrad"'),
        ("", '"wards.csv"', "no column"),
        ("ward\n7\nseven\n", '"wards.csv"', "row 3"),
        ("ward,name\n7,A\n,B\n", '"wards.csv"', "row 3"),
        ("ward\n", '"wards.csv"', "at least one"),
        ("ward\n7\n", '{ file = "wards.csv" }', 'no setting "file"'),
    ],
)
def test_a_public_table_that_does_not_fit_is_refused(tmp_path, content, keys_from, why):
    with pytest.raises(InvalidPolicy, match=why):
        table(tmp_path, content, keys_from)


def test_json_is_plain_and_exact():
    visits = to_json(reads(WHOLE))["datasets"]["visits"]
    assert visits["budget"] == {"epsilon": "1/10", "delta": "1/1000000", "accountant": "zcdp"}
    assert visits["columns"]["day"]["bounds"] == ["2020-01-01", "2026-12-31"]
    assert visits["columns"]["ward"]["keys"] == ["A", "B", None]


@given(policies())
def test_a_policy_written_as_toml_reads_back_as_itself(policy):
    assert reads(to_toml(policy)) == policy


@given(policies())
def test_every_key_of_a_file_has_its_position(policy):
    text = to_toml(policy)
    places = positions(text)
    lines = text.split("\n")

    def visit(tree: Any, where: tuple[Any, ...]) -> None:
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            line, column = places[*where, key].key
            rest = lines[line - 1][column - 1 :]
            if isinstance(key, str) and not rest.startswith("["):
                assert rest.startswith((key, '"'))
            if isinstance(value, dict | list):
                visit(value, (*where, key))
            elif not isinstance(value, str | datetime | date):
                line, column = places[*where, key].value
                shown = str(value).lower() if isinstance(value, bool) else value
                rest = lines[line - 1][column - 1 :]
                if isinstance(shown, str):
                    assert rest.startswith(shown)
                else:
                    number = rest.replace("]", ",").replace("}", ",").partition(",")[0]
                    assert Decimal(number.strip()) == shown

    visit(tomllib.loads(text, parse_float=Decimal), ())


def test_positions_follow_every_form_of_toml():
    text = '''# a comment with [brackets] and = signs
"quoted key" . 'another' = """ text with "quotes" and
a = 1 """ # tail
[a . "b.c"]
list = [ # comment ]
  'x', """y""", { in = 1, out = [2] },
]
time = 1979-05-27 07:32:00
[[many]]
k = "a \\" b"
[[many]]
k = \'\'\'it''s\'\'\'
[many.below]
z = 0x1F
'''
    places = positions(text)
    tomllib.loads(text)
    assert places["quoted key", "another"].key == (2, 16)
    assert places["a", "b.c"].key == (4, 1)
    assert places["a", "b.c", "list", 1].value == (6, 8)
    assert places["a", "b.c", "list", 2, "out", 0].value == (6, 34)
    assert places["a", "b.c", "time"].value == (8, 8)
    assert places["many", 0, "k"].key == (10, 1)
    assert places["many", 1, "k"].value == (12, 5)
    assert places["many", 1, "below", "z"].value == (14, 5)


@given(
    st.fractions(-(10**6), 10**6, max_denominator=10**4),
    st.fractions(-(10**6), 10**6, max_denominator=10**4),
)
def test_the_default_grid_holds_both_bounds_and_is_fine(one, other):
    low, high = sorted((one, other))
    column = Column(name="x", type="real", bounds=(low, high))
    assert column.step is not None
    assert column.limits is not None
    assert tuple(each * column.step for each in column.limits) == (low, high)
    assert column.step <= (high - low) / 2**20 or low == high
