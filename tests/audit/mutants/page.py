"""The page of mutants: each bug, and the check that catches it."""

from collections.abc import Iterable

from tests.audit.mutants.mutant import ROOT
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
