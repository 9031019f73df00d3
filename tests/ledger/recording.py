"""A file system that remembers every write and every sync, so that a power cut can be played.

Between two syncs a disk may keep any of the writes, lose any, or tear one in the middle. What was
synced stays. apsw lets a SQLite database live on a file system written in Python; the connection
here looks like one of the standard library, so that the store runs on it unchanged.
"""

import sqlite3
from pathlib import Path
from random import Random
from typing import Any

import apsw

SECTOR = 512


class Recorder:
    """Everything that happened to each file, in order."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str, int, bytes]] = []
        self.fail: str | None = None  # "xWrite" or "xSync": that call fails from now on

    def note(self, what: str, name: str, offset: int = 0, data: bytes = b"") -> None:
        self.log.append((what, Path(name).name, offset, data))

    def image(self, start: dict[str, bytes], upto: int, chance: Random) -> dict[str, bytes]:
        """The files after a power cut at one moment, with luck as ``chance`` has it."""
        files = {name: bytearray(content) for name, content in start.items()}
        loose: dict[str, list[tuple[str, int, bytes]]] = {}
        for what, name, offset, data in self.log[:upto]:
            if what == "sync":
                for change in loose.pop(name, []):
                    _apply(files.setdefault(name, bytearray()), change)
            elif what in {"write", "truncate"}:
                loose.setdefault(name, []).append((what, offset, data))
        for name, changes in loose.items():
            for change in changes:
                content = files.setdefault(name, bytearray())
                luck = chance.random()
                if luck < 0.4:
                    _apply(content, change)
                elif luck < 0.7:
                    _apply(content, _torn(change, chance))
        return {name: bytes(content) for name, content in files.items()}


def _apply(content: bytearray, change: tuple[str, int, bytes]) -> None:
    what, offset, data = change
    if what == "truncate":
        del content[offset:]
        return
    content.extend(bytes(max(0, offset + len(data) - len(content))))
    content[offset : offset + len(data)] = data


def _torn(change: tuple[str, int, bytes], chance: Random) -> tuple[str, int, bytes]:
    what, offset, data = change
    return what, offset, data[: chance.randrange(0, len(data) + 1, SECTOR)]


class RecordingFiles(apsw.VFS):
    """The system's own files, with everything noted down."""

    def __init__(self, name: str, recorder: Recorder) -> None:
        self.recorder = recorder
        self.name = name
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> "RecordingFile":
        return RecordingFile(name, flags, self.recorder)


class RecordingFile(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], recorder: Recorder) -> None:
        self.recorder = recorder
        self.path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__("", name, flags)

    def _may(self, what: str) -> None:
        if self.recorder.fail == what:
            raise apsw.IOError("the disk is on fire")

    def xWrite(self, data: bytes, offset: int) -> None:
        self._may("xWrite")
        self.recorder.note("write", self.path, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self.recorder.note("truncate", self.path, size)
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._may("xSync")
        self.recorder.note("sync", self.path)
        super().xSync(flags)


class Standard:
    """An apsw connection with the manners of the standard library's."""

    def __init__(self, path: Path, vfs: str) -> None:
        self._inner = apsw.Connection(str(path), vfs=vfs, flags=apsw.SQLITE_OPEN_READWRITE)
        # The files are not shared here, so SQLite may keep its index of the log in memory.
        self._inner.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()

    @property
    def in_transaction(self) -> bool:
        return not self._inner.get_autocommit()

    def execute(self, statement: str, values: Any = ()) -> Any:
        return self._do(self._inner.execute, statement, tuple(values))

    def executemany(self, statement: str, rows: Any) -> Any:
        return self._do(self._inner.executemany, statement, [tuple(row) for row in rows])

    def close(self) -> None:
        self._inner.close(force=True)

    def _do(self, call: Any, *words: Any) -> Any:
        try:
            return call(*words)
        except apsw.Error as error:
            known = sqlite3.OperationalError(str(error))
            known.sqlite_errorcode = getattr(error, "result", sqlite3.SQLITE_IOERR)
            raise known from error
