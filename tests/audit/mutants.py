"""Bugs that broke other systems, planted in this one: which check catches each?

``python -m tests.audit.mutants [NAME ...]`` copies the project, patches one place at a time, and
runs the checks that should notice. A mutant is caught when a test fails in the copy that passes in
the original; one that does not even import counts as not caught.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_AT_ONCE = 2
_LONGEST = 600


@dataclass(frozen=True)
class Mutant:
    """One bug: the text that it replaces, and the tests that should fail."""

    name: str
    kind: str
    path: str
    old: str
    new: str
    checks: tuple[str, ...]


GREYBOX = "tests/session/test_greybox.py"
KEYS = "tests/mechanisms/test_key_selection.py"
LEDGER = "tests/conformance/test_ledger.py"
SNAPSHOT = "tests/sql/test_snapshot.py"

MUTANTS = [
    Mutant(
        "float noise",
        "floating point",
        "noise/sampling.py",
        "    sampler(noise).fill(out)\n",
        "    u = (bits.words(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53 - 0.5\n"
        "    t = np.maximum(1 - 2 * np.abs(u), 2.0**-53)\n"
        "    out[:] = np.sign(u) * np.floor(-float(noise.scale) * np.log(t))\n",
        ("tests/noise/test_exactness.py",),
    ),
    Mutant(
        "settled too early",
        "floating point",
        "noise/magnitude.py",
        "    if most is None or most != least:\n",
        "    if most is None:\n",
        ("tests/audit/test_exact.py",),
    ),
    Mutant(
        "half to even",
        "sensitivity",
        "exact/grid.py",
        "            out += scaled == 0.5\n",
        "            out += 0\n",
        ("tests/exact/test_grid.py",),
    ),
    Mutant(
        "scale short",
        "sensitivity",
        "plan/noise.py",
        "    laplace = tuple(s.l1 / share for s in sensitivities)",
        "    laplace = tuple(s.l1 / share * Fraction(9, 10) for s in sensitivities)",
        ("tests/audit/test_sql.py",),
    ),
    Mutant(
        "half the range, truncated",
        "sensitivity",
        "plan/primitives.py",
        "        return self.low - self.centre, self.high - self.centre\n",
        "        half = (self.high - self.low) // 2\n"
        "        return (-half, half) if self.centre else (self.low, self.high)\n",
        ("tests/audit/test_greybox.py",),
    ),
    Mutant(
        "two corners of a product",
        "sensitivity",
        "plan/intervals.py",
        "        products = [x * y for x in mine for y in theirs]\n",
        "        products = [mine[0] * theirs[0], mine[1] * theirs[1]]\n",
        ("tests/plan/test_bounds.py",),
    ),
    Mutant(
        "the raw column is used",
        "sensitivity",
        "sql/snapshot.py",
        "    if limits is None:\n        return text\n    return (\n",
        "    if limits is None or text:\n        return text\n    return (\n",
        (SNAPSHOT, GREYBOX),
    ),
    Mutant(
        "an unbounded sum is let through",
        "sensitivity",
        "plan/query.py",
        'if meaning.type != "boolean" and meaning.bounds.bounded is None:',
        'if meaning.type == "text" and meaning.bounds.bounded is None:',
        ("tests/cli/test_ask.py", GREYBOX),
    ),
    Mutant(
        "change-one counted once",
        "sensitivity",
        "mechanisms/key_selection.py",
        "return Fraction(rows if self.relation is Relation.ADD_REMOVE else 2 * rows)",
        "return Fraction(rows)",
        (KEYS,),
    ),
    Mutant(
        "modulo zero is never NULL",
        "null makers",
        "plan/operations.py",
        '    return Meaning("integer", bounds, _nullable(arguments) or not never_zero)\n',
        '    return Meaning("integer", bounds, _nullable(arguments))\n',
        ("tests/plan/test_bounds.py", "tests/sql/test_conformance.py", GREYBOX),
    ),
    Mutant(
        "one row too many",
        "bounding",
        "sql/snapshot.py",
        'f"WHERE {identifier(RANK)} <= {kept}"',
        'f"WHERE {identifier(RANK)} <= {kept + 1}"',
        (SNAPSHOT, GREYBOX),
    ),
    Mutant(
        "ties by the order of rows",
        "bounding",
        "sql/snapshot.py",
        '    order = ", ".join([f"HASH({\', \'.join([constant(key), *names])})", *names])\n',
        '    order = f"HASH({constant(key)})"\n',
        (SNAPSHOT, GREYBOX),
    ),
    Mutant(
        "nobody counts as a person",
        "bounding",
        "sql/snapshot.py",
        "WHERE {identifier(UNIT)} IS NOT NULL) ",
        "WHERE TRUE) ",
        ("tests/audit/test_greybox.py",),
    ),
    Mutant(
        "the boundary atom is left out",
        "keys",
        "mechanisms/key_selection.py",
        "    one = 1 - noise.cdf(threshold - rows - 1)\n",
        "    one = 1 - noise.cdf(threshold - rows)\n",
        (KEYS,),
    ),
    Mutant(
        "one way to spread rows",
        "keys",
        "mechanisms/key_selection.py",
        "        return [(1, self.rows_per_unit), (self.rows_per_unit, 1)]\n",
        "        return [(self.rows_per_unit, 1)]\n",
        (KEYS,),
    ),
    Mutant(
        "every group is shown",
        "keys",
        "mechanisms/key_selection.py",
        "shown_ = (noisy >= self.threshold) & (units > 0)",
        "shown_ = units > 0",
        ("tests/audit/test_attacks.py", KEYS),
    ),
    Mutant(
        "public groups without rows are left out",
        "keys",
        "session/measure.py",
        "    if not core.keys_are_public:\n        return Aggregates(",
        "    if core.keys:\n        return Aggregates(",
        (GREYBOX,),
    ),
    Mutant(
        "noisy max with half the noise",
        "noisy max",
        "mechanisms/noisy_max.py",
        "OneSidedGeometric(1 / self.unit)",
        "OneSidedGeometric(1 / (2 * self.unit))",
        ("tests/mechanisms/test_choice.py",),
    ),
    Mutant(
        "randomized response off by one",
        "randomized response",
        "local/two_coins.py",
        "        if tails:\n            return value\n",
        "        if tails or second_heads:\n            return value\n",
        ("tests/local/test_randomizers.py",),
    ),
    Mutant(
        "unary encoding keeps too many bits",
        "randomized response",
        "local/unary.py",
        "            if next(words) < (self.kept if option == value else self.false)\n",
        "            if next(words) < (self.kept if option <= value else self.false)\n",
        ("tests/local/test_randomizers.py",),
    ),
    Mutant(
        "only the analyst's cap is checked",
        "state",
        "ledger/rules.py",
        "        for account in (analyst, people):\n            _afford(",
        "        for account in (analyst, analyst):\n            _afford(",
        (LEDGER,),
    ),
    Mutant(
        "yesterday's ledger is taken",
        "state",
        "ledger/store.py",
        "        if self.anchor is not None:\n            require_descent(",
        "        if self.anchor is not None and head.seq < 0:\n            require_descent(",
        ("tests/audit/test_attacks.py", LEDGER),
    ),
    Mutant(
        "charges rounded down",
        "state",
        "ledger/units.py",
        "    return int(-(-main // STEPS[0])), int(-(-delta // STEPS[1]))\n",
        "    return int(main // STEPS[0]), int(delta // STEPS[1])\n",
        ("tests/ledger/test_units.py", LEDGER),
    ),
    Mutant(
        "repeats are drawn afresh",
        "state",
        "session/request.py",
        "        if self.once:\n",
        "        if not self.once:\n",
        ("tests/audit/test_attacks.py", "tests/cli/test_ask.py"),
    ),
    Mutant(
        "retries are charged again",
        "state",
        "ledger/rules.py",
        "    if release not in found:\n",
        "    if release:\n",
        (LEDGER,),
    ),
    Mutant(
        "unknown clauses are dropped",
        "SQL",
        "sql/syntax.py",
        "        if name not in known and name not in _SILENT and not _empty(value):\n",
        "        if name not in known and name not in _SILENT and not node.args:\n",
        ("tests/sql/test_escapes.py", "tests/sql/test_mutations.py"),
    ),
    Mutant(
        "the engine's words are passed on",
        "errors",
        "engines/duckdb.py",
        "            raise failed() from None\n",
        "            raise type(failed())(str(error)) from None\n",
        ("tests/engines/test_duckdb.py",),
    ),
    Mutant(
        "a fork shares its key",
        "randomness",
        "noise/bits.py",
        "        if self.owner != here or self.left < length:\n",
        "        if self.owner is None or self.left < length:\n",
        ("tests/noise/test_bits.py",),
    ),
]


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
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        ignore = shutil.ignore_patterns("__pycache__", ".discreet")
        for part in ("src", "tests", "docs"):
            shutil.copytree(ROOT / part, copy / part, ignore=ignore)
        for name in ("pyproject.toml", "README.md"):
            shutil.copyfile(ROOT / name, copy / name)
        place = copy / "src" / "discreet" / mutant.path
        text = place.read_text()
        if text.count(mutant.old) != 1:
            note = "the text to replace is not there once: the mutant needs a new patch"
            return Verdict(mutant.name, mutant.kind, None, 0.0, note)
        place.write_text(text.replace(mutant.old, mutant.new))
        for check in mutant.checks:
            status, told = _run(copy, check)
            if status == 1:
                return Verdict(mutant.name, mutant.kind, told, time.monotonic() - begun)
            if status > 1:
                return Verdict(mutant.name, mutant.kind, None, 0.0, f"{check} does not run: {told}")
    return Verdict(mutant.name, mutant.kind, None, time.monotonic() - begun, "survived")


def _run(copy: Path, check: str) -> tuple[int, str]:
    """A check's exit status, and the first test that failed."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not deep", "--no-header"]
    command += ["-p", "no:cacheprovider", "--tb=no", check]
    paths = {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env=os.environ | paths,
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1, f"{check} (it did not end)"
    failed = [
        line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED ")
    ]
    if failed:
        return done.returncode, failed[0].removeprefix("FAILED ")
    return done.returncode, done.stdout[-300:]


def main(names: list[str]) -> int:
    """Judge them all, or some; the exit status says whether all but one are caught."""
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    begun = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        verdicts = []
        for verdict in pool.map(judge, chosen):
            verdicts.append(verdict)
            told = verdict.caught_by or f"NOT CAUGHT: {verdict.note}"
            sys.stdout.write(f"{verdict.kind:20} {verdict.name:40} {told}\n")
            sys.stdout.flush()
    caught = sum(verdict.caught_by is not None for verdict in verdicts)
    sys.stdout.write(
        f"\n{caught} of {len(verdicts)} mutants caught in {time.monotonic() - begun:.0f} s\n"
    )
    out = ROOT / "mutants"
    out.mkdir(exist_ok=True)
    (out / "verdicts.json").write_text(json.dumps([asdict(each) for each in verdicts], indent=2))
    return int(caught < len(verdicts) - 1)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
