"""The pages that show commands: every command is run, and must print what the page says.

Noise is new each time, so all numbers count as equal; words, columns and lines do not.
"""

import re
import shlex
from pathlib import Path

import pytest

from tests.source import ROOT

TUTORIAL = ROOT / "docs" / "tutorial" / "first-answer.md"
PAGES = [TUTORIAL, ROOT / "docs" / "how-to" / "ask-by-error.md", ROOT / "README.md"]


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def commands(page: Path) -> list[tuple[list[str], str]]:
    """Each command with the text below it."""
    found = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.replace("\\\n", " ").partition("\n")
            found.append((shlex.split(command), shown))
    return found


def shape(text: str) -> list[str]:
    """A text without its numbers, its rules and its spaces."""
    marked = text.replace("(?) the error is larger than the number.", "").replace("(?)", "")
    # Which SQL runs is the engine's business, and may change with it.
    marked = re.sub(r"^runs .*", "runs", marked, flags=re.MULTILINE)
    masked = re.sub(r"-?\d[\d,:.]*(?:e-\d+)?\b", "#", marked)
    lines = [" ".join(line.strip("─ ").split()) for line in masked.splitlines()]
    return [line for line in lines if line]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_the_page_prints_what_it_shows(page, discreet, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (script,) = blocks(TUTORIAL, "python")
    exec(compile(script, "make_visits.py", "exec"), {})
    shown = commands(page)
    assert shown
    for (name, *words), expected in shown:
        assert name == "discreet"
        done = discreet(*words)
        out = done.out + done.err if "--csv" in words else done.err + done.out
        assert shape(out) == shape(expected), f"discreet {shlex.join(words)}\n{out}"
    for example in blocks(page, "python") if page != TUTORIAL else []:
        exec(compile(example, page.name, "exec"), {})
