"""The engine is a line in the policy: the same answers, charges and words from PostgreSQL."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.answer import Answer
from discreet.engines.grants import Wanted, grants
from discreet.errors import DiscreetError, EngineFailed, InvalidInput
from discreet.ledger import create
from discreet.session.data import Snapshot
from discreet.session.session import Session
from discreet.sql.hashing import digest
from tests.engines.hospital import (
    OWN_SCHEMA,
    PASSWORD,
    READER,
    SECRET,
    Hospital,
    curator,
)
from tests.session.made import EXACT

KEY = "5e" * 32
COLUMNS = ("patient_id", "ward", "age", "cost", "day")
POLICY = """
[dataset.visits]
source = {source}
unit = "patient_id"
rows_per_unit = 3
mode = "{mode}"
delta_per_query = 1e-9
[dataset.visits.columns]
patient_id = {{ type = "integer" }}
ward = {{ type = "text", keys = ["north", "south", "west"] }}
age = {{ type = "integer", bounds = [0, 80] }}
cost = {{ type = "real", bounds = [0, 200], grid = 0.5 }}
day = {{ type = "date" }}
[dataset.visits.budget]
epsilon = 4000000
delta = 1e-3
accountant = "approximate"
[dataset.visits.analysts]
ann = {{ epsilon = 4000000, delta = 1e-3 }}
"""
IN_POSTGRES = '{ kind = "postgres", table = "hospital.visits", connection = "env:HOSPITAL_DSN" }'

QUERIES = [
    "SELECT COUNT(*), COUNT(age), SUM(age), AVG(cost), SUM(cost) FROM visits",
    "SELECT COUNT(DISTINCT patient_id) FROM visits",
    "SELECT ward, COUNT(*), AVG(age), SUM(cost) FROM visits GROUP BY ward",
    "SELECT ward, COUNT(DISTINCT patient_id) FROM visits WHERE age >= 30 GROUP BY ward",
    "SELECT day, COUNT(*), SUM(age) FROM visits GROUP BY day",
    "SELECT EXTRACT(isodow FROM day) AS d, COUNT(*) FROM visits GROUP BY d",
    "SELECT DATE_TRUNC('week', day) AS w, AVG(cost) FROM visits GROUP BY w",
    "SELECT age % 7 AS a, COUNT(*) FROM visits WHERE ward IS NULL GROUP BY a",
    "SELECT UPPER(ward) || '!' AS u, COUNT(*) FROM visits GROUP BY u",
    "SELECT SUM(CLAMP(age * cost / 3, 0, 1000)), SUM(CLAMP(ROUND(cost / 7), -5, 9)) FROM visits",
    "SELECT CASE WHEN age < 18 THEN 'young' ELSE 'old' END AS g, SUM(cost) FROM visits GROUP BY g",
    "SELECT COUNT(*) FROM visits WHERE ward LIKE 'n%' AND day > DATE '2026-01-05'",
]


@pytest.fixture
def hospital(server, database, monkeypatch) -> Iterator[Hospital]:
    with Hospital(server, database) as made:
        monkeypatch.setenv("HOSPITAL_DSN", made.role(*READER, OWN_SCHEMA))
        yield made


def opened(folder: Path, *, source: str = IN_POSTGRES, mode: str = "snapshot") -> Session:
    """A session by a policy in a folder of its own, with the key that all of them share."""
    home = folder / ".discreet"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (home / "ledger.db").exists():  # without it, the key would be that of a lost one
        create(home / "ledger.db").close()
    (home / "key").write_text(KEY + "\n")
    path = folder / "policy.toml"
    path.write_text(POLICY.format(source=source, mode=mode))
    return discreet.open(path, analyst="ann")


def exact(session: Session, text: str) -> dict[Any, list[int]]:
    """What a query measures before noise, by group."""
    found = session.aggregate(session.plan(text, epsilon=1))
    keys = [c if isinstance(c, tuple) else tuple(c.to_pylist()) for c in found.keys]
    groups = zip(*keys, strict=True) if keys else [()]
    return {
        group: [int(values[place]) for values in found.values] for place, group in enumerate(groups)
    }


def cells(answer: Answer) -> list[tuple[Any, ...]]:
    """The numbers of an answer, row by row."""
    return list(zip(*(column.values for column in answer.columns), strict=True))


def there(session: Session) -> Snapshot:
    found = session.snapshot()
    assert found is not None
    return found


def test_the_same_integers_come_from_postgres_and_duckdb(hospital, tmp_path):
    rows = hospital.execute(f"SELECT {', '.join(COLUMNS)} FROM hospital.visits")
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "visits.parquet")
    (tmp_path / "duckdb").mkdir()
    with (
        opened(tmp_path / "duckdb", source='"../visits.parquet"') as files,
        opened(tmp_path / "snapshot") as snapshot,
        opened(tmp_path / "live", mode="live") as live,
    ):
        for text in QUERIES:
            expected = exact(files, text)
            assert exact(snapshot, text) == expected, text
            assert exact(live, text) == expected, text
            assert any(any(values) for values in expected.values()), text
        place = there(snapshot).place
        assert place.startswith("discreet.visits_")
        assert live.snapshot() is None


def test_an_answer_is_stored_and_a_refresh_goes_on_with_the_budget(hospital, tmp_path):
    text = "SELECT COUNT(*) FROM visits"
    with opened(tmp_path) as session:
        first = session.sql(text, epsilon=EXACT)
        again = session.sql(text, epsilon=EXACT)
        assert (first.stored, again.stored) == (False, True)
        hospital.execute("DELETE FROM hospital.visits WHERE patient_id >= 10")
        assert session.sql(text, epsilon=EXACT).stored
        session.prepare(refresh=True)
        left = session.balance().remaining["epsilon"]
        fresh = session.sql(text, epsilon=EXACT)
        assert (fresh.stored, cells(fresh)) == (False, [(30,)])
        assert session.balance().remaining["epsilon"] == left - EXACT
    with opened(tmp_path) as session:
        assert session.sql(text, epsilon=EXACT).stored


def test_a_column_of_another_type_makes_the_snapshot_anew(hospital, tmp_path):
    with opened(tmp_path) as session:
        first = session.prepare()
    hospital.execute("ALTER TABLE hospital.visits ALTER COLUMN age TYPE numeric")
    with opened(tmp_path) as session:
        assert not there(session).current
        assert session.prepare() != first
        assert exact(session, "SELECT COUNT(age) FROM visits") == {(): [750]}


def test_an_explanation_keeps_the_key_and_the_secret_to_itself(hospital, tmp_path):
    for mode in ("snapshot", "live"):
        with opened(tmp_path / mode, mode=mode) as session:
            said = session.explain(QUERIES[3], epsilon=1)
            ran = session.plan(QUERIES[3], epsilon=1).measurement.sql
            assert (digest(KEY) in ran) == (mode == "live")
            assert digest(KEY) not in repr(said) + str(said)
            assert KEY not in repr(said) + str(said)
            assert PASSWORD not in repr(said) + str(said)
            assert exact(session, QUERIES[3])


def test_two_policies_have_snapshots_of_their_own(hospital, tmp_path):
    with opened(tmp_path / "one") as one:
        one.prepare()
        other = tmp_path / "two"
        (other / ".discreet").mkdir(mode=0o700, parents=True)
        (other / "policy.toml").write_text(POLICY.format(source=IN_POSTGRES, mode="snapshot"))
        with discreet.open(other / "policy.toml", analyst="ann") as two:
            assert two.snapshot() is None
            two.prepare()
            assert there(one).place != there(two).place
            assert there(one).current


# Privileges --------------------------------------------------------------------------------------


def granted(hospital: Hospital, snapshots: str | None) -> str:
    """A role with exactly what is printed, and nothing else."""
    script = grants([Wanted("hospital", "visits", COLUMNS, snapshots)], role="printed")
    with psycopg.connect(hospital.administrator, autocommit=True) as connection:
        connection.execute(script)
    hospital._roles.append("printed")
    return hospital.administrator.replace("user=postgres", "user=printed")


@pytest.mark.parametrize("snapshots", ["discreet", None])
def test_the_printed_grants_are_enough_and_no_more(
    server, database, tmp_path, monkeypatch, snapshots
):
    with Hospital(server, database) as hospital, curator() as heard:
        address = granted(hospital, snapshots)
        monkeypatch.setenv("HOSPITAL_DSN", address)
        with opened(tmp_path) as session:
            answer = session.sql("SELECT COUNT(*) FROM visits", epsilon=EXACT)
            assert cells(answer) == [(750,)]
            why = session.obstacle()
        if snapshots is None:
            # Not a failure: each query reads the source, and the curator is told why.
            assert answer.snapshot == "live"
            assert "there is no schema" in str(why)
            assert any(
                "reads the source itself, since there is no schema" in line for line in heard
            )
        else:
            assert answer.snapshot != "live"
            assert why is None
            assert heard == []
        with psycopg.connect(address, autocommit=True) as connection:
            for statement in (
                "SELECT name FROM hospital.visits",
                "SELECT * FROM hospital.visits",
                "BEGIN READ WRITE; DELETE FROM hospital.visits",
                "BEGIN READ WRITE; CREATE TABLE public.mine (a int)",
                "BEGIN READ WRITE; CREATE SCHEMA mine",
                "CREATE TABLE discreet.mine (a int)",
                "CREATE ROLE mine",
            ):
                with pytest.raises(
                    (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction)
                ):
                    connection.execute(statement)
                connection.execute("ROLLBACK")


def test_a_snapshot_that_is_there_is_read_by_a_role_that_could_not_make_it(hospital, tmp_path):
    with opened(tmp_path) as session:
        identity = session.prepare()
    role = hospital._roles[0]
    hospital.execute(f"REVOKE CREATE ON SCHEMA discreet FROM {role}")
    with opened(tmp_path) as session:
        assert session.obstacle() is None
        assert session.sql("SELECT COUNT(*) FROM visits", epsilon=1).snapshot == identity
    hospital.execute("ALTER TABLE hospital.visits ALTER COLUMN age TYPE numeric")
    with opened(tmp_path) as session:
        assert "may not create tables" in str(session.obstacle())
        assert session.sql("SELECT COUNT(*) FROM visits", epsilon=1).snapshot == "live"


def test_a_column_that_the_role_may_not_read_is_named(hospital, tmp_path, monkeypatch):
    address = hospital.role(READER[0], "GRANT SELECT (patient_id, ward) ON hospital.visits TO {0}")
    monkeypatch.setenv("HOSPITAL_DSN", address)
    with opened(tmp_path) as session:
        before = session.balance().remaining
        with pytest.raises(InvalidInput, match="'age'"):
            session.sql("SELECT COUNT(*) FROM visits", epsilon=1)
        assert session.balance().remaining == before


def test_without_a_server_nothing_is_charged(hospital, tmp_path, monkeypatch):
    with opened(tmp_path) as session:
        session.prepare()
    for address in (f"postgresql://reader:{PASSWORD}@127.0.0.1:1/hospital", "", None):
        if address is None:
            monkeypatch.delenv("HOSPITAL_DSN")
        else:
            monkeypatch.setenv("HOSPITAL_DSN", address)
        with opened(tmp_path) as session:
            before = session.balance().remaining
            with pytest.raises(DiscreetError) as failure:
                session.sql("SELECT COUNT(*) FROM visits", epsilon=1)
            assert PASSWORD not in str(failure.value)
            assert session.balance().remaining == before


# Faults ------------------------------------------------------------------------------------------

SLOW = """
    CREATE TABLE hospital.slow ();
    CREATE VIEW hospital.slowly AS SELECT * FROM hospital.visits
    WHERE patient_id <> 7 OR NOT EXISTS (SELECT FROM hospital.slow)
       OR pg_sleep(600)::text IS NOT NULL;
    GRANT SELECT ON hospital.slowly TO PUBLIC
