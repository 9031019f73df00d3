"""Every mistake that a policy can hold: where it is shown, why, and a hint that works."""

from typing import NamedTuple

import pytest

from discreet.accounting import Budget
from discreet.accounting.measures import measure
from discreet.errors import InvalidInput, InvalidPolicy
from discreet.ledger.units import units_down
from discreet.policy import reads

GOOD = """\
[dataset.visits]
source = "visits.parquet"
unit = "patient_id"
rows_per_unit = 20
people = 100000

[dataset.visits.columns]
patient_id = { type = "integer" }
age = { type = "integer", bounds = [0, 110] }
ward = { type = "text", keys = ["A", "B"] }
cost = { type = "real", bounds = [0, 500] }
day = { type = "date" }
at = { type = "timestamp" }

[dataset.visits.budget]
epsilon = 3
delta = 1e-6

[dataset.visits.analysts]
ann = { epsilon = 1, delta = 1e-7 }
"""


class Case(NamedTuple):
    """A good line made bad; ``^`` stands where the mistake is to be shown."""

    good: str
    bad: str
    why: str
    hint: str
    fixed: str | None = None  # the line as the hint would have it


SOURCE = 'source = "visits.parquet"'
AGE = 'age = { type = "integer", bounds = [0, 110] }'
WARD = 'ward = { type = "text", keys = ["A", "B"] }'
COST = 'cost = { type = "real", bounds = [0, 500] }'
DAY = 'day = { type = "date" }'
AT = 'at = { type = "timestamp" }'
ANN = "ann = { epsilon = 1, delta = 1e-7 }"

