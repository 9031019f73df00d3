"""Two policies over one file, as while servers are replaced one by one: no noise meets rows that it
was not made for."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import discreet
from discreet.errors import EngineFailed
from discreet.session.session import Session

POLICY = """
[dataset.visits]
source = "visits.parquet"
unit = "who"
rows_per_unit = {rows}
[dataset.visits.columns]
who = {{ type = "integer" }}
age = {{ type = "integer", bounds = [0, {oldest}] }}
[dataset.visits.budget]
epsilon = 10
[dataset.visits.analysts]
ann = {{ epsilon = 10 }}
"""
QUESTION = "SELECT SUM(age) FROM visits"


def opened(folder: Path, name: str, *, rows: int, oldest: int) -> Session:
    file = folder / f"{name}.toml"
    file.write_text(POLICY.format(rows=rows, oldest=oldest))
    return discreet.open(file, analyst="ann")


def test_a_query_is_never_answered_by_the_snapshot_of_another_policy(tmp_path):
    ages = {"who": [1] * 50 + [2], "age": [1000] * 50 + [5]}
    pq.write_table(pa.table(ages), tmp_path / "visits.parquet")
    narrow = opened(tmp_path, "narrow", rows=1, oldest=10)
    wide = opened(tmp_path, "wide", rows=50, oldest=1000)
    with narrow, wide:
        for _ in range(3):
            request = narrow.plan(QUESTION, epsilon=1)
            wide.plan(QUESTION, epsilon=1)  # makes the snapshot anew, by its own policy
            try:
                exact = narrow.aggregate(request).values[0].tolist()
            except EngineFailed:
                continue  # no answer is private
            assert exact == [15]
            assert request.noise.sensitivities[0].l1 == 10
