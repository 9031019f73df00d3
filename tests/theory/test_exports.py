"""The public surface of the theory is a decision."""

import subprocess
import sys

import pytest

from discreet import theory


def test_the_names_are_sorted_and_all_there():
    # Constants, then classes, then functions, as the linter sorts them.
    assert theory.__all__ == sorted(
        theory.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name)
    )
    assert all(hasattr(theory, name) for name in theory.__all__)
    assert set(theory.__all__) <= set(dir(theory))
    assert set(theory._HOMES) == set(theory.__all__)


def test_every_public_name_says_what_it_is():
    for name in theory.__all__:
        assert getattr(theory, name).__doc__, name


def test_an_unknown_name_is_an_ordinary_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        theory.nonsense  # noqa: B018


def test_importing_the_package_loads_only_what_noise_needs():
    code = "import sys, discreet; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "discreet.theory.neighbours" in loaded
    assert not loaded & {"discreet.theory.channels", "discreet.theory.bayes", "scipy"}
