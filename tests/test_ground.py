"""The ground the project stands on: what an import costs, what is locked, what the docs promise."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import discreet
from tests.source import ROOT

LOCKS = [ROOT / "requirements" / "dev.txt", *sorted((ROOT / "bench" / "peers").glob("*.txt"))]
HEAVY = {"dp_accounting", "duckdb", "pandas", "polars", "psycopg", "pyarrow", "pyspark", "scipy"}
TARGETS = {
    "setup": "pip install --quiet --disable-pip-version-check --require-hashes",
    "demo": "python -m demo",
    "test": 'python -m pytest -n 2 --dist loadgroup -m "not deep"',
    "test-deep": "python -m pytest -n 2 --dist loadgroup --durations",
    "check": "mypy --strict",
    "bench": "python -m bench",
    "lock": "requirements/lock",
}
MADE = {".git", ".venv", ".envs", ".data", "__pycache__", "build", "dist", "spark-warehouse"} | {
    ".hypothesis",
    ".import_linter_cache",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
}


def locked(path: Path) -> Iterator[str]:
    """The requirements of a lock file, each with its continuation lines."""
    yield from path.read_text().replace("\\\n", " ").splitlines()


def files() -> list[Path]:
    """Every file of the project that a person wrote."""
    found: list[Path] = []
    for folder, below, names in os.walk(ROOT):
        below[:] = [
            name for name in below if name not in MADE and Path(folder) / name != ROOT / "mutants"
        ]
        found += [Path(folder) / name for name in names]
    return found


def test_importing_discreet_loads_nothing_heavy():
    code = "import discreet, json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert "discreet" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_public_names_are_sorted_and_there():
    assert discreet.__all__ == sorted(set(discreet.__all__))
    assert [name for name in discreet.__all__ if not hasattr(discreet, name)] == []


def test_every_public_name_is_documented():
    callables = [name for name in discreet.__all__ if callable(getattr(discreet, name))]
    assert callables
    assert [name for name in callables if not getattr(discreet, name).__doc__] == []


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_a_lock_file_pins_every_version_and_names_no_index(path):
    text = path.read_text()
    assert "://" not in text
    assert "file:" not in text
    lines = list(locked(path))
    assert lines
    for line in lines:
        assert re.match(r"[a-z0-9][a-z0-9._-]*==[^ ]+( |$)", line), line


def test_every_locked_requirement_of_ours_has_its_hashes():
    assert [line for line in locked(LOCKS[0]) if "--hash=sha256:" not in line] == []


def test_the_lock_is_in_step_with_what_the_project_declares():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    here: dict[str, str] = {}
    for line in locked(LOCKS[0]):
        pin = Requirement(line.partition("--hash")[0])
        if pin.marker is None or pin.marker.evaluate():
            (exact,) = pin.specifier
            here[canonicalize_name(pin.name)] = exact.version
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(here[canonicalize_name(requirement.name)])


@pytest.mark.parametrize(("target", "command"), TARGETS.items())
def test_make_knows_the_target(target, command):
    # By its command: for a folder of the same name, make is content to do nothing.
    dry = ["make", "--dry-run", "--always-make", target]
    done = subprocess.run(dry, cwd=ROOT, check=True, capture_output=True, text=True)
    assert command in done.stdout


def test_the_readme_promises_the_command_that_is_run_before_a_change_is_taken():
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in script if line.startswith("make ")] == ["make check", "make test"]
    assert "set -euo pipefail" in script
    readme = (ROOT / "README.md").read_text()
    shown = re.findall(r"^```(?:sh|console|bash)\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    commands = [line for block in shown for line in block.splitlines()]
    assert any(re.match(r"make test\b", line) for line in commands)
    assert any(re.match(r"make demo\b", line) for line in commands)


def test_no_file_names_an_index_or_a_place_on_somebodys_machine():
    index = re.compile(r"(?:https?|file)://\S*(?:pypi|pythonhosted|/simple\b)")
    place = re.compile(r"(?<![\w./])/(?:root|home|work|Users)/\w")
    listed = files()
    assert Path(__file__) in listed
    guilty = [
        path
        for path in listed
        if path != Path(__file__)
        and (index.search(text := path.read_text(errors="replace")) or place.search(text))
    ]
    assert guilty == []


def test_every_decision_is_listed_in_the_index():
    index = (ROOT / "docs" / "decisions" / "index.md").read_text()
    records = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert records
    numbers = [path.name[:4] for path in records]
    assert len(set(numbers)) == len(numbers)
    assert [path.name for path in records if f"({path.name})" not in index] == []


def test_every_link_between_our_pages_leads_somewhere():
    pages = [path for path in files() if path.suffix == ".md"]
    assert pages
    broken = [
        (page.name, link)
        for page in pages
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text())
        if not (page.parent / link).exists()
    ]
    assert broken == []
