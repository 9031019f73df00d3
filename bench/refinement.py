"""How many draws the vectorized paths hand to ball arithmetic, decade by decade.

`python -m bench.refinement` measures it and writes the table into docs/explanation/exact-noise.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from discreet.noise import RoundedGaussian, TwoSidedGeometric, polynomial
from discreet.noise.magnitude import Magnitude
from discreet.noise.sampling import Shape, sampler
from discreet.noise.table import TableSampler

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "exact-noise.md"
BEGIN = "<!-- written by `python -m bench.refinement`; do not edit -->\n"
END = "<!-- end -->\n"

DECADES = range(-6, 16)
DRAWS = 1 << 26
_BLOCK = 1 << 22


@contextmanager
def counting() -> Iterator[list[int]]:
    """Count the words handed to balls, without asking them."""
    counts = [0]

    def count(_: Magnitude, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        counts[0] += len(words)
        return np.zeros(len(words), dtype=np.int64)

    with patch.object(polynomial, "refine_words", count):
        yield counts


def rate(noise: Shape, draws: int) -> float:
    """The share of draws that end in balls: counted, or where a table is used, computed."""
    drawer = sampler(noise)
    if isinstance(drawer, TableSampler):
        # Only a word that equals one of the thresholds is open.
        return len(np.unique(drawer.ascending)) / 2**63
    out = np.empty(min(_BLOCK, draws), dtype=np.int64)
    with counting() as counts:
        for _ in range(0, draws, len(out)):
            drawer.fill(out)
    return counts[0] / (-(-draws // len(out)) * len(out))


def rates(draws: int) -> Iterator[tuple[int, float, float]]:
    """For each decade of scales: the share for geometric noise and for Gaussian noise."""
    for decade in DECADES:
        scale = Fraction(10) ** decade
        yield decade, rate(TwoSidedGeometric(scale), draws), rate(RoundedGaussian(scale), draws)


def lines(rows: list[tuple[int, float, float]]) -> str:
    """The table as the page shows it."""
    head = "| scale | geometric, Laplace | Gaussian |\n|--:|--:|--:|\n"
    return head + "".join(f"| 1e{d} | {a:.1e} | {b:.1e} |\n" for d, a, b in rows)


def written(text: str) -> dict[int, tuple[float, float]]:
    """The table, read back from the page."""
    rows = text.partition(BEGIN)[2].partition(END)[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {int(s[2:]): (float(a), float(b)) for s, a, b in cells}


def main() -> None:
    """Measure, and bring the page up to date."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + lines(list(rates(DRAWS))) + END + after)


if __name__ == "__main__":
    main()