CASES = {
    # the file
    "an unclosed string": Case(
        'unit = "patient_id"',
        'unit = "patient_id^',
        "this is not TOML",
        'unit = "patient_id"',
        'unit = "patient_id"',
    ),
    "a bare word": Case(
        'unit = "patient_id"',
        "unit = ^patient_id",
        "this is not TOML",
        "text in quotes",
        'unit = "patient_id"',
    ),
    "a setting twice": Case(
        "people = 100000",
        "people = 100000\npeople = 1^",
        "this is not TOML",
        "one setting",
        "people = 100000",
    ),
    "a table that is no data set": Case(
        "[dataset.visits.analysts]",
        "^[datasets.visits.analysts]",
        'no "datasets"',
        'did you mean "dataset"',
        "[dataset.visits.analysts]",
    ),
    # unknown settings
    "a misspelt setting": Case(
        "rows_per_unit = 20",
        "^rows_per_person = 20",
        'no setting "rows_per_person"',
        'did you mean "rows_per_unit"? rows_per_unit = 20',
        "rows_per_unit = 20",
    ),
    "a misspelt setting of a column": Case(
        AGE,
        'age = { type = "integer", ^bound = [0, 110] }',
        'no setting "bound"',
        "bounds = [0, 110]",
        AGE,
    ),
    "a setting in the wrong table": Case(
        "people = 100000",
        "^accountant = 'pure'",
        'no setting "accountant"',
        '[dataset.visits.budget]: accountant = "pure"',
    ),
    "a data set's setting in its budget": Case(
        "delta = 1e-6",
        "delta = 1e-6\n^relation = 'change_one'",
        'no setting "relation"',
        'it goes under [dataset.visits]: relation = "add_remove"',
    ),
    "a name that the header already gives": Case(
        "people = 100000", '^name = "visits"', 'no setting "name"', "leave it out", ""
    ),
    # missing settings
    "no source": Case(SOURCE, "", '"source" is missing', SOURCE, SOURCE),
    "no unit": Case(
        'unit = "patient_id"', "", '"unit" is missing', 'unit = "patient_id"', 'unit = "patient_id"'
    ),
    "no rows per unit": Case(
        "rows_per_unit = 20",
        "",
        '"rows_per_unit" is missing',
        "rows_per_unit = 20",
        "rows_per_unit = 20",
    ),
    "no epsilon": Case("epsilon = 3\n", "", '"epsilon" is missing', "epsilon = 1", "epsilon = 1\n"),
    "no type": Case(
        AGE, "^age = { bounds = [0, 110] }", '"type" is missing', 'type = "integer"', AGE
    ),
    # wrong kinds
    "a number as text": Case(
        "rows_per_unit = 20",
        'rows_per_unit = ^"20"',
        "not a whole number",
        "rows_per_unit = 20",
        "rows_per_unit = 20",
    ),
    "no rows at all": Case(
        "rows_per_unit = 20",
        "rows_per_unit = ^0",
        "0 is not 1 or more",
        "rows_per_unit = 20",
        "rows_per_unit = 20",
    ),
    "a column that is no table": Case(
        DAY,
        'day = ^"date"',
        "not a table",
        'day = { type = "integer" }',
        'day = { type = "integer" }',
    ),
    "an epsilon of nothing": Case(
        "epsilon = 3", "epsilon = ^0", "greater than 0", "epsilon=0.5", "epsilon=0.5"
    ),
    "an infinite epsilon": Case(
        "epsilon = 3", "epsilon = ^inf", "finite", 'epsilon="1/10"', 'epsilon="1/10"'
    ),
    "an epsilon that is no number": Case(
        "epsilon = 3", "epsilon = ^true", "true is not a number", "0.5", "epsilon = 0.5"
    ),
    "a confidence above one": Case(
        "people = 100000",
        "confidence = ^95",
        "strictly between 0 and 1",
        "confidence=0.95",
        "confidence=0.95",
    ),
    "a relation nobody defined": Case(
        "people = 100000",
        'relation = ^"bounded"',
        "not a neighbour relation",
        'relation="add_remove"',
        'relation="add_remove"',
    ),
    "a bounding nobody defined": Case(
        "people = 100000",
        'bounding = ^"row"',
        "not one of auto, rows, groups",
        'bounding = "rows"',
        'bounding = "rows"',
    ),
    "bounding by groups without their number": Case(
        "people = 100000",
        'bounding = ^"groups"',
        "how many groups",
        "groups_per_unit = 5",
        'bounding = "groups"\ngroups_per_unit = 5',
    ),
    "rows in groups whose number is not bounded": Case(
        "people = 100000",
        "rows_in_group = ^1",
        "together with the number of groups",
        "groups_per_unit = 5",
        "rows_in_group = 1\ngroups_per_unit = 5",
    ),
    # the unit
    "a unit that is not declared": Case(
        'patient_id = { type = "integer" }\n',
        "",
        "not declared among the columns",
        'patient_id = { type = "integer" }',
        'patient_id = { type = "integer" }\n',
    ),
    "a unit by a real number": Case(
        'patient_id = { type = "integer" }',
        'patient_id = { type = ^"real" }',
        "cannot be told apart",
        'type = "text"',
        'patient_id = { type = "text" }',
    ),
    "a unit with bounds": Case(
        'patient_id = { type = "integer" }',
        'patient_id = { type = "integer", bounds = ^[0, 9] }',
        "has no bounds",
        "leave bounds out",
        'patient_id = { type = "integer" }',
    ),
    "many rows where each is a person": Case(
        'unit = "patient_id"\nrows_per_unit = 20',
        'unit = "each row"\nrows_per_unit = ^20',
        "a person has one row",
        "rows_per_unit = 1",
        'unit = "each row"\nrows_per_unit = 1',
    ),
    # sources
    "a file of no known kind": Case(
        SOURCE,
        'source = ^"visits.data"',
        "does not show what kind",
        'source = { kind = "csv", path = "visits.data" }',
        'source = { kind = "csv", path = "visits.data" }',
    ),
    "an engine nobody has": Case(
        SOURCE,
        'source = { kind = ^"postgresql", table = "v", connection = "env:D" }',
        "not one of",
        'kind = "postgres"',
        'source = { kind = "postgres", table = "v", connection = "env:D" }',
    ),
    "a database without its table": Case(
        SOURCE,
        'source = ^"hospital.duckdb"',
        "needs a table",
        'table = "visits"',
        'source = { path = "hospital.duckdb", table = "visits" }',
    ),
    "a server without a connection": Case(
        SOURCE,
        'source = ^{ kind = "postgres", table = "v" }',
        "needs a connection",
        "env:",
        'source = { kind = "postgres", table = "v", connection = "env:HOSPITAL_DSN" }',
    ),
    "a secret in the policy": Case(
        SOURCE,
        'source = { kind = "postgres", table = "v", connection = ^"host=db password=x" }',
        "the secret itself does not belong",
        'connection = "env:HOSPITAL_DSN"',
        'source = { kind = "postgres", table = "v", connection = "env:HOSPITAL_DSN" }',
    ),
    "a table with three names": Case(
        SOURCE,
        'source = { kind = "postgres", table = ^"db.hospital.v", connection = "env:D" }',
        "a schema and a name",
        'table = "hospital.visits"',
        'source = { kind = "postgres", table = "hospital.v", connection = "env:D" }',
    ),
    "a schema without a name": Case(
        SOURCE,
        'source = { kind = "postgres", table = "v", connection = "env:D", snapshots = ^"" }',
        "from 1 to 63 bytes",
        'snapshots = "discreet"',
        'source = { kind = "postgres", table = "v", connection = "env:D", snapshots = "discreet" }',
    ),
    "a time limit of nothing": Case(
        SOURCE,
        'source = { kind = "postgres", table = "v", connection = "env:D", timeout = ^0 }',
        "not 1 or more",
        "timeout = 60",
        'source = { kind = "postgres", table = "v", connection = "env:D", timeout = 60 }',
    ),
    "a time limit of a file": Case(
        SOURCE,
        'source = { path = "visits.csv", timeout = ^60 }',
        "has no timeout",
        "leave it out",
        'source = { path = "visits.csv" }',
    ),
    "a path that does not say its types": Case(
        SOURCE,
        'source = { kind = "spark", path = "v", format = ^"csv" }',
        "nothing is guessed",
        'format = "parquet"',
        'source = { kind = "spark", path = "v", format = "parquet" }',
    ),
    "a server as a master": Case(
        SOURCE,
        'source = { kind = "spark", table = "v", master = ^"sc://host:15002/;token=x" }',
        "may hold a token",
        'connection = "env:SPARK_REMOTE"',
        'source = { kind = "spark", table = "v", connection = "env:SPARK_REMOTE" }',
    ),
    "a master and a connection": Case(
        SOURCE,
        'source = { kind = "spark", table = "v", master = ^"yarn", connection = "env:S" }',
        "a master or a connection",
        "leave one of them out",
        'source = { kind = "spark", table = "v", master = "yarn" }',
    ),
    "a folder that no worker sees": Case(
        SOURCE,
        'source = { kind = "spark", table = "v", master = "yarn", snapshots = ^"kept" }',
        "all of its workers",
        'snapshots = "hdfs:///discreet"',
        'source = { kind = "spark", table = "v", master = "yarn", snapshots = "hdfs:///discreet" }',
    ),
    "DuckDB for what it cannot reach": Case(
        SOURCE,
        'source = { kind = "spark", table = "v", snapshots = "hdfs:///x", reader = ^"duckdb" }',
        "this machine's own folders",
        'reader = "spark"',
        'source = { kind = "spark", table = "v", snapshots = "hdfs:///x", reader = "spark" }',
    ),
    "a setting without a value": Case(
        SOURCE,
        'source = { kind = "spark", table = "v", settings = ^["spark.driver.memory"] }',
        "spark.NAME=VALUE",
        'settings = ["spark.driver.memory=8g"]',
        'source = { kind = "spark", table = "v", settings = ["spark.driver.memory=8g"] }',
    ),
    "a secret among the settings": Case(
        SOURCE,
        'source = { kind = "spark", table = "v", '
        'settings = ^["spark.hadoop.fs.s3a.secret.key=x"] }',
        "does not belong in a policy",
        "spark-defaults.conf",
        'source = { kind = "spark", table = "v" }',
    ),
    "a master of a Parquet file": Case(
        SOURCE,
        'source = { path = "v.parquet", master = ^"yarn" }',
        "only a spark source",
        "leave it out",
        SOURCE,
    ),
    "a table of a Parquet file": Case(
        SOURCE,
        'source = { path = "v.parquet", table = ^"v" }',
        "has no tables",
        "leave table out",
        SOURCE,
    ),
    "a delimiter of a Parquet file": Case(
        SOURCE,
        'source = { path = "v.parquet", delimiter = ^";" }',
        "only a csv source",
        "leave it out",
        SOURCE,
    ),
    "a delimiter of two characters": Case(
        SOURCE,
        'source = { path = "v.csv", delimiter = ^"::" }',
        "one character",
        "delimiter = ','",
        "source = { path = \"v.csv\", delimiter = ',' }",
    ),
    # columns
    "a type by another name": Case(
        DAY,
        'day = { type = ^"datetime" }',
        "not one of",
        'type = "timestamp"',
        'day = { type = "timestamp" }',
    ),
    "a reserved name": Case(
        DAY, '^_discreet_rank = { type = "integer" }', "kept for the snapshot", "rename", DAY
    ),
    "one name twice in SQL": Case(
        DAY, '^Age = { type = "integer" }', '"Age" and "age" are one name', "rename", DAY
    ),
    "bounds the wrong way round": Case(
        AGE,
        'age = { type = "integer", bounds = ^[110, 0] }',
        "larger than the largest",
        "bounds = [0, 110]",
        AGE,
    ),
    "half of the bounds": Case(
        AGE,
        'age = { type = "integer", bounds = ^[110] }',
        "a list of two",
        "bounds = [0, 110]",
        AGE,
    ),
    "a broken bound of whole numbers": Case(
        AGE, 'age = { type = "integer", bounds = ^[0, 1.5] }', "1.5 is not of type integer", "42"
    ),
    "bounds of text": Case(
        WARD, 'ward = { type = "text", bounds = ^["A", "Z"] }', "no smallest", "leave bounds out"
    ),
    "bounds of dates in numbers": Case(
        DAY,
        'day = { type = "date", bounds = ^[2020, 2026] }',
        "2020 is not of type date",
        "2026-01-31",
    ),
    "a time zone": Case(
        AT,
        'at = { type = "timestamp", bounds = ^[2026-01-01T00:00:00Z, 2027-01-01T00:00:00Z] }',
        "has a time zone",
        "2026-01-31T12:00:00",
    ),
    "bounds off the grid": Case(
        COST,
        'cost = { type = "real", bounds = [0, ^10.5], grid = 0.2 }',
        "10.5 is not on the grid: it is no multiple of 0.2",
        "grid = 0.00001",
        'cost = { type = "real", bounds = [0, 10.5], grid = 0.00001 }',
    ),
    "bounds beyond exact integers": Case(
        AGE, 'age = { type = "integer", bounds = [0, ^9000000000000000000] }', "2**61", "smaller"
    ),
    "a grid of whole numbers": Case(
        AGE, 'age = { type = "integer", grid = ^5 }', "only a real column", "leave grid out", AGE
    ),
    "a grid of nothing": Case(
        COST,
        'cost = { type = "real", grid = ^0 }',
        "greater than 0",
        "grid=0.01",
        'cost = { type = "real", grid=0.01 }',
    ),
    "a key twice": Case(
        WARD,
        'ward = { type = "text", keys = ["A", "B", ^"A"] }',
        'the key "A" is already there',
        "leave one of them out",
        WARD,
    ),
    "a key of another type": Case(
        WARD, 'ward = { type = "text", keys = ["A", ^7] }', "7 is not of type text", 'write "A"'
    ),
    "no keys": Case(
        WARD,
        'ward = { type = "text", keys = ^[] }',
        "at least one",
        'keys = ["A", "B", "C"]',
        'ward = { type = "text", keys = ["A", "B", "C"] }',
    ),
    "keys of a real column": Case(
        COST, 'cost = { type = "real", keys = ^[1.5] }', "hardly ever equal", 'type = "integer"'
    ),
    "a key out of bounds": Case(
        AGE,
        'age = { type = "integer", bounds = [0, 9], keys = [1, ^10] }',
        "outside the column's",
        "leave it out",
    ),
    "a missing value of another type": Case(
        AGE, 'age = { type = "integer", missing = ^"?" }', "not of type integer", "42"
    ),
    "a missing value out of bounds": Case(
        AGE, 'age = { type = "integer", bounds = [0, 9], missing = ^10 }', "outside", "within"
    ),
    "a missing value off the grid": Case(
        COST,
        'cost = { type = "real", grid = 0.5, missing = ^0.2 }',
        "no multiple of 0.5",
        "missing = 0",
        'cost = { type = "real", grid = 0.5, missing = 0 }',
    ),
    "a missing value that is no key": Case(
        WARD,
        'ward = { type = "text", keys = ["A"], missing = ^"B" }',
        "would be dropped",
        'add "B"',
        'ward = { type = "text", keys = ["A", "B"], missing = "B" }',
    ),
    "two lists of keys": Case(
        WARD,
        'ward = { type = "text", keys = ["A"], keys_from = ^"wards.csv" }',
        "listed already",
        "leave one of them out",
        WARD,
    ),
    "a public table that is not there": Case(
        WARD,
        'ward = { type = "text", keys_from = ^"nowhere.csv" }',
        "no public table",
        "path from the policy file's folder",
    ),
    # budgets
    "an accountant that is no filter": Case(
        "delta = 1e-6",
        'delta = 1e-6\naccountant = ^"pld"',
        "cannot be a filter",
        '"zcdp"',
        'delta = 1e-6\naccountant = "zcdp"',
    ),
    "zCDP without a delta": Case(
        "delta = 1e-6",
        'accountant = ^"zcdp"',
        "delta = 0 can only be kept by",
        'accountant="pure"',
    ),
    "a delta of one person in all": Case(
        "people = 100000",
        "people = 1000000",
        "1/1000000 or more",
        "delta = 1e-7",
    ),
    "a delta per query above the budget's": Case(
        "people = 100000",
        "delta_per_query = ^1e-5",
        "queries can spend 1e-06 of delta in all",
        "delta_per_query = 1e-9",
        "delta_per_query = 1e-9",
    ),
    "an analyst's cap that the accountant cannot keep": Case(
        "delta = 1e-6\n\n[dataset.visits.analysts]\n" + ANN,
        'delta = 1e-6\naccountant = "zcdp"\n\n[dataset.visits.analysts]\nann = ^{ epsilon = 1 }',
        "delta = 0 can only be kept by",
        "delta=1e-6",
    ),
    "an analyst without a name": Case(
        ANN, '^"" = { epsilon = 1 }', "not 1 to 200 visible characters", "visits-2026"
    ),
    # time
    "a schedule that nobody can keep": Case(
        "people = 100000",
        'refresh = ^"often"',
        "no schedule",
        'refresh = "every 6 hours"',
        'refresh = "every 6 hours"',
    ),
    "a pool without a name": Case(
        "people = 100000", 'pool = ^""', "not 1 to 200 visible characters", 'pool = "patients"'
    ),
    "an amount of memory without a unit": Case(
        "people = 100000",
        'engine.memory = ^"4"',
        "no amount of memory",
        'memory = "4 GB"',
        'engine.memory = "4 GB"',
    ),
    "no thread at all": Case(
        "people = 100000",
        "engine.threads = ^0",
        "is not 1 or more",
        "threads = 2",
        "engine.threads = 2",
    ),
    "a setting of the engine in another place": Case(
        "people = 100000",
        '^memory = "4 GB"',
        'no setting "memory"',
        'it goes under [dataset.visits.engine]: memory = "4 GB"',
        'engine.memory = "4 GB"',
    ),
    "a refresh of live data": Case(
        "people = 100000",
        'mode = "live"\nrefresh = ^"every 6 hours"',
        "read anew",
        "leave refresh out",
        'mode = "live"',
    ),
}


