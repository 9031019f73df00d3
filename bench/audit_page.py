"""The page and the picture of what the audit finds, written from the findings."""

import json
from pathlib import Path
from typing import Any

from bench.harness import RESULTS
from discreet.pictures import Picture
from discreet.pictures.attacks import attacks

FINDINGS = RESULTS / "audit" / "findings.json"
REFERENCE = RESULTS.parents[1] / "docs" / "reference"
PAGE, PICTURE = REFERENCE / "audit-results.md", REFERENCE / "audit-attacks.svg"

HEAD = """\
# What the audit finds in ours and in the peers

Written by `make bench BENCH=audited` from what it found; do not edit. Not refuting is not proving:
see [what an audit can show](../explanation/audit.md).

## Noise

Inputs 0.0 and 1.0, sensitivity 1, confidence 99.9 %, at most {samples:,} samples of each input;
every library as its users call it, in an environment of its own. "At least" is what the audit
proves of epsilon: it stays below that of a true claim; where floats give the input away it grows
with the samples, without end.

| noise | claim | verdict | epsilon is at least | the event |
|---|---|---|--:|---|
"""

ATTACKS = """
## Attacks

How often the attacker wins, ± one standard error. The ceiling is (e^epsilon + delta) /
(1 + e^epsilon) for the total loss of the answers, here epsilon 1, and 0 where nothing may ever
succeed. The unsafe system is attacked the same way: an attack that failed there would show nothing.

![Each attack against its ceiling](audit-attacks.svg)

| attack | here | ceiling | unsafe | what is done |
|---|--:|--:|--:|---|
"""

LATENCY = """
How well the time that it takes tells large noise from small, as the area under the curve: 0.5 is
not at all, 1 is always. A draw takes microseconds, which only the process itself can measure.

| what is timed | how often | area |
|---|--:|--:|
"""

CALIBRATION = """
## The audit itself

| | |
|---|--:|
| true claims refuted at 99.9 %, of {runs} runs of 2 million samples or 5 s | {false_refutations} |
| geometric noise at epsilon 1, scale 5 % short: refuted, of {short_runs} runs | {short_refuted} |
| the slowest of those refutations | {slowest_seconds:g} s |
| the bound for exact geometric noise at epsilon 1, 10 million samples | {bound:.4f} |
"""


def findings() -> dict[str, Any]:
    """What was found last."""
    found: dict[str, Any] = json.loads(FINDINGS.read_text(encoding="utf-8"))
    return found


def page() -> str:
    """The whole page."""
    found = findings()
    return "".join(
        [
            HEAD.format(samples=found["samples"]),
            *map(_noise, found["noises"]),
            ATTACKS,
            *map(_attack, found["attacks"]),
            LATENCY,
            *map(_latency, found["latency"]),
            CALIBRATION.format(**found["calibration"]),
        ]
    )


def picture() -> Picture:
    """Every attack against its ceiling."""
    return attacks(findings()["attacks"])


def write() -> tuple[Path, Path]:
    """Bring both up to date."""
    PAGE.write_text(page(), encoding="utf-8")
    return PAGE, picture().save(PICTURE)


def _noise(row: dict[str, Any]) -> str:
    verdict = "**refuted**" if row["refuted"] else "not refuted"
    bound = f"{row['epsilon_at_least']:.3f}"
    return f"| {row['noise']} | {row['claim']} | {verdict} | {bound} | {row['event']} |\n"


def _attack(row: dict[str, Any]) -> str:
    here = _share(row["success"], row["standard_error"], sure=not row["ceiling"])
    unsafe = _share(row["control_success"], row["control_standard_error"], sure=not row["ceiling"])
    ceiling = f"{100 * row['ceiling']:.1f} %" if row["ceiling"] else "0"
    return f"| {row['attack']} | {here} | {ceiling} | {unsafe} | {row['story']} |\n"


def _latency(row: dict[str, Any]) -> str:
    return f"| {row['what']} | {row['times']:,} | {row['auc']:.3f} |\n"


def _share(share: float, error: float, *, sure: bool) -> str:
    """A share of games; where none may be won there is no error to speak of."""
    return f"{100 * share:.0f} %" if sure else f"{100 * share:.1f} ± {100 * error:.1f} %"
