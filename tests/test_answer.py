"""The table that a user holds: no column is lost on the way to another form."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest

from discreet.answer import Answer, Column, Cost
from discreet.errors import InvalidInput

FACTS = {
    "unit": "each row",
    "neighbours": "one unit added or removed",
    "rows_per_unit": 1,
    "noise": "two-sided geometric (discrete Laplace)",
    "epsilon": Fraction(1, 2),
    "delta": Fraction(0),
    "bounds": "",
    "threshold": None,
}


def answer(*columns: Column, threshold: int | None = None) -> Answer:
    return Answer(
        columns,
        Cost(Fraction(1, 2), Fraction(0)),
        {"epsilon": Fraction(1, 2)},
        stored=False,
        snapshot="s",
        confidence=Fraction(95, 100),
        facts=FACTS | {"threshold": threshold},
    )


def key(name: str, *values: str) -> Column:
    return Column(name, "text", values)


def number(name: str, *values: int) -> Column:
    return Column(
        name,
        "integer",
        values,
        tuple(float(value - 1) for value in values),
        tuple(float(value + 1) for value in values),
    )


def test_a_number_is_followed_by_the_ends_of_its_interval():
    table = answer(key("ward", "N"), number("n", 5)).to_arrow()
    assert table.to_pylist() == [{"ward": "N", "n": 5, "n_low": 4.0, "n_high": 6.0}]


def test_a_column_that_is_called_like_an_end_is_not_lost():
    table = answer(number("n", 5), number("n_low", 7)).to_arrow()
    assert table.column_names == ["n", "n__low", "n__high", "n_low", "n_low_low", "n_low_high"]
    assert table.to_pylist()[0]["n_low"] == 7


@pytest.mark.parametrize("last", ["n", "n_low", "n__low", "N_HIGH", "n_low_high"])
def test_whatever_columns_are_called_every_name_is_there_once(last):
    names = ["n", "n_low", "n__low", "N_HIGH", "n_low_high", "n_low__high"]
    for chosen in product(names, repeat=2):
        unique = list(dict.fromkeys([*chosen, last]))
        made = answer(*(number(name, place) for place, name in enumerate(unique))).to_arrow()
        written = [name.lower() for name in made.column_names]
        assert len(set(written)) == len(written) == 3 * len(unique)
        assert [made.column(name).to_pylist() for name in unique] == [
            [place] for place in range(len(unique))
        ]


def test_polars_and_pandas_have_the_same_columns():
    made = answer(number("n", 5), number("n_low", 7))
    assert made.to_polars().columns == made.to_arrow().column_names
    assert list(made.to_pandas().columns) == made.to_arrow().column_names


@pytest.mark.parametrize("name", ["n", "low", "high", "value", "row"])
def test_a_picture_is_of_the_column_that_was_chosen(name):
    drawn = answer(key("ward", "N", "S"), number("other", 1, 2), number(name, 50, 70)).plot(name)
    values = drawn.spec["data"]["values"]
    assert [(row["low"], row["value"], row["high"]) for row in values] == [
        (49, 50, 51),
        (69, 70, 71),
    ]


def test_lines_that_nothing_names_are_numbered_in_a_picture():
    drawn = answer(number("n", 50, 70)).plot()
    assert [row["key"] for row in drawn.spec["data"]["values"]] == ["1. all", "2. all"]


def test_a_picture_of_a_column_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(InvalidInput, match="n_low"):
        answer(key("ward", "N"), number("n_low", 1)).plot("ward")


def swamped(name: str, value: int, half: int) -> Column:
    return Column(name, "integer", (value,), (float(value - half),), (float(value + half),))


def shown(made: Answer) -> dict[str, str]:
    """All forms that people read."""
    return {"text": str(made), "html": made._repr_html_()}


@pytest.mark.parametrize("form", ["text", "html"])
def test_whatever_people_read_marks_what_cannot_be_relied_on_and_says_how_sure_it_is(form):
    sure, unsure = (shown(answer(swamped("n", n, 30)))[form] for n in (400, -3))
    assert "-3 ± 30 (?)" in unsure
    assert "(?) the error is larger than the number." in unsure
    assert "400 ± 30" in sure
    assert "(?)" not in sure
    assert "± at 95 % confidence; cost: epsilon 0.5" in sure


@pytest.mark.parametrize("form", ["text", "html"])
def test_whatever_people_read_says_which_private_groups_are_left_out(form):
    public, private = answer(number("n", 50)), answer(number("n", 50), threshold=1234)
    nothing = answer(number("n"), threshold=1234)
    assert "left out" not in shown(public)[form]
    assert "groups with a noisy count below 1,234 are left out." in shown(private)[form]
    assert "no group is large enough to be shown: groups with" in shown(nothing)[form]


def test_programs_are_told_the_confidence_the_flags_and_the_threshold():
    told = answer(swamped("n", -3, 30), threshold=1234).to_json()
    assert (told["confidence"], told["threshold"]) == (0.95, 1234)
    assert told["rows"][0]["n"]["flag"] == "unreliable"
    assert answer(number("n", 5)).to_json()["threshold"] is None


def test_where_there_is_no_number_one_mark_says_so():
    made = answer(Column("share", "real", (None,), (None,), (None,)))
    assert made.lines()[1] == ["?"]
    assert "? too few rows to say, or a division by zero." in str(made)
    assert "(?)" not in str(made)


def test_a_skewed_interval_is_shown_from_end_to_end():
    made = answer(Column("cost", "real", (230.8,), (-151.6,), (874.6,)))
    assert made.lines()[1] == ["231 (-152 to 875) (?)"]
    assert made.to_json()["rows"][0]["cost"]["low"] == -151.6


@pytest.mark.parametrize("kind", ["integer", "real"])
def test_what_is_shown_holds_the_whole_interval(kind):
    draws = random.Random(7)
    for _ in range(3000):
        size = 10 ** draws.uniform(-6, 9)
        value = draws.choice([0, 1, 1, 100]) * size * draws.uniform(-1, 1)
        low, high = value - size * draws.random(), value + size * draws.random()
        if kind == "integer":
            value, low, high = round(value), float(round(low)), float(round(high))
        text = answer(Column("x", kind, (value,), (low,), (high,))).lines()[1][0]
        numbers = [Decimal(each.replace(",", "")) for each in re.findall(r"-?[\d,]+\.?\d*", text)]
        if "±" in text:
            middle, reach = numbers
            ends = [middle - reach, middle + reach]
        else:
            _, *ends = numbers
        assert ends[0] <= Decimal(repr(low)), text
        assert Decimal(repr(high)) <= ends[1], text


def test_a_statement_counts_rows_as_people_do_and_never_promises_all():
    made = replace(answer(number("n", 5)), confidence=Fraction(999, 1000))
    assert "At most one row of each unit was used." in made.statement()
    assert "a confidence of 99.9 %" in made.statement()


def test_a_picture_labels_counts_as_counts():
    drawn = answer(Column("n", "integer", (841,), (837.0,), (844.0,))).plot()
    assert drawn.spec["data"]["values"][0]["text"] == "841 ± 4"
    assert "95 % intervals" in json.dumps(drawn.spec, ensure_ascii=False)


def test_a_notebook_shows_text_as_text():
    html = answer(key("<b>ward</b>", "<script>"), number("n", 5))._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert "5 ± 1" in html
    assert "cost: epsilon 0.5" in html
