"""``discreet ask``, from a newcomer's first mistakes to answers for programs."""

import json
import re
import stat
import subprocess
import sys

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.cli.conftest import WARDS, Done, write_visits

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
KEYS = "ward=" + ",".join(WARDS)
WHO = ("--data", "visits.csv", "--unit", "patient_id", "--rows-per-unit", "7")
ROWS = sum(1 + patient % 7 for patient in range(2000))


def typed(hint: str, option: str) -> list[str]:
    """An option of a hint, as one would type it."""
    found = re.search(rf"--{option} [\w.=:-]*\w", hint)
    assert found is not None, hint
    return found[0].split()


def test_a_first_answer_is_a_table_with_errors_a_cost_and_what_is_left(discreet, visits):
    done = discreet("ask", BY_WARD, *WHO, "--keys", KEYS, "--epsilon", "0.5")
    assert done.status == 0
    for ward in WARDS:
        assert re.search(rf"{ward} +[\d,]+ ± 4\d", done.out)
    assert "± at 95 % confidence; cost: epsilon 0.5. Left: epsilon 2.5, delta 1e-06." in done.out


def test_the_curator_is_told_once_who_they_are(discreet, visits):
    first = discreet("ask", COUNT, *WHO, "--epsilon", "0.5")
    assert "You are the curator of visits.csv" in first.err
    assert "All of them together may cost epsilon 3, delta 1e-6" in first.err
    assert discreet("ask", COUNT, "--data", "visits.csv", "--epsilon", "0.4").err == ""


def test_a_delta_is_compared_with_the_public_number_of_people(discreet, visits):
    first = discreet("ask", COUNT, *WHO, "--epsilon", "0.5", "--people", "1000000")
    assert first.status == 2
    assert "delta = 1e-06 is 1/1000000 or more" in first.err
    assert not (visits.parent / ".discreet" / "ledger.db").exists()
    again = discreet(*first_words(first, "--people", "1000000"))
    assert again.status == 0
    assert "far fewer than" not in again.err
    # It is said once, like everything about the data.
    later = discreet("ask", COUNT, "--data", "visits.csv", "--budget-delta", "1e-5", "--json")
    assert "delta = 1e-05 is 1/1000000 or more" in later.err


def first_words(refused: Done, *more: str) -> tuple[str, ...]:
    """The command again, with what the hint adds to it."""
    return ("ask", COUNT, *WHO, "--epsilon", "0.5", *more, *refused.hint.split())


def test_without_that_number_a_large_delta_is_refused(discreet, visits):
    told = discreet("ask", COUNT, *WHO, "--epsilon", "0.5", "--budget-delta", "0.01")
    assert "among fewer than 100 people only" in told.err
    assert "--people 50" in told.hint
    told = discreet("ask", COUNT, *WHO, "--epsilon", "0.5")
    assert "among far fewer than 1,000,000 people; --people says how many" in told.err


def test_a_pattern_is_all_of_its_files(discreet, visits):
    for part in range(2):
        numbers = pa.array(range(part * 1000, part * 1000 + 1000))
        parquet.write_table(pa.table({"who": numbers}), visits.parent / f"part{part}.parquet")
    words = ("--data", "part*.parquet", "--unit", "who", "--rows-per-unit", "1", "--epsilon", "2")
    told = discreet("ask", "SELECT COUNT(*) AS n FROM part", *words, "--json")
    assert (
        abs(json.loads(told.out)["rows"][0]["n"]["value"] - 2000) < 50
    )  # chance of more: below e**-90
    assert (visits.parent / ".discreet" / "part.json").exists()
    told = discreet("ask", COUNT, *words[2:], "--data", "part1.parquet")
    assert "they would have a second one" in told.err
    assert 'pool = "part"' in told.hint
    assert "--data 'part*.csv'" not in discreet("ask", COUNT, "--data", "part*.csv").hint