"""
SLOWLY = IN_POSTGRES.replace("visits", "slowly")


def asked(session: Session, **settings: Any) -> tuple[threading.Thread, list[Any]]:
    """Ask in a thread, and keep what comes of it."""
    became: list[Any] = []

    def ask() -> None:
        try:
            became.append(session.sql("SELECT ward, COUNT(*) FROM visits GROUP BY 1", **settings))
        except DiscreetError as failure:
            became.append(failure)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    return asking, became


def waiting(hospital: Hospital, event: str, asking: threading.Thread) -> int:
    """The process that waits for an event, as soon as there is one."""
    while not (found := hospital.backends(event)):
        assert asking.is_alive()
        time.sleep(0.01)
    return found[0]


def retried(session: Session, before: Any, became: list[Any]) -> Answer:
    """After a fault: a clear error, the charge kept, the retry answered once and free."""
    (failure,) = became
    assert type(failure) is EngineFailed
    assert "if it was charged, it stays charged" in str(failure)
    assert "ask again with the same key" in str(failure)
    assert SECRET not in str(failure)
    assert PASSWORD not in str(failure)
    charged = session.balance().remaining["epsilon"]
    assert charged == before["epsilon"] - EXACT
    text = "SELECT ward, COUNT(*) FROM visits GROUP BY 1"
    answers = [session.sql(text, epsilon=EXACT, key="k") for _ in range(3)]
    assert session.balance().remaining["epsilon"] == charged
    assert [answer.stored for answer in answers] == [False, True, True]
    assert len({repr(cells(answer)) for answer in answers}) == 1
    assert cells(answers[0]) == [(ward, count) for (ward,), [count] in exact(session, text).items()]
    return answers[0]


Fault = Callable[[Hospital, int], None]


def kill(hospital: Hospital, pid: int) -> None:
    hospital.execute(f"SELECT pg_terminate_backend({pid})")


def crash(hospital: Hospital, pid: int) -> None:
    hospital.server.crash()
    hospital.server.start()


@pytest.mark.parametrize("fault", [kill, crash], ids=["backend killed", "server crashed"])
@pytest.mark.parametrize("mode", ["snapshot", "live"])
def test_a_fault_in_the_middle_keeps_the_charge_and_the_retry_is_answered_once(
    hospital, tmp_path, mode, fault
):
    hospital.execute(SLOW)
    with opened(tmp_path, source=SLOWLY, mode=mode) as session:
        session.prepare()
        before = session.balance().remaining
        if mode == "live":
            hospital.execute("INSERT INTO hospital.slow DEFAULT VALUES")
            asking, became = asked(session, epsilon=EXACT, key="k")
            fault(hospital, waiting(hospital, "PgSleep", asking))
            asking.join()
            hospital.execute("TRUNCATE hospital.slow")
        else:
            # The query stands still because somebody holds its table.
            with psycopg.connect(hospital.administrator) as holder:
                name = there(session).place.removesuffix("*")
                (table,) = holder.execute(
                    "SELECT oid::regclass::text FROM pg_class "
                    "WHERE starts_with(oid::regclass::text, %s)",
                    [name],
                ).fetchone() or ("",)
                holder.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
                asking, became = asked(session, epsilon=EXACT, key="k")
                fault(hospital, waiting(hospital, "relation", asking))
                asking.join()
                if fault is kill:
                    holder.rollback()
                else:
                    holder.close()
        retried(session, before, became)


def test_a_query_that_is_cancelled_stays_charged_too(hospital, tmp_path):
    hospital.execute(SLOW, "INSERT INTO hospital.slow DEFAULT VALUES")
    with opened(tmp_path, source=SLOWLY, mode="live") as session:
        before = session.balance().remaining
        asking, became = asked(session, epsilon=EXACT, key="k")
        waiting(hospital, "PgSleep", asking)
        session.cancel()
        asking.join()
        hospital.execute("TRUNCATE hospital.slow")
        retried(session, before, became)


def test_a_question_that_takes_longer_than_the_policy_allows_stays_charged(hospital, tmp_path):
    hospital.execute(SLOW, "INSERT INTO hospital.slow DEFAULT VALUES")
    limited = SLOWLY.replace(" }", ", timeout = 1 }")
    with opened(tmp_path, source=limited, mode="live") as session, curator() as heard:
        before = session.balance().remaining
        asking, became = asked(session, epsilon=EXACT, key="k")
        asking.join()
        assert "statement timeout" in "".join(heard)
        hospital.execute("TRUNCATE hospital.slow")
        retried(session, before, became)


ODD = """
    INSERT INTO hospital.visits VALUES
        (NULL, 'north', 1, 1, '2026-01-01', ''),
        (5000, '', -2147483648, 'NaN', 'infinity', ''),
        (5000, NULL, 2147483647, 'Infinity', '-infinity', ''),
        (9223372036854775807, repeat('x', 100000), NULL, '-Infinity', '4714-11-24 BC', ''),
        (-9223372036854775808, E'\\n"''\\\\', 0, '5e-324', '5874897-12-31', ''),
        (0, 'north', 5, '-0', NULL, '')
"""


def test_no_cell_can_make_a_query_fail(hospital, tmp_path):
    with opened(tmp_path / "snapshot") as snapshot, opened(tmp_path / "live", mode="live") as live:
        plain = {text: exact(snapshot, text) for text in QUERIES}
        hospital.execute(ODD)
        snapshot.prepare(refresh=True)
        for text in QUERIES:
            odd = exact(snapshot, text)
            assert exact(live, text) == odd, text
            assert set(plain[text]) <= set(odd), text
