"""The collector's state: counters that hold all an estimate needs, however many reports came."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import CountedTwice, InvalidSurvey, InvalidValue
from discreet.local import arrow, reports
from discreet.local.randomizer import Reports
from discreet.local.reports import Fault, Received
from discreet.local.survey import Survey

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
_LINES = 1 << 14  # how many lines are counted at a time
_FORMS = {
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".json": "lines",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".arrows": "stream",
    ".parquet": "parquet",
}

SUFFIXES = frozenset(_FORMS)
"""How the names of files of reports may end."""


class Tally:
    """Counters of one survey's reports; small, and two of them can be merged.

    What is wrong with a report never stops the count: it is dropped, and why is counted. Ids of
    reports, where they have them, are kept to recognize duplicates (16 bytes each); reports in
    bulk without ids cost nothing to keep.

    >>> from discreet.local.two_coins import TwoCoins
    >>> survey = Survey("Have you ever ...?", randomizer=TwoCoins())
    >>> line = reports.write(survey, survey.respond("yes"))
    >>> tally = Tally(survey)
    >>> tally.add_lines([line, line, "nonsense"])
    >>> tally.n, tally.dropped["duplicate"], tally.dropped["malformed"]
    (1, 1, 1)
    """

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.n = 0
        self.counters = [0] * survey.randomizer.cells
        self.dropped: Counter[str] = Counter()
        self._ids: set[bytes] = set()
        self._sources: set[str] = set()

    # Feeding it --------------------------------------------------------------------------------

    def add_lines(self, lines: Iterable[str | bytes]) -> None:
        """Reports as lines of JSON; empty lines are nothing."""
        rows: list[Any] = []
        row = self.survey.randomizer.row
        for line in lines:
            if not line.strip():
                continue
            found = reports.read(self.survey, line)
            if not isinstance(found, Received):
                self.dropped[found] += 1
            elif found.id in self._ids:
                self.dropped[Fault.DUPLICATE] += 1
            else:
                self._ids.add(found.id)
                rows.append(row(found.report))
                if len(rows) == _LINES:
                    self._count(np.array(rows))
                    rows.clear()
        if rows:
            self._count(np.array(rows))

    def add_reports(self, rows: Reports) -> None:
        """Reports as rows of an array, without ids."""
        good = self.survey.randomizer.allowed(rows)
        bad = len(rows) - int(np.count_nonzero(good))
        if bad:
            self.dropped[Fault.OUT_OF_DOMAIN] += bad
            rows = rows[good]
        if len(rows):
            self._count(rows)

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Reports as an Arrow batch."""
        read = arrow.from_batch(self.survey, batch)
        if read.foreign:
            self.dropped[Fault.FOREIGN] += len(read.rows)
            return
        rows = read.rows
        if not bool(read.formed.all()):
            self.dropped[Fault.MALFORMED] += int(np.count_nonzero(~read.formed))
            rows = rows[read.formed]
        if read.ids is not None:
            ids = [name for name, formed in zip(read.ids, read.formed, strict=True) if formed]
            # A report out of the domain does not use up its id.
            good = self.survey.randomizer.allowed(rows)
            fresh = [
                self._first(name) if fine else True for name, fine in zip(ids, good, strict=True)
            ]
            self.dropped[Fault.DUPLICATE] += fresh.count(False)
            rows = rows[np.array(fresh, dtype=np.bool_)]
        self.add_reports(rows)

    def add_groups(self, values: ArrayLike, counts: ArrayLike) -> None:
        """Reports already counted by an engine: ``SELECT report, COUNT(*) ... GROUP BY report``.

        ``values`` are the distinct reports (numbers; bytes where reports are bits), ``counts`` how
        often each came. This is how billions are counted where they lie.
        """
        weights = np.asarray(counts)
        if weights.ndim != 1 or (weights.size and weights.dtype.kind not in "iu"):
            raise InvalidValue(
                "the counts of groups must be whole numbers.",
                hint="SELECT report, COUNT(*) FROM reports GROUP BY report",
            )
        many = weights.astype(np.int64)
        rows, formed = self._grouped(values)
        if len(rows) != len(many) or (many.size and int(many.min()) < 0):
            raise InvalidValue(
                "each group needs one count, 0 or more.",
                hint="SELECT report, COUNT(*) FROM reports GROUP BY report",
            )
        self.dropped[Fault.MALFORMED] += int(many[~formed].sum())
        rows, many = rows[formed], many[formed]
        good = self.survey.randomizer.allowed(rows)
        self.dropped[Fault.OUT_OF_DOMAIN] += int(many[~good].sum())
        rows, many = rows[good], many[good]
        if len(rows):
            added = self.survey.randomizer.tally(rows, many)
            self._add(added, int(many.sum()))

    def add_stream(self, stream: BinaryIO) -> None:
        """An Arrow stream; if it breaks off, what came before counts."""
        try:
            with arrow.batches(stream, form="stream") as found:
                for batch in found:
                    self.add_batch(batch)
        except arrow.Unreadable:
            self.dropped["unreadable"] += 1

    def add_file(self, path: Path) -> bool:
        """A file of reports, by its suffix; False where this very content was counted before.

        A file of lines is counted line by line. An Arrow or Parquet file that is damaged counts for
        nothing, and is counted as unreadable.
        """
        form = _FORMS.get(path.suffix)
        if form is None:
            raise InvalidValue(
                f"{path.name} is not a file of reports that can be read.",
                hint=f"one of: {', '.join(_FORMS)}.",
            )
        try:
            with path.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError:
            raise InvalidValue(f"{path} cannot be opened.", hint="check its name.") from None
        if digest in self._sources:
            return False
        if form == "lines":
            with path.open("rb") as opened:
                self.add_lines(opened)
        else:
            self._add_table(path, form)
        self._sources.add(digest)
        return True

    def _add_table(self, path: Path, form: str) -> None:
        part = Tally(self.survey)
        part._ids = set(self._ids)
        try:
            if form == "stream":
                with path.open("rb") as opened, arrow.batches(opened, form=form) as found:
                    for batch in found:
                        part.add_batch(batch)
            else:
                with arrow.batches(path, form=form) as found:
                    for batch in found:
                        part.add_batch(batch)
        except arrow.Unreadable:
            self.dropped["unreadable"] += 1
            return
        self._ids = part._ids
        self.dropped += part.dropped
        self._add(part.counters, part.n)

    # Merging and keeping -----------------------------------------------------------------------

    def merge(self, other: Tally) -> None:
        """Add another tally of the same survey."""
        if other.survey.id != self.survey.id:
            raise InvalidValue(
                "the two tallies are of different surveys.", hint="estimate them one by one."
            )
        shared = len(self._ids & other._ids) + len(self._sources & other._sources)
        if shared or other is self:
            raise CountedTwice(
                "the two tallies hold some of the same reports; their counts cannot be told apart.",
                hint="give each report to one collector only, or collect the files again into one "
                "tally, which drops duplicates.",
            )
        self._ids |= other._ids
        self._sources |= other._sources
        self.dropped += other.dropped
        self._add(other.counters, other.n)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data: the whole state."""
        return {
            "discreet": "tally",
            "version": VERSION,
            "survey": self.survey.id,
            "n": self.n,
            "counters": self.counters,
            "dropped": {name: many for name, many in sorted(self.dropped.items()) if many},
            "sources": sorted(self._sources),
            "ids": base64.b64encode(b"".join(sorted(self._ids))).decode(),
        }

    @classmethod
    def from_json(cls, survey: Survey, data: Mapping[str, Any]) -> Tally:
        """What ``to_json`` wrote, for the same survey."""
        tally = cls(survey)
        try:
            counters, n, dropped = data["counters"], data["n"], data["dropped"]
            ids, sources = base64.b64decode(data["ids"], validate=True), data["sources"]
            good = (
                data["discreet"] == "tally"
                and data["version"] == VERSION
                and data["survey"] == survey.id
                and len(counters) == len(tally.counters)
                and all(type(count) is int and count >= 0 for count in [*counters, n])
                and all(type(many) is int and many >= 0 for many in dropped.values())
                and all(isinstance(source, str) for source in sources)
                and len(ids) % 16 == 0
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            good = False
        if not good:
            raise InvalidSurvey(
                "this is not the state of a tally of this survey.",
                hint="start a new one and collect the reports again.",
            )
        tally._ids = {ids[place : place + 16] for place in range(0, len(ids), 16)}
        tally._sources = set(sources)
        tally.dropped = Counter(dropped)
        tally._add(counters, n)
        return tally

    def save(self, path: Path) -> None:
        """Write the state so that a crash leaves the old one or the new one, whole."""
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        with fresh.open("w", encoding="utf-8") as opened:
            json.dump(self.to_json(), opened)
            opened.flush()
            os.fsync(opened.fileno())
        fresh.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    @classmethod
    def load(cls, survey: Survey, path: Path) -> Tally:
        """Read a state from a file."""
        try:
            data = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            raise InvalidSurvey(
                f"{path} is not the state of a tally.",
                hint="start a new one and collect the reports again.",
            ) from None
        return cls.from_json(survey, data)

    # Within ------------------------------------------------------------------------------------

    def _first(self, name: bytes) -> bool:
        if name in self._ids:
            return False
        self._ids.add(name)
        return True

    def _grouped(self, values: ArrayLike) -> tuple[Reports, Any]:
        array = np.asarray(values)
        if array.dtype.kind not in "OS":
            return array, np.ones(len(array), dtype=np.bool_)
        pa = arrow.arrow()
        listed: Sequence[Any] = array.tolist()
        kinds = {type(value) for value in listed}
        column = pa.array(listed, pa.binary()) if kinds <= {bytes, type(None)} else pa.array(listed)
        read = arrow.from_batch(self.survey, pa.record_batch([column], names=["report"]))
        return read.rows, read.formed

    def _count(self, rows: Reports) -> None:
        self._add(self.survey.randomizer.tally(rows), len(rows))

    def _add(self, counters: Sequence[int], n: int) -> None:
        self.counters = [a + b for a, b in zip(self.counters, counters, strict=True)]
        self.n += n
