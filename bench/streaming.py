"""Our own streams, in a process of their own so that its peak of memory is theirs."""

import resource
import sys
from collections.abc import Callable
from pathlib import Path

from bench.peers.worker import serve
from discreet.noise import RoundedGaussian, TwoSidedGeometric


def peak_megabytes() -> float:
    """The most memory this process has held so far."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage would count what the parent held before it started us.
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def stream(kind: str, scale: int, count: int) -> Callable[[], object]:
    """Draw `count` numbers a block at a time and keep none."""
    distribution = TwoSidedGeometric(scale) if kind == "geometric" else RoundedGaussian(scale)
    distribution.sample(1)
    before = peak_megabytes()

    def work() -> dict[str, float]:
        drawn = sum(len(block) for block in distribution.stream(count))
        if drawn != count:
            raise AssertionError(f"the stream gave {drawn} numbers of {count}")
        return {"grown_megabytes": peak_megabytes() - before}

    return work


if __name__ == "__main__":
    serve({"stream": stream})
