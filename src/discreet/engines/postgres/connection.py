"""Connections to PostgreSQL on which the same words always mean the same."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, LiteralString, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict

from discreet.engines.secret import Secret
from discreet.engines.words import LOG, unreachable
from discreet.errors import InvalidInput, Unsupported

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

OLDEST = 14
"""The oldest PostgreSQL that is still maintained, and the oldest that is tested."""

_DEFAULTS = {
    "application_name": "discreet",
    "connect_timeout": "10",
    # A server that is gone without a word is noticed within a minute.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}

# Said in every transaction rather than once: neither a role's own settings, nor a pooler that
# lends the same connection to others, nor a function in a view can leave another meaning behind.
# Nothing is found by a name alone but what PostgreSQL itself defines.
_SETTINGS: LiteralString = """;
    SET LOCAL search_path = pg_catalog, pg_temp;
    SET LOCAL client_encoding = 'UTF8';
    SET LOCAL TimeZone = 'UTC';
    SET LOCAL DateStyle = 'ISO, YMD';
    SET LOCAL IntervalStyle = 'postgres';
    SET LOCAL extra_float_digits = 1;
    SET LOCAL standard_conforming_strings = on;
    SET LOCAL transform_null_equals = off;
    SET LOCAL default_table_access_method = heap;
    SET LOCAL idle_in_transaction_session_timeout = '10min'
"""
_READING: LiteralString = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY" + _SETTINGS
_WRITING: LiteralString = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE" + _SETTINGS


def connect(secret: Secret) -> Connection:
    """A connection to a server that is fit for this."""
    address = secret.reveal()
    try:
        named = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        raise InvalidInput(
            f"what {secret} holds is not a connection string of PostgreSQL.",
            hint="postgresql://reader@host:5432/database, or host=... dbname=... user=...",
        ) from None
    settings = {**_DEFAULTS, **{name: str(value) for name, value in named.items()}}
    try:
        connection = psycopg.connect(autocommit=True, prepare_threshold=None, **settings)  # type: ignore[arg-type]
    except (psycopg.Error, OSError) as error:
        LOG.error("PostgreSQL, by %s: %s", secret, redacted(str(error), address))
        raise unreachable("PostgreSQL", str(secret)) from None
    try:
        _require_fitness(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def redacted(text: str, address: str) -> str:
    """What a server or a driver said, without the secrets of the connection string."""
    with contextlib.suppress(psycopg.ProgrammingError):
        hidden = [
            str(value)
            for name, value in conninfo_to_dict(address).items()
            if "password" in name or name == "sslkey"
        ]
        for secret in sorted([address, *hidden], key=len, reverse=True):
            text = text.replace(secret, "***") if secret else text
    return text


def _require_fitness(connection: Connection) -> None:
    version = connection.info.server_version // 10_000
    if version < OLDEST:
        raise Unsupported(
            f"the server is PostgreSQL {version}; {OLDEST} is the oldest that is supported.",
            hint=f"upgrade it to {OLDEST} or later",
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise Unsupported(
            f"the database's encoding is {encoding}, and only UTF8 holds the same text in every "
            "engine.",
            hint="CREATE DATABASE hospital ENCODING 'UTF8' TEMPLATE template0",
        )


@contextlib.contextmanager
def reading(connection: Connection, *, timeout: float | None = None) -> Iterator[None]:
    """A transaction that sees one state of the data and can change nothing."""
    with _transaction(connection, _READING, timeout=timeout, patience="60s"):
        yield


@contextlib.contextmanager
def writing(connection: Connection, *, patience: str = "30min") -> Iterator[None]:
    """A transaction of ours, which waits for a lock no longer than its patience."""
    with _transaction(connection, _WRITING, timeout=None, patience=patience):
        yield


@contextlib.contextmanager
def _transaction(
    connection: Connection, begin: LiteralString, *, timeout: float | None, patience: str
) -> Iterator[None]:
    connection.execute(begin)
    try:
        milliseconds = 0 if timeout is None else max(1, round(timeout * 1000))
        connection.execute(
            "SELECT pg_catalog.set_config('statement_timeout', %s, true), "
            "pg_catalog.set_config('lock_timeout', %s, true)",
            [f"{milliseconds}ms", patience],
        )
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(psycopg.Error):
            connection.execute("ROLLBACK")
        raise
