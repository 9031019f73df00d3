"""PostgreSQL: a snapshot is a table of the role's alone, and a query can change nothing."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import psycopg
import pytest

from discreet.engines.postgres import Postgres
from discreet.engines.secret import Secret
from discreet.errors import DiscreetError, EngineFailed, InvalidInput, Unsupported
from tests.engines.hospital import OWN_SCHEMA, PASSWORD, READER, SECRET, Hospital, curator
from tests.ledger.private_postgres import PrivatePostgres

SOURCE = '"hospital"."visits"'
SELECT = f"SELECT * FROM {SOURCE}"
COUNT = "SELECT COUNT(*) AS c FROM snapshot"


@pytest.fixture
def hospital(server, database) -> Iterator[Hospital]:
    with Hospital(server, database) as made:
        yield made


@pytest.fixture
def address(hospital: Hospital, monkeypatch) -> str:
    """The connection string of a role with all that it needs."""
    made = hospital.role(*READER, OWN_SCHEMA)
    monkeypatch.setenv("HOSPITAL_DSN", made)
    return made


def engine_of(**settings) -> Postgres:
    return Postgres(Secret("env:HOSPITAL_DSN"), SOURCE, name="visits_0", **settings)


@pytest.fixture
def engine(address) -> Iterator[Postgres]:
    made = engine_of()
    yield made
    made.close()


def counted(engine: Postgres, snapshot: str | None = None) -> int:
    (found,) = engine.run(COUNT, snapshot=snapshot).column("c").to_pylist()
    return int(found)


def tables(hospital: Hospital) -> list[str]:
    found = hospital.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('discreet') ORDER BY 1"
    )
    return [name for (name,) in found]


# The snapshot ------------------------------------------------------------------------------------


def test_a_snapshot_is_a_table_that_nobody_else_may_read(engine, hospital):
    role = hospital.execute("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'discreet'")
    hospital.role(name="clerk")
    hospital.execute(
        f"ALTER DEFAULT PRIVILEGES FOR ROLE {role[0][0]} GRANT SELECT ON TABLES TO PUBLIC, clerk"
    )
    told: list[float] = []
    identity = engine.prepare(SELECT, definition="v1", progress=told.append)
    kept = engine.snapshot()
    assert kept[:2] == (identity, "v1")
    assert kept.built <= datetime.now(UTC)
    assert counted(engine) == 1000
    assert told == sorted(told)
    assert told[-1] == 1.0
    (name,) = tables(hospital)
    others = hospital.execute(
        "SELECT grantee FROM pg_class, aclexplode(relacl) "
        f"WHERE relname = '{name}' AND grantee <> relowner"
    )
    assert others == []
    (persistence,) = hospital.execute(
        f"SELECT relpersistence FROM pg_class WHERE relname = '{name}'"
    )
    assert persistence == ("p",)


def test_a_failed_build_leaves_the_old_snapshot_and_no_trace(engine, hospital):
    engine.prepare(SELECT, definition="v1")
    before, there = engine.snapshot(), tables(hospital)
    with pytest.raises(EngineFailed):
        engine.prepare(f"SELECT CAST(name AS integer) FROM {SOURCE}", definition="v2")
    assert engine.snapshot() == before
    assert tables(hospital) == there


def test_a_query_reads_the_snapshot_that_it_was_planned_for(engine, hospital):
    first = engine.prepare(SELECT, definition="v1")
    second = engine.prepare(f"{SELECT} WHERE patient_id < 10", definition="v2")
    assert engine.snapshot()[:2] == (second, "v2")
    assert counted(engine, first) == 1000
    assert counted(engine, second) == counted(engine) == 40
    third = engine.prepare(f"{SELECT} WHERE patient_id < 20", definition="v3")
    assert counted(engine, second) == 40
    assert counted(engine, third) == 80
    with pytest.raises(EngineFailed):
        engine.run(COUNT, snapshot=first)
    assert len(tables(hospital)) == 2


def test_what_an_unfinished_build_has_left_is_no_snapshot_and_goes_with_the_next(engine, hospital):
    with psycopg.connect(hospital.administrator, autocommit=True) as connection:
        owner = "SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'discreet'"
        (role,) = connection.execute(owner).fetchone() or ("",)
        connection.execute(f"SET ROLE {role}")
        connection.execute(f"CREATE TABLE discreet.visits_0_unfinished AS {SELECT}")
    assert engine.snapshot() is None
    with pytest.raises(EngineFailed):
        engine.run(COUNT)
    engine.prepare(SELECT)
    assert len(tables(hospital)) == 1
    assert counted(engine) == 1000


@pytest.mark.parametrize(
    "harm",
    [
        "TRUNCATE {0}",
        "VACUUM FULL {0}",
        "ALTER TABLE {0} SET UNLOGGED",
        "COMMENT ON TABLE {0} IS NULL",
        "COMMENT ON TABLE {0} IS '[]'",
        "ALTER TABLE {0} OWNER TO postgres",
        "DROP TABLE {0}",
    ],
)
def test_a_snapshot_that_somebody_has_touched_is_missing_and_not_empty(engine, hospital, harm):
    identity = engine.prepare(SELECT)
    (name,) = tables(hospital)
    hospital.execute(harm.format(f"discreet.{name}"))
    assert engine.snapshot() is None
    for snapshot in (identity, None):
        with pytest.raises(EngineFailed):
            engine.run(COUNT, snapshot=snapshot)
    engine.prepare(SELECT)
    assert counted(engine) == 1000


def test_readers_meet_whole_snapshots_while_others_take_their_place(engine, address):
    engine.prepare(f"{SELECT} WHERE patient_id < 10")
    sizes = {40 * n for n in range(1, 9)}
    done, seen, failures = threading.Event(), [], []

    def read() -> None:
        own = engine_of()
        try:
            while not done.is_set():
                seen.append(counted(own))
                planned = own.snapshot()
                assert planned is not None
                again = [counted(own, planned.id) for _ in range(2)]
                assert len(set(again)) == 1
                seen.extend(again)
        except BaseException as failure:
            failures.append(failure)
        finally:
            own.close()

    readers = [threading.Thread(target=read) for _ in range(4)]
    for each in readers:
        each.start()
    for n in range(2, 9):
        engine.prepare(f"{SELECT} WHERE patient_id < {10 * n}")
    done.set()
    for each in readers:
        each.join()
    # Only who was overtaken twice between planning and asking may have been told to ask again.
    assert [type(each) for each in failures if not isinstance(each, EngineFailed)] == []
    assert seen
    assert set(seen) <= sizes
    assert counted(engine) == 320


def test_a_crash_of_the_server_keeps_the_snapshot(engine, server):
    identity = engine.prepare(SELECT)
    server.crash()
    try:
        with pytest.raises(EngineFailed, match="could not be reached"):
            engine.run(COUNT)
    finally:
        server.start()
    assert counted(engine, identity) == 1000


@pytest.mark.parametrize(
    ("grants", "why"),
    [
        ((), "there is no schema"),
        (("CREATE SCHEMA discreet",), "may not create tables"),
        (("CREATE SCHEMA discreet", "GRANT CREATE ON SCHEMA discreet TO {0}"), "may not create"),
        (("GRANT CREATE ON DATABASE {1} TO {0}",), None),
        ((OWN_SCHEMA,), None),
        ((OWN_SCHEMA, "ALTER ROLE {0} SET default_transaction_read_only = on"), None),
    ],
    ids=["nothing", "no create", "no usage", "database", "schema", "read-only by default"],
)
def test_a_role_that_may_not_write_says_why(hospital, monkeypatch, grants, why):
    database = hospital.execute("SELECT current_database()")[0][0]
    filled = [each.replace("{1}", database) for each in grants]
    monkeypatch.setenv("HOSPITAL_DSN", hospital.role(*READER, *filled))
    engine = engine_of()
    said = engine.obstacle()
    assert (said is None) == (why is None)
    assert (why or "") in (said or "")
    if why is None:
        engine.prepare(SELECT)
        assert counted(engine) == 1000
    assert engine.run_live(f"SELECT COUNT(*) AS c FROM {SOURCE}").to_pylist() == [{"c": 1000}]
    engine.close()


@contextlib.contextmanager
def standby(server: PrivatePostgres) -> Iterator[Path]:
    """The folder of a server that follows another one."""
    data = server.folder / "standby"
    copy = ("-h", server.folder, "-U", "postgres", "-D", data, "-R", "-c", "fast")
    server._run("pg_basebackup", *copy)
    with (data / "postgresql.conf").open("a") as file:
        file.write(f"unix_socket_directories = '{data}'\n")
    log = server.folder / "standby.log"
    server._run("pg_ctl", "-D", data, "-l", log, "-w", "-t", "60", "start")
    try:
        yield data
    finally:
        server._run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(data)


def test_a_standby_reads_the_snapshot_of_its_primary_and_makes_none(
    engine, server, address, monkeypatch
):
    identity = engine.prepare(SELECT)
    with standby(server) as folder:
        monkeypatch.setenv("HOSPITAL_DSN", address.replace(str(server.folder), str(folder)))
        follower = engine_of()
        assert "standby" in (follower.obstacle() or "")
        assert counted(follower, identity) == 1000
        with pytest.raises(EngineFailed):
            follower.prepare(SELECT)
        follower.close()


# Queries -----------------------------------------------------------------------------------------

FORBIDDEN = [
    "INSERT INTO hospital.visits VALUES (1)",
    "UPDATE hospital.visits SET age = 0",
    "DELETE FROM hospital.visits",
    "TRUNCATE hospital.visits",
    "DROP TABLE hospital.visits",
    "CREATE TABLE discreet.copy AS SELECT * FROM hospital.visits",
    "CREATE TABLE public.copy (a int)",
    "SELECT * INTO discreet.copy FROM hospital.visits",
    "CREATE FUNCTION discreet.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE VIEW discreet.v AS SELECT 1",
    "GRANT SELECT ON hospital.visits TO PUBLIC",
    "COMMENT ON TABLE hospital.visits IS 'x'",
    "COPY hospital.visits TO '/tmp/out.csv'",
    "COPY (SELECT 1) TO PROGRAM 'cat'",
    "SELECT pg_catalog.nextval('hospital.numbers')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_create(0)",
    "SELECT COUNT(*) FROM hospital.visits; SELECT 1",
    "SELECT 1; DROP TABLE hospital.visits",
    "COMMIT",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_a_query_can_change_nothing(hospital, monkeypatch, statement):
    # Even for a role that may do everything.
    hospital.execute("CREATE SEQUENCE hospital.numbers")
    may = ["GRANT ALL ON SCHEMA hospital TO {0}", "GRANT ALL ON hospital.visits TO {0}"]
    monkeypatch.setenv("HOSPITAL_DSN", hospital.role(*may, OWN_SCHEMA))
    engine = engine_of()
    engine.prepare(SELECT)
    before = hospital.execute("SELECT xmin::text, COUNT(*) FROM pg_class GROUP BY 1 ORDER BY 1")
    for ask in (engine.run, engine.run_live):
        with pytest.raises(EngineFailed):
            ask(statement)
    assert counted(engine) == 1000
    after = hospital.execute("SELECT xmin::text, COUNT(*) FROM pg_class GROUP BY 1 ORDER BY 1")
    assert after == before
    engine.close()


def test_a_name_means_what_postgres_defines_and_nothing_else(engine, hospital, address):
    engine.prepare(SELECT)
    role = engine.run_live("SELECT current_user::text AS r").to_pylist()[0]["r"]
    hospital.execute(
        "CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE sql AS $$SELECT 'planted'$$",
        "CREATE FUNCTION public.evil(bigint, integer) RETURNS bigint LANGUAGE sql "
        "AS 'SELECT 666::bigint'",
        "CREATE OPERATOR public.+ (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = public.evil)",
        f"ALTER ROLE {role} SET search_path = public, pg_catalog",
    )
    engine.close()
    found = engine.run("SELECT LOWER('X') AS a, 1::bigint + 1 AS b").to_pylist()
    assert found == [{"a": "x", "b": 2}]
    with pytest.raises(EngineFailed):
        engine.run_live("SELECT evil(1, 1)")


ODD = """SELECT 0.1::float8 + 0.2::float8 AS f, date '2026-02-01' AS d,
    timestamp '2026-02-01 12:30:45.000001' AS s, date '0001-01-01' AS first,
    date '9999-12-31' AS last, true AS b, NULL::boolean AS nb, '' AS e, NULL::text AS n,
    E'a\\nb"c,\\\\. é \U0001f642' AS t, 'a\\n' AS backslash, NULL = NULL AS nothing,
    CAST(TIMESTAMPTZ '2026-02-01 00:30:00+02' AS text) AS z,
    9223372036854775807::bigint AS big, SUM(i) AS sum, COUNT(*) AS c, 1::smallint AS small
    FROM (VALUES (9223372036854775807::bigint), (9223372036854775807::bigint)) AS v(i)"""


def test_values_arrive_as_they_are_whatever_the_roles_settings(engine, hospital):
    plain = engine.run_live(ODD).to_pylist()
    assert plain == [
        {
            "f": 0.1 + 0.2,
            "d": date(2026, 2, 1),
            "s": datetime(2026, 2, 1, 12, 30, 45, 1),  # noqa: DTZ001
            "first": date(1, 1, 1),
            "last": date(9999, 12, 31),
            "b": True,
            "nb": None,
            "e": "",
            "n": None,
            "t": 'a\nb"c,\\. é \U0001f642',
            "backslash": "a\\n",
            "nothing": None,
            "z": "2026-01-31 22:30:00+00",
            "big": 2**63 - 1,
            "sum": 2 * (2**63 - 1),
            "c": 2,
            "small": 1,
        }
    ]
    role = engine.run_live("SELECT current_user::text AS r").to_pylist()[0]["r"]
    for setting in (
        "DateStyle = 'German, DMY'",
        "TimeZone = 'Asia/Tokyo'",
        "extra_float_digits = -15",
        "standard_conforming_strings = off",
        "transform_null_equals = on",
        "client_encoding = 'LATIN1'",
        "default_transaction_isolation = 'read uncommitted'",
        "bytea_output = 'escape'",
    ):
        hospital.execute(f"ALTER ROLE {role} SET {setting}")
    engine.close()
    assert engine.run_live(ODD).to_pylist() == plain


def test_nothing_has_the_columns_of_something(engine):
    some = engine.run_live("SELECT 1::bigint AS n, 'a'::text AS t")
    none = engine.run_live("SELECT 1::bigint AS n, 'a'::text AS t WHERE false")
    assert none.num_rows == 0
    assert none.schema == some.schema


def test_many_groups_arrive_in_batches(engine):
    many = "SELECT i AS k, 'x' || i AS t, COUNT(*) AS c FROM generate_series(1, 25000) AS g(i)"
    found = engine.run_live(f"{many} GROUP BY 1, 2")
    assert found.num_rows == 25_000
    assert set(found.column("t").to_pylist()) == {f"x{i}" for i in range(1, 25_001)}


# Failures ----------------------------------------------------------------------------------------

FAULTS = [
    f"SELECT CAST(name AS integer) FROM {SOURCE}",
    f"SELECT 1 / (age - age) FROM {SOURCE}",
    f"SELECT 9223372036854775807 + patient_id FROM {SOURCE}",
    f"SELECT nothing FROM {SOURCE}",
    "SELECT * FROM nothing",
    "SELEC",
    "SELECT point(1, 2)",
]


def test_every_failure_has_the_same_words_and_only_the_curator_hears_others(engine, capfd):
    said = set()
    with curator() as heard:
        for statement in FAULTS:
            with pytest.raises(EngineFailed) as failure:
                engine.run_live(statement)
            said.add(str(failure.value))
            assert failure.value.__cause__ is None
            assert failure.value.__suppress_context__
    assert len(said) == 1
    assert SECRET not in said.pop()
    assert any(SECRET in line for line in heard)
    assert len(heard) == len(FAULTS)
    shown = "".join(capfd.readouterr())
    assert SECRET not in shown
    assert PASSWORD not in shown + "".join(heard)


def test_a_query_that_takes_too_long_is_stopped(engine, address):
    with curator() as heard, pytest.raises(EngineFailed):
        engine.run_live("SELECT pg_sleep(60)::text", timeout=0.05)
    assert "statement timeout" in "".join(heard)
    own = engine_of(timeout=0.05)
    with pytest.raises(EngineFailed):
        own.run_live("SELECT pg_sleep(60)::text")
    assert own.run_live("SELECT 1 AS n").to_pylist() == [{"n": 1}]
    # What makes a snapshot takes as long as it takes.
    own.prepare("SELECT 1 AS n, pg_sleep(0.2)::text AS t")
    own.close()


def waiting(hospital: Hospital, event: str, asking: threading.Thread) -> int:
    """The process that waits for an event, as soon as there is one."""
    while not (found := hospital.backends(event)):
        assert asking.is_alive()
        time.sleep(0.01)
    return found[0]


def outcome(ask) -> tuple[threading.Thread, list[DiscreetError]]:
    """Ask in a thread of its own, and keep how it fails."""
    failures: list[DiscreetError] = []

    def run() -> None:
        try:
            ask()
        except DiscreetError as failure:
            failures.append(failure)

    asking = threading.Thread(target=run, daemon=True)
    asking.start()
    return asking, failures


@pytest.mark.parametrize("ask", ["run_live", "prepare"])
def test_what_is_running_can_be_cancelled(engine, hospital, ask):
    asking, failures = outcome(lambda: getattr(engine, ask)("SELECT 1 AS n, pg_sleep(60)::text"))
    waiting(hospital, "PgSleep", asking)
    engine.cancel()
    asking.join()
    assert [type(each) for each in failures] == [EngineFailed]
    assert engine.snapshot() is None
    assert engine.run_live("SELECT 1 AS n").to_pylist() == [{"n": 1}]


def test_the_interrupt_key_ends_the_query_on_the_server_too(engine, hospital):
    def press() -> None:
        waiting(hospital, "PgSleep", threading.main_thread())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        engine.run_live("SELECT pg_sleep(600)::text")
    while hospital.backends("PgSleep"):
        time.sleep(0.01)
    assert engine.run_live("SELECT 1 AS n").to_pylist() == [{"n": 1}]


@pytest.mark.parametrize("end", ["pg_terminate_backend", "pg_cancel_backend"])
def test_a_backend_that_is_killed_fails_in_the_same_words_and_the_next_query_is_answered(
    engine, hospital, end
):
    engine.prepare(SELECT)
    asking, failures = outcome(
        lambda: engine.run("SELECT COUNT(*), MAX(pg_sleep(60)::text) FROM snapshot")
    )
    pid = waiting(hospital, "PgSleep", asking)
    hospital.execute(f"SELECT {end}({pid})")
    asking.join()
    (failure,) = failures
    assert "the engine could not answer this query" in str(failure)
    assert counted(engine) == 1000


def test_a_connection_that_was_lost_while_nobody_asked_is_opened_again(engine, hospital):
    engine.prepare(SELECT)
    counted(engine)
    hospital.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )
    assert counted(engine) == 1000


def test_a_fork_has_a_connection_of_its_own(engine):
    engine.prepare(SELECT)
    counted(engine)
    fork = multiprocessing.get_context("fork")
    found = fork.Queue()
    child = fork.Process(target=lambda: found.put((counted(engine), engine.close())))
    child.start()
    assert found.get(timeout=60) == (1000, None)
    child.join()
    assert counted(engine) == 1000


# The connection ----------------------------------------------------------------------------------


def test_the_types_are_those_of_the_columns_that_can_be_read(hospital, monkeypatch):
    hospital.execute(
        "CREATE DOMAIN hospital.age AS numeric(5, 2)",
        "CREATE DOMAIN hospital.young AS hospital.age CHECK (VALUE < 18)",
        'CREATE TABLE hospital."Odd ""table" (id integer, "a""b" hospital.young, t varchar(9), '
        "s timestamp(3), z timestamptz, gone text, secret text)",
        'ALTER TABLE hospital."Odd ""table" DROP COLUMN gone',
    )
    columns = 'GRANT SELECT (id, "a""b", t, s, z) ON hospital."Odd ""table" TO {0}'
    monkeypatch.setenv("HOSPITAL_DSN", hospital.role(READER[0], columns))
    odd = Postgres(Secret("env:HOSPITAL_DSN"), '"hospital"."Odd ""table"', name="x")
    assert odd.types() == {
        "id": "integer",
        'a"b': "numeric(5,2)",
        "t": "character varying(9)",
        "s": "timestamp(3) without time zone",
        "z": "timestamp with time zone",
    }
    odd.close()


@pytest.mark.parametrize("source", ['"hospital"."nothing"', '"nowhere"."visits"', SOURCE])
def test_a_table_that_cannot_be_read_is_told_by_its_name(hospital, monkeypatch, source):
    monkeypatch.setenv("HOSPITAL_DSN", hospital.role())
    engine = Postgres(Secret("env:HOSPITAL_DSN"), source, name="x")
    with pytest.raises(InvalidInput, match="there is no table") as failure:
        engine.types()
    assert "--grants" in str(failure.value)
    engine.close()


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_in_another_encoding_is_refused(server, monkeypatch, encoding):
    name = f"old_{encoding.lower()}"
    with psycopg.connect(server.address("postgres"), autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"
        )
    monkeypatch.setenv("HOSPITAL_DSN", server.address(name))
    with pytest.raises(Unsupported, match=f"encoding is {encoding}"):
        engine_of().run(COUNT)


UNREACHABLE = [
    f"postgresql://reader:{PASSWORD}@127.0.0.1:1/hospital",
    f"host=/nowhere dbname=hospital user=reader password={PASSWORD}",
    f"host=/nowhere dbname=hospital user=reader password='{PASSWORD}' nonsense=1",
    f"postgresql://reader:{PASSWORD}@[::1/hospital",
    f"what is this {PASSWORD}",
    f"host=/nowhere sslpassword={PASSWORD} dbname={PASSWORD}",
]


@pytest.mark.parametrize("text", UNREACHABLE, ids=range(len(UNREACHABLE)))
def test_a_connection_string_is_never_repeated(monkeypatch, capfd, text):
    monkeypatch.setenv("HOSPITAL_DSN", text)
    engine = engine_of()
    for ask in (engine.snapshot, engine.types, engine.obstacle, lambda: engine.prepare(SELECT)):
        with curator() as heard, pytest.raises(DiscreetError) as failure:
            ask()
        spoken = [str(failure.value), repr(failure.value), repr(engine), *heard]
        assert all(PASSWORD not in each for each in spoken)
        assert "env:HOSPITAL_DSN" in str(failure.value)
    assert PASSWORD not in "".join(capfd.readouterr())


def test_a_wrong_password_is_not_repeated_either(hospital, server, monkeypatch):
    hba = server.data / "pg_hba.conf"
    before = hba.read_text()
    hba.write_text("local all guarded scram-sha-256\n" + before)
    try:
        hospital.role(name="guarded")
        hospital.execute("ALTER ROLE guarded PASSWORD 'right'", "SELECT pg_reload_conf()")
        wrong = hospital.administrator.replace("user=postgres", f"user=guarded&password={PASSWORD}")
        monkeypatch.setenv("HOSPITAL_DSN", wrong)
        with curator() as heard, pytest.raises(EngineFailed, match="could not be reached") as told:
            engine_of().run(COUNT)
        assert "password authentication failed" in "".join(heard)
        assert PASSWORD not in "".join([*heard, str(told.value)])
    finally:
        hba.write_text(before)
        hospital.execute("SELECT pg_reload_conf()")


def test_without_its_driver_the_engine_says_what_to_install():
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "import discreet.engines.grants, discreet.session.data\n"
        "from discreet.errors import NotInstalled\n"
        "try:\n    import discreet.engines.postgres\n"
        "except NotInstalled as error:\n    assert 'discreet[postgres]' in str(error)\n"
        "else:\n    raise SystemExit('it was there')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
