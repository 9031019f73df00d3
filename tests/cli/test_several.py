"""A policy of several data sets and several analysts, on the command line."""

import io
import json
import sys

import pytest

from tests.cli.conftest import write_visits

TABLE = """
[dataset.{name}]
source = "{name}.csv"
unit = "patient_id"
rows_per_unit = 4
columns.patient_id = {{ type = "text" }}
budget = {{ epsilon = {budget} }}
"""


@pytest.fixture
def policy(visits):
    """Ann may ask two tables of three, Bob the second and the third."""
    tables = {"admissions": ("ann", 3), "visits": ("ann", 1), "wards": (None, 5)}
    text = ""
    for name, (ann, budget) in tables.items():
        write_visits(visits.with_name(f"{name}.csv"), patients=50)
        text += TABLE.format(name=name, budget=budget)
        text += f"analysts.{ann} = {{ epsilon = 1 }}\n" if ann else ""
        text += "analysts.bob = { epsilon = 1 }\n" if name != "admissions" else ""
    path = visits.with_name("policy.toml")
    path.write_text(text)
    return path


@pytest.fixture
def sit(discreet, policy, monkeypatch):
    def run(analyst: str, *lines: str):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(lines)))
        return discreet("shell", "--policy", "policy.toml", "--analyst", analyst)

    return run


def budgets(shown: str) -> dict[str, list[str]]:
    """What is left, by table."""
    return {line.split()[0]: line.split()[1:] for line in shown.splitlines() if "epsilon" in line}


def test_the_budget_lists_the_tables_that_one_may_ask(sit):
    done = sit("ann", "\\budget")
    assert (done.status, done.err) == (0, "")
    assert list(budgets(done.out)) == ["admissions", "visits"]


def test_what_is_left_is_no_more_than_the_data_set_has(sit):
    sit("bob", "\\set epsilon 0.75", "SELECT COUNT(*) FROM visits;")
    found = budgets(sit("ann", "\\budget").out)
    # Of her own cap nothing is spent; of the data set there is a quarter.
    assert found["visits"] == ["epsilon", "1", "epsilon", "0", "epsilon", "0.25"]
    assert found["admissions"] == ["epsilon", "1", "epsilon", "0", "epsilon", "1"]


@pytest.mark.parametrize("words", [("status",), ("refresh",), ("build",)], ids=lambda w: w[0])
def test_the_curator_sees_to_snapshots_in_nobodys_name(discreet, policy, words):
    done = discreet("snapshot", *words, "--policy", "policy.toml", "--json")
    assert done.status == 0, done.err
    assert set(json.loads(done.out)["snapshots"]) == {"admissions", "visits", "wards"}
