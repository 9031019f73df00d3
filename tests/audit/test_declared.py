"""Claims that stand beside functions, and whole modules put to the test."""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from discreet.audit import Claim, audit_module, claims
from discreet.audit.declared import declared
from discreet.errors import InvalidEpsilon, InvalidInput
from tests.audit import mechanisms
from tests.source import ROOT

SURE = "0.999999"


def module(**functions: Any) -> ModuleType:
    made = ModuleType("mine")
    vars(made).update(functions)
    return made


def right(value, n):
    return mechanisms.geometric(value, n)


def wrong(value, n):
    return mechanisms.numpy_laplace(value, n)


def test_a_function_carries_its_claims_and_stays_what_it_was():
    @claims(epsilon=1, inputs=(0, 1))
    @claims(epsilon=1, inputs=(0, 3), group=3)
    def counted(value: int, n: int) -> Any:
        return mechanisms.geometric(value, n)

    found = declared(module(counted=counted, again=counted, other=right, sys=sys))
    assert [(one.name, one.inputs, one.claim) for one in found] == [
        ("counted", (0, 1), Claim(1)),
        ("counted", (0, 3), Claim(1, group=3)),
    ]
    assert found[0].function is counted
    assert len(counted(0, 7)) == 7


def test_a_module_is_refuted_if_one_of_its_claims_is():
    # False alarm: at most 1e-6.
    mine = module(
        right=claims(epsilon=1, inputs=(0, 1))(partial(right)),
        wrong=claims(epsilon=1, inputs=(0.0, 1.0))(partial(wrong)),
    )
    told: list[float] = []
    found = audit_module(
        mine, samples=60_000, confidence=SURE, progress=lambda done, _: told.append(done)
    )
    assert [report.refuted for report in found.reports] == [False, True]
    assert found.refuted
    assert found.to_json()["claims"][1]["function"] == "wrong"
    assert "1 of 2 claims refuted" in str(found)
    assert "wrong: the lowest set bit" in str(found)
    assert "Not refuting is not proving" in str(found)
    assert told == sorted(told)
    assert told[-1] == 1


def test_the_confidence_is_that_of_all_verdicts_together():
    marked = [claims(epsilon=1, inputs=(0, 1))(partial(right)) for _ in range(4)]
    mine = module(**{f"f{i}": each for i, each in enumerate(marked)})
    found = audit_module(mine, samples=20_000, confidence="0.996")
    assert {report.confidence for report in found.reports} == {1 - (1 - found.confidence) / 4}


def test_nonsense_is_refused():
    with pytest.raises(InvalidInput, match="declares no claim"):
        audit_module(module(right=lambda value, n: value))
    with pytest.raises(InvalidInput, match="two neighbouring inputs"):
        claims(epsilon=1, inputs=(1, 2, 3))  # type: ignore[arg-type]
    with pytest.raises(InvalidEpsilon):
        claims(epsilon=0, inputs=(0, 1))


def audited(folder: Path, *words: str) -> Any:
    program = "from discreet.cli import main; main()"
    command = [sys.executable, "-c", program, "audit", "module", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_example_of_the_docs_is_audited_from_its_folder(tmp_path):
    # False alarm: at most 1e-6.
    page = (ROOT / "docs" / "how-to" / "audit.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(import numpy.*?)```", page, flags=re.DOTALL)
    (tmp_path / "mine.py").write_text(example)
    done = audited(tmp_path, "mine", "--samples", "100000", "--confidence", SURE)
    assert done.returncode == 1, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("noisy_")]
    assert [(row.split()[0], row.endswith("REFUTED")) for row in rows] == [
        ("noisy_count", False),
        ("noisy_count", False),
        ("noisy_flag", False),
        ("noisy_mean", True),
    ]
    # The table on the page is this one, but for the bounds.
    shown = [line for line in page.splitlines() if line.startswith(("function ", "noisy_"))]
    assert [line.split()[-1] for line in shown[1:]] == [line.split()[-1] for line in rows]
    assert shown[0] in done.stdout


def test_a_module_that_cannot_be_imported_says_why(tmp_path):
    (tmp_path / "mine.py").write_text("raise ValueError('no seed')")
    done = audited(tmp_path, "mine")
    assert done.returncode == 2
    assert "ValueError: no seed" in done.stderr
    assert "Hint: " in done.stderr
