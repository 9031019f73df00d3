"""Answers with their intervals."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from discreet.errors import InvalidValue
from discreet.pictures import Picture, error_bars

FIELDS: dict[str, Any] = {"key": "k", "value": "v", "low": "low", "high": "high"}


def picture(*rows: tuple[Any, ...], **options: Any) -> Picture:
    made = [dict(zip(FIELDS.values(), row, strict=True)) for row in rows]
    return error_bars(made, **FIELDS, title="Visits", **options)


def labels(drawn: Picture) -> list[str]:
    return [row["text"] for row in drawn.spec["data"]["values"]]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (("a", 1203, 1173, 1233), "1,203 ± 30"),
        (("a", 672, 642, 701), "672 ± 30"),
        (("a", 12.345, 11.345, 13.345), "12.3 ± 1.1"),  # 12.3 + 1.0 would not reach 13.345
        (("a", 841, 837.0, 844.0), "841 ± 4"),
        (("a", 841, 838.5, 843.5), "841 ± 3"),
        (("a", 230.8, -151.6, 874.6), "231 (-152 to 875)"),
        (("a", 0.3, 0.1, 0.5), "0.30 ± 0.20"),
        (("a", 3, -35, 79), "3 (-35 to 79)"),
        (("a", 4_000_000, None, None), "4,000,000, no interval"),
        (("a", 4, float("-inf"), 5), "4, no interval"),
        (("a", None, None, None), "no number"),
        (("a", 5, 5, 5), "5 ± 0"),
    ],
)
def test_a_number_is_written_with_as_many_digits_as_its_interval_allows(row, text):
    assert labels(picture(row)) == [text]


def test_shares_are_written_as_percentages():
    assert labels(picture(("yes", 0.31, 0.27, 0.35), percent=True)) == ["31.0 ± 4.0 %"]


def test_a_row_without_a_number_keeps_its_place():
    drawn = picture(("a", 1, 0, 2), (None, None, None, None))
    root = ET.fromstring(drawn.svg())
    said = [node.text for node in root.iter() if node.tag.endswith("}text")]
    assert {"a", "NULL", "no number"} <= set(said)


def test_zero_is_on_the_axis_so_that_lengths_can_be_compared():
    root = ET.fromstring(picture(("a", 900, 890, 910)).svg())
    assert "0" in [node.text for node in root.iter() if node.tag.endswith("}text")]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([], "0 rows"),
        ([("a", 1, 0, 2)] * 201, "201 rows"),
        ([("a", 1, 0, 2), ("a", 2, 1, 3)], "same 'k'"),
        ([("a", "many", 0, 2)], "not a number"),
        ([("a", float("nan"), 0, 2)], "not a number"),
    ],
)
def test_rows_that_cannot_be_drawn_are_refused(rows, why):
    with pytest.raises(InvalidValue, match=why):
        picture(*rows)


def test_a_field_that_is_not_there_is_named():
    with pytest.raises(InvalidValue, match="no field 'high'; it has 'k', 'v', 'low'"):
        error_bars([{"k": "a", "v": 1, "low": 0}], **FIELDS, title="Visits")
