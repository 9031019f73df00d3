"""A policy stated in a call."""

from fractions import Fraction

import pytest

from discreet.errors import InvalidPolicy
from discreet.policy import single, type_of

TYPES = {"patient_id": "BIGINT", "age": "INTEGER", "ward": "VARCHAR", "photo": "BLOB"}


def test_one_data_set_takes_its_name_from_the_file_and_its_columns_from_the_schema():
    policy = single(
        "hospital/visits.parquet",
        types=TYPES,
        unit="patient_id",
        rows_per_unit=20,
        bounds={"age": (0, 110)},
        keys={"ward": ["A", "B"]},
        epsilon=0.1,
        delta=1e-6,
        people=1000,
    )
    visits = policy.datasets["visits"]
    assert list(visits.columns) == ["patient_id", "age", "ward"]
    assert visits.columns["ward"].keys == ("A", "B")
    assert visits.budget.epsilon == Fraction(1, 10)
    assert visits.analysts["curator"].total == visits.budget.total
    assert visits.people == 1000


def test_the_whole_budget_is_the_analysts():
    policy = single("v.csv", types={"x": "text"}, unit=None, epsilon=1, analyst="ann")
    assert list(policy.datasets["v"].analysts) == ["ann"]
    assert policy.datasets["v"].rows_per_unit == 1


@pytest.mark.parametrize(
    ("settings", "where", "hint"),
    [
        ({"unit": "patient"}, "unit", 'unit = "each row"'),
        ({"rows_per_unit": None}, "rows_per_unit", "rows_per_unit = 20"),
        ({"bounds": {"age": (110, 0)}}, "age.bounds", "bounds = [0, 110]"),
        ({"bounds": {"photo": (0, 1)}}, "photo.bounds", "patient_id, age, ward"),
        ({"epsilon": 0}, "budget.epsilon", "epsilon=0.5"),
        ({"mood": "good"}, "mood", "did you mean"),
    ],
)
def test_a_mistake_in_a_call_says_which_argument_it_is(settings, where, hint):
    given = {"types": TYPES, "unit": "patient_id", "rows_per_unit": 20, "epsilon": 1}
    with pytest.raises(InvalidPolicy) as caught:
        single("visits.parquet", **(given | settings))
    assert caught.value.mistakes[0].where == where
    assert hint in caught.value.mistakes[0].hint
    assert caught.value.mistakes[0].line is None


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("integer", "TINYINT UBIGINT HUGEINT int64 uint8 int4 smallint LongType bigserial"),
        (
            "real",
            "DOUBLE|double precision|FLOAT|real|decimal128(10, 2)|NUMERIC(12,3)|float8|halffloat",
        ),
        (
            "text",
            "VARCHAR|varchar(20)|string|large_string|UUID|ENUM('a', 'b')|character varying(9)",
        ),
        ("text", "dictionary<values=string, indices=int32, ordered=0>"),
        ("boolean", "BOOLEAN bool BooleanType"),
        ("date", "DATE date32[day]"),
        ("timestamp", "TIMESTAMP|timestamp[us]|TIMESTAMP_NS|timestamp without time zone"),
        ("timestamp", "TIMESTAMP WITH TIME ZONE|timestamptz|timestamp[us, tz=UTC]|timestamp(3)"),
        (None, "BLOB|INTEGER[]|STRUCT(a INTEGER)|list<item: int64>|TIME WITH TIME ZONE"),
        (None, "interval|time64[us]|MAP(VARCHAR, INTEGER)|INTEGER[3]|TIMESTAMP WITH TIME ZONE[]"),
    ],
)
def test_engines_types_are_known_by_their_own_names(kind, names):
    listed = [names] if "<values" in names else names.split("|" if "|" in names else " ")
    assert {name: type_of(name) for name in listed} == dict.fromkeys(listed, kind)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        *((word, "integer") for word in ("UBIGINT", "HUGEINT", "UHUGEINT", "decimal128(20, 0)")),
        *(("DECIMAL(38,0)", "integer"), ("numeric(20)", "integer"), ("VARCHAR", "text")),
    ],
)
def test_people_may_have_long_numbers(word, kind):
    policy = single("v.parquet", types={"who": word}, unit="who", rows_per_unit=1, epsilon=1)
    assert policy.datasets["v"].columns["who"].type == kind
