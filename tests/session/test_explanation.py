"""What is said of a query before it runs: all that is public, and nothing of the key."""

from __future__ import annotations

import json

import pytest

import discreet
from discreet.sql.hashing import digest
from tests.session.made import write

GROUPED = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"

POLICY = """
[dataset.visits]
source = "visits.parquet"
unit = "who"
rows_per_unit = 4
groups_per_unit = 1
rows_in_group = 2
mode = "{mode}"
[dataset.visits.columns]
who = {{ type = "{unit}" }}
ward = {{ type = "text", keys = ["north", "south"] }}
[dataset.visits.budget]
epsilon = 100
[dataset.visits.analysts]
ann = {{ epsilon = 100 }}
"""


@pytest.mark.parametrize("mode", ["snapshot", "live"])
@pytest.mark.parametrize("unit", ["integer", "text"])
def test_an_explanation_holds_nothing_of_the_key(mode, unit, tmp_path):
    """Under two keys the SQL that runs differs, and not a letter of what is shown."""
    said, runs = set(), set()
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        write(folder)
        (folder / "policy.toml").write_text(POLICY.format(mode=mode, unit=unit))
        with discreet.open(folder / "policy.toml", analyst="ann") as session:
            shown = session.explain(GROUPED, epsilon=1)
            ran = session.plan(GROUPED, epsilon=1).measurement.sql
        key = (folder / ".discreet" / "key").read_text().strip()
        whole = repr(shown) + str(shown) + json.dumps(shown.to_json())
        assert digest(key) in ran
        assert digest(key) not in whole
        assert key not in whole
        said.add(whole.replace(str(folder), ""))
        runs.add(ran.replace(str(folder), ""))
    assert (len(said), len(runs)) == (1, 2)


def test_bounding_by_groups_is_told_before_and_after(tmp_path):
    write(tmp_path)
    (tmp_path / "policy.toml").write_text(POLICY.format(mode="snapshot", unit="integer"))
    with discreet.open(tmp_path / "policy.toml", analyst="ann") as session:
        told = "at most 1 group, at most 2 rows in each"
        explained = session.explain(GROUPED, epsilon=1)
        assert told in str(explained)
        facts = explained.to_json()["facts"]
        assert (facts["groups_per_unit"], facts["rows_in_group"]) == (1, 2)
        statement = session.sql(GROUPED, epsilon=1).statement()
        assert "at most 1 of the groups, with at most 2 of its rows in each" in statement
        # Without groups there is nothing to bound by them, and nothing is said.
        ungrouped = "SELECT COUNT(*) FROM visits"
        assert "group" not in str(session.explain(ungrouped, epsilon=1)).partition("runs")[0]
        assert "groups" not in session.sql(ungrouped, epsilon=1).statement()
