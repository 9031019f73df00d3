"""Whether a private query keeps its distance from the plain one as the table grows.

What a private query takes on a table of next to nothing is its fixed cost: parsing, planning, the
ledger, noise, intervals. The rest is compared with the plain query on the same rows.
"""

import duckdb

from bench.ask import plainly
from bench.events import events
from bench.harness import Row, Sheet
from bench.sessions import asking, opened

NOTHING = 1_000
SIZES = (1_000_000, 20_000_000)
LONG_SIZES = (*SIZES, 100_000_000)
ROUNDS = 9
# From the shortest table to the longest, the ratio may grow so many times.
FLAT = 1.2


def run(sheet: Sheet, *, long: bool) -> None:
    """One and twenty million rows; `long` adds a hundred million."""
    for name in ("Q2", "Q3"):
        fixed, _ = _seconds(sheet, name, NOTHING)
        sheet.add(Row.of(f"{name}: fixed cost", ours=fixed, unit="s", target=None))
        ratios = []
        for rows in LONG_SIZES if long else SIZES:
            ours, theirs = _seconds(sheet, name, rows)
            what = f"{name} on {rows:,} rows, against plain DuckDB"
            sheet.add(Row.of(what, ours=ours, peer=theirs, unit="s", target=None))
            ratios.append((ours - fixed) / theirs)
            what = f"{name} on {rows:,} rows: (private - fixed cost) / plain"
            sheet.add(Row.of(what, ours=ratios[-1], unit="times", target=None))
        what = f"{name}: that ratio on the longest table over that on the shortest"
        sheet.add(Row.of(what, ours=ratios[-1] / ratios[0], unit="times", target=FLAT))


def _seconds(sheet: Sheet, name: str, rows: int) -> list[float]:
    path = events(rows)
    with duckdb.connect() as plain, opened(path) as session:
        plain.read_parquet(str(path)).create_view("events")
        sides = [asking(session, name), plainly(plain, name)]
        return sheet.best(f"{name} on {rows:,} rows", sides, (ROUNDS, ROUNDS))
