"""A file that is being made has a hidden name beside the finished one.

Whoever is at work there holds a lock, shared with others at work, which ends with its process
however that ends. What lies there while nobody holds it was left by a process that was killed: it
may hold private rows, and the next one that comes removes it.
"""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """A hidden name beside ``path``; nothing has it afterwards.

    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> with unfinished(folder / "visits") as hidden:
    ...     _ = hidden.write_text("a row")
    >>> sorted(each.name for each in folder.iterdir())
    ['visits.lock']
    """
    with _at_work(path):
        name = f".{path.name}.{uuid.uuid4().hex}"
        try:
            yield path.with_name(name)
        finally:
            _remove(path.parent, re.escape(name))


@contextlib.contextmanager
def _at_work(path: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # nobody can tell who is alive, so nothing of others is removed
        yield
        return
    # A file of its own: a lock on the database would be lost with DuckDB's, and one on the folder
    # would not be seen from another machine.
    handle = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path.parent, rf"\.{re.escape(path.name)}\.[0-9a-f]{{32}}")
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def _remove(folder: Path, name: str) -> None:
    """Remove the files of a name, and what an engine writes beside them, such as ``.wal``."""
    for each in folder.iterdir():
        if re.fullmatch(rf"{name}(\..*)?", each.name) and not each.is_dir():
            each.unlink(missing_ok=True)
