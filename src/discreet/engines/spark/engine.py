"""Spark: a snapshot is a folder of Parquet files, and a small file says which folder it is."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from discreet.engines.duckdb import TABLE
from discreet.engines.parquet import ParquetReader
from discreet.engines.protocol import Kept, Progress
from discreet.engines.spark.application import Application, is_here
from discreet.engines.spark.work import Work
from discreet.engines.words import LOG, failed
from discreet.errors import DiscreetError, EngineFailed

Reader = Literal["spark", "duckdb"]


_MOST_KEPT = 2
"""The newest, and the one before it for whoever planned a query on that."""


class _Written(NamedTuple):
    """A snapshot, as the small file tells of it."""

    id: str
    definition: str
    built: str
    place: str
    """The folder's address, as Spark knows it."""
    schema: dict[str, Any]
    source: dict[str, str]
    """What types the source had when it was read."""


class Spark:
    """A source that Spark reads, and its snapshot.

    ``relation`` is what Spark calls the source, quoted, and ``address`` is a master or a server;
    ``where`` says in the policy's words where the address stands. What says which snapshot is
    current is in ``folder``, and so are the snapshots, unless ``snapshots`` is the address of a
    folder that all of Spark's workers see. ``reader`` answers queries on the snapshot: DuckDB if
    the files can be read from here, or else Spark.
    """

    table = TABLE

    def __init__(
        self,
        folder: Path,
        *,
        relation: str,
        address: str,
        where: str,
        snapshots: str | None = None,
        reader: Reader | None = None,
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> None:
        self._folder, self._relation, self._timeout = folder, relation, timeout
        self._home = snapshots or (f"file://{folder.resolve()}" if is_here(address) else None)
        self.reader: Reader = reader or ("duckdb" if self._home and local(self._home) else "spark")
        self._application = Application(
            address, where=where, log=folder / "spark.log", settings=settings
        )
        self._running: set[Work] = set()
        self._lock = threading.Lock()
        self._files: tuple[str, ParquetReader] | None = None
        self._viewed: tuple[SparkSession, str] | None = None

    @property
    def place(self) -> str:
        """The folder that holds the snapshot's files."""
        newest = self._newest()
        return (newest.place if newest else self._home) or ""

    def types(self) -> dict[str, str]:
        """The columns of the source: as they were when the snapshot was made, if there is one.

        So Spark need not be started only to hear that a snapshot is still the right one.
        """
        newest = self._newest()
        return self._types() if newest is None else newest.source

    def _types(self) -> dict[str, str]:
        with self._work() as session:
            schema = session.sql(f"SELECT * FROM {self._relation} LIMIT 0").schema  # noqa: S608
        return {field.name: field.dataType.simpleString().lower() for field in schema}

    # The snapshot ------------------------------------------------------------------------------

    def obstacle(self) -> str | None:
        """On a cluster somebody has to say where all of its workers can write."""
        if self._home is None:
            return (
                "Spark's workers do not see this machine's folders; say which they see, as in "
                'snapshots = "hdfs:///discreet"'
            )
        if set(self._home) & set("{}[]*?\\"):
            return f"Spark takes the name {self._home} for a pattern of many names"
        return None

    def snapshot(self) -> Kept | None:
        """The snapshot that is there, if one is."""
        newest = self._newest()
        if newest is None:
            return None
        return Kept(newest.id, newest.definition, datetime.fromisoformat(newest.built))

    def prepare(
        self, select: str, *, definition: str = "", progress: Progress | None = None
    ) -> str:
        """Have Spark run the SELECT into a new folder; it takes the old one's place."""
        if self._home is None:
            raise failed()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = self._written()
        source = self._types()
        if before and before[0].source != source:
            self._pointer.unlink()  # with it, what was known of the types
            self._erase(*(each.place for each in before))
            raise EngineFailed(
                "the columns of the source have changed since its snapshot was made.",
                hint="open the data set again; a snapshot is then made of the columns it has now.",
            )
        identity, built = uuid.uuid4().hex, datetime.now(UTC).isoformat()
        place = f"{self._home.rstrip('/')}/{identity}"
        try:
            with self._work(progress=progress) as session:
                rows = session.sql(select)
                # The ranking brings each unit's rows together, and so they are written.
                rows.write.option("compression", "zstd").parquet(place)
                schema = json.loads(rows.schema.json())
            written = _Written(identity, definition, built, place, schema, source)
            self._write([written, *before][:_MOST_KEPT])
        except BaseException:
            self._erase(place)
            raise
        self._erase(*(each.place for each in before[_MOST_KEPT - 1 :]))
        return identity

    @property
    def _pointer(self) -> Path:
        return self._folder / "snapshots.json"

    def _write(self, written: list[_Written]) -> None:
        """Change which snapshots there are, at once."""
        fresh = self._pointer.with_name(f".{self._pointer.name}.{written[0].id}")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump([each._asdict() for each in written], file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._pointer)

    def _written(self) -> list[_Written]:
        """The snapshots that are there, the newest first."""
        try:
            told = [_Written(**each) for each in json.loads(self._pointer.read_text())]
        except (OSError, ValueError, TypeError):
            return []
        return [each for each in told if self._is_there(each)]

    def _is_there(self, written: _Written) -> bool:
        if self._home is None or not written.place.startswith(self._home.rstrip("/") + "/"):
            return False  # the policy wants it elsewhere
        path = local(written.place)
        return path is None or (path / "_SUCCESS").exists()

    def _newest(self, snapshot: str | None = None) -> _Written | None:
        """The newest snapshot, or the one of an id."""
        return next((each for each in self._written() if snapshot in (None, each.id)), None)

    def _erase(self, *places: str) -> None:
        """Remove folders; where only Spark reaches one, what is left is a folder of no rows."""
        for place in places:
            path = local(place)
            if path is not None:
                shutil.rmtree(path, ignore_errors=True)
                continue
            with contextlib.suppress(DiscreetError), self._work() as session:
                session.sql("SELECT 0 AS erased LIMIT 0").write.mode("overwrite").parquet(place)

    # Queries -----------------------------------------------------------------------------------

    def run(
        self, sql: str, *, snapshot: str | None = None, timeout: float | None = None
    ) -> pa.Table:
        """The answer to one query on the snapshot, or on the one of an id and no other."""
        written = self._newest(snapshot)
        if written is None:
            LOG.error("Spark: the snapshot %s is no longer there", snapshot)
            raise failed()
        limit = timeout or self._timeout
        if self.reader == "duckdb":
            return self._parquet(written).run(sql, timeout=limit)
        with self._work(timeout=limit) as session:
            self._view(session, written)
            return session.sql(sql).toArrow()

    def run_live(self, sql: str, *, timeout: float | None = None) -> pa.Table:
        """The answer to one query on the source itself."""
        with self._work(timeout=timeout or self._timeout) as session:
            return session.sql(sql).toArrow()

    def cancel(self) -> None:
        """Stop every query that is running."""
        with self._lock:
            for work in self._running:
                work.stop()
            files = self._files
        if files is not None:
            files[1].cancel()

    def close(self) -> None:
        """Leave Spark, which is stopped if it was started here and nobody else uses it."""
        with self._lock:
            files, self._files, self._viewed = self._files, None, None
        if files is not None:
            files[1].close()
        self._application.close()

    def _parquet(self, written: _Written) -> ParquetReader:
        with self._lock:
            if self._files is None or self._files[0] != written.id:
                path = local(written.place)
                if path is None:
                    raise failed()
                self._files = (written.id, ParquetReader(path))
            return self._files[1]

    def _view(self, session: SparkSession, written: _Written) -> None:
        """Have the name ``snapshot`` mean this one."""
        with self._lock:
            if self._viewed == (session, written.id):
                return
            # The columns are known, so that no file has to be opened to learn them.
            schema = StructType.fromJson(written.schema)
            session.read.schema(schema).parquet(written.place).createOrReplaceTempView(TABLE)
            self._viewed = (session, written.id)

    @contextlib.contextmanager
    def _work(
        self, *, timeout: float | None = None, progress: Progress | None = None
    ) -> Iterator[SparkSession]:
        session = self._application.session()
        work = Work(session, timeout=timeout, progress=progress)
        with self._lock:
            self._running.add(work)
        try:
            with work.running():
                yield session
        except DiscreetError:
            raise
        except Exception as error:  # whatever Spark raises may quote a cell
            LOG.error("Spark: %s", error)  # its stack would hold rows
            self._application.forget(error)
            raise failed() from None
        finally:
            with self._lock:
                self._running.discard(work)


def local(address: str) -> Path | None:
    """The folder that an address means on this machine, if it is one. To Spark % means itself.

    >>> local("file:///data/a b"), local("file:/data"), local("hdfs:///data")
    (PosixPath('/data/a b'), PosixPath('/data'), None)
    """
    scheme, _, path = address.partition(":")
    return Path("/" + path.lstrip("/")) if scheme == "file" else None
