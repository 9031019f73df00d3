"""PostgreSQL: a snapshot is a table of ours beside the data, or nothing is kept at all."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import psycopg
import pyarrow as pa
from psycopg import sql

from discreet.engines.postgres.connection import Connection, connect, reading, redacted, writing
from discreet.engines.postgres.table import fetch, packed
from discreet.engines.protocol import Kept, Progress
from discreet.engines.secret import Secret
from discreet.engines.words import LOG, failed
from discreet.errors import DiscreetError, InvalidInput

SCHEMA = "discreet"
"""Where snapshots are kept, if the policy names no other place."""

_TABLE = "snapshot"


class _Table(NamedTuple):
    """A snapshot and the table that holds it."""

    name: str
    number: int
    kept: Kept


class Postgres:
    """One source in one database, and its snapshots there if the role may keep any.

    A snapshot is an ordinary table, whose name begins with ``name``. (An unlogged one would be
    written faster, but a crash empties it without a word, and no standby has it.) Its identity is
    its comment: a table is a snapshot from the moment that it has one, and the newest counts. The
    one before it stays for whoever has planned a query on it, so nobody ever waits for another.
    Queries run one at a time, on a connection that is opened again when it is lost.
    """

    table = _TABLE

    def __init__(
        self,
        secret: Secret,
        source: str,
        *,
        name: str,
        schema: str = SCHEMA,
        timeout: float | None = None,
    ) -> None:
        self._secret, self._source = secret, source
        self._schema, self._name = schema, name
        self._timeout = timeout
        self._open: tuple[int, Connection] | None = None
        self._turn = threading.Lock()
        self._running: set[Connection] = set()
        self._stopped = False

    def __repr__(self) -> str:
        return f"Postgres({self._secret.reference!r})"

    @property
    def place(self) -> str:
        """The tables that snapshots are, for people."""
        return f"{self._schema}.{self._name}_*"

    def types(self) -> dict[str, str]:
        """The source's columns, each with the name of its type; a domain is what lies below it."""
        found: dict[str, str] = {}
        with (
            self._connected() as connection,
            # Without the use of its schema the role is told nothing of a table.
            contextlib.suppress(psycopg.errors.InsufficientPrivilege),
            reading(connection),
        ):
            found = dict(connection.execute(_COLUMNS, [self._source]).fetchall())
        if not found:
            raise InvalidInput(
                f"there is no table {self._source} that the role of {self._secret} may read.",
                hint="discreet engine postgres --grants --policy policy.toml",
            )
        return found

    # The snapshot ------------------------------------------------------------------------------

    def obstacle(self) -> str | None:
        """Why the role cannot keep a snapshot, if it cannot."""
        with self._connected() as connection, reading(connection):
            row = connection.execute(_PRIVILEGES, [self._schema]).fetchone()
        standby, exists, in_schema, in_database = row or (True,) * 4
        if standby:
            return "the server is a standby, where nothing can be written."
        if exists and not in_schema:
            return f'the role may not create tables in the schema "{self._schema}".'
        if not exists and not in_database:
            return f'there is no schema "{self._schema}", and the role may not create one.'
        return None

    def snapshot(self) -> Kept | None:
        """The newest snapshot; none that was emptied or rewritten since, or is not ours."""
        with self._connected() as connection, reading(connection):
            tables = self._tables(connection)
        return tables[0].kept if tables else None

    def _tables(self, connection: Connection) -> list[_Table]:
        """All snapshots that are whole, the newest first."""
        found = []
        prefix = {"schema": self._schema, "prefix": f"{self._name}_"}
        for name, comment, file in connection.execute(_TABLES, prefix).fetchall():
            with contextlib.suppress(KeyError, TypeError, ValueError):
                said = json.loads(comment)
                kept = Kept(said["id"], said["definition"], datetime.fromisoformat(said["built"]))
                if said["file"] == file:
                    found.append(_Table(name, said["number"], kept))
        return sorted(found, key=lambda each: each.number, reverse=True)

    def prepare(
        self, select: str, *, definition: str = "", progress: Progress | None = None
    ) -> str:
        """Run the SELECT that defines a snapshot into a new table, and then call it the newest."""
        kept = Kept(uuid.uuid4().hex, definition, datetime.now(UTC))
        table = self._named(f"{self._name}_{kept.id[:12]}")
        tell = progress or (lambda _: None)
        with (
            self._failing(),
            contextlib.closing(connect(self._secret)) as builder,
            self._cancellable(builder),
        ):
            tell(0.0)
            # One builder at a time: a table without a comment is then one that nobody finished.
            builder.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [self.place])
            with writing(builder):
                self._build(builder, select, table)
            tell(0.8)
            # Visible to everybody from the first page on: no query writes hints while it reads.
            builder.execute(sql.SQL("VACUUM (FREEZE, ANALYZE) {}").format(table))
            tell(0.95)
            with writing(builder):
                self._publish(builder, table, kept)
            self._clear(builder)
        tell(1.0)
        return kept.id

    def _build(self, builder: Connection, select: str, table: sql.Identifier) -> None:
        there = builder.execute("SELECT to_regnamespace(quote_ident(%s))", [self._schema])
        if there.fetchone() == (None,):
            builder.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self._schema)))
        defined = sql.SQL(select)  # the policy's words, each one quoted
        made = sql.SQL("CREATE TABLE {} AS SELECT {} FROM ({}) AS made")
        builder.execute(made.format(table, packed(builder, select), defined))
        # Default privileges may have given the table to others.
        others = builder.execute(_OTHERS, [table.as_string()]).fetchall()
        for (other,) in others:
            whom = sql.SQL("PUBLIC") if other is None else sql.Identifier(other)
            builder.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(table, whom))

    def _publish(self, builder: Connection, table: sql.Identifier, kept: Kept) -> None:
        file = builder.execute("SELECT pg_relation_filenode(%s)::int8", [table.as_string()])
        before = self._tables(builder)
        said = {
            "id": kept.id,
            "definition": kept.definition,
            "built": kept.built.isoformat(),
            "number": before[0].number + 1 if before else 1,
            # Another file means that it was emptied or rewritten since, or restored elsewhere.
            "file": (file.fetchone() or (None,))[0],
        }
        comment = sql.SQL("COMMENT ON TABLE {} IS {}")
        builder.execute(comment.format(table, sql.Literal(json.dumps(said))))

    def _clear(self, builder: Connection) -> None:
        """Drop all but the two newest; what is still being read is left for the next time."""
        with writing(builder):
            keep = {each.name for each in self._tables(builder)[:2]}
            prefix = {"schema": self._schema, "prefix": f"{self._name}_"}
            names = [name for name, *_ in builder.execute(_TABLES, prefix).fetchall()]
        for name in sorted(set(names) - keep):
            with (
                contextlib.suppress(psycopg.errors.LockNotAvailable),
                writing(builder, patience="100ms"),
            ):
                builder.execute(sql.SQL("DROP TABLE {}").format(self._named(name)))

    def _named(self, name: str) -> sql.Identifier:
        return sql.Identifier(self._schema, name)

    # Queries -----------------------------------------------------------------------------------

    def run(
        self, sql: str, *, snapshot: str | None = None, timeout: float | None = None
    ) -> pa.Table:
        """The answer to one query on the snapshot that it was planned for."""
        with self._reading(timeout) as connection:
            for each in self._tables(connection):
                if snapshot in (None, each.kept.id):
                    return fetch(connection, self._of(each, sql), before=self._require_going)
            LOG.error("PostgreSQL: the snapshot %s is not there, or not whole.", snapshot)
            raise failed()

    def run_live(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query on the source itself."""
        with self._reading(timeout) as connection:
            return fetch(connection, sql, before=self._require_going)

    def _of(self, table: _Table, query: str) -> str:
        """A query on what is called ``snapshot`` in it. The planner sees through both layers."""
        return (
            f"WITH {_TABLE} AS NOT MATERIALIZED (SELECT * FROM "  # noqa: S608  # quoted
            f"{self._named(table.name).as_string()}) SELECT * FROM ({query}) AS answer"
        )

    @contextlib.contextmanager
    def _reading(self, timeout: float | None) -> Iterator[Connection]:
        limit = self._timeout if timeout is None else timeout
        with self._connected() as connection, reading(connection, timeout=limit):
            yield connection

    def cancel(self) -> None:
        """Stop the query that is running and the snapshot that is being made, if there are any."""
        self._stopped = True
        for running in tuple(self._running):
            with contextlib.suppress(psycopg.Error):
                running.cancel_safe(timeout=10)

    def _require_going(self) -> None:
        # A cancellation may have arrived between two statements, where nothing was running.
        if self._stopped:
            LOG.error("PostgreSQL: a query was cancelled.")
            raise failed()

    def close(self) -> None:
        """Close the connection."""
        with self._turn:
            self._drop()

    # The connection ----------------------------------------------------------------------------

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Connection]:
        """The connection, for one transaction; after a failure it is not used again."""
        with self._turn, self._failing():
            connection = self._alive()
            self._stopped = False
            try:
                with self._cancellable(connection):
                    yield connection
            except BaseException:
                self._drop()
                raise

    @contextlib.contextmanager
    def _cancellable(self, connection: Connection) -> Iterator[None]:
        self._running.add(connection)
        try:
            yield
        finally:
            self._running.discard(connection)

    def _alive(self) -> Connection:
        """The connection, opened again if the server has closed it meanwhile."""
        if self._open is not None and self._open[0] != os.getpid():
            _CARRIED.append(self._open[1])
            self._open = None
        if self._open is not None:
            try:
                self._open[1].execute("SELECT 1")
            except psycopg.Error:
                self._drop()
        if self._open is None:
            self._open = (os.getpid(), connect(self._secret))
        return self._open[1]

    def _drop(self) -> None:
        if self._open is not None and self._open[0] == os.getpid():
            self._open[1].close()
        self._open = None

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, pa.ArrowException, OSError, MemoryError) as error:
            LOG.error("PostgreSQL: %s", self._redacted(error))  # its stack would hold rows
            raise failed() from None

    def _redacted(self, error: BaseException) -> str:
        try:
            return redacted(str(error), self._secret.reveal())
        except DiscreetError:  # it was there when we connected, and is gone
            return type(error).__name__


_CARRIED: list[Connection] = []
"""Connections that a fork has carried here: closing one would cut off the parent."""

_COLUMNS = """
    WITH RECURSIVE base(attnum, attname, type, modifier) AS (
        SELECT attnum, attname, atttypid, atttypmod FROM pg_attribute
        WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped
          AND has_column_privilege(attrelid, attnum, 'SELECT')
        UNION ALL
        SELECT attnum, attname, typbasetype, typtypmod FROM base JOIN pg_type ON pg_type.oid = type
        WHERE typtype = 'd')
    SELECT attname, format_type(type, modifier) FROM base JOIN pg_type ON pg_type.oid = type
    WHERE typtype <> 'd' ORDER BY attnum
"""
_PRIVILEGES = """
    SELECT pg_is_in_recovery(), namespace IS NOT NULL,
        COALESCE(has_schema_privilege(namespace, 'CREATE')
            AND has_schema_privilege(namespace, 'USAGE'), false),
        has_database_privilege(current_database(), 'CREATE')
    FROM (SELECT to_regnamespace(quote_ident(%s))::oid AS namespace) AS found
"""
_TABLES = """
    SELECT relname, obj_description(pg_class.oid, 'pg_class'),
        pg_relation_filenode(pg_class.oid)::int8
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = %(schema)s AND starts_with(relname, %(prefix)s)
      AND relkind = 'r' AND relpersistence = 'p' AND pg_get_userbyid(relowner) = current_user
"""
_OTHERS = """
    SELECT DISTINCT pg_roles.rolname
    FROM pg_class, aclexplode(relacl) AS given LEFT JOIN pg_roles ON pg_roles.oid = given.grantee
    WHERE pg_class.oid = to_regclass(%s) AND given.grantee <> relowner
"""
