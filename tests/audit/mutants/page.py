"""The page of mutants: each bug, and the check that catches it."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from tests.audit.mutants.mutant import ROOT
from tests.audit.mutants.planted import MUTANTS
from tests.audit.mutants.runner import Verdict

VERDICTS = ROOT / "mutants" / "verdicts.json"
PAGE = ROOT / "docs" / "reference" / "audit-mutants.md"

HEAD = """\
# Planted bugs, and the checks that catch them

Written by `make mutants`; do not edit. Each bug has broken some other system. It is planted in a
copy of this project, and the tests named here fail; without a bug they pass.

| kind | bug | caught by |
|---|---|---|
"""


def record(verdicts: Iterable[Verdict]) -> tuple[Path, Path]:
    """Write down the verdicts, beside those of earlier runs on other mutants."""
    before = json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.exists() else []
    known = {each["name"]: Verdict(**each) for each in before}
    known |= {each.name: each for each in verdicts}
    kept = [known[mutant.name] for mutant in MUTANTS if mutant.name in known]
    VERDICTS.parent.mkdir(exist_ok=True)
    text = json.dumps([asdict(each) for each in kept], indent=2) + "\n"
    VERDICTS.write_text(text, encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")
    return VERDICTS, PAGE


def page(verdicts: Iterable[Verdict]) -> str:
    """The whole page."""
    return HEAD + "".join(
        f"| {each.kind} | {each.name} | {_test(each.caught_by)} |\n" for each in verdicts
    )


def _test(caught_by: str | None) -> str:
    if caught_by is None:
        return "**nothing**"
    # What a test was run with may hold signs that a table does not.
    path, _, name = caught_by.partition("[")[0].partition("::")
    return f"`{path}`: {name.replace('_', ' ').removeprefix('test ')}" if name else f"`{path}`"
