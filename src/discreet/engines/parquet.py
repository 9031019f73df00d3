"""DuckDB as a fast reader of a snapshot that another engine has written as Parquet files."""

from __future__ import annotations

from pathlib import Path

import duckdb

from discreet.engines.duckdb import TABLE, DuckDB, _lock, _quoted


class ParquetReader(DuckDB):
    """Queries on a folder of Parquet files, which is all that can be read."""

    def _connection(self) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._reader is None:
                self._reader = self._opened(self.path)
            return self._reader

    def _opened(self, folder: Path) -> duckdb.DuckDBPyConnection:
        reader = duckdb.connect(config=self._settings)
        files = _quoted(str(folder / "*.parquet"))
        reader.execute(f"CREATE VIEW {TABLE} AS SELECT * FROM READ_PARQUET({files})")  # noqa: S608
        # A file is never changed, and what is too large for memory stays beside it.
        reader.execute("SET parquet_metadata_cache = true")
        reader.execute(f"SET temp_directory = {_quoted(str(folder) + '.tmp')}")
        reader.execute(f"SET allowed_directories = [{_quoted(str(folder))}]")
        _lock(reader)
        return reader
