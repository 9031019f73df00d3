"""Counts that protect each person, and the attack that textbook noise does not withstand."""

from fractions import Fraction

import numpy as np
from rich.console import Console
from rich.table import Table

import discreet
from discreet.noise import TwoSidedGeometric

# Made up: how many people were treated in each ward.
WARDS = {"Cardiology": 412, "Maternity": 386, "Oncology": 95, "Infectious diseases": 7}
EPSILONS = (Fraction(1, 10), Fraction(1), Fraction(3))
CONFIDENCE = Fraction(95, 100)

DRAWS = 100_000
GRID = Fraction(1, 2**20)


def counts() -> Table:
    """The same counts under stronger and weaker promises."""
    table = Table(title="People treated, each of them in one ward", title_justify="left")
    table.add_column("Ward")
    table.add_column("True count\n(never shown)", justify="right", style="dim")
    for epsilon in EPSILONS:
        table.add_column(f"epsilon\n{float(epsilon):g}", justify="right")
    true = np.array(list(WARDS.values()), dtype=np.int64)
    noisy = [discreet.geometric(true, sensitivity=1, epsilon=epsilon) for epsilon in EPSILONS]
    for ward, count, *released in zip(WARDS, true, *noisy, strict=True):
        table.add_row(ward, str(count), *map(str, released))
    table.add_section()
    widths = [TwoSidedGeometric(1 / epsilon).interval(CONFIDENCE)[1] for epsilon in EPSILONS]
    table.add_row("95 % of the time within", "", *(f"± {width}" for width in widths))
    return table


def off_grid(outputs: np.ndarray, step: float) -> float:
    """The share of the outputs that are no multiple of the step."""
    multiples = outputs / step  # exact: the step is a power of two
    return float(np.mean(multiples != np.floor(multiples)))


def attack() -> Table:
    """Guess which of two neighbouring tables was used from the last digits of one output."""
    table = Table(
        title="Single outputs that prove the true value was 0 and not 1",
        title_justify="left",
    )
    table.add_column("")
    for value in (0, 1):
        table.add_column(f"true value {value}", justify="right")
    # The textbook's way, on purpose: this is what the attack breaks.
    textbook = [value + np.random.default_rng().laplace(0, 1, DRAWS) for value in (0, 1)]
    ours = [
        np.asarray(
            discreet.laplace(np.full(DRAWS, float(value)), sensitivity=1, epsilon=1, grid=GRID)
        )
        for value in (0, 1)
    ]
    table.add_row(
        "textbook Laplace in floating point", *(f"{off_grid(x, 2.0**-53):.0%}" for x in textbook)
    )
    table.add_row("discreet.laplace", *(f"{off_grid(x, float(GRID)):.0%}" for x in ours))
    return table


def main() -> None:
    """Show both."""
    console = Console()
    console.print()
    console.print(counts())
    console.print(
        "A smaller epsilon protects each person more and blurs the counts more.\n"
        "With any one person or without, the odds of any output differ by e^epsilon at most.\n"
    )
    console.print(attack())
    console.print(
        "Each such output breaks the promise for good. Ours are exact: there are none.\n"
        "Why: docs/explanation/exact-noise.md"
    )


if __name__ == "__main__":
    main()
