"""The documentation hangs together."""

import re
from pathlib import Path

from tests.source import ROOT

DOCS = ROOT / "docs"


def linked(page: Path) -> set[Path]:
    """The pages that a page leads to."""
    links = re.findall(r"\]\(([^)#:\s]+\.md)(?:#[^)]*)?\)", page.read_text())
    return {(page.parent / link).resolve() for link in links}


def test_every_page_is_linked_from_the_index():
    index, decisions = DOCS / "index.md", DOCS / "decisions" / "index.md"
    reached = linked(index) | linked(decisions) | {index.resolve()}
    pages = {path.resolve() for path in DOCS.rglob("*.md")}
    assert decisions.resolve() in reached
    missing = sorted(path.relative_to(DOCS.resolve()).as_posix() for path in pages - reached)
    assert missing == [], "name these in docs/index.md"


def test_the_readme_leads_to_the_index_and_the_first_tutorial():
    assert {DOCS / "index.md", DOCS / "tutorial" / "first-answer.md"} <= linked(ROOT / "README.md")
