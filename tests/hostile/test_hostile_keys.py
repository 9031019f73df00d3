"""Keys are what people wrote: where they are shown, they stay text."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.answer import Answer

KEYS = [
    "</noscript><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "]]></svg><script>alert(1)</script>",
    '" onload="alert(1)',
    "{{7*7}} ${7*7}",
    "\x1b[2J\x1b]0;owned\x07",
    "line\r\nbreak\x7f\x85\u202e",
]


@pytest.fixture(scope="module")
def answer(tmp_path_factory) -> Answer:
    """Every key is shown: three hundred people have each of them."""
    file = tmp_path_factory.mktemp("keys") / "notes.parquet"
    notes = [key for key in KEYS for _ in range(300)]
    pq.write_table(pa.table({"who": range(len(notes)), "note": notes}), file)
    with discreet.open(file, unit="who", rows_per_unit=1, epsilon=10, delta=1e-3) as session:
        found = session.sql(
            "SELECT note, COUNT(*) AS n FROM notes GROUP BY note", epsilon=5, delta=1e-6
        )
    assert sorted(map(str, found["note"])) == sorted(KEYS)
    return found


def test_no_key_becomes_markup_in_a_notebook(answer):
    shown = answer._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown
    assert "&lt;script&gt;" in shown


def test_no_key_becomes_markup_in_a_page_with_a_picture(answer, tmp_path):
    answer.plot().save(tmp_path / "picture.html")
    page = (tmp_path / "picture.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert page.count("</noscript>") == 1


def test_no_key_commands_a_terminal(answer):
    shown = str(answer)
    assert shown.count("\n") == len(KEYS) + 2 + len(answer.notes())
    assert all(character.isprintable() for character in shown.replace("\n", ""))
    assert "␛[2J" in shown


def test_no_key_or_name_stops_the_renderer(answer, tmp_path):
    for suffix in ("svg", "png", "html"):
        assert answer.plot().save(tmp_path / f"picture.{suffix}").stat().st_size > 0
