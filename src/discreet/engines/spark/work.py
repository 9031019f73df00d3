"""One piece of work that Spark does for us: how far it is, and how it is stopped."""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from discreet.engines.protocol import Progress

_PATIENCE = 0.1


class Work:
    """What runs under one tag, which no other work has."""

    def __init__(
        self, session: SparkSession, *, timeout: float | None, progress: Progress | None
    ) -> None:
        self._session = session
        self._context = None if is_remote(session) else session.sparkContext
        self._tag = f"discreet-{uuid.uuid4().hex}"
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._progress = progress
        self._far = 0.0
        self._stopped = threading.Event()
        self._done = threading.Event()

    def stop(self) -> None:
        """Have it stopped; it then fails."""
        self._stopped.set()

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """While this is open, what this thread asks of Spark is this work."""
        watcher = threading.Thread(target=self._watch, daemon=True)
        (self._context.addJobTag if self._context else self._session.addTag)(self._tag)
        reporter = self._listen()
        watcher.start()
        try:
            yield
        except BaseException:
            with contextlib.suppress(Exception):
                self._interrupt()  # Spark would go on for an asker who has left
            raise
        finally:
            self._done.set()
            watcher.join()
            # A Spark that is gone has no tags any more, and says so; what it did before matters.
            with contextlib.suppress(Exception):
                (self._context.removeJobTag if self._context else self._session.removeTag)(
                    self._tag
                )
                if reporter is not None:
                    self._session.removeProgressHandler(reporter)
        if self._progress is not None:
            self._progress(1.0)

    def _watch(self) -> None:
        while not self._done.wait(_PATIENCE):
            late = self._deadline is not None and time.monotonic() > self._deadline
            with contextlib.suppress(Exception):  # the work itself will say what is wrong
                if late or self._stopped.is_set():
                    # Again and again: between two jobs of one query there is nothing to stop.
                    self._interrupt()
                elif self._progress is not None and self._context is not None:
                    self._report(_stages(self._context, self._tag))

    def _interrupt(self) -> None:
        if self._context is not None:
            self._context.cancelJobsWithTag(self._tag)
        else:
            self._session.interruptTag(self._tag)

    def _listen(self) -> Any:
        """On a server the client is told how far it is."""
        if self._progress is None or self._context is not None:
            return None

        def told(stages: Any, *_: Any, **__: Any) -> None:
            self._report([(each.num_completed_tasks, each.num_tasks) for each in stages or ()])

        self._session.registerProgressHandler(told)  # type: ignore[arg-type]
        return told

    def _report(self, stages: list[tuple[int, int]]) -> None:
        """Spark learns of a stage only when those before it are done, so two are expected.

        They are what a snapshot has: one that reads, one that ranks and writes.
        """
        if self._progress is not None:
            shares = sum(done / tasks for done, tasks in stages if tasks)
            self._far = max(self._far, min(shares / max(len(stages), 2), 0.99))
            self._progress(self._far)


def is_remote(session: SparkSession) -> bool:
    """Whether a session is with a server."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def _stages(context: SparkContext, tag: str) -> list[tuple[int, int]]:
    """The tasks that are done, and all tasks, of each stage that has begun: by Spark's status."""
    # Python's own tracker knows groups of jobs and no tags.
    tracker = context._jsc.sc().statusTracker()
    stages = {}
    for job in tracker.getJobIdsForTag(tag):
        info = tracker.getJobInfo(job)
        listed = list(info.get().stageIds()) if info.isDefined() else []
        for stage in listed:
            found = tracker.getStageInfo(stage)
            if found.isDefined():
                each = found.get()
                # A job lists stages that an earlier job has done for it; they never begin.
                if each.numCompletedTasks() or each.numActiveTasks() or stage == max(listed):
                    stages[stage] = (each.numCompletedTasks(), each.numTasks())
    return [stages[each] for each in sorted(stages)]
