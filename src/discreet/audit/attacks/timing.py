"""An attack on time: whether someone with a million rows is there, by how long an answer takes."""

from __future__ import annotations

from contextlib import ExitStack
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from pyarrow import compute

from discreet.audit.attacks.data import PEOPLE, ROWS, opened, table, with_canary
from discreet.audit.attacks.game import Outcome, Score
from discreet.audit.claim import Claim

Times = NDArray[np.float64]


def timing(games: int = 60) -> Outcome:
    """How long an answer takes. No theorem covers it, so the answer's own ceiling is held up."""
    worlds = table(PEOPLE), with_canary()
    ours, control = np.empty((2, 2 * games)), np.empty((2, 2 * games))
    with ExitStack() as stack:
        sessions = [stack.enter_context(opened(rows))[0] for rows in worlds]
        for session in sessions:
            session.sql("SELECT COUNT(*) FROM t", epsilon=1)  # the snapshot is made before
        for game in range(2 * games):
            # In turns, so that whatever else the machine does befalls both.
            for world in (game % 2, 1 - game % 2):
                question = f"SELECT COUNT(*) FROM t WHERE weight < {100_000 + game}"  # noqa: S608
                begun = perf_counter()
                sessions[world].sql(question, epsilon=1)
                ours[world, game] = perf_counter() - begun
                begun = perf_counter()
                compute.sum(compute.less(worlds[world]["weight"], 100_000 + game))
                control[world, game] = perf_counter() - begun
    return Outcome.against(
        Claim(1),
        "timing",
        f"A person with {ROWS:,} rows is there or is not; the attacker looks at the clock. "
        "Unsafe: every row is read.",
        _score(ours, games),
        _score(control, games),
    )


def _score(times: Times, games: int) -> Score:
    """The attacker learns the best limit from the first half, and is tested on the other."""
    learn, test = times[:, :games], times[:, games:]
    limits = np.sort(learn, axis=None)
    right = [(learn[0] <= at).sum() + (learn[1] > at).sum() for at in limits]
    limit = limits[int(np.argmax(right))]
    return Score.of(int((test[0] <= limit).sum() + (test[1] > limit).sum()), 2 * games)
