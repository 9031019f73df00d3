"""The least that a role of PostgreSQL needs, as the SQL that gives it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ROLE = "discreet_reader"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a data set needs of a server."""

    schema: str
    table: str
    columns: tuple[str, ...]
    snapshots: str | None
    """The schema that its snapshot is kept in; none in live mode."""


def grants(wanted: Iterable[Wanted], *, role: str = ROLE) -> str:
    """A script for whoever owns the tables: a role, the columns it may read, a schema of its own.

    >>> print(grants([Wanted("hospital", "visits", ("patient_id", "age"), None)]).splitlines()[-3])
    GRANT SELECT ("patient_id", "age") ON "hospital"."visits" TO "discreet_reader";
    """
    listed = list(wanted)
    who = _name(role)
    lines = [
        "-- What Discreet needs of this database, and nothing else.",
        "-- To be run in it by a superuser:  psql DATABASE --file grants.sql",
        "BEGIN;",
        "",
        "DO $$ BEGIN",
        f"  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {_text(role)}) THEN",
        f"    CREATE ROLE {who} LOGIN",
        "      NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;",
        "  END IF;",
        "  EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I',",
        f"    current_database(), {_text(role)});",
        "END $$;",
        "-- It has no password yet. In psql:  \\password " + role.replace("\n", " "),
        "",
        "-- It writes only in transactions that say so, which are those that make snapshots.",
        f"ALTER ROLE {who} SET default_transaction_read_only = on;",
    ]
    for schema in dict.fromkeys(each.snapshots for each in listed if each.snapshots):
        lines += [
            "",
            "-- Snapshots hold private rows: the schema is the role's alone.",
            f"CREATE SCHEMA IF NOT EXISTS {_name(schema)} AUTHORIZATION {who};",
            f"REVOKE ALL ON SCHEMA {_name(schema)} FROM PUBLIC;",
        ]
    lines += ["", "-- The columns that the policy declares. No other can be read."]
    for schema in dict.fromkeys(each.schema for each in listed):
        lines.append(f"GRANT USAGE ON SCHEMA {_name(schema)} TO {who};")
    for each in listed:
        columns = ", ".join(_name(column) for column in each.columns)
        table = f"{_name(each.schema)}.{_name(each.table)}"
        lines.append(f"GRANT SELECT ({columns}) ON {table} TO {who};")
    return "\n".join([*lines, "", "COMMIT;"]) + "\n"


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
