"""Whole SQL answers over two neighbouring files."""

import csv
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from discreet.audit import Claim
from discreet.audit.sql import Pair, audit_sql, pair
from discreet.cli import app
from discreet.errors import InvalidInput
from discreet.session import Session, open_session
from discreet.theory.divergences import gaussian_delta

SURE = "0.999999"


def write(path: Path, people: int) -> None:
    """Each person has three visits; the last person all of them in ward C, at the age of 90."""
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["patient", "ward", "age"])
        for person in range(people):
            for visit in range(3):
                last = person == 20
                rows.writerow([person, "C" if last else "AB"[visit % 2], 90 if last else 40])


def opened(folder: Path) -> Session:
    write(folder / "visits.csv", 21)
    return open_session(
        folder / "visits.csv",
        unit="patient",
        rows_per_unit=2,
        bounds={"age": (0, 100)},
        keys={"ward": ["A", "B", "C"]},
        epsilon=10,
        delta="1e-3",
    )


QUERIES: list[tuple[str, dict[str, Any]]] = [
    ("SELECT COUNT(*) FROM visits", {"epsilon": 1}),
    ("SELECT ward, COUNT(*), AVG(age) FROM visits GROUP BY ward", {"epsilon": 1}),
    ("SELECT COUNT(DISTINCT patient), SUM(age) FROM visits", {"epsilon": 1, "delta": "1e-5"}),
    ("SELECT age, COUNT(*) FROM visits GROUP BY age", {"epsilon": 1, "delta": "1e-2"}),
]


@pytest.mark.parametrize(("query", "terms"), QUERIES)
def test_an_answer_costs_no_more_than_it_is_charged(tmp_path, query, terms):
    # False alarm: at most 1e-6.
    with opened(tmp_path) as session:
        found = pair(session, lambda: write(tmp_path / "visits.csv", 20), query, **terms)
        report = audit_sql(found, samples=100_000, confidence=SURE)
    assert not report.refuted


def test_gaussian_noise_of_several_columns_hides_a_person_in_all_of_them_together(tmp_path):
    days = {"person": list(range(50)) * 4, "day": [n % 7 for n in range(200)]}
    pq.write_table(pa.table(days), tmp_path / "visits.parquet")
    with open_session(
        tmp_path / "visits.parquet",
        unit="person",
        rows_per_unit=400,
        keys={"day": list(range(365))},
        epsilon=20,
        delta="1e-4",
        delta_per_query="1e-6",
    ) as session:
        people = "COUNT(DISTINCT person), COUNT(DISTINCT person) FILTER (WHERE day < 4)"
        noise = session.plan(f"SELECT day, {people} FROM visits GROUP BY day", epsilon=1).noise
    assert noise.kind == "gaussian"
    assert len(noise.scales) == 2
    # One person moves every column by its sensitivity at most: as one vector, by this many sigma.
    moved = sum(
        (each.l2 / sigma) ** 2
        for each, sigma in zip(noise.sensitivities, noise.scales, strict=True)
    )
    far = Fraction(math.sqrt(moved))
    delta = gaussian_delta(sigma=Fraction(1), sensitivity=far, epsilon=noise.epsilon)
    assert 0.9 * noise.delta < float(delta) <= noise.delta * (1 + 1e-9)


def test_a_count_is_told_apart_nearly_as_well_as_its_epsilon_allows(tmp_path):
    with opened(tmp_path) as session:
        found = pair(
            session,
            lambda: write(tmp_path / "visits.csv", 20),
            "SELECT COUNT(*) FROM visits",
            epsilon=1,
        )
        report = audit_sql(found, samples=400_000)
        assert 0.9 < report.epsilon <= 1.01
        assert audit_sql(found, samples=400_000, claim=Claim("0.8")).refuted


def test_noise_for_one_row_of_a_person_who_has_two_is_refuted(tmp_path):
    with opened(tmp_path) as session:
        found = pair(
            session,
            lambda: write(tmp_path / "visits.csv", 20),
            "SELECT COUNT(*) FROM visits",
            epsilon=1,
        )
        short = [
            replace(each, noise=replace(each.noise, scales=tuple(s / 2 for s in each.noise.scales)))
            for each in found.requests
        ]
        wrong = Pair(session, (short[0], short[1]), found.exact)
        assert audit_sql(wrong, samples=400_000).refuted


def test_the_command_audits_two_files_and_leaves_no_trace(tmp_path):
    write(tmp_path / "visits.csv", 21)
    write(tmp_path / "without.csv", 20)
    words = ["audit", "sql", "SELECT ward, COUNT(*) FROM visits GROUP BY ward", "--json"]
    words += ["--data", str(tmp_path / "visits.csv"), "--neighbour", str(tmp_path / "without.csv")]
    words += ["--unit", "patient", "--rows-per-unit", "2", "--keys", "ward=A,B,C"]
    words += ["--epsilon", "1", "--samples", "100000", "--confidence", SURE]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert not told["refuted"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["visits.csv", "without.csv"]
    assert CliRunner().invoke(app, [*words, "--claim", "0.5"]).exit_code == 1


POLICY = """
[dataset.visits]
source = "data/visits.csv"
unit = "patient"
rows_per_unit = 2
budget = { epsilon = 1 }
analysts = { ann = { epsilon = 1 }, bob = { epsilon = 1 } }

[dataset.visits.columns]
patient = { type = "integer" }
ward = { type = "text", keys = ["A", "B", "C"] }
age = { type = "integer", bounds = [0, 100] }

[dataset.staff]
source = "nowhere.parquet"
unit = "name"
rows_per_unit = 1
budget = { epsilon = 1 }
analysts = { ann = { epsilon = 1 } }
columns = { name = { type = "text" } }
"""


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "data").mkdir()
    write(tmp_path / "data" / "visits.csv", 21)
    write(tmp_path / "without.csv", 20)
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def audited(folder: Path, *words: str) -> Any:
    query = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
    given = ["--policy", str(folder / "policy.toml"), "--neighbour", str(folder / "without.csv")]
    few = ["--epsilon", "1", "--samples", "100000", "--confidence", SURE]
    return CliRunner().invoke(app, ["audit", "sql", query, *given, *few, *words])


def test_a_policy_says_what_the_data_are_and_stays_untouched(policy):
    found = audited(policy, "--analyst", "ann")
    assert found.exit_code == 0, found.output
    assert "Not refuted: epsilon 1 stands so far." in found.stdout
    assert "Not refuting is not proving" in found.stdout
    # No ledger, no key, no snapshot beside it: nothing was spent, nothing is left behind.
    assert not list(policy.rglob(".discreet"))
    assert audited(policy, "--analyst", "ann", "--claim", "0.5").exit_code == 1


def test_what_a_policy_says_itself_is_not_said_again(policy):
    found = audited(policy, "--analyst", "ann", "--unit", "patient")
    assert isinstance(found.exception, InvalidInput)
    assert "--unit" in str(found.exception)


def test_data_in_many_files_or_on_a_server_is_not_copied(policy):
    write(policy / "data" / "more.csv", 3)
    for place in ('"data/*.csv"', '{ kind = "postgres", table = "v", connection = "env:X" }'):
        text = POLICY.replace('"data/visits.csv"', place, 1)
        (policy / "policy.toml").write_text(text)
        found = audited(policy, "--analyst", "ann")
        assert isinstance(found.exception, InvalidInput)
        assert "file" in str(found.exception)
