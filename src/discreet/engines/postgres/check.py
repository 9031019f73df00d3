"""What a connection can and cannot do, for the curator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from discreet.engines.grants import Wanted
from discreet.engines.postgres.connection import Connection, connect, reading
from discreet.engines.postgres.engine import Postgres
from discreet.engines.secret import Secret

_GRANTS = "discreet engine postgres --grants --policy policy.toml"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact, and what to do if it is not as it should be."""

    about: str
    state: Literal["fine", "note", "wrong"]
    says: str
    hint: str | None = None


def check(secret: Secret, wanted: list[Wanted]) -> list[Finding]:
    """All that is worth knowing before the first question. Nothing is written, no row is read."""
    with contextlib.closing(connect(secret)) as connection, reading(connection):
        found = [*_server(connection), *_role(connection)]
        for each in wanted:
            found += [*_table(connection, each), *_snapshots(secret, connection, each)]
    return found


def _server(connection: Connection) -> Iterator[Finding]:
    version = connection.info.server_version
    says = f"PostgreSQL {version // 10_000}.{version % 10_000}"
    local = connection.info.host.startswith("/")
    if connection.pgconn.ssl_in_use:
        says += ", encrypted by TLS"
    elif local:
        says += ", through a socket on this machine"
    yield Finding("server", "fine", says)
    if not local and not connection.pgconn.ssl_in_use:
        yield Finding(
            "server",
            "note",
            "what is sent is not encrypted.",
            "sslmode=verify-full in the connection string",
        )


def _role(connection: Connection) -> Iterator[Finding]:
    ((name, database, *powers),) = connection.execute(_ROLE).fetchall()
    words = ("a superuser", "exempt from row security", "able to make roles", "able to replicate")
    held = [word for word, power in zip(words, powers, strict=True) if power]
    yield Finding("role", "fine", f'"{name}" in the database "{database}"')
    if held:
        yield Finding("role", "note", f"it is {', '.join(held)}, and needs none of it.", _GRANTS)


def _table(connection: Connection, wanted: Wanted) -> Iterator[Finding]:
    about = f"{wanted.schema}.{wanted.table}"
    names = {"schema": wanted.schema, "table": wanted.table}
    rows = connection.execute(_READABLE, names).fetchall()
    readable = {name for name, may, *_ in rows if may}
    missing = [name for name in wanted.columns if name not in {name for name, *_ in rows}]
    hidden = [name for name in wanted.columns if name not in readable and name not in missing]
    if not rows:
        yield Finding(about, "wrong", "there is no such table.", 'table = "hospital.visits"')
    elif missing:
        yield Finding(about, "wrong", f"it has no column {', '.join(missing)}.", "edit the policy")
    elif hidden or not rows[0][2]:
        what = f"the columns {', '.join(hidden)}" if hidden else "its schema"
        yield Finding(about, "wrong", f"the role may not read {what}.", _GRANTS)
    else:
        yield Finding(about, "fine", "the role may read every column that the policy declares.")
    if rows and rows[0][3]:
        yield Finding(about, "note", "the role may also change it.", _GRANTS)
    if rows and rows[0][4]:
        yield Finding(
            about, "note", "row security decides which rows the role sees: only they are counted."
        )


def _snapshots(secret: Secret, connection: Connection, wanted: Wanted) -> Iterator[Finding]:
    if wanted.snapshots is None:
        return
    about = f"schema {wanted.snapshots}"
    with contextlib.closing(Postgres(secret, "", name="", schema=wanted.snapshots)) as engine:
        why = engine.obstacle()
    if why is not None:
        yield Finding(
            about,
            "note",
            f"{why} Every question then reads the source itself, which is slower, and one asked "
            "twice costs twice.",
            _GRANTS,
        )
    else:
        yield Finding(about, "fine", "snapshots can be kept here.")
    others = connection.execute(_OTHERS, [wanted.snapshots]).fetchall()
    if others:
        names = ", ".join(str(name) for (name,) in others)
        yield Finding(
            about, "note", f"others may look into it: {names}.", "REVOKE ALL ON SCHEMA ... FROM ..."
        )


_ROLE = """
    SELECT current_user, current_database(), rolsuper, rolbypassrls, rolcreaterole, rolreplication
    FROM pg_roles WHERE rolname = current_user
"""
_READABLE = """
    SELECT attname, has_column_privilege(pg_class.oid, attnum, 'SELECT'),
        has_schema_privilege(relnamespace, 'USAGE'),
        has_table_privilege(pg_class.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'), relrowsecurity
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
    WHERE nspname = %(schema)s AND relname = %(table)s
      AND relkind IN ('r', 'p', 'v', 'm', 'f')
    ORDER BY attnum
"""
_OTHERS = """
    SELECT DISTINCT COALESCE(pg_roles.rolname, 'everybody')
    FROM pg_namespace, aclexplode(nspacl) AS given
    LEFT JOIN pg_roles ON pg_roles.oid = given.grantee
    WHERE nspname = %s AND given.grantee <> nspowner
      AND pg_roles.rolname IS DISTINCT FROM current_user
    ORDER BY 1
"""