def bad(case: Case) -> tuple[str, tuple[int, int] | None]:
    """The bad file, and where its mistake is."""
    assert GOOD.count(case.good) == 1
    text = GOOD.replace(case.good, case.bad)
    at = text.find("^")
    if at < 0:
        return text, None
    line = text.count("\n", 0, at) + 1
    return text.replace("^", ""), (line, at - text.rfind("\n", 0, at))


def test_the_good_file_is_good():
    assert reads(GOOD).datasets["visits"].budget.accountant == "approximate"


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_mistake_is_explained_at_its_line_and_column(case):
    text, place = bad(case)
    with pytest.raises(InvalidPolicy) as caught:
        reads(text)
    first = caught.value.mistakes[0]
    assert case.why in first.message
    assert case.hint in first.hint
    if place is not None:
        assert (first.line, first.column) == place
    assert len(caught.value.mistakes) == 1


@pytest.mark.parametrize(
    "case",
    [case for case in CASES.values() if case.fixed is not None],
    ids=[name for name, case in CASES.items() if case.fixed is not None],
)
def test_what_the_hint_says_can_be_read(case):
    assert case.fixed is not None
    reads(GOOD.replace(case.good, case.fixed))


def test_a_missing_setting_is_shown_at_the_head_of_its_table():
    with pytest.raises(InvalidPolicy) as caught:
        reads(GOOD.replace("rows_per_unit = 20\n", ""))
    (mistake,) = caught.value.mistakes
    assert (mistake.line, mistake.column, mistake.where) == (1, 1, "dataset.visits.rows_per_unit")


