"""How far off private answers are: ours against the peers, at the same epsilon, delta and bounds.

Noise is judged on a table in which nobody goes over a bound, so that the exact answer is the
clipped truth of every system; what bounding leaves out is seen on the whole table, beside it. The
error is the root of the mean square over the groups of a query and over independent runs. Its ratio
to a peer's comes with a 99 % upper limit, by resampling the runs of both sides 10,000 times.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.answers import COLUMNS, Answer, Asked, kept, of_ours, of_peer, session, truth
from bench.events import bounded, whole
from bench.harness import Row, Sheet, significant

SAME_ERROR = 1.05
SLOW = ("SmartNoise", "Tumult")
RESAMPLED = 10_000
SMALL, LARGE = 2_000, 200_000
# The largest categories, which every system shows: errors of groups near a threshold are those of
# whoever happens to show them.
LARGEST = 5

# How many answers of each peer, from the events of how many rows. Noise does not know how long a
# table is; equal noise takes some ten thousand numbers to be seen equal. Spark takes its time.
RUNS = {
    Asked("Q1"): {
        "OpenDP": (SMALL, 40_000),
        "PipelineDP": (SMALL, 40_000),
        "SmartNoise": (SMALL, 200),
        "Tumult": (LARGE, 20),
    },
    Asked("Q2"): {
        "OpenDP": (LARGE, 400),
        "PipelineDP": (SMALL, 400),
        "SmartNoise": (LARGE, 20),
        "Tumult": (LARGE, 20),
    },
    Asked("Q3"): {
        "OpenDP": (LARGE, 2_000),
        "SmartNoise": (LARGE, 20),
        "Tumult": (LARGE, 20),
    },
    Asked("Q3", by_groups=True): {"OpenDP": (LARGE, 200), "PipelineDP": (LARGE, 100)},
    Asked("Q4"): {
        "OpenDP": (LARGE, 200),
        "PipelineDP": (SMALL, 200),
        "SmartNoise": (LARGE, 20),
        "Tumult": (LARGE, 20),
    },
}
OUR_RUNS = {"Q1": 40_000, "Q2": 2_000, "Q3": 10_000, "Q4": 1_000}
# On the whole table nearly all of the error is what bounding leaves out: it hardly varies.
OUR_WHOLE_RUNS = 200
WHOLE_RUNS = {"OpenDP": 20, "PipelineDP": 5, "SmartNoise": 5, "Tumult": 5}

Squares: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Errors:
    """The mean squared error of every run, a column for each number of a query."""

    squares: Squares
    keys: float
    """How many groups an answer shows, on average."""

    @staticmethod
    def of(asked: Asked, answers: list[Answer], exact: Answer) -> "Errors":
        """Those of so many answers."""
        judged = set(exact)
        if asked.query == "Q3":
            judged = set(sorted(exact, key=lambda key: -exact[key][0])[:LARGEST])
        squares = [
            np.mean(
                [np.subtract(row, exact[key]) ** 2 for key, row in each.items() if key in judged],
                axis=0,
            )
            for each in answers
        ]
        return Errors(np.array(squares), float(np.mean([len(each) for each in answers])))

    def root(self, column: int) -> float:
        """The root of the mean square over all runs."""
        return math.sqrt(self.squares[:, column].mean())


def limit(ours: Squares, theirs: Squares) -> float:
    """What the ratio of the two errors stays below, with a confidence of 99 %."""
    draws = np.random.default_rng(20)
    return float(np.quantile(_resampled(ours, draws) / _resampled(theirs, draws), 0.99))


def _resampled(squares: Squares, draws: np.random.Generator) -> Squares:
    """The error of as many runs, drawn again from those that were made, many times over."""
    n = len(squares)
    means = [squares[draws.integers(0, n, n)].mean() for _ in range(RESAMPLED)]
    return np.sqrt(means)


def _ours(asked: Asked, path: Path, runs: int) -> Errors:
    with session(path, by_groups=asked.by_groups) as opened:
        answers = of_ours(opened, asked.query, runs)
    return Errors.of(asked, answers, truth(asked.query, path))


def _theirs(asked: Asked, wanted: dict[str, tuple[Path, int]], *, long: bool) -> dict[str, Errors]:
    """The errors of each peer. The slow ones are waited for only where that is wanted."""
    return {
        system: Errors.of(asked, of_peer(system, asked, path, runs), truth(asked.query, path))
        for system, (path, runs) in wanted.items()
        if long or system not in SLOW or kept(system, asked, path, runs).exists()
    }


def run(sheet: Sheet, *, long: bool) -> None:
    """Errors of the noise, errors against the whole truth, and the keys that are shown.

    `long` asks the slow peers too, which takes an hour; once they have answered they are there.
    """
    for asked, peers in RUNS.items():
        _noise(sheet, asked, peers, long=long)
    for asked, peers in RUNS.items():
        _whole(sheet, asked, list(peers), long=long)


def _noise(sheet: Sheet, asked: Asked, peers: dict[str, tuple[int, int]], *, long: bool) -> None:
    with sheet.console.status(f"{asked.name}: noise"):
        ours = _ours(asked, bounded(LARGE), OUR_RUNS[asked.query])
        wanted = {system: (bounded(rows), runs) for system, (rows, runs) in peers.items()}
        theirs = _theirs(asked, wanted, long=long)
    for place, column in enumerate(COLUMNS[asked.query]):
        what = f"{asked.name}, {column}"
        mine = ours.root(place)
        for system, their in theirs.items():
            runs = len(their.squares)
            name = f"{what}: error, against {system} ({runs:,} runs)"
            sheet.add(Row.of(name, ours=mine, peer=their.root(place), unit="RMSE", target=None))
            most = limit(ours.squares[:, place], their.squares[:, place])
            name = f"{what}: error over that of {system}, at most (99 %)"
            # Twenty answers cannot tell equal noise from noise a tenth larger.
            target = None if system in SLOW else SAME_ERROR
            sheet.add(Row.of(name, ours=most, unit="times", target=target))


def _whole(sheet: Sheet, asked: Asked, peers: list[str], *, long: bool) -> None:
    path = whole(LARGE)
    with sheet.console.status(f"{asked.name}: whole table"):
        ours = _ours(asked, path, OUR_WHOLE_RUNS)
        wanted = {system: (path, WHOLE_RUNS[system]) for system in peers}
        theirs = _theirs(asked, wanted, long=long)
    for place, column in enumerate(COLUMNS[asked.query]):
        for system, their in theirs.items():
            name = f"{asked.name}, {column}: error of the unclipped truth, against {system}"
            row = Row.of(
                name, ours=ours.root(place), peer=their.root(place), unit="RMSE", target=None
            )
            sheet.add(row)
    if asked.query == "Q3":
        for system, their in theirs.items():
            name = f"{asked.name}: private keys shown of {LARGE:,} rows, against {system}"
            ratio = ours.keys / their.keys
            figures = significant(ours.keys), significant(their.keys)
            sheet.add(Row(name, *figures, "keys", significant(ratio), 1.0, ratio >= 1))
