"""Attacks on answers: repeats, differences, people with many rows, groups of one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.attacks.data import PEOPLE, ROWS, neighbours, opened, table, with_canary
from discreet.audit.attacks.game import Outcome, Score, duel
from discreet.audit.claim import Claim
from discreet.noise import TwoSidedGeometric

_REPEATS = 4


def averaging(games: int = 100) -> Outcome:
    """The same question again and again, to average the noise away."""
    truths = (PEOPLE, PEOPLE + 1)
    right = 0
    for world in (0, 1):
        with opened(table(truths[world])) as (session, _):
            for game in range(games):
                # The same for everybody, and yet another question in each game.
                condition = f"weight < {100_000 + game}"
                spellings = [
                    f"SELECT COUNT(*) FROM t WHERE {condition}",  # noqa: S608
                    f"select count(*)   from t where ({condition})",  # noqa: S608
                ]
                asked = [
                    session.sql(spellings[i % 2], epsilon=1).columns[0].values[0]
                    for i in range(_REPEATS)
                ]
                mean = float(np.mean([float(str(value)) for value in asked]))
                right += (mean > PEOPLE + 0.5) == bool(world)
    noise = TwoSidedGeometric(1)
    guessed = sum(
        int(((noise.sample(games * 100).reshape(games, 100).mean(axis=1) + w > 0.5) == w).sum())
        for w in (0, 1)
    )
    return Outcome.against(
        Claim(1),
        "averaging",
        "One count, asked over and over in several spellings, and averaged; unsafe: each of 100 "
        "repeats is answered with fresh noise.",
        Score.of(right, 2 * games),
        Score.of(guessed, 2 * games),
    )


def differencing(games: int = 20_000) -> Outcome:
    """Before the visit and after it: the difference is one patient's diagnosis."""
    healthy, ill = (table(PEOPLE, last_is_ill=truth) for truth in (False, True))
    query = "SELECT COUNT(*), AVG(age), AVG(weight) FROM t WHERE ill"
    limits = {"age": (0, 110), "weight": (0, 200)}
    with neighbours(
        healthy, ill, query, epsilon="1/2", relation="change_one", bounds=limits
    ) as found:
        counts = np.array([[part[0] for part in exact.values] for exact in found.exact], float)
        moved = counts[1] - counts[0]
        scales = np.array([float(scale) for scale in found.requests[0].noise.scales])

        def ours(world: int, n: int) -> NDArray[Any]:
            # Without the visit the numbers are those with a healthy patient.
            return np.asarray(found.release(world, n) - found.release(0, n), dtype=float)

        def guess(change: NDArray[Any]) -> NDArray[np.bool_]:
            # Whether it is nearer to this patient's age and weight than to nothing.
            nearer = (np.abs(change) - np.abs(change - moved)) / scales
            return np.asarray(nearer.sum(axis=1) > 0)

        return duel(
            "differencing",
            "A patient's age and weight are known; the ill are counted and their ages and weights "
            "averaged, before the visit and after it. Unsafe: exact counts and averages.",
            ours=ours,
            control=lambda world, n: np.tile(counts[world] - counts[0], (n, 1)),
            guess=guess,
            claim=Claim(1),
            games=games,
        )


def membership(games: int = 20_000) -> Outcome:
    """Whether someone with a million rows is in the data."""
    with neighbours(table(PEOPLE), with_canary(), "SELECT COUNT(*) FROM t") as found:
        noise = TwoSidedGeometric(1)
        return duel(
            "membership",
            f"A person with {ROWS:,} rows is there or is not; the rows are counted. Unsafe: the "
            "noise is made for one row, and no rows are left out.",
            ours=lambda world, n: found.release(world, n)[:, 0],
            control=lambda world, n: PEOPLE + world * ROWS + noise.sample(n),
            guess=None,
            claim=Claim(1),
            games=games,
        )


def singletons(games: int = 20_000) -> Outcome:
    """Groups of one person: that they are shown is the leak."""
    without, with_one = table(PEOPLE), table(PEOPLE + 1, name="zoe")
    query = "SELECT name, COUNT(*) FROM t GROUP BY name"
    with neighbours(without, with_one, query, delta="1e-5") as found:
        place = [group == ("zoe",) for group in found.watched()].index(True)
        width = len(found.exact[1].values)

        def ours(world: int, n: int) -> NDArray[Any]:
            return found.release(world, n)[:, place * width]

        return duel(
            "singletons",
            "Counts by name, of which one is unique; the attacker looks whether it is listed. "
            "Unsafe: every group that exists is shown, with noise.",
            ours=ours,
            control=lambda world, n: np.full(n, 1.0 if world else np.nan),
            guess=lambda count: ~np.isnan(count),
            claim=Claim(1, delta="1e-5"),
            games=games,
        )
