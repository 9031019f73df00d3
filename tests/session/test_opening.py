"""Opening: where things are kept, who is a person, what is lost and what is refused."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import InvalidInput, InvalidPolicy, LedgerClosed, PolicyDiffers, UnknownName
from discreet.session.home import Home
from tests.session.made import EXACT, ROWS, select, ward, write

COUNT = "SELECT COUNT(*) FROM visits"


def modes(folder: Path) -> dict[str, str]:
    """Who may read what, for everything below a folder."""
    return {
        str(path.relative_to(folder)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in sorted(folder.rglob("*"))
    }


def test_everything_that_is_kept_is_the_owners_alone(tmp_path):
    with ward(tmp_path) as session:
        session.sql(COUNT, epsilon=1)
        found = modes(tmp_path)
    home = {name: mode for name, mode in found.items() if name.startswith(".discreet")}
    assert {".discreet", ".discreet/key", ".discreet/ledger.db"} <= home.keys()
    assert ".discreet/snapshots/visits.duckdb" in home
    folders = {name for name in home if (tmp_path / name).is_dir()}
    assert {home[name] for name in folders} == {"0o700"}
    assert {mode for name, mode in home.items() if name not in folders} == {"0o600"}


def test_a_lost_key_closes_the_data_set(tmp_path):
    with ward(tmp_path) as session:
        session.sql(COUNT, epsilon=1)
    (tmp_path / ".discreet" / "key").unlink()
    with pytest.raises(LedgerClosed, match="key"):
        ward(tmp_path)


@pytest.mark.parametrize("text", ["", "short\n"])
def test_a_damaged_key_closes_the_data_set(text, tmp_path):
    with ward(tmp_path) as session:
        session.sql(COUNT, epsilon=1)
    (tmp_path / ".discreet" / "key").write_text(text)
    with pytest.raises(LedgerClosed, match="damaged"):
        ward(tmp_path)


def test_another_key_is_refused_until_the_curator_accepts_it(tmp_path):
    with ward(tmp_path) as session:
        session.sql(COUNT, epsilon=1)
    (tmp_path / ".discreet" / "key").write_text("ab" * 32 + "\n")
    with pytest.raises(PolicyDiffers, match="another basis: key was") as refusal:
        ward(tmp_path)
    assert "--new-basis" in (refusal.value.hint or "")


def test_another_unit_is_refused_while_the_budget_runs(tmp_path):
    with ward(tmp_path) as session:
        session.sql(COUNT, epsilon=1)
    with pytest.raises(PolicyDiffers, match="unit was who, and is now each row"):
        ward(tmp_path, unit="each row", rows_per_unit=None)


def test_data_sets_never_share_a_snapshot(tmp_path):
    home = Home(tmp_path)
    names = ["/f", "\u02ff", "a%2f", "a/", "a%00002f", "", "ä", "a b", "a_b", "%"]
    assert len({home.snapshot(name) for name in names}) == len(names)


def test_a_lost_snapshot_is_made_again_with_the_same_rows(tmp_path):
    text = "SELECT SUM(cost), COUNT(*) FROM visits"
    many = [row | {"cost": 3.0 * i, "who": 1} for i, row in enumerate(ROWS * 5)]
    with ward(tmp_path, rows=many) as session:
        first = session.aggregate(session.plan(text, epsilon=1)).values
    (tmp_path / ".discreet" / "snapshots" / "visits.duckdb").unlink()
    with ward(tmp_path, rows=many) as session:
        again = session.aggregate(session.plan(text, epsilon=1)).values
    assert [v.tolist() for v in first] == [v.tolist() for v in again]


def test_another_declaration_makes_another_snapshot(tmp_path):
    with ward(tmp_path) as session:
        one = session.sql(COUNT, epsilon=1).snapshot
    with ward(tmp_path, rows_per_unit=1) as session:
        other = session.sql(COUNT, epsilon=1)
        assert other.snapshot != one
        assert not other.stored


def test_each_row_can_be_a_person(tmp_path):
    with ward(tmp_path, unit="each row", rows_per_unit=None) as session:
        answer = session.sql("SELECT COUNT(*), SUM(age) FROM visits", epsilon=EXACT)
        assert [column.values for column in answer.columns] == [(6,), (210,)]
        assert session.plan(COUNT, epsilon=1).noise.sensitivities[0].l1 == 1
        with pytest.raises(discreet.DiscreetError, match="distinct"):
            session.sql("SELECT COUNT(DISTINCT who) FROM visits", epsilon=1)
        # Nobody's number is a unit here, so it is a column like any other.
        session.plan("SELECT COUNT(who) FROM visits", epsilon=1)


def test_people_can_be_told_apart_by_text(tmp_path):
    names = ["ann", "Ann", " ann", "ann ", "", "ann", None]
    path = tmp_path / "visits.parquet"
    pq.write_table(pa.table({"who": names, "n": list(range(7))}), path)
    with discreet.open(path, unit="who", rows_per_unit=1, epsilon=10**6) as session:
        answer = session.sql("SELECT COUNT(*), COUNT(DISTINCT who) FROM visits", epsilon=EXACT)
        assert [column.values for column in answer.columns] == [(5,), (5,)]
        snapshot = session._data["visits"].run("SELECT * FROM snapshot").to_pylist()
    assert "ann" not in repr(snapshot)  # a keyed hash stands in for the name


POLICY = """
[dataset.visits]
source = "visits.parquet"
unit = "who"
rows_per_unit = 2
relation = "change_one"
delta_per_query = 1e-9

