"""Moving what is on disk from the log to its place, while nobody waits for it.

SQLite appends commits to a log and now and then copies the changed pages into the file. In a long
ledger these lie far apart, and whoever commits at that moment waits for all of them. A thread with
a connection of its own does most of it beforehand. It neither adds to durability nor takes from
it: it may come late, fail or die at any point, and SQLite does the same work itself.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable

ENTRIES = 200
"""How many new entries are worth a walk through the file."""

IDLE_SECONDS = 2.0


class Checkpoints:
    """A thread that comes when it is called, and goes when it is not called for a while."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._start()
        _ALL.add(self)

    def _start(self) -> None:
        self._new = 0
        self._office = threading.Lock()
        self.busy = threading.Lock()  # inside SQLite
        self._called = threading.Event()
        self._stopped = False
        self._thread: threading.Thread | None = None

    def wrote(self, entries: int) -> None:
        """Say that so many entries were committed."""
        self._new += entries
        if self._new >= ENTRIES:
            self._new = 0
            with self._office:
                self._called.set()
                if self._thread is None and not self._stopped:
                    self._thread = threading.Thread(
                        target=self._work, name="discreet-checkpoints", daemon=True
                    )
                    self._thread.start()

    def close(self) -> None:
        """Wait for the thread, if it is at work."""
        with self._office:
            thread, self._stopped = self._thread, True
            self._called.set()
        if thread is not None:
            thread.join()
        self._start()

    def forget(self) -> None:
        """In a child after a fork: the thread is the parent's."""
        self._start()

    def _work(self) -> None:
        with contextlib.suppress(sqlite3.Error, OSError):  # the next commit meets it, and tells
            with self.busy:
                connection = self._connect()
            try:
                while self._wanted():
                    with self.busy:
                        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            finally:
                with self.busy:
                    connection.close()
        with self._office:
            self._thread = None

    def _wanted(self) -> bool:
        called = self._called.wait(IDLE_SECONDS)
        self._called.clear()
        return called and not self._stopped


# A child that was forked while this thread was inside SQLite would find its locks held for ever.

_ALL: weakref.WeakSet[Checkpoints] = weakref.WeakSet()
_HELD = threading.local()


def _before_fork() -> None:
    _HELD.locks = [each.busy for each in list(_ALL)]
    for lock in _HELD.locks:
        lock.acquire()


def _after_fork() -> None:
    for lock in _HELD.locks:
        lock.release()
    _HELD.locks = []


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
