"""Where the rows of a data set are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from discreet.policy.mistakes import Mistake, refuse

Kind: TypeAlias = Literal["parquet", "csv", "duckdb", "postgres", "spark"]

SUFFIXES: dict[str, Kind] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".csv.zst": "csv",
    ".tsv": "csv",
    ".tsv.gz": "csv",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
}

_MASTER = re.compile(r"local(-cluster)?(\[[0-9*, ]+\])?|(spark|k8s|mesos)://\S+|yarn")


def kind_of(path: str) -> Kind | None:
    """The kind that a file's name shows, if it shows one.

    >>> kind_of("visits/2026-*.parquet"), kind_of("visits.csv.gz"), kind_of("visits.data")
    ('parquet', 'csv', None)
    """
    name = path.lower()
    return next((kind for suffix, kind in SUFFIXES.items() if name.endswith(suffix)), None)


class Source(BaseModel):
    """Files, a table of a DuckDB file, or a table of a server.

    >>> Source(kind="parquet", path="visits/*.parquet").kind
    'parquet'
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    kind: Kind
    path: str | None = None
    """A file, or a glob such as ``visits/*.parquet``; relative to the policy file."""
    table: str | None = None
    """A table or view, with its schema if need be: ``hospital.visits``. In PostgreSQL a table
    without one is in ``public``."""
    connection: str | None = None
    """Where the connection string is: ``env:NAME`` or ``file:PATH``; never the string itself."""
    snapshots: str | None = None
    """Where a server keeps snapshots: a schema of PostgreSQL, a folder of Spark."""
    timeout: int | None = Field(default=None, ge=1)
    """The most seconds that a server may take for one question."""
    format: str | None = None
    """What kind of files the path of a Spark source holds."""
    master: str | None = None
    """The Spark to ask: ``local[*]``, started on this machine, ``spark://host:7077`` or ``yarn``. A
    Spark Connect server is reached by a connection, since its address may hold a token."""
    reader: Literal["spark", "duckdb"] | None = None
    """What answers queries on the snapshot of a Spark source."""
    settings: tuple[str, ...] = ()
    """Settings that Spark is started with, such as ``spark.driver.memory=8g``."""
    delimiter: str = ","
    header: bool = True
    """Whether each CSV file begins with the names of its columns; if not, the order is ours."""
    quote: str = '"'
    encoding: Literal["utf-8", "utf-16", "latin-1"] = "utf-8"
    null: tuple[str, ...] = ("",)
    """The cells of a CSV file that mean NULL."""

    @property
    def schema_and_table(self) -> tuple[str, str]:
        """The two names of a table of PostgreSQL: a role's search path would decide otherwise.

        >>> Source(kind="postgres", table="visits", connection="env:DSN").schema_and_table
        ('public', 'visits')
        """
        schema, _, table = (self.table or "").rpartition(".")
        return schema or "public", table

    @model_validator(mode="before")
    @classmethod
    def _tabs(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and ".tsv" in str(raw.get("path")).lower():
            return {"delimiter": "\t"} | raw
        return raw

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse([*self._place_mistakes(), *self._csv_mistakes()])
        return self

    def _place_mistakes(self) -> Iterator[Mistake]:
        files = self.kind in ("parquet", "csv", "duckdb")
        if files and not self.path:
            yield Mistake((), f"a {self.kind} source needs a path.", f'path = "visits.{self.kind}"')
        if self.kind in ("parquet", "csv") and self.table is not None:
            yield Mistake(("table",), f"a {self.kind} file has no tables.", "leave table out")
        if self.kind in ("duckdb", "postgres") and not self.table:
            yield Mistake((), f"a {self.kind} source needs a table.", 'table = "visits"')
        if self.kind == "spark" and (self.path is None) == (self.table is None):
            yield Mistake((), "a spark source has a path or a table.", 'table = "visits"')
        if self.kind == "postgres" and self.path is not None:
            yield Mistake(("path",), "a postgres source has no path.", 'table = "visits"')
        yield from self._connection_mistakes(files=files)
        yield from self._server_mistakes(files=files)

    def _server_mistakes(self, *, files: bool) -> Iterator[Mistake]:
        for name in ("snapshots", "timeout"):
            if files and getattr(self, name) is not None:
                yield Mistake((name,), f"a {self.kind} file has no {name}.", "leave it out")
        if self.format is not None and (self.kind != "spark" or self.path is None):
            yield Mistake(
                ("format",), "only the path of a spark source has a format.", "leave it out"
            )
        yield from self._spark_mistakes()
        if self.kind != "postgres":
            return
        parts = (self.table or "x").split(".")
        if len(parts) > 2 or not all(parts):
            yield Mistake(
                ("table",),
                "a table is a name, or a schema and a name.",
                'table = "hospital.visits"',
            )
        if self.snapshots is not None and not (0 < len(self.snapshots.encode()) < 64):
            yield Mistake(
                ("snapshots",),
                "the name of a schema has from 1 to 63 bytes.",
                'snapshots = "discreet"',
            )

    def _spark_mistakes(self) -> Iterator[Mistake]:
        if self.kind != "spark":
            for name in ("master", "reader", "settings"):
                if name in self.model_fields_set:
                    yield Mistake((name,), f"only a spark source has a {name}.", "leave it out")
            return
        if self.format is not None and not re.fullmatch(r"[a-z][a-z0-9_]*", self.format):
            yield Mistake(("format",), "a format is one word.", 'format = "parquet"')
        elif self.format in ("csv", "json", "text", "xml"):
            yield Mistake(
                ("format",),
                f"{self.format} files do not say what types their columns have, and nothing is "
                "guessed from rows.",
                'format = "parquet", or the table that Spark\'s catalog has of them',
            )
        if self.master is not None and self.connection is not None:
            yield Mistake(
                ("master",), "a source has a master or a connection.", "leave one of them out"
            )
        if self.master is not None and not _MASTER.fullmatch(self.master):
            # The text may hold a token: it is not repeated.
            yield Mistake(
                ("master",),
                "this is not a master of Spark. (A server's address may hold a token, so it is a "
                "connection.)",
                'master = "local[*]", or connection = "env:SPARK_REMOTE"',
            )
        yield from self._snapshots_mistakes()
        for setting in self.settings:
            name, equals, _ = setting.partition("=")
            if not equals or not name.startswith("spark."):
                hint = 'settings = ["spark.driver.memory=8g"]'
                yield Mistake(("settings",), "a setting is spark.NAME=VALUE.", hint)
            elif re.search("secret|password|token|credential|access.key", name.lower()):
                yield Mistake(
                    ("settings",),
                    f"{name} is a secret, and does not belong in a policy.",
                    "put it into spark-defaults.conf in the folder that SPARK_CONF_DIR names",
                )

    def _snapshots_mistakes(self) -> Iterator[Mistake]:
        place = self.snapshots
        if place is not None and not re.match("[a-z0-9]+:/", place):
            yield Mistake(
                ("snapshots",),
                "Spark's snapshots have an address that all of its workers know.",
                'snapshots = "hdfs:///discreet" or snapshots = "file:///mnt/shared/discreet"',
            )
        elif self.reader == "duckdb" and place is not None and not place.startswith("file:"):
            yield Mistake(
                ("reader",),
                "DuckDB reads snapshots from this machine's own folders.",
                'reader = "spark", or snapshots = "file:///mnt/shared/discreet"',
            )

    def _connection_mistakes(self, *, files: bool) -> Iterator[Mistake]:
        hint = 'connection = "env:HOSPITAL_DSN" or connection = "file:hospital.dsn"'
        if files and self.connection is not None:
            yield Mistake(
                ("connection",), f"a {self.kind} file is opened, not connected to.", "leave it out"
            )
        elif self.connection is None:
            if self.kind == "postgres":
                yield Mistake((), "a postgres source needs a connection.", hint)
        elif not self.connection.removeprefix("env:").removeprefix("file:") or (
            not self.connection.startswith(("env:", "file:"))
        ):
            # The text may be a password: it is not repeated.
            yield Mistake(
                ("connection",),
                "a connection names an environment variable or a file that holds the secret; "
                "the secret itself does not belong in a policy.",
                hint,
            )

    def _csv_mistakes(self) -> Iterator[Mistake]:
        if self.kind != "csv":
            for name in ("delimiter", "header", "quote", "encoding", "null"):
                if name in self.model_fields_set:
                    yield Mistake((name,), f"only a csv source has a {name}.", "leave it out")
        for name, text in (("delimiter", self.delimiter), ("quote", self.quote)):
            if len(text) != 1 or text in "\r\n\0":
                yield Mistake((name,), f"a {name} is one character.", f"{name} = ','")
        if self.delimiter == self.quote:
            yield Mistake(("delimiter",), "the delimiter is the quote too.", "delimiter = ','")
