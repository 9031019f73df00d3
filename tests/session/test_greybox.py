"""What one person can change of the exact numbers is never more than the noise was made for."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from discreet.errors import DiscreetError
from discreet.session.measure import Aggregates
from discreet.session.request import Request
from tests.session.generator import Generator, Setting

QUERIES = 13


def by_group(aggregates: Aggregates, index: int) -> dict[Any, int]:
    """A primitive's number in each group; a private key without rows is no key."""
    keys = [
        column if isinstance(column, tuple) else column.to_pylist() for column in aggregates.keys
    ]
    groups = list(zip(*keys, strict=True)) if keys else [()]
    return dict(zip(groups, aggregates.values[index].tolist(), strict=True))


def check(setting: Setting, request: Request, here: Aggregates, there: Aggregates) -> None:
    """Every primitive of two neighbouring databases is within its declared sensitivity."""
    noise, rows = request.noise, setting.rows_per_unit
    units = 1 if setting.relation == "add_remove" else 2
    groups = rows if noise.bounding is None else min(rows, noise.bounding.groups)
    for index, declared in enumerate(noise.sensitivities):
        one, other = by_group(here, index), by_group(there, index)
        if request.query.core.keys_are_public:
            assert list(one) == list(other)
        moved = [abs(one.get(g, 0) - other.get(g, 0)) for g in one.keys() | other.keys()]
        changed = [change for change in moved if change]
        assert len(changed) <= units * groups
        assert sum(changed) <= declared.l1
        assert sum(change * change for change in changed) <= declared.l2**2
        assert max(changed, default=0) <= declared.l1
    if noise.selector is not None:
        one, other = by_group(here, noise.selector), by_group(there, noise.selector)
        for group in one.keys() ^ other.keys():
            # Nobody else has this key, so all of its rows are the one person's.
            assert 1 <= max(one.get(group, 0), other.get(group, 0)) <= rows


def compare(seed: int, folder) -> Counter[str]:
    """Many queries on one pair of neighbours."""
    generator, tally = Generator(seed), Counter[str]()
    setting = generator.setting()
    people = generator.people(setting, generator.random.choice([1, 3, 8]))
    neighbour = generator.neighbour(setting, people)
    folder.mkdir()
    mode = generator.random.choice(["snapshot", "snapshot", "live"])
    with setting.open(generator.shuffled(people), folder, mode=mode) as session:
        planned: list[tuple[str, Request, Aggregates]] = []
        while len(planned) < QUERIES:
            text = generator.query(setting)
            try:
                request = session.plan(text, epsilon=1)
            except DiscreetError as refusal:
                tally[refusal.code] += 1
                continue
            planned.append((text, request, session.aggregate(request)))
        assert tally.total() < 5 * QUERIES  # most queries are understood
        setting.swap(session, generator.shuffled(neighbour), folder)
        for text, request, here in planned:
            again = session.plan(text, epsilon=1)
            assert again.noise.scales == request.noise.scales
            assert again.noise.kind == request.noise.kind
            assert again.measurement == request.measurement
            assert again.events == request.events
            try:
                check(setting, request, here, session.aggregate(again))
            except AssertionError as error:
                error.add_note(f"seed {seed}: {text}\n{setting}\n{request.measurement.sql}")
                raise
            tally["compared"] += 1
    return tally


@pytest.mark.parametrize("seed", range(12))
def test_neighbours_differ_by_no_more_than_declared(seed, tmp_path):
    compare(seed, tmp_path / "data")


@pytest.mark.deep
@pytest.mark.parametrize("block", range(16))
def test_ten_thousand_pairs_differ_by_no_more_than_declared(block, tmp_path):
    total = Counter[str]()
    for seed in range(1000 + 50 * block, 1050 + 50 * block):
        total += compare(seed, tmp_path / str(seed))
    assert total["compared"] >= 50 * QUERIES
