"""A budget belongs to people: no other name, unit or ledger gives the same rows a second one."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.errors import InsufficientBudget, InvalidPolicy, LedgerClosed, PolicyDiffers
from discreet.session.session import Session

VISITS = '"visits.parquet"'
DATASET = """
[dataset.{name}]
source = {source}
unit = "{unit}"
{more}
[dataset.{name}.columns]
who = {{ type = "integer" }}
[dataset.{name}.budget]
epsilon = 1
[dataset.{name}.analysts]
ann = {{ epsilon = 1 }}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"who": [1, 1, 2]}), tmp_path / "visits.parquet")
    return tmp_path


def opened(
    folder: Path,
    *names: str,
    more: str = "rows_per_unit = 2",
    unit: str = "who",
    sources: tuple[str, ...] = (VISITS,),
) -> Session:
    """A policy of these names, each with its own source if there are several."""
    each = sources if len(sources) > 1 else sources * len(names)
    texts = [
        DATASET.format(name=name, unit=unit, more=more, source=source)
        for name, source in zip(names, each, strict=True)
    ]
    (folder / "policy.toml").write_text("".join(texts))
    return discreet.open(folder / "policy.toml", analyst="ann")


def spend(session: Session, name: str) -> None:
    with session:
        session.sql(f"SELECT COUNT(*) FROM {name}", epsilon="3/4")


def test_another_name_is_refused_and_the_hint_leads_to_the_old_budget(folder):
    spend(opened(folder, "visits"), "visits")
    with pytest.raises(PolicyDiffers, match="second one") as refused:
        opened(folder, "renamed")
    assert 'pool = "visits"' in str(refused.value)
    with pytest.raises(InsufficientBudget):
        spend(opened(folder, "renamed", more='rows_per_unit = 2\npool = "visits"'), "renamed")


def test_two_names_at_once_are_refused(folder):
    with pytest.raises(PolicyDiffers, match="second one"):
        opened(folder, "one", "other")


def test_another_unit_is_refused(folder):
    spend(opened(folder, "visits"), "visits")
    with pytest.raises(PolicyDiffers, match="basis"):
        opened(folder, "visits", unit="each row", more="")


def test_a_ledger_that_is_gone_closes_the_data_set(folder):
    spend(opened(folder, "visits"), "visits")
    for file in (folder / ".discreet").glob("ledger.db*"):
        file.unlink()
    with pytest.raises(LedgerClosed, match="missing"):
        opened(folder, "visits")


def test_a_pool_cannot_mix_rows_and_people(folder):
    named = DATASET.format(
        name="one", source=VISITS, unit="who", more='rows_per_unit = 2\npool = "all"'
    )
    rows = DATASET.format(name="other", source=VISITS, unit="each row", more='pool = "all"')
    (folder / "policy.toml").write_text(named + rows)
    with pytest.raises(InvalidPolicy, match="a row is a person"):
        discreet.open(folder / "policy.toml", analyst="ann")


def test_the_budget_goes_on_when_the_folder_is_moved(folder):
    spend(opened(folder, "visits"), "visits")
    moved = folder.rename(folder.with_name("moved"))
    with pytest.raises(PolicyDiffers, match="second one"):
        opened(moved, "renamed")
    with pytest.raises(InsufficientBudget):
        spend(opened(moved, "visits"), "visits")


SAME_FILE = {
    "two patterns": ('"v*.parquet"', '"visit?.parquet"'),
    "a pattern and a file": ('"visits.parquet"', '"*.parquet"'),
    "a pattern that goes deep": ('"visits.parquet"', '"**/*.parquet"'),
    "another way to it": ('"visits.parquet"', '"sub/../visits.parquet"'),
    "a link": ('"visits.parquet"', '"sub/link.parquet"'),
    "a second name of one file": ('"visits.parquet"', '"sub/twin.parquet"'),
    "another reader": ('"v*.parquet"', '{ kind = "spark", path = "visits.parquet" }'),
    "a folder": ('"sub/*.parquet"', '{ kind = "spark", path = "sub" }'),
    "one table by two names": (
        '{ path = "h.duckdb", table = "visits" }',
        '{ path = "h.duckdb", table = "main.Visits" }',
    ),
}


@pytest.mark.parametrize("sources", SAME_FILE.values(), ids=SAME_FILE)
def test_the_same_file_under_another_name_has_no_second_budget(folder, sources):
    (folder / "sub").mkdir()
    (folder / "sub" / "link.parquet").symlink_to(folder / "visits.parquet")
    (folder / "sub" / "twin.parquet").hardlink_to(folder / "visits.parquet")
    with duckdb.connect(str(folder / "h.duckdb")) as file:
        file.execute("CREATE TABLE visits AS SELECT 1 AS who")
    with pytest.raises(PolicyDiffers, match="second one") as refused:
        opened(folder, "one", "other", sources=sources)
    assert 'pool = "one"' in str(refused.value)


def test_every_file_of_a_pattern_is_remembered(folder):
    pq.write_table(pa.table({"who": [5]}), folder / "visits2.parquet")
    spend(opened(folder, "visits", sources=('"v*.parquet"',)), "visits")
    with pytest.raises(PolicyDiffers, match="second one"):
        opened(folder, "renamed", sources=('"visits2.parquet"',))


def test_other_files_have_a_budget_of_their_own(folder):
    pq.write_table(pa.table({"who": [5]}), folder / "beds.parquet")
    with duckdb.connect(str(folder / "h.duckdb")) as file:
        file.execute("CREATE TABLE visits AS SELECT 1 AS who; CREATE TABLE beds AS FROM visits")
    tables = [f'{{ path = "h.duckdb", table = "{name}" }}' for name in ("visits", "beds")]
    with opened(folder, "a", "b", "c", "d", sources=('"v*.parquet"', '"b*.parquet"', *tables)):
        pass
