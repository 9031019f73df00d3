"""PostgreSQL: a snapshot is a table of ours beside the data, or nothing is kept at all."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
import pyarrow as pa
from psycopg import sql

from discreet.engines.postgres.connection import Connection, connect, reading, redacted, writing
from discreet.engines.postgres.table import fetch
from discreet.engines.protocol import Kept, Progress
from discreet.engines.secret import Secret
from discreet.engines.words import LOG, failed
from discreet.errors import DiscreetError, InvalidInput

SCHEMA = "discreet"
"""Where snapshots are kept, if the policy names no other place."""

_SWAP_PATIENCE, _SWAPS = "1s", 600


class Postgres:
    """One source in one database, and its snapshot there if the role may keep one.

    A snapshot is an ordinary table. (An unlogged one would be written faster, but a crash empties
    it without a word, and no standby has it.) Its identity is its comment, which lives and dies
    with it. Queries run one at a time, on a connection that is opened again when it is lost.
    """

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
    def table(self) -> str:
        """The snapshot's table, quoted."""
        return self._named(self._name).as_string()

    @property
    def place(self) -> str:
        """The snapshot's table, for people."""
        return f"{self._schema}.{self._name}"

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
                hint="discreet engine postgres --policy policy.toml --grants",
            )
        return found

    # The snapshot ------------------------------------------------------------------------------

    def obstacle(self) -> str | None:
        """Why the role cannot keep a snapshot, if it cannot."""
        with self._connected() as connection, reading(connection):
            row = connection.execute(_PRIVILEGES, {"schema": self._schema, "table": self._name})
            standby, exists, in_schema, in_database, foreign = row.fetchone() or (True,) * 5
        if standby:
            return "the server is a standby, where nothing can be written."
        if foreign:
            return f"{self.place} belongs to another role."
        if exists and not in_schema:
            return f'the role may not create tables in the schema "{self._schema}".'
        if not exists and not in_database:
            return f'there is no schema "{self._schema}", and the role may not create one.'
        return None

    def snapshot(self) -> Kept | None:
        """The snapshot that is there; none if it was emptied or rewritten, or is not ours."""
        with self._connected() as connection, reading(connection):
            return self._kept(connection)

    def _kept(self, connection: Connection) -> Kept | None:
        found = connection.execute(_IDENTITY, {"schema": self._schema, "table": self._name})
        row = found.fetchone()
        if row is None:
            return None
        try:
            said = json.loads(row[0])
            if said["file"] != row[1]:
                return None
            return Kept(
                str(said["discreet"]),
                str(said["definition"]),
                datetime.fromisoformat(said["built"]),
            )
        except (KeyError, TypeError, ValueError):
            return None

    def prepare(
        self, select: str, *, definition: str = "", progress: Progress | None = None
    ) -> str:
        """Run the SELECT that defines a snapshot into a new table; it takes the old one's place.

        Queries on the old one go on meanwhile, and are never in the way for longer than a moment.
        """
        identity = uuid.uuid4().hex
        tell = progress or (lambda _: None)
        with (
            self._failing(),
            contextlib.closing(connect(self._secret)) as builder,
            self._cancellable(builder),
        ):
            tell(0.0)
            # One builder at a time: what is there under the new name is then nobody's.
            builder.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [self.table])
            with writing(builder):
                self._build(builder, select, identity, definition)
            tell(0.8)
            # Visible to everybody from the first page on: no query writes hints while it reads.
            builder.execute(sql.SQL("VACUUM (FREEZE, ANALYZE) {}").format(self._fresh))
            tell(0.95)
            self._swap(builder)
        tell(1.0)
        return identity

    def _build(self, builder: Connection, select: str, identity: str, definition: str) -> None:
        if builder.execute(
            "SELECT to_regnamespace(quote_ident(%s))", [self._schema]
        ).fetchone() == (None,):
            builder.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self._schema)))
        builder.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(self._fresh))
        defined = sql.SQL(select)  # the policy's words, each one quoted
        builder.execute(sql.SQL("CREATE TABLE {} AS {}").format(self._fresh, defined))
        # Default privileges may have given the table to others.
        others = builder.execute(_OTHERS, [self._fresh.as_string()]).fetchall()
        for (other,) in others:
            whom = sql.SQL("PUBLIC") if other is None else sql.Identifier(other)
            builder.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(self._fresh, whom))
        file = builder.execute("SELECT pg_relation_filenode(%s)", [self._fresh.as_string()])
        said = {
            "discreet": identity,
            "definition": definition,
            "built": datetime.now(UTC).isoformat(),
            # Another file means that it was emptied or rewritten since, or restored elsewhere.
            "file": (file.fetchone() or (None,))[0],
        }
        comment = sql.SQL("COMMENT ON TABLE {} IS {}")
        builder.execute(comment.format(self._fresh, sql.Literal(json.dumps(said))))

    def _swap(self, builder: Connection) -> None:
        # Readers queue behind whoever waits for them to finish, so nobody waits here for long.
        for _ in range(_SWAPS):
            try:
                with writing(builder, patience=_SWAP_PATIENCE):
                    old, fresh = self._named(self._name), self._fresh
                    builder.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(old))
                    rename = sql.SQL("ALTER TABLE {} RENAME TO {}")
                    builder.execute(rename.format(fresh, sql.Identifier(self._name)))
            except psycopg.errors.LockNotAvailable:
                time.sleep(0.5)
            else:
                return
        builder.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(self._fresh))
        LOG.error("PostgreSQL: %s is in use all the time; it stays as it was.", self.place)
        raise failed()

    @property
    def _fresh(self) -> sql.Identifier:
        return self._named(f"{self._name}_new")

    def _named(self, name: str) -> sql.Identifier:
        return sql.Identifier(self._schema, name)

    # Queries -----------------------------------------------------------------------------------

    def run(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query on the snapshot, if that is still whole."""
        return self._answer(sql, timeout, of_snapshot=True)

    def run_live(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query on the source itself."""
        return self._answer(sql, timeout, of_snapshot=False)

    def _answer(self, query: str, timeout: float | None, *, of_snapshot: bool) -> pa.Table:
        limit = self._timeout if timeout is None else timeout
        with self._connected() as connection, reading(connection, timeout=limit):
            if of_snapshot:
                # Before anything is seen: whoever waits here for another snapshot to take its
                # place must not look at the new table from a time when it was empty.
                lock = sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE")
                connection.execute(lock.format(self._named(self._name)))
                if self._kept(connection) is None:
                    LOG.error("PostgreSQL: %s is not whole; it is to be made anew.", self.place)
                    raise failed()
            return fetch(connection, query, before=self._require_going)

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
        has_database_privilege(current_database(), 'CREATE'),
        EXISTS (SELECT FROM pg_class WHERE relnamespace = namespace AND relname = %(table)s
                AND NOT pg_has_role(relowner, 'USAGE'))
    FROM (SELECT to_regnamespace(quote_ident(%(schema)s))::oid AS namespace) AS found
"""
_IDENTITY = """
    SELECT obj_description(pg_class.oid, 'pg_class'), pg_relation_filenode(pg_class.oid)::int8
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = %(schema)s AND relname = %(table)s AND relkind = 'r' AND relpersistence = 'p'
      AND pg_get_userbyid(relowner) = current_user
"""
_OTHERS = """
    SELECT DISTINCT pg_roles.rolname
    FROM pg_class, aclexplode(relacl) AS given LEFT JOIN pg_roles ON pg_roles.oid = given.grantee
    WHERE pg_class.oid = to_regclass(%s) AND given.grantee <> relowner
"""
