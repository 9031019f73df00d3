"""The audit put to true claims and false ones, to ours and to the peers'; the attacks.

What was found goes to `bench/results/audit/findings.json` in full, and from there to the page and
the picture in docs; the rows of the benchmark say whether it is what it should be.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.audit_page import FINDINGS, write
from bench.harness import Row, Sheet, significant
from bench.peers import ROOT, python_of
from discreet.audit import Claim, audit
from discreet.audit.attacks import ATTACKS
from discreet.audit.attacks.data import PEOPLE, opened, table
from discreet.audit.programs import Command
from discreet.noise import RoundedGaussian, TwoSidedGeometric
from discreet.noise.symmetric import Symmetric

SAMPLES = 300_000
PURE, GAUSSIAN = Claim(1), Claim("0.9", delta="1e-5")
RUNS, SHORT_RUNS = 200, 100
ANSWERS, DRAWS = 1_000, 20_000
CLOCKED: dict[str, Symmetric] = {
    "one draw, geometric of scale 1": TwoSidedGeometric(1),
    "one draw, geometric of scale 1,000,000": TwoSidedGeometric(10**6),
    "one draw, Gaussian of deviation 10": RoundedGaussian(10),
}


@dataclass(frozen=True)
class Case:
    """Whose noise, in which environment, by which function, what it claims, and whether it lies."""

    noise: str
    environment: str | None
    function: str
    claim: Claim
    false: bool


CASES = [
    Case("Discreet, Laplace", None, "discreet_laplace", PURE, false=False),
    Case("OpenDP, Laplace", "opendp", "opendp_laplace", PURE, false=False),
    Case("PyDP, Laplace", "pydp", "pydp_laplace", PURE, false=False),
    Case("diffprivlib, Laplace", "diffprivlib", "diffprivlib_laplace", PURE, false=True),
    Case("diffprivlib, Gaussian", "diffprivlib", "diffprivlib_gaussian", GAUSSIAN, false=True),
    Case("NumPy, Laplace", None, "numpy_laplace", PURE, false=True),
    Case("NumPy, normal", None, "numpy_gaussian", GAUSSIAN, false=True),
    Case("the textbook's Laplace", None, "textbook_laplace", PURE, false=True),
    Case("a running float sum, exact noise", None, "float_sum", PURE, false=True),
]


def run(sheet: Sheet, *, long: bool) -> None:
    """Audit them all, attack, and count false alarms."""
    del long
    os.chdir(ROOT)
    found = {
        "samples": SAMPLES,
        "noises": [_judged(case, sheet) for case in CASES],
        "attacks": [_attacked(name, sheet) for name in ATTACKS],
        "latency": _clocked(sheet),
        "calibration": _calibrated(sheet),
    }
    FINDINGS.parent.mkdir(exist_ok=True)
    FINDINGS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    sheet.console.print(f"written: {', '.join(map(str, write()))}")


def _judged(case: Case, sheet: Sheet) -> dict[str, Any]:
    """One audit, of a command in its environment."""
    python = Path(sys.executable) if case.environment is None else python_of(case.environment)
    command = Command(f"{python} -m bench.peers.outputs {case.function} {{input}} {{n}}")
    report = audit(command, ("0.0", "1.0"), case.claim, samples=SAMPLES, seconds=120)
    claimed = float(case.claim.epsilon)
    what = "to exceed the claim" if case.false else "to stay within the claim"
    sheet.add(
        Row(
            name=f"{case.noise}: epsilon that is proved, {what}",
            ours=significant(report.epsilon),
            peer=None,
            unit="epsilon",
            ratio=None,
            target=claimed,
            holds=report.refuted == case.false,
        )
    )
    return {
        "noise": case.noise,
        "claim": str(case.claim),
        "refuted": report.refuted,
        "epsilon_at_least": report.epsilon,
        "event": report.best.event,
    }


def _attacked(name: str, sheet: Sheet) -> dict[str, Any]:
    outcome = ATTACKS[name]()
    for where, score, holds in (
        ("here: games won, at most its ceiling", outcome.ours, outcome.holds),
        ("on the control: games won, more than that", outcome.control, outcome.bites),
    ):
        sheet.add(
            Row(
                name=f"attack {name} {where}",
                ours=significant(score.success),
                peer=None,
                unit="of all",
                ratio=None,
                target=significant(outcome.ceiling),
                holds=holds,
            )
        )
    return outcome.to_json()


def _clocked(sheet: Sheet) -> list[dict[str, Any]]:
    """How well the time that it takes tells large noise from small: 1/2 is not at all."""
    found = []
    with opened(table(PEOPLE)) as (session, _):
        session.prepare()

        def answer(number: int) -> float:
            question = f"SELECT COUNT(*) FROM t WHERE weight < {100_000 + number}"  # noqa: S608
            return float(str(session.sql(question, epsilon=1).columns[0].values[0])) - PEOPLE

        answers = _area(answer, ANSWERS)
    found.append({"what": "a whole answer, one count", "times": ANSWERS, "auc": answers})
    sheet.add(Row.of(_LATENCY.format("a whole answer"), ours=answers, unit="AUC", target=0.55))
    for name, noise in CLOCKED.items():
        area = _area(partial(_drawn, noise), DRAWS)
        found.append({"what": name, "times": DRAWS, "auc": area})
        # Microseconds that only the process itself can measure: told, and held to nothing.
        sheet.add(Row.of(_LATENCY.format(name), ours=area, unit="AUC", target=None))
    return found


def _drawn(noise: Symmetric, number: int) -> float:
    del number
    return float(noise.sample(1)[0])


_LATENCY = "{}: large noise told from small by its time"


def _area(draw: Callable[[int], float], count: int) -> float:
    """The area under the curve of "it took longer" as a sign of "it is large"."""
    times, sizes = np.empty(count), np.empty(count)
    for number in range(count):
        begun = time.perf_counter()
        drawn = draw(number)
        times[number] = time.perf_counter() - begun
        sizes[number] = abs(drawn)
    large = sizes > np.median(sizes)
    # By ranks, ties halved: how often a large draw took longer than a small one.
    small = np.sort(times[~large])
    ranks = [np.searchsorted(small, times[large], side) for side in ("left", "right")]
    area = float(np.mean(ranks) / len(small))
    return max(area, 1 - area)


def _calibrated(sheet: Sheet) -> dict[str, Any]:
    exact, short = TwoSidedGeometric(1), TwoSidedGeometric(Fraction(95, 100))
    # As capped as its users would: two million samples or five seconds each.
    false = sum(
        audit(lambda x, n: x + exact.sample(n), (0, 1), PURE, samples=2_000_000, seconds=5).refuted
        for _ in range(RUNS)
    )
    tried = [
        audit(lambda x, n: x + short.sample(n), (0, 1), PURE, seconds=60) for _ in range(SHORT_RUNS)
    ]
    missed, slowest = sum(not each.refuted for each in tried), max(each.seconds for each in tried)
    bound = audit(lambda x, n: x + exact.sample(n), (0, 1), PURE, samples=10_000_000).epsilon
    for name, ours, unit, target in (
        (f"true claims refuted, of {RUNS} at 99.9 %", false, "runs", 1),
        (f"scales 5 % short that escape, of {SHORT_RUNS}", missed, "runs", SHORT_RUNS // 20),
        ("the slowest refutation of a scale 5 % short", slowest, "s", 60),
        ("what 10 million samples leave open of epsilon 1", 1 - bound, "epsilon", 0.05),
    ):
        sheet.add(Row.of(name, ours=float(ours), unit=unit, target=float(target)))
    return {
        "runs": RUNS,
        "false_refutations": false,
        "short_runs": SHORT_RUNS,
        "short_refuted": SHORT_RUNS - missed,
        "slowest_seconds": significant(slowest),
        "bound": bound,
    }