def test_a_table_of_a_duckdb_file_is_called_by_its_own_name(discreet, visits):
    with duckdb.connect(str(visits.parent / "h.duckdb")) as file:
        file.execute("CREATE TABLE stays AS FROM 'visits.csv'; CREATE TABLE beds AS SELECT 1 AS x")
    who = ("--data", "h.duckdb", "--unit", "patient_id", "--rows-per-unit", "7", "--epsilon", "0.1")
    stays = "SELECT COUNT(*) FROM stays"
    told = discreet("ask", stays, *who)
    assert "h.duckdb has the tables beds, stays." in told.err
    assert told.hint == "--table beds"
    assert discreet("ask", stays, *who, "--table", "stays").status == 0
    assert discreet("ask", stays, "--data", "h.duckdb", "--epsilon", "0.1").status == 0


def test_what_is_kept_beside_the_data_is_its_owners_alone(discreet, visits):
    discreet("ask", COUNT, *WHO, "--epsilon", "0.5")
    home = visits.parent / ".discreet"
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    files = [path for path in home.rglob("*") if path.is_file()]
    assert {"key", "ledger.db", "visits.json", "visits.duckdb"} <= {path.name for path in files}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_every_mistake_on_the_way_is_answered_with_a_hint_that_works(discreet, visits):
    """The newcomer's path: what a hint says is added to the command, until there is an answer."""
    words = ["ask", BY_WARD, "--data", "visit.csv"]

    def mistake(says: str, *, status: int = 2) -> str:
        done: Done = discreet(*words)
        assert done.status == status
        assert says in done.err
        return done.hint

    words[3] = mistake('there is no file "visit.csv"').removeprefix("--data ")
    hint = mistake("nothing says whose row a row is")
    words += typed(hint, "unit")
    words[-1] = "patient"
    words[-2:] = mistake('visits.csv has no column "patient"').split()
    assert words[-2:] == ["--unit", "patient_id"]
    words += typed(mistake("any number of rows"), "rows-per-unit")
    words += typed(mistake("the query has no price"), "epsilon")
    hint = mistake("the groups of this query are private")
    assert "--keys ward=A,B,C if you know them all" in hint
    words += typed(hint, "delta")
    done = discreet(*words)
    assert done.status == 0
    assert [ward for ward in WARDS if ward not in done.out] == []

    words[1] = "SELECT ward, AVG(age) FORM visits GROUP BY ward"
    words[1] = mistake("not SQL that can be read")
    hint = mistake("AVG(age): a sum needs numbers, and this is text")
    assert "--bounds age=0:100" in hint
    words += ["--types", "age=integer"]
    hint = mistake("nothing bounds what one person adds", status=3)
    words += typed(hint, "bounds")
    assert discreet(*words).status == 0

    words[1] = "SELECT wrd, COUNT(*) FROM visits GROUP BY wrd"
    assert mistake("there is no column 'wrd'").startswith("ward; ")
    words[1] = "SELECT COUNT(*) FROM vists"
    assert mistake("there is no table 'vists'") == "SELECT COUNT(*) FROM visits"
    words[1] = COUNT
    place = words.index("--epsilon") + 1
    words[place] = "9"
    hint = mistake("it asks for epsilon 9 of 2 left", status=4)
    words += typed(hint, "budget")
    done = discreet(*words)
    assert done.status == 0
    assert "Left: epsilon 0, " in done.out
    assert "is now epsilon 10" in done.err


def test_what_was_said_about_the_columns_need_not_be_said_again(discreet, visits):
    first = discreet(
        "ask",
        "SELECT AVG(age) FROM visits",
        *WHO,
        *("--bounds", "age=0:110", "--bounds", "cost=0:65.0", "--keys", KEYS, "--epsilon", "0.1"),
    )
    assert first.status == 0
    later = ("--data", "visits.csv", "--epsilon", "0.1", "--json")
    assert discreet("ask", BY_WARD, *later).status == 0
    assert discreet("ask", "SELECT AVG(cost) FROM visits", *later).status == 0
    # Forgotten, the keys are private, and private keys need a delta.
    done = discreet("ask", BY_WARD, *later, "--keys", "ward=")
    assert json.loads(done.err)["error"]["code"] == "invalid_delta"


