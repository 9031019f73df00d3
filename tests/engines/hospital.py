"""A hospital's database, with names that nobody should hear."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import psycopg
import pytest

from discreet.engines.words import LOG
from tests.ledger.private_postgres import PrivatePostgres

SECRET = "ALICE-SECRET"
PASSWORD = "hunter2-never-shown"

VISITS = f"""
    CREATE SCHEMA hospital;
    CREATE TABLE hospital.visits (
        patient_id bigint, ward text, age integer, cost double precision, day date, name text);
    INSERT INTO hospital.visits SELECT i / 4, (ARRAY['north', 'south', NULL])[1 + i % 3], i % 90,
        i * 0.25, date '2026-01-01' + i % 28, '{SECRET}-' || i FROM generate_series(0, 999) AS i
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PrivatePostgres]:
    """A PostgreSQL for the tests of one file, some of which crash it."""
    running = PrivatePostgres()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def database(server: PrivatePostgres) -> str:
    """The address of a database there."""
    return str(server.database())


class Hospital:
    """One database of a server, its administrator, and the connection strings of its roles."""

    def __init__(self, server: PrivatePostgres, address: str) -> None:
        self.server, self.administrator = server, address
        self._roles: list[str] = []

    def __enter__(self) -> Self:
        self.execute(VISITS)
        return self

    def __exit__(self, *_: object) -> None:
        # The database is used again: a new one for each test would take most of the time.
        for role in self._roles:
            self.execute(f"DROP OWNED BY {role} CASCADE", f"DROP ROLE {role}")
        self.execute("DROP SCHEMA hospital, public CASCADE", "CREATE SCHEMA public")
        self.execute("DROP SCHEMA IF EXISTS discreet CASCADE")

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        """Let the administrator do something; the rows of the last statement."""
        with psycopg.connect(self.administrator, autocommit=True) as connection:
            for statement in statements:
                done = connection.execute(statement)
            return done.fetchall() if done.description else []

    def role(self, *grants: str, name: str | None = None) -> str:
        """The connection string of a new role, its password in it, and what it may do."""
        made = name or f"role_{uuid.uuid4().hex[:12]}"
        self._roles.append(made)
        self.execute(f"CREATE ROLE {made} LOGIN", *(each.format(made) for each in grants))
        return self.administrator.replace("user=postgres", f"user={made}&password={PASSWORD}")

    def backends(self, waiting_for: str) -> list[int]:
        """The processes that wait for an event, such as ``PgSleep`` or ``relation``."""
        found = self.execute(
            "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state = 'active' "
            f"AND datname = current_database() AND wait_event = '{waiting_for}'"
        )
        return [pid for (pid,) in found]


OWN_SCHEMA = "CREATE SCHEMA discreet AUTHORIZATION {0}"
READER = ("GRANT USAGE ON SCHEMA hospital TO {0}", "GRANT SELECT ON hospital.visits TO {0}")


class Kept(logging.Handler):
    """Whatever a logger says."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def curator() -> Iterator[list[str]]:
    """What the curator's log hears meanwhile."""
    handler = Kept()
    LOG.addHandler(handler)
    try:
        yield handler.lines
    finally:
        LOG.removeHandler(handler)
