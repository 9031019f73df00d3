"""Peers, each in an environment of its own, asked over a pipe.

An environment is built once, in `bench/.envs/NAME`, from the pins in `bench/peers/NAME.txt`. A
worker, a module such as `bench.peers.opendp_noise`, runs in it and answers one line of JSON with
another. It times the work itself, so the pipe costs the peer nothing and the sides can take turns.

Only the standard library is imported here: workers import this package too.
"""

import contextlib
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PINS = Path(__file__).parent
ROOT = PINS.parents[1]
ENVIRONMENTS = PINS.parent / ".envs"


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment, which is built first if it is not current."""
    home = ENVIRONMENTS / name
    python = home / "bin" / "python"
    pins = PINS / f"{name}.txt"
    stamp = home / ".pins"
    wanted = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--requirement", str(pins)], check=True)
        stamp.write_text(wanted)
    return python


class PeerError(Exception):
    """The worker could not do a task, or died; the message is its own."""


class Peer:
    """A running worker.

    `Peer("opendp", worker="bench.peers.opendp_noise")` runs that module in OpenDP's environment;
    `Peer(None, worker=...)` runs one in ours.
    """

    def __init__(self, name: str | None, *, worker: str) -> None:
        python = Path(sys.executable) if name is None else python_of(name)
        self._process = subprocess.Popen(
            [str(python), "-m", worker],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests = self._process.stdin
        self._replies = self._process.stdout

    def ask(self, task: str, **options: object) -> dict[str, Any]:
        """The worker's answer to one task."""
        try:
            self._requests.write(json.dumps({"task": task, **options}) + "\n")
            self._requests.flush()
        except BrokenPipeError:
            raise PeerError(f"the worker ended before it was asked for {task!r}") from None
        line = self._replies.readline()
        if not line:
            raise PeerError(f"the worker ended while it was asked for {task!r}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def side(self, task: str, **options: object) -> Callable[[], float]:
        """A side for the harness: each round asks for the task and takes the worker's time."""
        return lambda: float(self.ask(task, **options)["seconds"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self._process.wait()
        self._replies.close()
