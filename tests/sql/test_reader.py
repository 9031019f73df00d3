"""What a text means: the plan's facts for each construct, and the words of each refusal."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import (
    DiscreetError,
    InvalidQuery,
    TooLarge,
    UnboundedSensitivity,
    UnknownName,
    Unsupported,
    WrongType,
)
from discreet.plan.expressions import Call, Column, Expression, Literal
from discreet.plan.intervals import Interval
from discreet.plan.schema import Schema
from discreet.policy import single
from discreet.sql.queries import read_query
from discreet.sql.syntax import name
from tests.sql.made import core, query


def shown(node: Expression | None) -> str | None:
    """An expression in one line."""
    if node is None:
        return None
    if isinstance(node, Column):
        return node.name
    if isinstance(node, Literal):
        return repr(node.value)
    return f"{node.operation}({', '.join(str(shown(argument)) for argument in node.arguments)})"


def where(condition: str) -> Expression:
    """A condition; the reader wraps it into an AND, which is taken off."""
    found = core(f"SELECT COUNT(*) FROM visits WHERE {condition}").where
    assert isinstance(found, Call)
    return found.arguments[0]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("COUNT(*)", [("count_rows", None)]),
        ("COUNT()", [("count_rows", None)]),
        ("COUNT(1)", [("count", "1")]),
        ("COUNT(name)", [("count", "name")]),
        ("COUNT(patient_id)", [("count_rows", None)]),
        ("COUNT(DISTINCT patient_id)", [("count_units", None)]),
        ("COUNT(DISTINCT visits.PATIENT_ID)", [("count_units", None)]),
        ("SUM(age)", [("sum", "age")]),
        ("AVG(cost * 2)", [("avg", "multiply(cost, 2)")]),
        ("SUM(age) / COUNT(*)", [("sum", "age"), ("count_rows", None)]),
        ("COUNT(*) + COUNT(*)", [("count_rows", None)]),
    ],
)
def test_aggregates(text, kinds):
    found = core(f"SELECT {text} FROM visits").aggregates
    assert [(aggregate.kind, shown(aggregate.argument)) for aggregate in found] == kinds


def test_a_filter_belongs_to_its_aggregate():
    found = core("SELECT COUNT(*) FILTER (WHERE urgent), COUNT(*) FROM visits").aggregates
    assert [shown(aggregate.where) for aggregate in found] == ["urgent", None]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("age = 3", "equal(age, 3)"),
        ("age <> 3.5", "differs(age, Fraction(7, 2))"),
        ("age BETWEEN 1 AND 3", "and(greater_equal(age, 1), less_equal(age, 3))"),
        ("age NOT IN (1, 2)", "not(in(age, 1, 2))"),
        ("name LIKE 'A%'", "like(name, 'A%')"),
        ("name NOT LIKE 'A%'", "not(like(name, 'A%'))"),
        ("name IS NOT NULL", "not(is_null(name))"),
        ("urgent IS TRUE", "coalesce(urgent, False)"),
        ("urgent IS FALSE", "coalesce(not(urgent), False)"),
        ("(urgent)", "urgent"),
        ("-age < -3", "less(negate(age), -3)"),
        ("age + 1 * 2 > 3", "greater(add(age, multiply(1, 2)), 3)"),
        ("age % 10 = 1", "equal(modulo(age, 10), 1)"),
        ("cost / 2 = 1", "equal(divide(cost, 2), 1)"),
        (
            "ROUND(cost, 1) = 1",
            "equal(divide(round(multiply(cost, Fraction(10, 1))), Fraction(10, 1)), 1)",
        ),
        ("IF(urgent, 1, 2) = 1", "equal(case(urgent, 1, 2), 1)"),
        ("CASE ward WHEN 'a' THEN 1 END = 1", "equal(case(equal(ward, 'a'), 1, None), 1)"),
        ("IFNULL(stay, 1) = 1", "equal(coalesce(stay, 1), 1)"),
        ("name || 'x' = 'ax'", "equal(concat(name, 'x'), 'ax')"),
        ("SUBSTRING(name, 2) = 'a'", "equal(substring(name, 2, 2147483647), 'a')"),
        ("EXTRACT(MONTH FROM day) = 1", "equal(extract('month', day), 1)"),
        ("YEAR(day) = 1", "equal(extract('year', day), 1)"),
        ("DATE_TRUNC('Week', day) IS NULL", "is_null(date_trunc('week', day))"),
        ("urgent::INTEGER = 1", "equal(to_integer(urgent), 1)"),
        ("CAST(age AS DOUBLE) = 1", "equal(to_real(age), 1)"),
        ("CAST(arrived AS DATE) IS NULL", "is_null(to_date(arrived))"),
        ("CLAMP(weight, 0, 1e2) = 1", "equal(clamp(weight, 0, Fraction(100, 1)), 1)"),
        ("TRUE", "True"),
        ("NULL", "None"),
        ("name = 'it''s'", """equal(name, "it's")"""),
        ("visits.age = 1", "equal(age, 1)"),
        ("AGE = 1", "equal(age, 1)"),
    ],
)
def test_expressions(text, meaning):
    assert shown(where(text)) == meaning


def test_dates_and_moments_are_read_when_the_query_is():
    found = where("day >= DATE '2025-02-28' AND arrived < TIMESTAMP '2025-02-28 10:30:00'")
    values = [node.arguments[1] for node in found.arguments]  # type: ignore[union-attr]
    assert [value.value for value in values] == [  # type: ignore[union-attr]
        date(2025, 2, 28),
        datetime(2025, 2, 28, 10, 30),  # noqa: DTZ001
    ]


@pytest.mark.parametrize(
    ("expression", "bounds", "nullable"),
    [
        ("age", (0, 110), False),
        ("stay", (None, None), True),
        ("cost", (0, 5000), True),
        ("age - 40", (-40, 70), False),
        ("age * -2", (-220, 0), False),
        ("age / 2", (0, 55), False),
        ("age / stay", (None, None), True),
        ("cost / (age + 1)", (0, 5000), True),
        ("stay + 1", (None, None), True),
        ("CLAMP(stay, -5, 5)", (-5, 5), True),
        ("COALESCE(stay, 3)", (None, None), False),
        # Doubles that nothing bounds may overflow, and what overflows is NULL.
        ("COALESCE(weight, 1) / 0.5", (None, None), False),
        ("COALESCE(weight, 1) * 2", (None, None), False),
        ("age * 1e100 * 1e100", (None, None), False),
        ("age * 1e100 * 1e100 * 1e100 * 1e100", (None, None), True),
        ("COALESCE(CLAMP(stay, 0, 9), 3)", (0, 9), False),
        ("NULLIF(age, 3)", (0, 110), True),
        ("age % 7", (0, 6), False),
        ("age % 0", (0, 0), True),
        ("(age - 40) % -7", (-6, 6), False),
        ("ABS(age - 40)", (0, 70), False),
        ("LEAST(age, 5)", (0, 110), False),
        ("GREATEST(stay, 5)", (None, None), False),
        ("CASE WHEN urgent THEN 5 ELSE age END", (0, 110), False),
        ("CASE WHEN urgent THEN 5 END", (5, 5), True),
        ("SQRT(age)", (0, 11), False),
        ("SQRT(age - 40)", (0, 9), True),
        # Doubles that cancel may fall below 0, where their bounds do not.
        ("SQRT(age * 0.0 + 1e99 + 1e99 + 1e99 - 3e99)", (0, 1), True),
        ("SQRT(CLAMP(age * 0.0 + 1e99 + 1e99 + 1e99 - 3e99, 0, 4))", (0, 1), False),
        ("1 / (age * 0.0 + 1e99 + 1e99 + 1e99 - 3e99 + 1)", (1, 1), True),
        ("SQRT(COALESCE(cost, 0) + 1)", (1, 71), False),
        ("FLOOR(cost / 1000)", (0, 5), True),
        ("EXTRACT(month FROM day)", (1, 12), True),
        ("YEAR(day)", (2025, 2025), True),
        ("LENGTH(name)", (0, None), True),
        ("CAST(urgent AS INTEGER)", (0, 1), False),
    ],
)
def test_what_is_known_of_an_expression(expression, bounds, nullable):
    node = core(f"SELECT {expression} AS k, COUNT(*) FROM visits GROUP BY 1").keys[0].expression
    low, high = (None if end is None else Fraction(end) for end in bounds)
    assert node.meaning.bounds == Interval(low, high)
    assert node.meaning.nullable is nullable


@pytest.mark.parametrize(
    ("text", "names", "public"),
    [
        ("SELECT ward, COUNT(*) FROM visits GROUP BY ward", ["ward"], True),
        ("SELECT ward AS w, COUNT(*) FROM visits GROUP BY w", ["w"], True),
        ("SELECT ward AS w, COUNT(*) FROM visits GROUP BY 1", ["w"], True),
        ("SELECT COUNT(*) FROM visits GROUP BY ward, urgent", ["ward", "urgent"], True),
        ("SELECT ward, ward AS again, COUNT(*) FROM visits GROUP BY 1, 2", ["ward"], True),
        ("SELECT ward, COUNT(*), urgent FROM visits GROUP BY ALL", ["ward", "urgent"], True),
        ("SELECT DISTINCT ward, name FROM visits", ["ward", "name"], False),
        ("SELECT age + stay AS a, COUNT(*) FROM visits GROUP BY a", ["a"], False),
        # A name that is both a column and a result means the column, as in SQL.
        ("SELECT LOWER(name) AS ward, COUNT(*) FROM visits GROUP BY LOWER(name)", [None], False),
    ],
)
def test_groups(text, names, public):
    found = core(text)
    assert [
        None if name is None else key.name for key, name in zip(found.keys, names, strict=True)
    ] == names
    assert found.keys_are_public is public


def test_keys_are_those_that_were_declared():
    assert core("SELECT ward, COUNT(*) FROM visits GROUP BY 1").keys[0].values == (
        *("north", "south", "west"),
    )
    months = core("SELECT DATE_TRUNC('month', day), COUNT(*) FROM visits GROUP BY 1").keys[0].values
    assert months is not None
    assert months[0] == date(2025, 1, 1)
    assert len(months) == 13
    assert None in months


@pytest.mark.parametrize(
    "key", ["day", "DATE_TRUNC('day', day)", "CAST(arrived AS DATE)", "COALESCE(day, day)"]
)
def test_the_days_between_bounds_are_public(key):
    days = core(f"SELECT {key}, COUNT(*) FROM visits GROUP BY 1").keys[0].values
    assert days is not None
    assert (days[0], days[364], days[365:]) == (date(2025, 1, 1), date(2025, 12, 31), (None,))


def test_a_thousand_days_are_listed_and_no_more():
    def days(count: int) -> int | None:
        first = date(2025, 1, 1)
        bounds = {"day": (first, first + timedelta(days=count - 1))}
        policy = single("t.parquet", types={"day": "DATE"}, unit=None, bounds=bounds, epsilon=1)
        schema = {"t": Schema.of(policy.datasets["t"])}
        values = read_query("SELECT day, COUNT(*) FROM t GROUP BY day", schema).core.keys[0].values
        return None if values is None else len(values)

    assert (days(1), days(1000), days(1001)) == (2, 1001, None)


def test_rows_may_be_picked_renamed_and_filtered_on_the_way():
    plain = core("SELECT COUNT(*) FROM visits WHERE age + 1 > 3 AND urgent")
    for text in (
        "SELECT COUNT(*) FROM (SELECT age + 1 AS a, urgent AS u FROM visits) v WHERE a > 3 AND u",
        "WITH v AS (SELECT * FROM visits) SELECT COUNT(*) FROM v WHERE age + 1 > 3 AND urgent",
        "WITH visits AS (SELECT age + 1 AS a, urgent AS u FROM visits) "  # noqa: ISC004
        "SELECT COUNT(*) FROM visits WHERE a > 3 AND u",
    ):
        assert core(text) == plain
    twice = core("SELECT COUNT(*) FROM (SELECT * FROM visits WHERE urgent) AS v WHERE age > 3")
    assert shown(twice.where) == "and(and(urgent), and(greater(age, 3)))"


def test_a_name_given_to_something_else_is_not_the_unit():
    with pytest.raises(Unsupported, match="distinct values"):
        query("SELECT COUNT(DISTINCT patient_id) FROM (SELECT ward AS patient_id FROM visits) AS v")
    counted = core("SELECT COUNT(patient_id) FROM (SELECT name AS patient_id FROM visits) AS v")
    assert shown(counted.aggregates[0].argument) == "name"


def test_what_stands_above_is_a_stage():
    read = query(
        "SELECT w, n / 2 AS half FROM (SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY ward "
        "HAVING COUNT(*) > 5) AS g WHERE n > 7 ORDER BY half DESC NULLS FIRST, w LIMIT 3 OFFSET 1"
    )
    first, second = read.stages
    assert [(name, shown(value)) for name, value in first.columns] == [("w", "k0"), ("n", "a0")]
    assert shown(first.where) == "and(greater(a0, 5))"
    assert [(name, shown(value)) for name, value in second.columns] == [
        ("w", "w"),
        ("half", "divide(n, 2)"),
    ]
    assert shown(second.where) == "and(greater(n, 7))"
    assert [(shown(o.expression), o.descending, o.nulls_first) for o in second.order] == [
        ("divide(n, 2)", True, True),
        ("w", False, False),
    ]
    assert (second.limit, second.offset) == (3, 1)


def test_groups_of_released_rows():
    read = query(
        "SELECT m, SUM(n) AS s FROM (SELECT EXTRACT(month FROM day) AS m, ward, COUNT(*) AS n "
        "FROM visits GROUP BY ALL) AS g GROUP BY 1 HAVING SUM(n) > 3"
    )
    stage = read.stages[1]
    assert stage.groups is not None
    assert [shown(group) for group in stage.groups] == ["m"]
    assert shown(stage.having) == "and(greater(total(n), 3))"


REFUSALS: list[tuple[str, type[DiscreetError], str, str]] = [
    ("SELECT age FROM visits", Unsupported, "single rows", "SELECT COUNT(*)"),
    ("SELECT ward FROM visits GROUP BY ward", InvalidQuery, "of ward are public", "COUNT(*)"),
    ("SELECT DISTINCT urgent FROM visits", InvalidQuery, "of urgent are public", "COUNT(*)"),
    (
        "SELECT COUNT(*) FROM (SELECT ward FROM visits WHERE age > 50 GROUP BY ward) AS g",
        *(InvalidQuery, "nothing is asked of the rows", "HAVING COUNT(*) > 10"),
    ),
    ("SELECT age FROM visits LIMIT 3", Unsupported, "LIMIT over single rows", "aggregate first"),
    ("SELECT SUM(weight) FROM visits", UnboundedSensitivity, "infinite", "CLAMP(weight, 0, 100)"),
    (
        "SELECT AVG(stay * 2) FROM visits",
        UnboundedSensitivity,
        "infinite",
        "CLAMP(stay * 2, 0, 100)",
    ),
    ("SELECT MAX(age) FROM visits", Unsupported, "MAX", "COUNT, SUM or AVG"),
    (
        "SELECT COUNT(DISTINCT age) FROM visits",
        Unsupported,
        "as many as they like",
        "DISTINCT patient_id",
    ),
    (
        "SELECT COUNT(*) FROM patients",
        UnknownName,
        "'patients' that you may ask; the tables are: visits, wards",
        "SELECT COUNT(*) FROM visits",
    ),
    ("SELECT patient_id FROM visits", UnknownName, "only be counted", "COUNT(DISTINCT patient_id)"),
    ("SELECT COUNT(agee) FROM visits", UnknownName, "'agee'", "age"),
    ("SELECT COUNT(v.age) FROM visits", UnknownName, "'v'", "visits.age"),
    (
        "SELECT FOO(age), COUNT(*) FROM visits GROUP BY 1",
        UnknownName,
        "FOO",
        "`discreet help sql`",
    ),
    ("SELECT name, COUNT(*) FROM visits", InvalidQuery, "neither grouped nor", "GROUP BY name"),
    ("SELECT 1", InvalidQuery, "no table", "FROM visits"),
    ("SELECT COUNT(*) FROM visits GROUP BY 7", InvalidQuery, "1 columns", "GROUP BY 1"),
    ("SELECT COUNT(*) FROM visits GROUP BY 'a'", InvalidQuery, "constant", "leave it out"),
    ("SELECT COUNT(*) FROM visits; SELECT 1", InvalidQuery, "2 statements", "on its own"),
    ("DROP TABLE visits", Unsupported, "only SELECT", "SELECT ward"),
    ("SELECT COUNT(* FROM visits", InvalidQuery, "not SQL", "SELECT ward"),
    ("SELECT SUM(name) FROM visits", WrongType, "text", "COUNT(*)"),
    ("SELECT COUNT(*) FROM visits WHERE age = 'x'", WrongType, "one type", "CAST"),
    ("SELECT COUNT(*) FROM visits WHERE age", WrongType, "conditions", "CAST"),
    ("SELECT COUNT(*) FROM visits WHERE CEIL() = 1", InvalidQuery, "missing", "ABS(x)"),
    ("SELECT COUNT(*) FROM visits WHERE age IN ()", WrongType, "at least one", "IN ('north'"),
    ("SELECT SUM(CLAMP(age, 9, 1)) FROM visits", WrongType, "CLAMP needs", "CLAMP(x, 0, 100)"),
    (
        "SELECT SUM(CAST(weight AS INTEGER)) FROM visits",
        WrongType,
        "could overflow",
        "CLAMP(x, 0, 1000)",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE EXTRACT(hour FROM day) = 1",
        WrongType,
        "timestamps",
        "CAST",
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE day = DATE '2025-02-30'",
        InvalidQuery,
        "not a date",
        "DATE '",
    ),
    ("SELECT COUNT(*) FROM visits WHERE age > 1e999", InvalidQuery, "beyond", "1e100"),
    ("SELECT COUNT(*) FROM visits WHERE name LIKE ward", WrongType, "constant", "the value itself"),
    ("SELECT COUNT(*) FROM visits WHERE name LIKE 'a\\%'", WrongType, "backslash", "LIKE 'Card%'"),
    ("SELECT COUNT(*) FROM visits LIMIT 2.5", Unsupported, "LIMIT", "LIMIT 10"),
    ("SELECT n FROM (SELECT COUNT(*) AS m FROM visits) AS g", UnknownName, "no column n", "m"),
    (
        "SELECT ward, MAX(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY 1) AS g",
        *(InvalidQuery, "neither grouped nor aggregated", "MAX(ward)"),
    ),
    (
        "SELECT SUM(MAX(n)) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY 1) AS g",
        *(InvalidQuery, "aggregates an aggregate", "subquery"),
    ),
    (
        "SELECT COUNT(*) FROM visits WHERE name = '" + "x" * 100_001 + "'",
        TooLarge,
        "characters",
        "keys",
    ),
    ("SELECT COUNT(*) FROM visits WHERE age" + " + 1" * 200 + " > 1", TooLarge, "150", "CTEs"),
]


@pytest.mark.parametrize(
    ("text", "kind", "words", "hint"), REFUSALS, ids=[text[:60] for text, *_ in REFUSALS]
)
def test_a_refusal_says_what_and_what_instead(text: str, kind: Any, words: str, hint: str):
    with pytest.raises(kind) as refusal:
        query(text)
    assert type(refusal.value) is kind
    assert words in refusal.value.message
    assert hint in (refusal.value.hint or "")


@pytest.mark.parametrize("word", ["AND", "OR"])
def test_a_chain_of_conditions_is_one_operation(word: str):
    chain = f" {word} ".join(f"age <> {number}" for number in range(1000))
    where = core(f"SELECT COUNT(*) FROM visits WHERE {chain}").where
    assert isinstance(where, Call)
    (inner,) = where.arguments
    assert isinstance(inner, Call)
    assert inner.operation == word.lower()
    assert len(inner.arguments) == 1000
    assert inner.height == 2


def test_released_numbers_become_whole_without_bounds():
    inner = "SELECT ward, COUNT(*) AS n, CAST(AVG(cost) AS INTEGER) AS c FROM visits GROUP BY 1"
    stages = query(f"SELECT CAST(n / 7 AS BIGINT), c FROM ({inner}) AS g").stages
    types = [value.meaning.type for stage in stages for _, value in stage.columns]
    assert types == ["text", "integer", "integer", "integer", "integer"]
    with pytest.raises(WrongType, match="could overflow"):
        query("SELECT SUM(CAST(weight AS INTEGER)) FROM visits")


@pytest.mark.parametrize("text", ["SUBSTRING(name)", "SUBSTRING(name, AS c"])
def test_a_function_that_has_lost_an_argument_is_a_mistake_in_words(text: str):
    with pytest.raises(InvalidQuery, match="lacks an argument"):
        query(f"SELECT {text} FROM visits GROUP BY 1")


@pytest.mark.parametrize("dataset", ["v", "my visits"])
@pytest.mark.parametrize(
    "text",
    [
        *("SELECT * FROM {1}", "SELECT COUNT(*) FROM {1}", "SELECT town FROM {1}, {0}"),
        *("EXPLAIN SELECT COUNT(*) FROM {0}", "SELECT 1 UNION SELECT 2", "DROP TABLE {0}"),
        *("SELECT town, COUNT(*) FORM {0} GRUOP BY town", "SELEC (", "SELECT", "SELECT 1"),
        *("SELECT town FROM {0}", "SELECT COUNT(*) FROM other.{0}"),
        "WITH a AS (SELECT * FROM b) SELECT COUNT(*) FROM a JOIN c ON TRUE",
    ],
)
def test_a_suggested_query_is_accepted_when_typed_back(text, dataset):
    settings: dict[str, Any] = {"types": {"town": "text", "who": "integer"}, "epsilon": 1}
    for keys in ({}, {"town": ["a", "b"]}):
        policy = single(
            "t.parquet", name=dataset, unit="who", rows_per_unit=1, keys=keys, **settings
        )
        schemas = {dataset: Schema.of(policy.datasets[dataset])}
        with pytest.raises(DiscreetError) as refusal:
            read_query(text.format(name(dataset), name(dataset + "x")), schemas)
        assert read_query(refusal.value.hint or "", schemas).core.dataset == dataset