[dataset.visits.columns]
who = { type = "integer" }
age = { type = "integer", bounds = [0, 110] }
ward = { type = "text", keys = ["north", "south"] }

[dataset.visits.budget]
epsilon = 1000000
delta = 1e-6

[dataset.visits.analysts]
ann = { epsilon = 500000, delta = 1e-6 }
bob = { epsilon = 1 }

[dataset.other]
source = "other.parquet"
unit = "each row"

[dataset.other.columns]
cost = { type = "real", bounds = [0, 100], grid = 0.5 }

[dataset.other.budget]
epsilon = 1000000

[dataset.other.analysts]
ann = { epsilon = 1000000 }
"""


@pytest.fixture
def policy(tmp_path):
    write(tmp_path)
    write(tmp_path, name="other")
    path = tmp_path / "policy.toml"
    path.write_text(POLICY)
    return path


def test_several_data_sets_in_one_policy(policy):
    with discreet.open(policy, analyst="ann") as session:
        visits = session.sql(COUNT, epsilon=EXACT)
        other = session.sql("SELECT SUM(cost) FROM other", epsilon=EXACT)
        assert visits.columns[0].values == (5,)
        assert other.columns[0].values == (161.5,)
        assert session.balance("visits").remaining["epsilon"] == 500000 - EXACT
        assert session.balance("other").remaining["epsilon"] == 1000000 - EXACT
        for text in (
            "SELECT COUNT(*) FROM visits, other",
            "SELECT COUNT(cost) FROM visits",
            "SELECT COUNT(*) FROM visits WHERE age > (SELECT MAX(cost) FROM other)",
        ):
            with pytest.raises(discreet.DiscreetError):
                session.sql(text, epsilon=1)


def test_each_analyst_has_a_cap_and_all_have_one_together(policy):
    with discreet.open(policy, analyst="bob") as session:
        session.sql(COUNT, epsilon=1)
        with pytest.raises(discreet.DiscreetError) as refusal:
            session.sql("SELECT SUM(age) FROM visits", epsilon=1)
        assert refusal.value.code == "insufficient_budget"
    with discreet.open(policy, analyst="ann") as session:
        assert session.balance("visits").remaining["epsilon"] == 500000
        answer = session.sql(COUNT, epsilon=1)  # bob's answer, charged to ann once
        assert answer.cost.epsilon == 1
        assert session.balance("visits").remaining["epsilon"] == 499999


def test_an_analyst_must_be_named(policy):
    with pytest.raises(InvalidInput, match="ann, bob"):
        discreet.open(policy, analyst="eve")
    with pytest.raises(InvalidInput):
        discreet.open(policy)


def test_changing_one_person_is_honoured_from_end_to_end(policy):
    with discreet.open(policy, analyst="ann") as session:
        plain = session.plan(COUNT, epsilon=1)
        grouped = session.plan("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=1)
        summed = session.plan("SELECT SUM(age) FROM visits", epsilon=1)
        assert plain.noise.sensitivities[0].l1 == 2
        assert grouped.noise.sensitivities[0].l1 == 4
        assert summed.noise.sensitivities[0].l1 == 220
        assert {str(event.relation) for event in plain.events} == {"change_one"}
        answer = session.sql("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=1)
        assert "changed" in answer.statement()


def test_a_policy_says_all_there_is_to_say(policy):
    with pytest.raises(InvalidInput, match="a policy file says this itself"):
        discreet.open(policy, analyst="ann", epsilon=3)


def test_what_is_missing_is_asked_for(tmp_path):
    path = write(tmp_path)
    with pytest.raises(InvalidInput, match="nobody can be protected"):
        discreet.open(path, epsilon=1)
    with pytest.raises(InvalidInput, match="budget"):
        discreet.open(path, unit="who", rows_per_unit=1)
    with pytest.raises(InvalidInput, match="could not be read"):
        discreet.open(tmp_path / "nothing.parquet", unit="who", rows_per_unit=1, epsilon=1)
    with pytest.raises(InvalidInput):
        discreet.open(path, unit="nobody", rows_per_unit=1, epsilon=1)


def test_a_csv_file_is_text_with_declared_types(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("who,age,ward\n1,30,north\n2,x,south\n3,,north\n,50,north\n")
    with discreet.open(
        path,
        unit="who",
        rows_per_unit=1,
        bounds={"age": (0, 110)},
        keys={"ward": ["north", "south"]},
        epsilon=10**6,
    ) as session:
        answer = session.sql(
            "SELECT ward, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward", epsilon=EXACT
        )
    assert [c.values for c in answer.columns] == [("north", "south"), (2, 1), (30, 0)]


def test_a_table_of_a_duckdb_file(tmp_path):
    import duckdb

    path = tmp_path / "h.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT i AS who, i AS age FROM RANGE(9) t(i)")
    with discreet.open(
        path,
        table="main.visits",
        unit="who",
        rows_per_unit=1,
        bounds={"age": (0, 110)},
        epsilon=10**6,
    ) as session:
        assert session.sql("SELECT SUM(age) FROM visits", epsilon=EXACT).columns[0].values == (36,)


def test_a_pattern_opens_all_of_its_files_beside_them(tmp_path):
    for part in range(2):
        folder = tmp_path / f"part{part}"
        folder.mkdir()
        more = {"Cost": [1.0] * 3} if part else {}
        pq.write_table(pa.table({"who": [1, 2, 3], **more}), folder / "visits.parquet")
    with discreet.open(
        tmp_path / "*" / "visits.parquet",
        unit="each row",
        bounds={"Cost": (0, 5)},
        grids={"Cost": 1},
        epsilon=10**6,
    ) as session:
        answer = session.sql("SELECT COUNT(*), SUM(cost) FROM visits", epsilon=EXACT)
        assert [column.values for column in answer.columns] == [(6,), (3,)]
    assert (tmp_path / ".discreet" / "ledger.db").exists()


def test_a_delta_is_compared_with_the_number_of_people(tmp_path):
    with pytest.raises(InvalidPolicy, match="is 1/1000 or more"):
        ward(tmp_path, people=1000, delta=1e-3)
    with pytest.raises(InvalidPolicy, match="nothing says how many there are"):
        ward(tmp_path, delta=1e-2)
    with ward(tmp_path, people=99, delta=1e-2):
        pass


ELSEWHERE = """
import sys, discreet
path, mode = sys.argv[1:]
with discreet.open(path, unit="who", rows_per_unit=1, mode=mode, epsilon=10**6) as session:
    at = "SELECT COUNT(*) FROM zoned WHERE at = TIMESTAMP '2025-01-01 20:00:00'"
    print(session.sql(at, epsilon=10**5).columns[0].values)
