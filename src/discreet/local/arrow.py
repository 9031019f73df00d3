"""Reports as Arrow tables: a column ``report``, and a column ``id`` where reports have one.

======================================  ================================
randomizer                              type of ``report``
======================================  ================================
unary, subset, memoized unary           binary, eight options to a byte
hashing                                 fixed-size list of 64-bit integers
all others                              any integers; 64 bits are written
======================================  ================================

The schema's metadata name the format's version and the survey.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import NotInstalled
from discreet.local.bitsets import BitSets
from discreet.local.hashing import LocalHashing
from discreet.local.memoized import Memoized
from discreet.local.randomizer import Randomizer, Reports
from discreet.local.survey import Survey

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = b"1"
_ROWS = 1 << 16
_VERSION_KEY, _SURVEY_KEY = b"discreet.report", b"discreet.survey"


class Unreadable(Exception):
    """A file or a stream that is not Arrow, or not whole. Counted by whoever reads it."""


class Batch(NamedTuple):
    """Reports as rows, their ids, which rows are well formed, and whether the survey is ours."""

    rows: Reports
    ids: list[bytes] | None
    formed: NDArray[np.bool_]
    foreign: bool


def arrow() -> Any:
    """The library, imported late."""
    try:
        import pyarrow  # noqa: ICN001 - the module itself is handed on
    except ImportError:
        raise NotInstalled(
            "Arrow tables need pyarrow.", hint="pip install 'discreet[arrow]'"
        ) from None
    return pyarrow


def schema(survey: Survey, *, ids: bool) -> pa.Schema:
    """The schema of this survey's reports."""
    pa = arrow()
    report, width = _shape(survey.randomizer)
    if report == "bits":
        kind = pa.binary()
    elif report == "list":
        kind = pa.list_(pa.int64(), width)
    else:
        kind = pa.int64()
    fields = [pa.field("report", kind, nullable=False)]
    if ids:
        fields.append(pa.field("id", pa.binary(16), nullable=False))
    return pa.schema(fields, {_VERSION_KEY: VERSION, _SURVEY_KEY: survey.id.encode()})


def to_batch(survey: Survey, reports: Reports, ids: list[bytes] | None = None) -> pa.RecordBatch:
    """Rows of reports, such as ``simulate`` gives, as an Arrow batch."""
    pa = arrow()
    shape = schema(survey, ids=ids is not None)
    report, width = _shape(survey.randomizer)
    if report == "bits":
        packed = np.packbits(reports.astype(np.bool_), axis=1, bitorder="little")
        column = pa.array([row.tobytes() for row in packed], pa.binary())
    elif report == "list":
        flat = pa.array(np.ascontiguousarray(reports, dtype=np.int64).ravel())
        column = pa.FixedSizeListArray.from_arrays(flat, width)
    else:
        column = pa.array(reports.astype(np.int64, copy=False))
    columns = [column] if ids is None else [column, pa.array(ids, pa.binary(16))]
    return pa.RecordBatch.from_arrays(columns, schema=shape)


def write_file(survey: Survey, reports: Reports, path: Path) -> None:
    """Rows of reports as an Arrow or, by its suffix, a Parquet file."""
    pa = arrow()
    shape = schema(survey, ids=False)
    if path.suffix == ".parquet":
        from pyarrow import parquet

        writer = parquet.ParquetWriter(path, shape)
    else:
        writer = pa.ipc.new_file(str(path), shape)
    with writer:
        for start in range(0, len(reports), _ROWS):
            writer.write_batch(to_batch(survey, reports[start : start + _ROWS]))


