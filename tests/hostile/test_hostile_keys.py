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
    pytest.importorskip("vl_convert")
    answer.plot().save(tmp_path / "picture.html")
    page = (tmp_path / "picture.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert page.count("</noscript>") == 1
