"""Group commit across processes: many charges, one sync.

Whoever holds the lock file is the *writer*. It listens on a Unix socket beside the ledger, takes
every request that is ready into one transaction, and replies when that is on disk. When it dies,
the operating system frees the lock, another process takes it, and the others send their requests
again: a request that is already on record is found, not charged twice.

This is about speed alone. Requests are decided under SQLite's own lock, so that a process which
commits by itself, because it is alone or because the writer does not answer, does no harm.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import socket
import struct
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path

from discreet.errors import DiscreetError, LedgerFailed
from discreet.ledger.requests import Reply, Request, Reserve, Settle
from discreet.ledger.wire import Frames, read_reply, read_request, write_reply, write_request

Commit = Callable[[Sequence[Request]], list[Reply | DiscreetError]]

REPLY_SECONDS = 10.0  # a writer that takes longer is stopped or stuck: commit without it
SEND_SECONDS = 1.0  # a client that does not take its reply is dismissed
ELECTION_SECONDS = 1.0
IDLE_SECONDS = 1.0  # a writer with nothing of its own to write leaves the office to those who have
LONGEST_ADDRESS = 100  # bytes; the kernel's limit is 104 or 108


class Waiting:
    """A request and, in time, its reply."""

    __slots__ = ("connection", "ready", "reply", "request")

    def __init__(self, request: Reserve | Settle, connection: socket.socket | None = None) -> None:
        self.request = request
        self.connection = connection
        self.reply: Reply | DiscreetError | None = None
        self.ready: threading.Event | None = None


class GroupCommit:
    """One process's way to the ledger: as the writer, through the writer, or by itself."""

    def __init__(self, path: Path, commit: Commit) -> None:
        self._commit = commit
        self._lock_path = path.with_name(path.name + ".lock")
        self._socket_path = path.with_name(path.name + ".sock")
        self._start()

    def _start(self) -> None:
        self._office = threading.Lock()  # guards becoming and ceasing to be the writer
        self._turn = threading.Lock()  # one batch at a time
        self._waiting: list[Waiting] = []
        self._writer: Writer | None = None
        self._mute = False  # no lock file or no socket can be made here
        self._lines: list[socket.socket] = []  # connections to the writer that nobody is using

    def submit(self, request: Reserve | Settle) -> Reply:
        """The reply, once it is durable."""
        deadline = 0.0
        while True:
            writer = self._writer
            if writer is not None:
                return _or_raise(self._as_writer(writer, request))
            if self._mute:
                return _or_raise(self._alone(request))
            reply = self._through_writer(request)
            if reply is not None:
                return _or_raise(reply)
            if self._take_office():
                continue
            now = time.monotonic()
            deadline = deadline or now + ELECTION_SECONDS
            if now >= deadline or not self._call():
                if now >= deadline:
                    return _or_raise(self._alone(request))
                time.sleep(0.001)

    def close(self) -> None:
        """Leave the office and hang up."""
        writer = self._writer
        if writer is not None:
            self._writer = None
            writer.stop()
        self._hang_up()

    def forget(self) -> None:
        """In a child after a fork: what was inherited is the parent's."""
        writer = self._writer
        if writer is not None:
            writer.let_go()
        self._hang_up()
        self._start()

    def batch(self, requests: list[Waiting]) -> None:
        """Commit these and whatever else is waiting; on return these have their replies."""
        self._waiting.extend(requests)
        with self._turn:
            taken = self._waiting.copy()
            del self._waiting[: len(taken)]
            if not taken:
                return  # whoever had the turn before took them along
            replies: Sequence[Reply | DiscreetError] = [_INTERRUPTED] * len(taken)
            try:
                replies = self._commit([each.request for each in taken])
            except DiscreetError as failure:
                replies = [failure] * len(taken)
            finally:
                for each, reply in zip(taken, replies, strict=True):
                    each.reply = reply
                    if each.ready is not None:
                        each.ready.set()

    def _alone(self, request: Reserve | Settle) -> Reply | DiscreetError:
        return self._commit([request])[0]

    def _as_writer(self, writer: Writer, request: Reserve | Settle) -> Reply | DiscreetError:
        writer.last_own = time.monotonic()
        if not writer.clients and self._turn.acquire(blocking=False):
            try:  # nobody to wait for, and nobody who waits
                return self._alone(request)
            finally:
                self._turn.release()
        mine = Waiting(request)
        if not (writer.clients and writer.wait_for(mine)):
            self.batch([mine])
        if mine.reply is None:  # pragma: no cover - the writer's thread failed
            return self._alone(request)
        return mine.reply

    def _through_writer(self, request: Reserve | Settle) -> Reply | DiscreetError | None:
        try:
            line = self._lines.pop()
        except IndexError:
            return None
        try:
            line.sendall(write_request(request))
            reply = _listen_for(line)
        except BlockingIOError:  # the time is up
            line.close()
            return self._alone(request)
        except OSError:
            reply = None
        if reply is None:
            line.close()
            self._hang_up()
        else:
            self._lines.append(line)
        return reply

    def _call(self) -> bool:
        """Connect to the writer, if one answers."""
        try:
            address = self._lock_path.read_text().strip()
            line = socket.socket(socket.AF_UNIX)
            try:
                # The kernel's own timeouts: Python's cost a poll before each send and receive.
                for way in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
                    line.setsockopt(socket.SOL_SOCKET, way, _timeval(REPLY_SECONDS))
                line.connect(address)
            except BaseException:
                line.close()
                raise
        except OSError:
            return False
        self._lines.append(line)
        return True

    def _hang_up(self) -> None:
        while self._lines:
            with contextlib.suppress(IndexError):
                self._lines.pop().close()

    def _take_office(self) -> bool:
        with self._office:
            if self._writer is not None:
                return True
            try:
                handle = os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o600)
            except OSError:
                self._mute = True
                return True
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(handle)
                return False
            try:
                self._writer = Writer(self, handle, self._socket_path)
            except OSError:
                os.close(handle)
                self._mute = True
            return True

    def left(self, writer: Writer) -> None:
        """The writer says that it has left the office."""
        if self._writer is writer:
            self._writer = None


