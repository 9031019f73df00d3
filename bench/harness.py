"""Time two or more sides in one run, and write down what was seen.

The sides take turns, so that a busy minute of the machine falls on all of them, and each is judged
by its best round, which is the one least disturbed.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

RESULTS = Path(__file__).parent / "results"

# One round of one side: it does the work and returns the seconds that the work took.
Side = Callable[[], float]


def timed(work: Callable[[], object]) -> Side:
    """A side that runs in this process."""

    def side() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return side


def turns(rounds: Sequence[int]) -> list[int]:
    """Whose turn it is, for sides that ask for different numbers of rounds.

    Each side's rounds are spread over the whole run.

    >>> turns([4, 2])
    [0, 0, 1, 0, 0, 1]
    """
    most = max(rounds)
    return [
        side
        for turn in range(most)
        for side, wanted in enumerate(rounds)
        if (turn + 1) * wanted // most > turn * wanted // most
    ]


def best(
    sides: Sequence[Side], rounds: Sequence[int], *, tick: Callable[[], object] = lambda: None
) -> list[float]:
    """The fewest seconds each side took in its rounds, the sides taking turns."""
    seconds = [float("inf")] * len(sides)
    for turn in turns(rounds):
        seconds[turn] = min(seconds[turn], sides[turn]())
        tick()
    return seconds


@dataclass(frozen=True)
class Row:
    """One measured fact.

    `ratio` says how many times better we are than the peer: ours/peer where more is better (a unit
    that ends in "/s"), peer/ours where less is better (seconds, megabytes). The target is a ratio
    to reach. Where there is no peer, `ratio` is null and the target is a figure in the unit itself.
    Where there is no target the row only reports, and `holds` is null.
    """

    name: str
    ours: float
    peer: float | None
    unit: str
    ratio: float | None
    target: float | None
    holds: bool | None

    @classmethod
    def of(
        cls, name: str, *, ours: float, unit: str, peer: float | None = None, target: float | None
    ) -> Self:
        """The row with its ratio worked out and its target judged."""
        more_is_better = unit.endswith("/s")
        if peer is None:
            ratio = None
            good = target is not None and (ours >= target if more_is_better else ours <= target)
        else:
            ratio = ours / peer if more_is_better else peer / ours
            good = target is not None and ratio >= target
        return cls(
            name=name,
            ours=significant(ours),
            peer=None if peer is None else significant(peer),
            unit=unit,
            ratio=None if ratio is None else significant(ratio),
            target=target,
            holds=None if target is None else good,
        )


def significant(x: float) -> float:
    """Four digits: timings are not worth more.

    >>> significant(123.456), significant(0.00123456)
    (123.5, 0.001235)
    """
    return float(f"{x:.4g}")


class Sheet:
    """The rows of one benchmark, shown as they come and written at the end."""

    def __init__(self, name: str, console: Console) -> None:
        self.name = name
        self.console = console
        self.rows: list[Row] = []

    def add(self, row: Row) -> None:
        """Keep a row and show it."""
        self.rows.append(row)
        mark = {True: "[green]holds[/]", False: "[red]falls short[/]", None: ""}[row.holds]
        peer = "" if row.peer is None else f", peer {row.peer:g} {row.unit}, ratio {row.ratio:g}"
        target = "" if row.target is None else f", target {row.target:g}"
        self.console.print(
            f"{row.name}: {row.ours:g} {row.unit}{peer}{target} {mark}", soft_wrap=True
        )

    def best(self, what: str, sides: Sequence[Side], rounds: Sequence[int]) -> list[float]:
        """The best seconds of each side, with a bar that shows how far the run is."""
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        with Progress(
            *columns, TimeElapsedColumn(), console=self.console, transient=True
        ) as progress:
            bar = progress.add_task(what, total=sum(rounds))
            return best(sides, rounds, tick=lambda: progress.advance(bar))

    def write(self, results: Path = RESULTS) -> Path:
        """Write `NAME.json`, and say where."""
        results.mkdir(exist_ok=True)
        path = results / f"{self.name}.json"
        path.write_text(json.dumps([asdict(row) for row in self.rows], indent=2) + "\n")
        return path
