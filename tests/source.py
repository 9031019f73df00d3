"""What can be said of Python source by reading its tree."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"


def dotted(path: Path) -> str:
    """The name of a module of ours; `discreet.noise` for the `__init__.py` in it."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def within(module: str, home: str) -> bool:
    """Is the module the named one, or in it?"""
    return module == home or module.startswith(home + ".")


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module, and every name taken from one, that the code imports, late ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def weak_randomness(tree: ast.AST) -> list[str]:
    """Uses of a generator that is not cryptographic: by import, or as `np.random`."""
    weak = ("random", "numpy.random", "scipy.stats")
    found = [name for name in imported(tree) if any(within(name, home) for home in weak)]
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


def parameters(tree: ast.AST) -> Iterator[str]:
    """Every name that a caller can set: arguments, and the annotated fields of classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    yield statement.target.id


def environment(tree: ast.AST) -> list[str]:
    """Reads of environment variables."""
    readers = {"environ", "environb", "getenv", "getenvb"}
    found = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    found += [name.rpartition(".")[2] for name in imported(tree) if within(name, "os")]
    return [name for name in found if name in readers]


def strings(tree: ast.AST) -> Iterator[str]:
    """Every literal string."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
