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
    for key in ("5e" * 32, "a7" * 32):
        folder = tmp_path / key[:2]
        (folder / ".discreet").mkdir(mode=0o700, parents=True)
        (folder / ".discreet" / "key").write_text(key + "\n")
        write(folder)
        (folder / "policy.toml").write_text(POLICY.format(mode=mode, unit=unit))
        with discreet.open(folder / "policy.toml", analyst="ann") as session:
            shown = session.explain(GROUPED, epsilon=1)
            ran = session.plan(GROUPED, epsilon=1).measurement.sql
        whole = repr(shown) + str(shown) + json.dumps(shown.to_json())
        assert digest(key) in ran
        assert digest(key) not in whole
        assert key not in whole
        said.add(whole.replace(str(folder), ""))
        runs.add(ran.replace(str(folder), ""))
    assert (len(said), len(runs)) == (1, 2)