class Writer:
    """The thread that listens, collects what is ready, and replies when it is durable."""

    def __init__(self, group: GroupCommit, handle: int, path: Path) -> None:
        self._group = weakref.ref(group)
        self._handle = handle
        self._folder: str | None = None
        self.last_own = time.monotonic()
        self.clients: dict[socket.socket, Frames] = {}
        self._own: list[Waiting] = []
        self._open = True
        self._mutex = threading.Lock()
        self._listener = self._listen(path)
        self._bell, self._ear = socket.socketpair()
        self._bell.settimeout(0)
        self._ear.settimeout(0)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._ear, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="discreet-ledger", daemon=True)
        self._thread.start()

    def wait_for(self, mine: Waiting) -> bool:
        """Let a request of this process travel with those of the others."""
        mine.ready = threading.Event()
        with self._mutex:
            if not self._open:
                return False
            self._own.append(mine)
        with contextlib.suppress(BlockingIOError):
            self._bell.send(b"!")
        mine.ready.wait()
        return True

    def stop(self) -> None:
        """Leave the office, once the batch at hand is done."""
        with self._mutex:
            self._open = False
        with contextlib.suppress(OSError):
            self._bell.send(b"!")
        if self._thread is not threading.current_thread():
            self._thread.join()

    def let_go(self) -> None:
        """Close what a fork has copied, without a word to anybody."""
        for each in (self._listener, self._bell, self._ear, *self.clients):
            each.close()
        self._selector.close()
        os.close(self._handle)

    def _listen(self, path: Path) -> socket.socket:
        address = str(path.absolute())
        if len(os.fsencode(address)) > LONGEST_ADDRESS:
            self._folder = tempfile.mkdtemp(prefix="discreet-")
            address = str(Path(self._folder) / "ledger.sock")
        Path(address).unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        try:
            # Set before bind, so that nobody else can connect even for a moment.
            with contextlib.suppress(OSError):
                os.fchmod(listener.fileno(), 0o600)
            listener.bind(address)
            Path(address).chmod(0o600)
            listener.listen(1024)
            listener.settimeout(0)
        except OSError:
            listener.close()
            raise
        self._address = Path(address)
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, address.encode(), 0)
        return listener

    def _serve(self) -> None:
        try:
            while self._open:
                waiting = self._collect()
                group = self._group()
                if group is None:
                    break
                if waiting:
                    group.batch(waiting)
                    self._reply(waiting)
                idle = time.monotonic() - self.last_own > IDLE_SECONDS
                if idle and self.clients:
                    break
                del group
        finally:
            self._leave()

    def _collect(self) -> list[Waiting]:
        waiting: list[Waiting] = []
        for key, _ in self._selector.select(IDLE_SECONDS):
            sock = key.fileobj
            if sock is self._listener:
                self._accept()
            elif sock is self._ear:
                with contextlib.suppress(BlockingIOError):
                    self._ear.recv(4096)
            elif isinstance(sock, socket.socket):
                waiting += self._receive(sock)
        if self._own:
            with self._mutex:
                own, self._own = self._own, []
            waiting += own
        return waiting

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.settimeout(0)
                self.clients[client] = Frames()
                self._selector.register(client, selectors.EVENT_READ)

    def _receive(self, client: socket.socket) -> list[Waiting]:
        try:
            data = client.recv(1 << 16)
            if data:
                frames = self.clients[client].feed(data)
                return [Waiting(read_request(*message), client) for message in frames]
        except BlockingIOError:
            return []
        except (OSError, ValueError):
            pass
        self._dismiss(client)
        return []

    def _reply(self, waiting: list[Waiting]) -> None:
        for each in waiting:
            client, reply = each.connection, each.reply
            if client is None or reply is None or client not in self.clients:
                continue
            data = write_reply(reply)
            try:
                sent = client.send(data)
                if sent < len(data):
                    client.settimeout(SEND_SECONDS)
                    client.sendall(data[sent:])
                    client.settimeout(0)
            except OSError:
                self._dismiss(client)

    def _dismiss(self, client: socket.socket) -> None:
        if self.clients.pop(client, None) is not None:
            self._selector.unregister(client)
            client.close()

    def _leave(self) -> None:
        with self._mutex:
            self._open = False
            own, self._own = self._own, []
        group = self._group()
        if group is not None:
            group.left(self)
            if own:
                group.batch(own)
        self._address.unlink(missing_ok=True)
        if self._folder is not None:
            with contextlib.suppress(OSError):
                Path(self._folder).rmdir()
        self.let_go()


_INTERRUPTED = LedgerFailed(
    "the process that was writing the charge was interrupted.",
    hint="retry with the same key, which charges at most once.",
)


def _listen_for(line: socket.socket) -> Reply | DiscreetError | None:
    """The reply, or nothing if the other side has hung up."""
    frames = Frames()
    while data := line.recv(1 << 16):
        for words, blob in frames.feed(data):
            return read_reply(words, blob)
    return None


def _timeval(seconds: float) -> bytes:
    return struct.pack("@ll", int(seconds), int(seconds % 1 * 1_000_000))


def _or_raise(reply: Reply | DiscreetError) -> Reply:
    if isinstance(reply, DiscreetError):
        raise reply
    return reply
