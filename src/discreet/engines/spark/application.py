"""How a Spark is reached: one that runs in this process, one that is started for it, or a server.

A process has one Spark at most. Engines share it, and the last of them stops it if it was started
here. One that has died is forgotten, and the next question starts another.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from discreet.engines.spark.settings import pin
from discreet.engines.words import LOG, unreachable
from discreet.errors import Unsupported

_LOCK = threading.RLock()
_started: SparkContext | None = None
_users = 0


def _overheard(record: logging.LogRecord) -> bool:
    """Let what Spark's client says to everybody be heard by the curator alone."""
    if f"{os.sep}py4j{os.sep}" not in record.pathname:
        return True
    LOG.handle(record)
    return False


logging.getLogger().addFilter(_overheard)


def is_server(address: str) -> bool:
    """Whether an address is that of a Spark Connect server.

    >>> is_server("sc://spark.example.org:15002"), is_server("local[*]")
    (True, False)
    """
    return address.startswith("sc://")


def is_here(address: str) -> bool:
    """Whether Spark's workers see this machine's own files.

    >>> is_here("local[*]"), is_here("local-cluster[2,1,1024]"), is_here("yarn")
    (True, True, False)
    """
    return address.partition("[")[0] in ("local", "local-cluster")


class Application:
    """A session of our own with a Spark, made when it is first needed."""

    def __init__(
        self, address: str, *, where: str, log: Path, settings: Mapping[str, str] | None = None
    ) -> None:
        self._address, self._where, self._log = address, where, log
        self._settings = dict(settings or {})
        self._session: SparkSession | None = None
        self._lock = threading.Lock()

    def session(self) -> SparkSession:
        """The session, another one if the last has died."""
        with self._lock:
            if self._session is not None and not self.is_alive(self._session):
                self._leave()
            if self._session is None:
                self._session = self._join()
            return self._session

    def is_alive(self, session: SparkSession) -> bool:
        """Whether there is still a Spark behind a session."""
        if is_server(self._address):
            return not session.is_stopped  # type: ignore[attr-defined]
        return _alive(session.sparkContext)

    def forget(self, error: Exception) -> None:
        """Let a server's session go after a failure that means that there is none any more."""
        lost = ("RETRIES_EXCEEDED", "UNAVAILABLE", "INVALID_HANDLE")
        if is_server(self._address) and any(word in str(error) for word in lost):
            with self._lock:
                session, self._session = self._session, None
            if session is not None:
                # Not stopped: nobody is there to be told.
                session.client.close()

    def close(self) -> None:
        """Leave, and stop what was started if nobody else is using it."""
        with self._lock:
            self._leave()

    def _leave(self) -> None:
        session, self._session = self._session, None
        if session is None:
            return
        with contextlib.suppress(Exception):  # whatever it says, we are gone
            if is_server(self._address):
                session.stop()
            else:
                _release()

    def _join(self) -> SparkSession:
        try:
            if is_server(self._address):
                return _connect(self._address)
            context = _acquire(self._address, self._settings, self._log)
        except Unsupported:
            raise
        except Exception as error:  # its words may hold the address, and with it a token
            said = str(error).replace(self._address, "***")
            LOG.error("Spark, by %s: %s", self._where, said)
            raise unreachable("Spark", self._where) from None
        try:
            return pin(SparkSession(context).newSession())
        except BaseException:
            _release()
            raise


def _connect(address: str) -> SparkSession:
    """A session with a server; a Spark of this process does not mind."""
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession as Remote

    session = Remote.builder.remote(address).create()
    # As it comes, the client would wait ten minutes for a server that is gone; this is seconds.
    session.client.set_retry_policies([DefaultPolicy(max_retries=5)])
    try:
        return pin(session)  # type: ignore[arg-type]
    except BaseException:
        session.client.close()
        raise


def _acquire(master: str, settings: Mapping[str, str], log: Path) -> SparkContext:
    """The Spark of this process, started if there is none."""
    global _started, _users
    with _LOCK:
        context = SparkContext._active_spark_context
        if context is not None and not _alive(context):
            _bury(context)
            context = None
        if context is None:
            context = _started = _start(master, settings, log)
            _users = 0
        elif context.master != master:
            raise Unsupported(
                f"this process has a Spark already, and its master is {context.master}.",
                hint="name the same master for every source, or ask from another process.",
            )
        _users += 1
        return context


def _release() -> None:
    global _started, _users
    with _LOCK:
        _users -= 1
        if _users > 0 or _started is None:
            return
        context, _started = _started, None
        _bury(context)


def _start(master: str, settings: Mapping[str, str], log: Path) -> SparkContext:
    conf = SparkConf(loadDefaults=False)
    conf.setMaster(master).setAppName("discreet")
    conf.set("spark.ui.showConsoleProgress", "false")
    conf.set("spark.log.level", "ERROR")
    if is_here(master):
        # Nobody else has to find this one, or to look at its pages.
        conf.set("spark.driver.host", "127.0.0.1").set("spark.driver.bindAddress", "127.0.0.1")
        conf.set("spark.ui.enabled", "false")
        conf.set("spark.driver.memory", f"{_memory() // 4 // 2**20}m")
    for name, value in settings.items():
        conf.set(name, value)
    # What Spark says may quote a cell: it is the curator's, not the analyst's, to read.
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        gateway = launch_gateway(conf, {"stdout": handle, "stderr": handle})  # type: ignore[no-untyped-call]
    finally:
        os.close(handle)
    return SparkContext(conf=conf, gateway=gateway)


def _memory() -> int:
    """The bytes of memory that this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _alive(context: SparkContext) -> bool:
    try:
        return not context._jsc.sc().isStopped()
    except Exception:  # a process that is gone fails in many ways
        return False


def _bury(context: SparkContext) -> None:
    """Forget a Spark whose process is gone: the driver would hold on to it for ever."""
    gateway = context._gateway
    with warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")  # that it cannot be stopped
        context.stop()
    with contextlib.suppress(Exception):
        gateway.shutdown()  # type: ignore[union-attr]
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # which ends it, if it has not ended
        process.wait()
    SparkContext._active_spark_context = None
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = None