def test_the_unit_cannot_change_under_a_budget(discreet, visits):
    discreet("ask", COUNT, *WHO, "--epsilon", "0.1")
    done = discreet("ask", COUNT, "--data", "visits.csv", "--each-row", "--epsilon", "0.1")
    assert done.status == 2
    assert "visits was opened with --unit patient_id" in done.err


def test_the_budget_outlives_the_command(discreet, visits):
    spend = ("ask", COUNT, *WHO, "--budget", "1", "--budget-delta", "0", "--json", "--epsilon")
    assert json.loads(discreet(*spend, "0.75").out)["left"] == {"epsilon": 0.25, "delta": 0.0}
    done = discreet(*spend, "0.5")
    assert done.status == 4
    error = json.loads(done.err)["error"]
    assert set(error) == {"code", "message", "hint"}
    assert error["code"] == "insufficient_budget"
    assert "--epsilon 0.25 is what is left" in error["hint"]
    assert discreet(*spend, "0.25").status == 0


def test_the_same_question_is_free_and_has_the_same_answer(discreet, visits):
    words = ("ask", COUNT, *WHO, "--epsilon", "1", "--json")
    first, again = (json.loads(discreet(*words).out) for _ in range(2))
    assert (first["stored"], again["stored"]) == (False, True)
    assert first["rows"] == again["rows"]
    assert again["cost"] == {"epsilon": 0.0, "delta": 0.0}
    assert first["left"] == again["left"]


def test_json_has_the_promised_shape(discreet, visits):
    words = ("ask", BY_WARD, *WHO, "--keys", KEYS, "--epsilon", "0.5", "--json")
    answer = json.loads(discreet(*words).out)
    assert list(answer) == [
        "columns",
        "rows",
        "cost",
        "left",
        "stored",
        "shared",
        "confidence",
        "threshold",
        "dataset",
        "snapshot",
    ]
    assert answer["columns"] == ["ward", "n"]
    assert [row["ward"]["value"] for row in answer["rows"]] == list(WARDS)
    for row in answer["rows"]:
        assert set(row["n"]) == {"value", "low", "high", "flag"}
        assert row["n"]["low"] < row["n"]["value"] < row["n"]["high"]
    assert answer["cost"] == {"epsilon": 0.5, "delta": 0.0}


def test_csv_brings_both_ends_of_every_number(discreet, visits):
    done = discreet("ask", BY_WARD, *WHO, "--keys", KEYS, "--epsilon", "0.5", "--csv")
    head, *lines = done.out.splitlines()
    assert head == '"ward","n","n_low","n_high"'
    assert len(lines) == len(WARDS)
    assert "cost: epsilon 0.5" in done.err


def test_an_explanation_spends_nothing(discreet, visits):
    words = (*WHO, "--keys", KEYS, "--epsilon", "0.5")
    done = discreet("ask", BY_WARD, *words, "--explain")
    assert done.status == 0
    assert "costs        epsilon 0.5" in done.out
    assert "left: epsilon 3" in done.out
    explained = json.loads(discreet("ask", BY_WARD, *words, "--explain", "--json").out)
    assert explained["left"] == {"epsilon": 3.0, "delta": 1e-06}


def test_a_program_that_errs_reads_nothing_but_the_error(discreet, visits):
    done = discreet("ask", COUNT, *WHO, "--json")
    assert (done.status, done.out) == (2, "")
    assert json.loads(done.err)["error"]["code"] == "invalid_epsilon"


