"""Gaussian noise is chosen where it is better and can be paid for, and is charged what it says."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.session import Session

PEOPLE_BY_DAY = "SELECT day, COUNT(DISTINCT person) FROM visits GROUP BY day"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.parquet"
    table = {"person": list(range(50)) * 4, "day": [n % 7 for n in range(200)]}
    pq.write_table(pa.table(table), path)
    return path


def opened(path: Path, **settings: Any) -> Session:
    return discreet.open(
        path,
        unit="person",
        rows_per_unit=400,
        keys={"day": list(range(365))},
        epsilon=20,
        **settings,
    )


@pytest.fixture
def session(visits: Path) -> Iterator[Session]:
    with opened(visits, delta="1e-4", delta_per_query="1e-6") as found:
        yield found


def test_many_groups_of_a_person_are_hidden_by_gaussian_noise(session: Session) -> None:
    request = session.plan(PEOPLE_BY_DAY, epsilon=1)
    assert request.noise.kind == "gaussian"
    # One person is in at most 365 groups, once in each: l2 is the square root of that.
    assert Fraction(19) < request.noise.sensitivities[0].l2 < Fraction(192, 10)


def test_what_is_charged_is_what_the_answer_says(session: Session) -> None:
    answer = session.sql(PEOPLE_BY_DAY, epsilon=1)
    spent = session.balance().spent
    assert answer.cost.delta == spent["delta"] == Fraction(1, 10**6)
    # The epsilon of the noise at that delta, rounded up: never more than was asked for.
    assert Fraction(999, 1000) < spent["epsilon"] <= answer.cost.epsilon


def test_another_delta_than_the_accountants_buys_laplace_noise(session: Session) -> None:
    assert session.plan(PEOPLE_BY_DAY, epsilon=1, delta="1e-5").noise.kind == "laplace"


@pytest.mark.parametrize("delta", ["1e-6", "1e-7", None])
def test_without_a_delta_per_query_no_question_fails_on_gaussians(
    visits: Path, delta: str | None
) -> None:
    with opened(visits, delta="1e-4") as session:
        answer = session.sql(PEOPLE_BY_DAY, epsilon=1, delta=delta)
        assert answer.cost.delta == session.balance().spent["delta"]
        assert session.balance().spent["epsilon"] <= 1
