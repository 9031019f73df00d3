"""`python -m bench.audited`: our audit put to our own noise and to that of the peers, as a page."""

import os
import sys
from pathlib import Path

from bench.peers import ROOT, python_of
from discreet.audit import Claim, Report, audit
from discreet.audit.programs import Command

PAGE = ROOT / "docs" / "reference" / "audit-results.md"
SAMPLES = 300_000

PURE, GAUSSIAN = Claim(1), Claim("0.9", delta="1e-5")

# Whose, which environment, which function, what is claimed.
CASES = [
    ("Discreet, Laplace", None, "discreet_laplace", PURE),
    ("OpenDP, Laplace", "opendp", "opendp_laplace", PURE),
    ("PyDP, Laplace", "pydp", "pydp_laplace", PURE),
    ("diffprivlib, Laplace", "diffprivlib", "diffprivlib_laplace", PURE),
    ("diffprivlib, Gaussian", "diffprivlib", "diffprivlib_gaussian", GAUSSIAN),
    ("NumPy, Laplace", None, "numpy_laplace", PURE),
    ("NumPy, normal", None, "numpy_gaussian", GAUSSIAN),
]

HEAD = """# What the audit finds in ours and in the peers

Made by `python -m bench.audited`. Inputs 0.0 and 1.0, sensitivity 1, confidence 99.9 %, at most
{samples:,} samples of each input; every library as its users call it, in an environment of its own.
"At least" is what the audit proves of epsilon: it stays below that of a true claim; where
floats give the input away it grows with the samples, without end.

| noise | claim | verdict | epsilon is at least | the event |
|---|---|---|---|---|
"""


def judged(environment: str | None, function: str, claim: Claim) -> Report:
    """One audit, of a command in its environment."""
    python = Path(sys.executable) if environment is None else python_of(environment)
    command = Command(f"{python} -m bench.peers.outputs {function} {{input}} {{n}}")
    return audit(command, ("0.0", "1.0"), claim, samples=SAMPLES, seconds=120)


def main() -> None:
    """Audit them all and write the page."""
    os.chdir(ROOT)
    lines = []
    for name, environment, function, claim in CASES:
        report = judged(environment, function, claim)
        verdict = "**refuted**" if report.refuted else "not refuted"
        lines.append(
            f"| {name} | {claim} | {verdict} | {report.epsilon:.3f} | {report.best.event} |\n"
        )
        print(lines[-1], end="", flush=True)
    end = "\nNot refuting is not proving. See [what an audit can show](../explanation/audit.md).\n"
    PAGE.write_text(HEAD.format(samples=SAMPLES) + "".join(lines) + end, encoding="utf-8")


if __name__ == "__main__":
    main()