def test_an_error_target_finds_its_price(discreet, visits):
    words = ("ask", COUNT, *WHO, "--within", "50")
    done = discreet(*words)
    assert done.status == 2
    assert "Nothing was spent" in done.err
    price = typed(done.hint, "epsilon")
    answer = json.loads(discreet(*words, *price, "--json").out)
    (row,) = answer["rows"]
    # Rounding the price up to three digits leaves at most a hundredth of slack.
    assert 49 < (row["n"]["high"] - row["n"]["low"]) / 2 <= 50


def test_an_average_is_asked_within_an_error_by_assuming_a_size(discreet, visits):
    words = ["ask", "SELECT AVG(age) FROM visits", *WHO, "--bounds", "age=0:110"]
    words += ["--within", "5", "--epsilon", "2"]
    done = discreet(*words)
    assert done.status == 2
    words += typed(done.hint, "assuming")
    assert discreet(*words).status == 0


def test_a_diagnosis_says_how_many_have_more_rows_than_are_used(discreet, visits):
    words = ("--data", "visits.csv", "--unit", "patient_id", "--rows-per-unit", "4")
    done = discreet("ask", COUNT, *words, "--epsilon", "1", "--diagnose", "1", "--json")
    (row,) = json.loads(done.out)["diagnosis"]["rows"]
    # 857 of 2000 have five visits or more; noise of scale 2 strays 40 with odds below 1e-8.
    assert abs(row["over_the_cap"]["value"] - 857) < 40


def test_a_diagnosis_says_how_many_cells_do_not_fit(discreet, visits):
    words = [*WHO, "--keys", "ward=North", "--types", "day=integer"]
    words += ["--budget", "101", "--budget-delta", "0"]
    done = discreet("ask", COUNT, *words, "--epsilon", "1", "--diagnose-cells", "100", "--json")
    (row,) = json.loads(done.out)["cells"]["rows"]
    # No day is a whole number; noise of scale 7 * 3 / 100 strays 20 with odds below e**-90.
    assert abs(row["day_null"]["value"] - row["rows"]["value"]) < 40
    assert 40 < row["ward_undeclared"]["value"] < row["rows"]["value"] - 40


TWO = """
[dataset.{name}]
source = "{name}.csv"
unit = "patient_id"
rows_per_unit = 4
columns.patient_id = {{ type = "text" }}
columns.ward = {{ type = "text", keys = ["North", "South", "East", "West"] }}
columns.age = {{ type = "integer" }}
budget = {{ epsilon = 200 }}
analysts.ann = {{ epsilon = {cap} }}
"""


@pytest.fixture
def two(visits):
    """A policy of two data sets, of which the first has a tenth of the patients."""
    write_visits(visits.parent / "admissions.csv", patients=200)
    names = ("admissions", "visits")
    (visits.parent / "policy.toml").write_text(
        "".join(TWO.format(name=name, cap=200) for name in names)
    )
    return visits.parent / "policy.toml"


def test_a_diagnosis_is_of_the_data_set_that_was_asked(discreet, two):
    words = ("ask", COUNT, "--policy", "policy.toml", "--epsilon", "1", "--json")
    done = discreet(*words, "--diagnose", "50", "--diagnose-cells", "50")
    told = json.loads(done.out)
    (over,), (cells,) = told["diagnosis"]["rows"], told["cells"]["rows"]
    # Noise of scale 1/25 and 12/50 strays 20 with odds below e**-80.
    assert abs(over["people"]["value"] - 2000) < 20
    assert cells["rows"]["value"] > 5000
    assert told["dataset"] == told["diagnosis"]["dataset"] == "visits"
    assert told["diagnosis"]["left"]["epsilon"] == 149
    assert told["cells"]["left"]["epsilon"] == 99


def test_beside_csv_a_diagnosis_is_told_where_people_look(discreet, two):
    words = ("ask", COUNT, "--policy", "policy.toml", "--epsilon", "1", "--csv")
    done = discreet(*words, "--diagnose", "50")
    assert len(done.out.splitlines()) == 2
    assert done.out.startswith('"n",')
    assert "over_the_cap" in done.err
    assert "Left: epsilon 149" in done.err