def test_several_mistakes_are_explained_at_once_in_the_order_of_the_file():
    text = GOOD
    for case in ("a misspelt setting of a column", "a key twice", "an epsilon of nothing"):
        text = text.replace(CASES[case].good, CASES[case].bad.replace("^", ""))
    with pytest.raises(InvalidPolicy, match="3 mistakes") as caught:
        reads(text)
    assert [each.line for each in caught.value.mistakes] == [9, 10, 16]
    assert str(caught.value).count("Hint:") == 3


# Rules over several settings, which can be judged only where each of them can be read.
WHOLE = (
    "a unit that is not declared",
    "a delta of one person in all",
    "an analyst's cap that the accountant cannot keep",
    "an accountant that is no filter",
)
# Without a unit, or counted otherwise, nobody can say.
UNDECIDED = {
    ("no unit", "a unit that is not declared"),
    ("many rows where each is a person", "a unit that is not declared"),
    ("zCDP without a delta", "a delta of one person in all"),
    ("a delta per query above the budget's", "an accountant that is no filter"),
    ("a delta per query above the budget's", "an analyst's cap that the accountant cannot keep"),
}


def told(text: str) -> set[tuple[str, str]]:
    with pytest.raises(InvalidPolicy) as caught:
        reads(text)
    return {(each.where, each.message) for each in caught.value.mistakes}


