"""What the clock tells: of the noise, and of whether somebody is there.

An attacker who times answers is worth the area under the curve (AUC) of the best classifier by one
limit: the chance that the slower of two answers is the one that is suspected. One half is
guessing; of equal sides, 1,000 answers each stay below 0.54 with a chance of 99.8 %.

The noise: answers whose noise is larger than the median against the others. Somebody: the same
questions on two tables, with and without one person; three snapshots of each, in turns, so that
how a file happens to lie on the disk is not taken for a person.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import ArrayLike, NDArray

from bench.events import DATA, events
from bench.harness import Row, Sheet
from bench.sessions import asking, opened
from bench.terms import QUERIES

GUESSING = 0.55
ROWS = 200_000
ANSWERS, LONG_ANSWERS, LIVE_ANSWERS = 1_000, 10_000, 15
COPIES = 3

# A person who is in one of the tables alone: how many rows, and in which categories.
MILLION = "a person with 1,000,000 rows"
PEOPLE = {
    MILLION: (1_000_000, "i % 10000"),
    "a person with 20 rows": (20, "i"),
    "a person alone in 20 categories": (20, "10000 + i"),
}


def auc(suspected: ArrayLike, others: ArrayLike) -> float:
    """The chance that a suspected answer is slower than another, or faster if that is more.

    >>> auc([3, 4], [1, 2]), auc([1, 4], [2, 3])
    (1.0, 0.5)
    """
    first, second = np.asarray(suspected, float), np.asarray(others, float)
    order = np.argsort(np.concatenate((first, second)), kind="stable")
    ranks = np.empty(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    below = ranks[: len(first)].sum() - len(first) * (len(first) + 1) / 2
    share = float(below / (len(first) * len(second)))
    return max(share, 1 - share)


def run(sheet: Sheet, *, long: bool) -> None:
    """A thousand answers of each kind; `long`: ten thousand."""
    answers = LONG_ANSWERS if long else ANSWERS
    _noise(sheet, answers)
    _people(sheet, answers, LIVE_ANSWERS)


def _noise(sheet: Sheet, answers: int) -> None:
    with opened(events(ROWS)) as session:
        for name in ("Q1", "Q4"):
            request = session.plan(QUERIES[name], epsilon=1)
            exact = session.aggregate(request)
            noise, seconds = np.empty(answers), np.empty(answers)
            for i in range(answers):
                start = time.perf_counter()
                table = session.release(request, exact)
                seconds[i] = time.perf_counter() - start
                noise[i] = np.abs(table.primitives[0] - exact.values[0]).sum()
            large = noise > np.median(noise)
            what = f"{name}, {answers:,} answers: AUC of the size of the noise by the clock"
            found = auc(seconds[large], seconds[~large])
            sheet.add(Row.of(what, ours=found, unit="AUC", target=GUESSING))


def _people(sheet: Sheet, answers: int, live_answers: int) -> None:
    whole = events(ROWS)
    for person, mode, count in (
        ("nobody (a control)", "snapshot", answers),
        *((person, "snapshot", answers) for person in PEOPLE),
        (MILLION, "live", live_answers),
    ):
        somebody = PEOPLE.get(person)
        other = _joined(whole, *somebody) if somebody else whole
        for name in QUERIES:
            with sheet.console.status(f"{name}, {mode}, {person}"):
                area, without, within = _told_apart(whole, other, name, mode, count)
            what = f"{name}, {mode}, {count:,} answers, {person}"
            target = GUESSING if somebody and mode == "snapshot" else None
            sheet.add(Row.of(f"{what}: AUC by the clock", ours=area, unit="AUC", target=target))
            if person == MILLION:
                what = f"{name}, {mode}: median latency with {person}, against without"
                sheet.add(Row.of(what, ours=within, peer=without, unit="s", target=None))


def _told_apart(
    without: Path, within: Path, name: str, mode: str, answers: int
) -> tuple[float, float, float]:
    """How well two tables are told apart by the clock, and the median latency of each."""
    draws = np.random.default_rng(16)
    with ExitStack() as stack:
        sides: list[list[Callable[[], float]]] = [[], []]
        for side, path in enumerate((without, within)):
            for _ in range(COPIES):
                session = stack.enter_context(opened(path, mode=mode))
                sides[side].append(asking(session, name))
                sides[side][-1]()  # the snapshot is made before
        seconds: NDArray[np.float64] = np.empty((2, answers))
        for i in range(answers):
            for side in draws.permutation(2):
                seconds[side, i] = sides[side][i % COPIES]()
    first, second = np.median(seconds, axis=1)
    return auc(seconds[1], seconds[0]), float(first), float(second)


def _joined(path: Path, rows: int, category: str) -> Path:
    """The table with one more person in it."""
    joined = (
        DATA / f"{path.stem}-and-{rows}-{category.replace(' ', '').replace('%', 'mod')}.parquet"
    )
    if not joined.exists():
        place = f"(i % 50)::INTEGER, (i % 365)::INTEGER, ({category})::INTEGER"
        person = f"FROM range({rows}) AS r(i) SELECT -1::BIGINT, {place}, 1.0::DOUBLE"
        both = f"FROM read_parquet('{path}') UNION ALL {person}"
        duckdb.execute(f"COPY ({both}) TO '{joined}' (FORMAT parquet)")
    return joined
