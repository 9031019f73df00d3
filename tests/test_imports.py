"""Who may import what, beyond the layers that import-linter keeps."""

import ast

import pytest

from tests.source import SRC, dotted, imported, weak_randomness, within

MODULES = sorted(SRC.rglob("*.py"))

# A driver is imported only where it is driven: in the module named, or in what lies within it.
HOMES = {
    "duckdb": ["discreet.engines.duckdb"],
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
