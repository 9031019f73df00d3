"""``python -m tests.audit.mutants [NAME ...]``: which check catches each planted bug?"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.audit.mutants.mutant import ROOT
from tests.audit.mutants.page import record
from tests.audit.mutants.planted import MUTANTS
from tests.audit.mutants.runner import judge, sound

_AT_ONCE = 2


def main(names: list[str]) -> int:
    """Judge them all, or some; the exit status says whether all but one are caught."""
    strange = sorted(set(names) - {mutant.name for mutant in MUTANTS})
    if strange:
        say(f"there is no mutant {strange[0]!r}; there are: {', '.join(m.name for m in MUTANTS)}")
        return 2
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    begun = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        judged = []
        for verdict in pool.map(judge, chosen):
            judged.append(verdict)
            told = verdict.caught_by or f"NOT CAUGHT: {verdict.note}"
            say(f"{verdict.kind:20} {verdict.name:52} {told}")
    say("\nThe tests that failed, without any bug:")
    verdicts = sound(judged)
    for before, after in zip(judged, verdicts, strict=True):
        if before != after:
            say(f"{after.kind:20} {after.name:52} NOT CAUGHT: {after.note}")
    if verdicts == judged:
        say("all pass")
    caught = sum(verdict.caught_by is not None for verdict in verdicts)
    spent = time.monotonic() - begun
    say(f"\n{caught} of {len(verdicts)} mutants caught in {spent:.0f} s")
    say(f"written: {', '.join(str(path.relative_to(ROOT)) for path in record(verdicts))}")
    return int(caught < len(verdicts) - 1)


def say(words: str) -> None:
    """A line, at once."""
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