"""


@pytest.mark.parametrize("mode", ["snapshot", "live"])
def test_a_moment_with_a_zone_is_in_utc_wherever_it_is_asked(mode, tmp_path):
    """People are told apart by UUIDs here, which are text."""
    path = tmp_path / "zoned.parquet"
    moment = "TIMESTAMPTZ '2025-01-01 22:00:00+02'"
    select(f"SELECT uuid() AS who, {moment} AS at FROM RANGE(9)", path)
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(path), mode],
        env=os.environ | {"TZ": "Asia/Kolkata"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "(9,)\n", done.stderr


def test_live_rows_are_read_anew_and_only_a_key_makes_two_questions_one(tmp_path):
    with ward(tmp_path, mode="live", epsilon=4 * 10**6) as session:
        first = session.sql(COUNT, epsilon=EXACT, key="a")
        write(tmp_path, ROWS[:2])
        again = session.sql(COUNT, epsilon=EXACT)
        retried = session.sql(COUNT, epsilon=EXACT, key="a")
    assert first.columns[0].values == retried.columns[0].values == (5,)
    assert again.columns[0].values == (2,)
    assert (first.stored, again.stored, retried.stored) == (False, False, True)


def test_names_of_data_sets_cannot_climb_out_of_their_folder(tmp_path):
    with ward(tmp_path, name="../../odd name/x") as session:
        answer = session.sql('SELECT COUNT(*) FROM "../../odd name/x"', epsilon=EXACT)
        assert answer.columns[0].values == (5,)
    found = list(tmp_path.rglob("*.duckdb"))
    assert [path.parent for path in found] == [tmp_path / ".discreet" / "snapshots"]


def test_a_table_that_is_not_declared_is_unknown(tmp_path):
    with ward(tmp_path) as session, pytest.raises(UnknownName, match="the tables are: visits"):
        session.sql("SELECT COUNT(*) FROM patients", epsilon=1)