@pytest.mark.parametrize("form", ["--json", "--csv", ""])
def test_an_answer_that_was_paid_for_is_shown_though_its_diagnosis_fails(discreet, two, form):
    words = ("ask", COUNT, "--policy", "policy.toml", "--epsilon", "1", *filter(None, [form]))
    done = discreet(*words, "--diagnose", "500")
    assert done.status == 4
    assert "does not cover" in done.err
    if form == "--json":
        assert json.loads(done.out)["columns"] == ["n"]
        assert json.loads(done.err)["error"]["code"] == "insufficient_budget"
    else:
        assert re.search(r"\b\d,?\d\d\d", done.out)


def test_the_price_of_a_diagnosis_is_read_before_anything_is_spent(discreet, two):
    words = ("ask", COUNT, "--policy", "policy.toml", "--epsilon", "1", "--json")
    done = discreet(*words, "--diagnose", "much")
    assert (done.status, done.out) == (2, "")
    assert json.loads(discreet(*words).out)["stored"] is False


def test_bounds_and_keys_give_a_csv_column_its_type(discreet, visits):
    done = discreet(
        "ask",
        "SELECT SUM(cost), SUM(age), COUNT(*) FILTER (WHERE day < DATE '2025-03-01') FROM visits",
        *WHO,
        *("--bounds", "cost=0:65.00", "--bounds", "age=18:97"),
        *("--bounds", "day=2025-01-01:2025-12-31", "--epsilon", "1"),
    )
    assert done.status == 0, done.err


def test_a_picture_is_drawn_with_its_error_bars(discreet, visits):
    words = ("ask", BY_WARD, *WHO, "--keys", KEYS, "--epsilon", "0.5", "--plot")
    assert discreet(*words, "wards.svg").status == 0
    assert "North" in (visits.parent / "wards.svg").read_text()
    done = discreet(*words, "wards.xyz")
    assert (done.status, done.hint) == (2, "--plot wards.svg")


def test_a_cell_that_its_error_swamps_is_marked(discreet, visits):
    nobody = "SELECT COUNT(*) FROM visits WHERE ward = 'Nowhere'"
    done = discreet("ask", nobody, *WHO, "--epsilon", "0.1")
    assert done.status == 0
    shown = re.search(r"(-?[\d,]+) ± ([\d,]+)( \(\?\))?", done.out)
    assert shown is not None
    value, half = (int(text.replace(",", "")) for text in shown.groups()[:2])
    assert (shown[3] is not None) == (abs(value) < half)


@pytest.mark.parametrize(
    ("words", "says", "hint"),
    [
        (["--bounds", "age"], "does not say which column", "--bounds age=0:110"),
        (["--bounds", "age=110:0"], "larger than the largest", "--bounds age=0:110"),
        (["--bounds", "age=old"], "a smallest and a largest", "--bounds age=0:110"),
        (["--bounds", "agee=0:110"], 'no column "agee"', "--bounds age="),
        (["--types", "age=number"], "a type is one of", "--types age=integer"),
        (["--types", "age=integer", "--keys", "age=a,b"], '"a" is not of type', "--keys age=1,2,3"),
        (["--analyst", "ann"], "the curator is the only one", "discreet init visits.csv"),
        (["--each-row"], "contradict", "--unit patient_id"),
        (["--epsilon", "much"], "not a finite number", "--epsilon 0.1"),
        (["--epsilon", "-1"], "epsilon", "--epsilon"),
        (["--csv", "--json"], "contradict", "--json"),
        (["--within", "0"], "within", "within"),
    ],
)
def test_words_that_make_no_sense_are_answered_with_a_hint(discreet, visits, words, says, hint):
    done = discreet(
        "ask", COUNT, *WHO, *([] if "--epsilon" in words else ["--epsilon", "1"]), *words
    )
    assert done.status == 2
    shown = json.loads(done.err)["error"] if "--json" in words else None
    assert says in (shown["message"] if shown else done.err)
    assert hint in (shown["hint"] if shown else done.hint)