@pytest.mark.parametrize("whole", WHOLE)
def test_no_mistake_hides_another(whole):
    alone = told(bad(CASES[whole])[0])
    tried = 0
    for name, case in CASES.items():
        text = bad(case)[0]
        both = text.replace(CASES[whole].good, CASES[whole].bad.replace("^", ""))
        unlike = (
            name != whole
            and text.count(CASES[whole].good) == 1
            and case.bad.replace("^", "") in both
        )
        if unlike and "TOML" not in case.why and (name, whole) not in UNDECIDED:
            assert told(both) == alone | told(text), name
            tried += 1
    assert tried > 50


def test_a_secret_is_never_repeated():
    with pytest.raises(InvalidPolicy) as caught:
        reads(bad(CASES["a secret in the policy"])[0])
    assert "password" not in str(caught.value)


def test_two_data_sets_of_one_pool_have_one_budget():
    second = GOOD.replace("dataset.visits", "dataset.labs").replace("epsilon = 3", "epsilon = 2")
    pooled = (GOOD + second).replace("people = 100000", 'people = 100000\npool = "patients"')
    with pytest.raises(InvalidPolicy) as caught:
        reads(pooled)
    (mistake,) = caught.value.mistakes
    assert mistake.where == "dataset.labs.budget"
    assert pooled.splitlines()[(mistake.line or 0) - 1] == "[dataset.labs.budget]"
    assert "[dataset.visits.budget]" in mistake.hint
    reads(pooled.replace("epsilon = 2", "epsilon = 3"))


