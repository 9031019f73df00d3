"""Attacks on answers: repeats, differences, people with many rows, groups of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from discreet.audit.attacks.game import Outcome, Score, duel
from discreet.audit.claim import Claim
from discreet.audit.sql import Pair, pair
from discreet.noise import TwoSidedGeometric
from discreet.session import Session, open_session

PEOPLE = 100
_REPEATS = 10
ROWS = 1_000_000


def averaging(games: int = 40) -> Outcome:
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
    claim = Claim(1)
    return Outcome(
        "averaging",
        "One count, asked over and over in several spellings, and averaged; unsafe: each of 100 "
        "repeats is answered with fresh noise.",
        Score.of(right, 2 * games),
        Score.of(guessed, 2 * games),
        claim.ceiling,
        str(claim.epsilon),
        str(claim.delta),
    )


def differencing(games: int = 20_000) -> Outcome:
    """Before the visit and after it: the difference is one patient's diagnosis."""
    healthy, ill = (table(PEOPLE, last_is_ill=truth) for truth in (False, True))
    # Of one whose age and weight are known, only the diagnosis can differ.
    query = "SELECT COUNT(*) FROM t WHERE ill AND age = 47 AND weight = 91"
    with _pair(healthy, ill, query, epsilon="1/2", relation="change_one") as found:
        truth = [int(exact.values[0][0]) for exact in found.exact]

        def ours(world: int, n: int) -> NDArray[Any]:
            # Without the visit the count is that of a healthy patient.
            return np.asarray(found.release(world, n)[:, 0] - found.release(0, n)[:, 0])

        return duel(
            "differencing",
            "A patient's age and weight are known; the ill of that age and weight are counted "
            "before the visit and after it. Unsafe: exact counts.",
            ours=ours,
            control=lambda world, n: np.full(n, truth[world] - truth[0]),
            guess=lambda difference: difference > 0.5,
            claim=Claim(1),
            games=games,
        )


def membership(games: int = 20_000) -> Outcome:
    """Whether someone with a million rows is in the data."""
    with _pair(table(PEOPLE), with_canary(), "SELECT COUNT(*) FROM t") as found:
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
    with _pair(without, with_one, query, epsilon=1, delta="1e-5") as found:
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


# The data ----------------------------------------------------------------------------------------


def table(people: int, *, last_is_ill: bool = False, name: str = "ann") -> pa.Table:
    """One row for each person."""
    last = people - 1
    return pa.table(
        {
            "person": pa.array(np.arange(people)),
            "name": pa.array(["ann"] * last + [name]),
            "age": pa.array([30 + i % 40 for i in range(last)] + [47]),
            "weight": pa.array([60 + i % 30 for i in range(last)] + [91]),
            "ill": pa.array([i % 3 == 0 for i in range(last)] + [last_is_ill]),
        }
    )


def with_canary() -> pa.Table:
    """Everybody, and someone with a million rows."""
    canary = pa.table(
        {
            "person": pa.array(np.full(ROWS, 10**6)),
            "name": pa.array(np.full(ROWS, "canary")),
            "age": pa.array(np.full(ROWS, 40)),
            "weight": pa.array(np.arange(ROWS) % 200),
            "ill": pa.array(np.zeros(ROWS, dtype=bool)),
        }
    )
    return pa.concat_tables([table(PEOPLE), canary])


@contextmanager
def opened(rows: pa.Table, *, relation: str = "add_remove") -> Iterator[tuple[Session, Path]]:
    """A session over these rows, in a folder that is thrown away."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        pq.write_table(rows, path)
        with open_session(
            path,
            unit="person",
            rows_per_unit=1,
            epsilon=10_000,
            delta="1/2",
            bounds={"weight": (0, 200_000)},
            relation=relation,
        ) as session:
            yield session, path


@contextmanager
def _pair(
    one: pa.Table,
    other: pa.Table,
    query: str,
    *,
    epsilon: Any = 1,
    delta: Any = None,
    relation: str = "add_remove",
) -> Iterator[Pair]:
    terms: Any = {"epsilon": epsilon} if delta is None else {"epsilon": epsilon, "delta": delta}
    with opened(one, relation=relation) as (session, path):
        yield pair(session, lambda: pq.write_table(other, path), query, **terms)
