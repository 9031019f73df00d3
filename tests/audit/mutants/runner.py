"""Plants one mutant at a time in a copy of the project, and runs the checks that should notice.

A mutant is caught when a test fails with it that passes without it: the tests that failed are run
again, all of them, in a copy without any bug. A mutant with which a check does not even start is
not caught.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tests.audit.mutants.mutant import ROOT, Moved, Mutant

_LONGEST, _LONGEST_OF_ALL = 600, 3600
FAILED = 1
"""The exit status of pytest when tests fail; more than that, and it did not run."""


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant."""

    name: str
    kind: str
    caught_by: str | None
    seconds: float
    note: str = ""


def judge(mutant: Mutant) -> Verdict:
    """Plant one bug in a copy and run its checks until one fails."""
    begun = time.monotonic()

    def verdict(caught_by: str | None, note: str = "") -> Verdict:
        return Verdict(mutant.name, mutant.kind, caught_by, time.monotonic() - begun, note)

    with copy() as project:
        try:
            mutant.plant(project)
        except Moved as moved:
            return verdict(None, str(moved))
        for check in mutant.checks:
            status, failed, told = run(project, check)
            if status > FAILED:
                return verdict(None, f"{check} does not run: {told}")
            if failed:
                return verdict(failed[0])
    return verdict(None, "survived")


def sound(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts again, without those of tests that fail by themselves."""
    tests = list(dict.fromkeys(each.caught_by for each in verdicts if each.caught_by))
    if not tests:
        return list(verdicts)
    with copy() as project:
        status, failing, told = run(project, *tests, first=False)
    if status > FAILED:
        raise RuntimeError(f"the tests do not run without a bug: {told}")
    return [
        replace(each, caught_by=None, note=f"{each.caught_by} fails without it too")
        if each.caught_by in failing
        else each
        for each in verdicts
    ]


@contextmanager
def copy() -> Iterator[Path]:
    """The project as it is, in a folder that is thrown away."""
    ignore = shutil.ignore_patterns("__pycache__", ".discreet", ".envs", ".data")
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        for part in ("src", "tests", "docs", "bench"):
            shutil.copytree(ROOT / part, project / part, ignore=ignore)
        for name in ("pyproject.toml", "README.md"):
            shutil.copyfile(ROOT / name, project / name)
        yield project


def run(project: Path, *checks: str, first: bool = True) -> tuple[int, list[str], str]:
    """The exit status of some checks, the tests that failed or the first, and the last words."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not deep", "--no-header", "--tb=no"]
    command += ["-p", "no:cacheprovider", *(["-x"] if first else []), *checks]
    paths = {"PYTHONPATH": str(project / "src"), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "80"}
    try:
        done = subprocess.run(
            command,
            cwd=project,
            env=os.environ | paths,
            capture_output=True,
            text=True,
            timeout=_LONGEST if first else _LONGEST_OF_ALL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return FAILED, list(checks), "it did not end"
    lines = done.stdout.splitlines()
    failed = [
        _test(line) for line in lines if line.startswith(("FAILED ", "ERROR ")) and "::" in line
    ]
    return done.returncode, failed, (done.stdout + done.stderr)[-300:]


def _test(line: str) -> str:
    """The test of a line of the summary; with its case, where that is told unharmed."""
    test = line.partition(" ")[2].split(" - ")[0]
    return test if "[" not in test or test.endswith("]") else test.partition("[")[0]