def from_batch(survey: Survey, batch: pa.RecordBatch) -> Batch:
    """What a batch holds, whatever it is: rows that are not reports are marked, never an error."""
    pa = arrow()
    metadata = batch.schema.metadata or {}
    named = metadata.get(_SURVEY_KEY)
    foreign = named is not None and named != survey.id.encode()
    if "report" not in batch.schema.names:
        return _none(batch.num_rows, foreign)
    column = batch.column(batch.schema.names.index("report"))
    rows, formed = _rows(pa, survey.randomizer, column)
    ids: list[bytes] | None = None
    if "id" in batch.schema.names:
        names = batch.column(batch.schema.names.index("id")).to_pylist()
        good = [isinstance(name, bytes) and len(name) == 16 for name in names]
        formed = formed & np.array(good, dtype=np.bool_)
        ids = [name if ok else b"" for name, ok in zip(names, good, strict=True)]
    return Batch(rows, ids, formed, foreign)


@contextmanager
def batches(source: Path | BinaryIO, *, form: str) -> Iterator[Iterator[pa.RecordBatch]]:
    """The batches of a file ("arrow", "parquet") or of a stream ("stream"), one at a time."""
    pa = arrow()
    try:
        if form == "parquet":
            from pyarrow import parquet

            with parquet.ParquetFile(source) as opened:
                yield _safely(pa, opened.iter_batches(batch_size=1 << 16))
        elif form == "stream":
            with pa.ipc.open_stream(source) as stream:
                yield _safely(pa, iter(stream))
        else:
            # Not mapped into memory: it would stay there, and a file cut short would kill us.
            with pa.OSFile(str(source)) as plain, pa.ipc.open_file(plain) as opened:
                places = range(opened.num_record_batches)
                yield _safely(pa, (opened.get_batch(place) for place in places))
    except (pa.ArrowException, OSError) as fault:
        raise Unreadable from fault


def _safely(pa: Any, found: Iterator[Any]) -> Iterator[Any]:
    try:
        for batch in found:
            batch.validate()
            yield batch
    except (pa.ArrowException, OSError) as fault:
        raise Unreadable from fault


def _shape(randomizer: Randomizer) -> tuple[str, int]:
    if isinstance(randomizer, Memoized):
        return _shape(randomizer.instantaneous)
    if isinstance(randomizer, BitSets):
        return "bits", randomizer.size
    if isinstance(randomizer, LocalHashing):
        return "list", randomizer.digits + 2
    return "number", 1


def _none(rows: int, foreign: bool) -> Batch:  # noqa: FBT001
    return Batch(np.zeros(rows, dtype=np.int64), None, np.zeros(rows, dtype=np.bool_), foreign)


def _rows(pa: Any, randomizer: Randomizer, column: Any) -> tuple[Reports, NDArray[np.bool_]]:
    report, width = _shape(randomizer)
    kind = column.type
    there = np.ones(len(column), dtype=np.bool_)
    if column.null_count:
        there = ~np.asarray(column.is_null())
    if report == "number" and pa.types.is_integer(kind):
        if column.null_count:
            column = column.fill_null(0)
        return column.to_numpy(zero_copy_only=False), there
    if report == "bits" and (pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind)):
        return _bits(column.to_pylist(), width)
    if report == "list" and pa.types.is_fixed_size_list(kind) and kind.list_size == width:
        flat = (
            column.flatten() if not column.null_count else column.fill_null([0] * width).flatten()
        )
        if pa.types.is_integer(flat.type):
            whole = ~np.asarray(flat.is_null()).reshape(-1, width).any(axis=1)
            numbers = flat.fill_null(0).to_numpy(zero_copy_only=False)
            return numbers.reshape(-1, width), there & whole
    return np.zeros(len(column), dtype=np.int64), np.zeros(len(column), dtype=np.bool_)


def _bits(cells: list[bytes | None], size: int) -> tuple[Reports, NDArray[np.bool_]]:
    length = -(-size // 8)
    good = np.array([cell is not None and len(cell) == length for cell in cells], dtype=np.bool_)
    joined = b"".join(
        cell if ok and cell is not None else bytes(length)
        for cell, ok in zip(cells, good, strict=True)
    )
    packed = np.frombuffer(joined, dtype=np.uint8).reshape(len(cells), length)
    bits = np.unpackbits(packed, axis=1, bitorder="little")
    # Bits beyond the last option must not be set.
    return bits[:, :size], good & ~bits[:, size:].any(axis=1)
