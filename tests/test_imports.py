"""Who may import what, beyond the layers that import-linter keeps."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.source import ROOT, SRC, dotted, imported, weak_randomness, within

MODULES = sorted(SRC.rglob("*.py"))

# A driver is imported only where it is driven: in the module named, or in what lies within it.
HOMES = {
    "duckdb": ["discreet.engines.duckdb", "discreet.engines.parquet"],
    "fastapi": ["discreet.server"],
    "psycopg": ["discreet.engines.postgres", "discreet.ledger.postgres"],
    "pyspark": ["discreet.engines.spark"],
    "sqlglot": ["discreet.sql"],
    "typer": ["discreet.cli"],
    "uvicorn": ["discreet.server"],
    "vl_convert": ["discreet.pictures"],
}


def strays(module: str, tree: ast.AST) -> list[str]:
    """Imports that the module has no business with."""
    found = []
    for name in imported(tree):
        homes = HOMES.get(name.partition(".")[0])
        if homes and not any(within(module, home) for home in homes):
            found.append(name)
        if within(module, "discreet.server") and within(name, "discreet.audit"):
            found.append(name)
    return found


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_no_module_touches_a_generator_that_is_not_cryptographic(path):
    assert weak_randomness(ast.parse(path.read_text())) == []


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "from random import gauss",
        "import numpy.random",
        "from numpy import random as r",
        "from numpy.random import default_rng",
        "def f():\n    import random",
        "import numpy as np\nnp.random.laplace()",
        "import numpy\nnumpy.random.default_rng(1)",
        "from scipy.stats import laplace",
    ],
)
def test_the_scan_for_weak_randomness_sees_every_spelling(code):
    assert weak_randomness(ast.parse(code))


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_a_driver_is_imported_only_at_home(path):
    assert strays(dotted(path), ast.parse(path.read_text())) == []


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("discreet.plan.price", "import duckdb"),
        ("discreet.engines", "import duckdb"),
        ("discreet.engines.duckdb_like", "import duckdb"),
        ("discreet.plan.nodes", "from sqlglot import exp"),
        ("discreet.server.http", "from discreet.audit.attacks import Attack"),
        ("discreet.server.http", "from discreet import audit"),
    ],
)
def test_a_stray_import_is_seen(module, code):
    assert strays(module, ast.parse(code))


def layers_hold(folder: Path) -> bool:
    """What import-linter says of a copy of the package, by the project's own contracts."""
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache", "--config"]
    done = subprocess.run(
        [*command, str(ROOT / "pyproject.toml")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert "Contracts: " in done.stdout, done.stdout + done.stderr
    return done.returncode == 0


@pytest.mark.parametrize(
    ("file", "code", "hold"),
    [
        ("noise/late.py", "import discreet.exact", True),
        ("exact/early.py", "import discreet.noise", False),
        ("exact/early.py", "def f():\n    from discreet import noise", False),
        ("cli.py", "import discreet.server", False),
        ("homeless.py", "", False),
    ],
)
def test_the_layers_are_kept(tmp_path, file, code, hold):
    ignored = shutil.ignore_patterns("__pycache__")
    package = shutil.copytree(SRC / "discreet", tmp_path / "discreet", ignore=ignored)
    (package / "server").mkdir(exist_ok=True)
    (package / "server" / "__init__.py").touch()
    (package / file).write_text(code)
    assert layers_hold(tmp_path) is hold
