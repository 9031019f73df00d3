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

from bench.answers import COLUMNS, Answer, Asked, of_ours, of_peer, session, truth
from bench.events import bounded, whole
from bench.harness import Row, Sheet

SAME_ERROR = 1.05
RESAMPLED = 10_000
SMALL, LARGE = 2_000, 200_000
# The largest categories, which every system shows: errors of groups near a threshold are those of
# whoever happens to show them.
LARGEST = 5

# How many answers of each peer, from the events of how many rows. Noise does not know how long a
# table is; equal noise takes some ten thousand numbers to be seen equal. Spark takes its time.
RUNS = {
    Asked("Q1"): {
        "OpenDP": (SMALL, 10_000),
        "PipelineDP": (SMALL, 10_000),
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
    Asked("Q3", by_groups=True): {"OpenDP": (LARGE, 200), "PipelineDP": (LARGE, 20)},
    Asked("Q4"): {
        "OpenDP": (LARGE, 200),
        "PipelineDP": (SMALL, 200),
        "SmartNoise": (LARGE, 20),
        "Tumult": (LARGE, 20),
    },
}
# On the whole table nearly all of the error is what bounding leaves out: it hardly varies.
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


def _theirs(system: str, asked: Asked, path: Path, runs: int) -> Errors:
    return Errors.of(asked, of_peer(system, asked, path, runs), truth(asked.query, path))


def run(sheet: Sheet, *, long: bool) -> None:  # noqa: ARG001 - all of it is needed
    """Errors of the noise, errors against the whole truth, and the keys that are shown."""
    for asked, peers in RUNS.items():
        _noise(sheet, asked, peers)
    for asked, peers in RUNS.items():
        _whole(sheet, asked, list(peers))


def _noise(sheet: Sheet, asked: Asked, peers: dict[str, tuple[int, int]]) -> None:
    with sheet.console.status(f"{asked.name}: noise"):
        most = max(runs for _, runs in peers.values())
        ours = _ours(asked, bounded(LARGE), most)
        theirs = {
            system: _theirs(system, asked, bounded(rows), runs)
            for system, (rows, runs) in peers.items()
        }
    for place, column in enumerate(COLUMNS[asked.query]):
        what = f"{asked.name}, {column}"
        limits = {}
        for system, their in theirs.items():
            name = f"{what}: error against {system}, {peers[system][1]:,} runs"
            row = Row.of(
                name, ours=ours.root(place), peer=their.root(place), unit="RMSE", target=None
            )
            sheet.add(row)
            limits[system] = limit(ours.squares[:, place], their.squares[:, place])
        for system, most_likely in limits.items():
            name = f"{what}: error over that of {system}, at most (99 %)"
            sheet.add(Row.of(name, ours=most_likely, unit="times", target=SAME_ERROR))


def _whole(sheet: Sheet, asked: Asked, peers: list[str]) -> None:
    path = whole(LARGE)
    with sheet.console.status(f"{asked.name}: whole table"):
        ours = _ours(asked, path, 200)
        theirs = {system: _theirs(system, asked, path, WHOLE_RUNS[system]) for system in peers}
    for place, column in enumerate(COLUMNS[asked.query]):
        for system, their in theirs.items():
            name = f"{asked.name}, {column}: error against the unclipped truth, and {system}'s"
            sheet.add(
                Row.of(
                    name, ours=ours.root(place), peer=their.root(place), unit="RMSE", target=None
                )
            )
    if asked.query == "Q3":
        for system, their in theirs.items():
            name = f"{asked.name}: private keys shown of {LARGE:,} rows, against {system}"
            ratio = ours.keys / their.keys
            sheet.add(Row(name, ours.keys, their.keys, "keys", ratio, 1.0, ratio >= 1))