def test_a_data_set_may_share_the_budget_of_another_by_its_name():
    second = GOOD.replace("dataset.visits", "dataset.labs").replace(
        "people = 100000", 'pool = "visits"'
    )
    policy = reads(GOOD + second)
    assert {each.pool_name for each in policy.datasets.values()} == {"visits"}


def test_an_empty_file_names_no_data_set():
    with pytest.raises(InvalidPolicy, match="no data set is named"):
        reads("")


@pytest.mark.parametrize(
    "text",
    [
        "dataset = 3",
        "[[dataset]]\nunit = 'x'",
        "[dataset]\nvisits = 1",
        "[dataset.visits]\ncolumns = 3",
        "[dataset.v.columns]\na = [1]",
        "[dataset.v]\nsource = [1]\nbudget = []\nanalysts = 'x'",
        "[dataset.v]\nunit = 1979-05-27",
        "x = " + "[" * 100_000,
        "x = 1e999999999999999999",
        "[dataset.v.budget]\nepsilon = 1e-999999999",
    ],
)
def test_a_file_of_another_shape_is_refused_in_words(text):
    with pytest.raises(InvalidPolicy):
        reads(text)


def test_a_large_delta_needs_to_know_how_few_people_there_are():
    text = GOOD.replace("people = 100000\n", "").replace("delta = 1e-7", "delta = 0")
    reads(text.replace("delta = 1e-6", "delta = 1e-3"))
    with pytest.raises(InvalidPolicy, match="among fewer than 100 people only") as caught:
        reads(text.replace("delta = 1e-6", "delta = 1e-2"))
    (mistake,) = caught.value.mistakes
    assert mistake.where == "dataset.visits.budget.delta"
    assert "people = 99" in mistake.hint
    reads(GOOD.replace("delta = 1e-6", "delta = 1e-2").replace("people = 100000", "people = 99"))


