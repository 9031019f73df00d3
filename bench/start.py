"""How long a user waits before the first line runs."""

import subprocess
import sys
from pathlib import Path

from bench.harness import Row, Sheet, Side
from bench.peers import python_of

ROUNDS = 10
IMPORT_SECONDS = 0.3


def importing(python: Path, module: str) -> Side:
    """The seconds that one import takes in a fresh interpreter."""
    code = (
        "import time; start = time.perf_counter(); "
        f"import {module}; print(time.perf_counter() - start)"
    )

    def side() -> float:
        done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
        return float(done.stdout)

    return side


def run(sheet: Sheet, *, long: bool) -> None:  # noqa: ARG001 - nothing here takes long
    """Import ours and a peer's, by turns."""
    with sheet.console.status("preparing OpenDP"):
        theirs = python_of("opendp")
    sides = [importing(Path(sys.executable), "discreet"), importing(theirs, "opendp.prelude")]
    ours, peer = sheet.best("import", sides, [ROUNDS, ROUNDS])
    sheet.add(Row.of("import discreet", ours=ours, unit="s", target=IMPORT_SECONDS))
    sheet.add(Row.of("import, against OpenDP 0.16", ours=ours, peer=peer, unit="s", target=1.0))
