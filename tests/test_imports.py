"""Who may import what, beyond the layers that import-linter keeps."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
MODULES = sorted(SRC.rglob("*.py"))

# A driver is imported only where it is driven. A folder also stands for the files in it.
HOMES = {
    "duckdb": "discreet.engines.duckdb",
    "psycopg": ("discreet.engines.postgres", "discreet.ledger.postgres"),
    "pyspark": "discreet.engines.spark",
    "sqlglot": "discreet.sql",
    "vl_convert": "discreet.pictures",
    "fastapi": "discreet.server",
    "uvicorn": "discreet.server",
    "typer": "discreet.cli",
}


def dotted(path: Path) -> str:
    """The module's name, `discreet.noise` for its `__init__.py`."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module, and every name taken from one, that the code imports, late ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None, "relative imports are not used"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(module: str, home: str) -> bool:
    return module == home or module.startswith(home + ".")


def weak_randomness(tree: ast.AST) -> list[str]:
    """Uses of a generator that is not cryptographic: by import, or as `np.random`."""
    found = [
        name
        for name in imported(tree)
        if within(name, "random") or within(name, "numpy.random") or within(name, "scipy.stats")
    ]
    numpys = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "numpy"
    }
    found += [
        f"{node.value.id}.random"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "random"
        and isinstance(node.value, ast.Name)
        and node.value.id in numpys
    ]
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
    module = dotted(path)
    for name in imported(ast.parse(path.read_text())):
        homes = HOMES.get(name.partition(".")[0])
        if homes is None:
            continue
        allowed = (homes,) if isinstance(homes, str) else homes
        assert any(within(module, home) for home in allowed), f"{module} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_the_server_does_not_import_the_audit(path):
    if within(dotted(path), "discreet.server"):
        names = imported(ast.parse(path.read_text()))
        assert not [name for name in names if within(name, "discreet.audit")]
