"""Intervals hold the truth as often as they say: measured, over random tables and queries.

Each release is a fresh draw of the noise on exact numbers that were computed once, through the
session's own seam. The truth of a cell is what the same query gives on those exact numbers.
"""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.session import Session
from discreet.session.measure import Aggregates
from discreet.session.postprocess import Output, postprocess
from discreet.session.request import Request
from discreet.session.table import NoisyTable, Released

QUERIES = {
    "direct": [
        "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward",
        "SELECT COUNT(*) AS n, COUNT(DISTINCT patient) AS people FROM visits WHERE age > 30",
        "SELECT ward, COUNT(age) AS n FROM visits GROUP BY ward HAVING COUNT(*) > -100000",
    ],
    "average": [
        "SELECT ward, AVG(cost) AS mean FROM visits GROUP BY ward",
        "SELECT AVG(age) AS mean FROM visits WHERE ward IN ('A', 'B')",
        "SELECT age >= 65 AS old, AVG(cost) AS mean FROM visits GROUP BY old",
    ],
    "arithmetic": [
        "SELECT ward, SUM(cost) / COUNT(*) AS per_visit FROM visits GROUP BY ward",
        "SELECT COUNT(*) FILTER (WHERE age < 40) * 100.0 / COUNT(*) AS share FROM visits",
        "SELECT SUM(cost) - 100 * COUNT(*) AS excess FROM visits",
    ],
    "outer": [
        "SELECT SUM(n) AS all_wards FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward)",
        "SELECT AVG(m) AS of_means FROM (SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward)",
    ],
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    path = tmp_path_factory.mktemp("coverage") / "visits.parquet"
    draws = np.random.default_rng(5)
    rows = 20_000
    table = {
        "patient": draws.integers(0, 6000, rows),
        "age": draws.integers(0, 100, rows),
        "ward": draws.choice(["A", "B", "C", "D"], rows, p=[0.6, 0.3, 0.08, 0.02]),
        "cost": draws.gamma(2.0, 60.0, rows),
    }
    pq.write_table(pa.table(table), path)
    with discreet.open(
        path,
        unit="patient",
        rows_per_unit=4,
        bounds={"age": (0, 110), "cost": (0, 500)},
        keys={"ward": ["A", "B", "C", "D"]},
        epsilon=100,
    ) as opened:
        yield opened


def exact_table(aggregates: Aggregates) -> NoisyTable:
    everything = np.arange(aggregates.groups)
    return NoisyTable(aggregates.keys_at(everything), tuple(aggregates.values), aggregates.groups)


def shown(request: Request, table: NoisyTable) -> list[Output]:
    return postprocess(Released(table, request.noise), request.query.stages, request.confidence)


def covered(session: Session, query: str, epsilon: str, releases: int) -> list[bool]:
    request = session.plan(query, epsilon=epsilon)
    aggregates = session.aggregate(request)
    truths = shown(request, exact_table(aggregates))
    found: list[bool] = []
    for _ in range(releases):
        for truth, cell in zip(
            truths, shown(request, session.release(request, aggregates)), strict=True
        ):
            if cell.low is None or cell.high is None:
                continue
            # Rounding of floats, after the fact, is not what is measured here.
            slack = 1e-9 * np.abs(truth.values.data)
            inside = (cell.low <= truth.values.data + slack) & (
                truth.values.data - slack <= cell.high
            )
            found += inside.tolist()
    return found


@pytest.mark.parametrize("kind", QUERIES)
def test_95_percent_intervals_hold_the_truth_95_times_in_a_hundred(
    session: Session, kind: str
) -> None:
    held: defaultdict[str, list[bool]] = defaultdict(list)
    for query in QUERIES[kind]:
        for epsilon in ("0.5", "1", "3"):
            held[query] += covered(session, query, epsilon, releases=120)
    for query, cells in held.items():
        share = sum(cells) / len(cells)
        # At a true coverage of 0.95, 360 cells fall below 0.90 or rise above 0.99 less than once
        # in 10,000 times; cells of one release share nothing, so more cells only tighten it.
        assert 0.90 <= share <= 0.99, (query, share, len(cells))
    pooled = [cell for cells in held.values() for cell in cells]
    assert len(pooled) >= 700
    assert sum(pooled) / len(pooled) >= 0.93
    assert sum(pooled) / len(pooled) <= 0.975


@pytest.mark.deep
def test_over_thousands_of_releases_coverage_is_between_94_and_97_percent(
    session: Session,
) -> None:
    for kind, queries in QUERIES.items():
        cells: list[bool] = []
        for query in queries:
            for epsilon in ("0.5", "1", "2", "4"):
                cells += covered(session, query, epsilon, releases=500)
        share = sum(cells) / len(cells)
        # 4,000 cells or more: 0.94 is three standard errors below 0.95.
        assert 0.94 <= share <= 0.97, (kind, share, len(cells))
