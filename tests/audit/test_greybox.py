"""Declared sensitivities against measured ones, over random neighbours; failures shrink."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, find, settings
from hypothesis import strategies as st

from discreet.audit.greybox import NoiseCall, noise_calls, observe, violations
from discreet.errors import DiscreetError
from discreet.session import open_session
from tests.session.generator import Generator

QUERIES = [
    "SELECT COUNT(*) FROM t",
    "SELECT SUM(n) FROM t",
    "SELECT w, COUNT(*), AVG(n) FROM t GROUP BY w",
    "SELECT COUNT(DISTINCT u) FROM t WHERE n > 3",
]

ROW = st.tuples(st.sampled_from("abz"), st.sampled_from([0, 1, 7, 10, 99, -5, None]))
PEOPLE = st.lists(st.lists(ROW, min_size=1, max_size=5), min_size=1, max_size=4)


def write(people: list[Any], path: Path, *, nobody: list[Any] | None = None) -> None:
    rows: list[Any] = [(unit, *row) for unit, person in enumerate(people) for row in person]
    rows += [(None, *row) for row in nobody or []]
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    kinds = [("u", pa.int64()), ("w", pa.string()), ("n", pa.int64())]
    table = {
        name: pa.array(list(cells), kind)
        for (name, kind), cells in zip(kinds, columns, strict=True)
    }
    pq.write_table(pa.table(table), path)


@pytest.fixture
def look(tmp_path):
    """The noise calls of a query over these people."""
    write([[("a", 1)]], tmp_path / "t.parquet")
    session = open_session(
        tmp_path / "t.parquet",
        unit="u",
        rows_per_unit=2,
        bounds={"n": (0, 11)},
        keys={"w": ["a", "b"]},
        epsilon=10**6,
    )

    def calls(people: list[Any], query: str, *, nobody: list[Any] | None = None) -> list[NoiseCall]:
        write(people, tmp_path / "t.parquet", nobody=nobody)
        session.prepare(refresh=True)
        found: list[NoiseCall] = []
        observe(session, query, found.append, epsilon=1)
        return found

    with session:
        yield calls


def test_a_person_who_leaves_changes_no_more_than_declared(look):
    people = [[("a", 99), ("b", None), ("a", 3)], [("b", -5)] * 4, [("z", 7), ("a", 10)]]
    people.append([("a", 99), ("a", 99)])  # twice the upper end of an odd range
    for query in QUERIES:
        everyone = look(people, query)
        for gone in range(len(people)):
            others = people[:gone] + people[gone + 1 :]
            assert violations(everyone, look(others, query)) == ()


def test_rows_of_nobody_are_in_no_number(look):
    # Were they kept as one more person, whoever of them left would make room for others.
    people = [[("a", 3)], [("b", 7)]]
    for query in QUERIES:
        assert look(people, query) == look(people, query, nobody=[("a", 5), ("b", 11)])


@pytest.mark.deep
def test_a_sensitivity_that_is_too_small_shrinks_to_one_person(look):
    """As if a person could only have one row: found, and shrunk to someone with two."""

    def forgetful(calls: list[NoiseCall]) -> list[NoiseCall]:
        return [replace(call, l1=call.l1 / 2, l2=call.l2 / 2) for call in calls]

    def broken(case: Any) -> bool:
        people, query = case
        return bool(violations(forgetful(look(people, query)), forgetful(look(people[1:], query))))

    cases = st.tuples(PEOPLE, st.sampled_from(QUERIES))
    quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    people, query = find(cases, broken, settings=quick, random=Random(1))
    assert query == QUERIES[0]
    assert people == [[("a", 0), ("a", 0)]]


def test_calls_that_differ_in_kind_are_told():
    call = NoiseCall("rows", "laplace", 1, 1, 1, 1, {(): 4}, public=True, rows=None)  # type: ignore[arg-type]
    assert violations([call], []) == ("the number of noise calls differs",)
    assert "scale differs" in violations([call], [replace(call, scale=2)])[0]  # type: ignore[arg-type]
    assert "public groups differ" in " ".join(violations([call], [replace(call, exact={"a": 4})]))
    assert "l1" in " ".join(violations([call], [replace(call, exact={(): 6})]))
    shown = replace(call, public=False, rows=2, l1=9, l2=9)  # type: ignore[arg-type]
    alone = replace(shown, exact={(): 4, "new": 3})
    assert "only one person" in " ".join(violations([shown], [alone]))


@pytest.mark.parametrize("seed", range(4))
def test_random_queries_over_random_neighbours_keep_what_they_declare(seed, tmp_path):
    generator = Generator(90_000 + seed)
    setting = generator.setting()
    people = generator.people(setting, 4)
    neighbour = generator.neighbour(setting, people)
    planned: list[tuple[str, tuple[NoiseCall, ...]]] = []
    with setting.open(generator.shuffled(people), tmp_path) as session:
        while len(planned) < 5:
            text = generator.query(setting)
            try:
                request = session.plan(text, epsilon=1, delta="1e-6")
            except DiscreetError:
                continue
            planned.append((text, noise_calls(request, session.aggregate(request))))
        setting.swap(session, generator.shuffled(neighbour), tmp_path)
        for text, before in planned:
            request = session.plan(text, epsilon=1, delta="1e-6")
            after = noise_calls(request, session.aggregate(request))
            assert violations(before, after) == (), text
