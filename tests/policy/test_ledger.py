"""What a policy may say about its ledger."""

import pytest

from discreet.errors import InvalidPolicy
from discreet.policy import LedgerSettings, reads, to_json, to_toml
from tests.source import ROOT

VISITS = """
[dataset.visits]
source = "visits.parquet"
unit = "each row"
columns.age = { type = "integer", bounds = [0, 110] }
budget.epsilon = 1
"""


def test_a_policy_that_says_nothing_keeps_its_budgets_in_the_folder_beside_it():
    assert reads(VISITS).ledger == LedgerSettings(place=None, anchor=None)


@pytest.mark.parametrize("place", ["budget.db", "../ledgers/a.db", "env:LEDGER_DSN", "file:l.dsn"])
def test_a_ledger_is_a_file_or_whatever_holds_an_address(place):
    policy = reads(f'[ledger]\nplace = "{place}"\nanchor = "/mnt/anchor"\n{VISITS}')
    assert (policy.ledger.place, policy.ledger.anchor) == (place, "/mnt/anchor")
    assert reads(to_toml(policy)) == policy
    assert to_json(policy)["ledger"] == {"place": place, "anchor": "/mnt/anchor"}


@pytest.mark.parametrize(
    "address",
    ["postgresql://ann:s3cret@host/db", "host=h password=s3cret", "password = s3cret dbname=d"],
)
def test_an_address_is_refused_and_not_repeated(address):
    with pytest.raises(InvalidPolicy) as refusal:
        reads(f'[ledger]\nplace = "{address}"\n{VISITS}')
    assert "s3cret" not in str(refusal.value)
    assert "env:LEDGER_DSN" in str(refusal.value)


@pytest.mark.parametrize(
    ("line", "why", "hint"),
    [
        ("plce = 'a.db'", 'no setting "plce"', 'did you mean "place"?'),
        ("epsilon = 1", 'no setting "epsilon"', "place, anchor"),
        ("place = 3", "is not text in quotes", 'place = "budget.db"'),
        ("place = ''", "a ledger has a place", 'place = "budget.db"'),
        ("place = 'env:'", "a ledger has a place", 'place = "budget.db"'),
        ("anchor = ' '", "an anchor is a file", "anchor = "),
    ],
)
def test_mistakes_are_shown_at_their_line(line, why, hint):
    with pytest.raises(InvalidPolicy) as refusal:
        reads(f"[ledger]\n{line}\n{VISITS}")
    (mistake,) = refusal.value.mistakes
    assert mistake.line == 2
    assert why in mistake.message
    assert hint in mistake.hint


def test_a_ledger_that_is_no_table_is_refused():
    with pytest.raises(InvalidPolicy, match="a table of settings"):
        reads(f"ledger = 'a.db'\n{VISITS}")


def test_every_setting_is_in_the_reference():
    page = (ROOT / "docs" / "reference" / "policy.md").read_text()
    assert [name for name in LedgerSettings.model_fields if f"`{name}`" not in page] == []