@pytest.mark.parametrize(
    ("sql", "status"),
    [
        ("SELECT * FROM visits", 3),
        ("SELECT MAX(age) FROM visits", 3),
        ("DROP TABLE visits", 3),
        ("SELECT COUNT(*) FROM read_csv('visits.csv')", 3),
        ("SELECT", 2),
        ("", 2),
    ],
)
def test_what_is_refused_is_told_apart_from_what_is_misspelt(discreet, visits, sql, status):
    done = discreet("ask", sql, *WHO, "--epsilon", "1")
    assert done.status == status
    assert "Hint: " in done.err


def test_a_file_with_other_separators_says_which(discreet, visits):
    write_visits(visits, delimiter=";")
    done = discreet("ask", COUNT, *WHO, "--epsilon", "1")
    assert done.status == 2
    assert done.hint == "--delimiter ';'"
    assert discreet("ask", COUNT, *WHO, "--epsilon", "1", "--delimiter", ";").status == 0


def test_a_parquet_file_brings_its_types(discreet, visits):
    table = pa.table({"id": list(range(500)), "age": [40] * 500, "member": [True, False] * 250})
    parquet.write_table(table, "people.parquet")
    done = discreet(
        "ask",
        "SELECT member, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY member",
        *("--data", "people.parquet", "--each-row", "--bounds", "age=0:110"),
        *("--epsilon", "2", "--json"),
    )
    assert [row["member"]["value"] for row in json.loads(done.out)["rows"]] == [False, True, None]


def test_a_policy_is_asked_in_the_name_of_an_analyst(discreet, visits):
    (visits.parent / "policy.toml").write_text(
        """
        [dataset.visits]
        source = "visits.csv"
        unit = "patient_id"
        rows_per_unit = 7
        columns.patient_id = { type = "text" }
        columns.ward = { type = "text", keys = ["North", "South", "East", "West"] }
        budget = { epsilon = 2 }
        analysts.ann = { epsilon = 1 }
        analysts.bob = { epsilon = 1 }
        """
    )
    words = ["ask", BY_WARD, "--policy", "policy.toml", "--epsilon", "0.5"]
    done = discreet(*words)
    assert done.status == 2
    assert done.hint == "--analyst ann"
    done = discreet(*words, "--analyst", "ann")
    assert done.status == 0
    assert "Left: epsilon 0.5." in done.out
    assert "curator" not in done.err
    done = discreet(*words, "--analyst", "ann", "--bounds", "age=0:1")
    assert (done.status, done.hint) == (2, "--policy policy.toml")


@pytest.mark.parametrize("sql", ["SELECT FOO(age) FROM visits", "SELECT COUNT(*) FROM visits v(a)"])
def test_a_hint_points_to_a_page_that_everybody_has(discreet, visits, sql):
    done = discreet("ask", sql, *WHO, "--epsilon", "0.5")
    assert "`discreet help sql`" in done.hint
    assert "docs/" not in done.hint
    assert "# The SQL that can be asked" in discreet("help", "sql").out
    assert "# The policy file" in discreet("help", "policy").out


def test_help_shows_examples(discreet):
    shown = discreet("ask", "--help").out
    assert "--unit patient_id" in shown
    assert "Exit status: 0 answered" in shown


def test_the_command_runs_as_a_process(visits):
    code = "from discreet.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "ask", COUNT, *WHO, "--epsilon", "1", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    (row,) = json.loads(done.stdout)["rows"]
    # Noise of scale 7 strays 200 with odds below 1e-12.
    assert abs(row["n"]["value"] - ROWS) < 200
