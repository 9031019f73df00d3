"""What is shipped has no back door: no seed, no switch that turns noise off, no weak generator."""

import ast
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.source import ROOT, environment, parameters, strings, weak_randomness

FORBIDDEN = {
    "deterministic",
    "disable_noise",
    "generator",
    "insecure",
    "no_noise",
    "noise_off",
    "noiseless",
    "random_seed",
    "random_state",
    "rng",
    "seed",
    "skip_noise",
    "test_mode",
    "unsafe",
    "without_noise",
}

# Where noise is drawn, or where it is decided how much: no variable of the environment has a say.
DEAF = (
    "exact",
    "noise",
    "theory",
    "events",
    "mechanisms",
    "local",
    "accounting",
    "plan",
    "session",
)


def back_doors(tree: ast.AST) -> list[str]:
    """Parameters, and options of a command, by which a caller could fix or silence the noise."""
    named = [name for name in parameters(tree) if name.lower() in FORBIDDEN]
    options = {"--" + name.replace("_", "-") for name in FORBIDDEN}
    return named + [text for text in strings(tree) if text in options]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*build, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def shipped(wheel: Path) -> dict[str, ast.Module]:
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: ast.parse(archive.read(name))
            for name in archive.namelist()
            if name.endswith(".py")
        }


def test_the_wheel_ships_every_module_its_types_and_its_licence_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        info = {name.partition(".dist-info/")[2] for name in archive.namelist()} - {""}
    source = ROOT / "src"
    present = {
        str(path.relative_to(source))
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    pages = {"discreet/pages/policy.md", "discreet/pages/sql.md"}
    assert names == present | pages
    assert "discreet/py.typed" in names
    assert "licenses/LICENSE" in info


def test_the_wheel_can_be_imported_by_itself(wheel, tmp_path):
    code = (
        "import discreet; print(discreet.__file__); "
        "from discreet.cli.pages import Page, text; "
        "assert 'policy' in text(Page.SQL), 'hints point to it'; text(Page.POLICY)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(wheel)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith(str(wheel))


def test_nobody_can_seed_fix_or_silence_the_noise(shipped):
    assert len(shipped) > 1
    assert {name: found for name, tree in shipped.items() if (found := back_doors(tree))} == {}


@pytest.mark.parametrize(
    "code",
    [
        "def laplace(value, *, seed=None): ...",
        "def laplace(value, rng): ...",
        "async def release(noise_off): ...",
        "draw = lambda random_state: 0",
        "class Laplace:\n    scale: int\n    seed: int = 0",
        "option('--no-noise')",
    ],
)
def test_a_back_door_is_seen(code):
    assert back_doors(ast.parse(code))


def test_the_environment_has_no_say_in_the_noise(shipped):
    reading = {name for name, tree in shipped.items() if environment(tree)}
    layers = {name.split("/")[1].removesuffix(".py") for name in reading}
    assert layers.isdisjoint(DEAF)


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.environ['NOISE']",
        "import os\nos.getenv('NOISE')",
        "from os import environ",
        "from os import getenv as read",
        "import os as system\nsystem.environ.get('NOISE')",
    ],
)
def test_a_read_of_the_environment_is_seen(code):
    assert environment(ast.parse(code))


def test_no_generator_that_is_not_cryptographic_is_shipped(shipped):
    assert {name: found for name, tree in shipped.items() if (found := weak_randomness(tree))} == {}