@pytest.mark.parametrize("accountant", ["pure", "approximate", "zcdp", "rdp:16"])
def test_a_policy_is_refused_exactly_where_the_ledger_could_not_keep_it(accountant):
    def kept(epsilon: int) -> bool:
        try:
            units_down(measure(accountant).cap(Budget(epsilon, delta)))
        except InvalidInput:
            return False
        return True

    delta = "0" if accountant == "pure" else "1e-6"
    for epsilon in (1, 10**6, 4 * 10**6, 4 * 10**6 + 1, 4 * 10**6 + 5000, 10**7):
        text = GOOD.replace("epsilon = 3", f'epsilon = {epsilon}\naccountant = "{accountant}"')
        text = text.replace("delta = 1e-6", f"delta = {delta}").replace(", delta = 1e-7", "")
        text = text.replace("ann = { epsilon = 1 }", "")
        if kept(epsilon):
            reads(text)
        else:
            with pytest.raises(InvalidPolicy, match="cannot be kept"):
                reads(text)


def test_a_query_cannot_spend_the_delta_that_zcdp_needs_itself():
    text = GOOD.replace("delta = 1e-6\n", 'delta = 1e-6\naccountant = "zcdp"\n')
    reads(text.replace("people = 100000", "delta_per_query = 5e-7"))
    with pytest.raises(InvalidPolicy, match="queries can spend 5e-07 of delta in all"):
        reads(text.replace("people = 100000", "delta_per_query = 6e-7"))
