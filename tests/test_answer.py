"""The table that a user holds: no column is lost on the way to another form."""

from __future__ import annotations

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


def answer(*columns: Column) -> Answer:
    return Answer(
        columns,
        Cost(Fraction(1, 2), Fraction(0)),
        {"epsilon": Fraction(1, 2)},
        stored=False,
        snapshot="s",
        confidence=Fraction(95, 100),
        facts=FACTS,
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


def test_a_notebook_shows_text_as_text():
    html = answer(key("<b>ward</b>", "<script>"), number("n", 5))._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert "5 ± 1" in html
    assert "cost: epsilon 0.5" in html
