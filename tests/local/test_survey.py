"""A survey can be written and read, keeps its promise, and trusts nothing it reads."""

import copy
import json
from fractions import Fraction

import pytest

from discreet.errors import InvalidSurvey, InvalidValue
from discreet.local import KaryResponse, Memoized, OneBit, Scale, Survey, TwoCoins, stored
from tests.local.test_client import MADE, survey_of


@pytest.mark.parametrize("name", MADE)
def test_a_survey_is_read_as_it_was_written(name, tmp_path):
    survey = survey_of(MADE[name]())
    file = tmp_path / "survey.json"
    survey.save(file)
    again = Survey.load(file)
    assert again.to_json() == survey.to_json()
    assert again.id == survey.id
    assert again.randomizer.shares() == survey.randomizer.shares()
    assert again.randomizer.ratio == survey.randomizer.ratio


@pytest.mark.parametrize("name", MADE)
def test_stored_probabilities_are_rationals_as_text(name):
    written = stored.write(MADE[name]())
    flat = json.dumps(written)
    assert "." not in flat
    assert "e-" not in flat


def crooked(survey: Survey, **changes: object) -> dict[str, object]:
    """A survey changed by somebody who knows how to make its id fit."""
    from discreet.local.survey import _digest

    data = copy.deepcopy(survey.to_json())
    data.pop("id")
    for path, value in changes.items():
        *way, last = path.split("__")
        place = data
        for step in way:
            place = place[step]
        place[last] = value
    return {**data, "id": _digest(data)}


@pytest.mark.parametrize(
    "changes",
    [
        {"randomizer__lie": "1/16"},
        {"randomizer__lie": "1/4"},
        {"randomizer__lie": "1/2"},
        {"randomizer__lie": "0/1"},
        {"randomizer__lie": "-1/8"},
        {"randomizer__lie": "1/7"},
        {"randomizer__lie": "1/0"},
        {"randomizer__lie": 0.125},
        {"randomizer__lie": None},
        {"randomizer__extra": 1},
        {"randomizer__size": 5},
        {"randomizer__size": True},
        {"randomizer__size": 4.0},
        {"randomizer__kind": "truth"},
        {"randomizer__kind": ["kary"]},
        {"randomizer": None},
        {"epsilon": "1/2"},
        {"epsilon": "inf"},
        {"epsilon": "-1/1"},
        {"epsilon": 5},
        {"options": ["a", "b", "c"]},
        {"options": ["a", "b", "c", "c"]},
        {"options": ["a", "b", "c", ""]},
        {"options": [1, 2, 3, 4]},
        {"question": ""},
        {"question": None},
        {"version": 2},
        {"discreet": "report"},
        {"more": 1},
    ],
)
def test_a_survey_that_was_tampered_with_is_refused_even_if_its_id_fits(changes):
    survey = Survey("Which?", randomizer=KaryResponse(size=4, epsilon="ln 5"), options=list("abcd"))
    with pytest.raises(InvalidSurvey, match="Hint"):
        Survey.from_json(crooked(survey, **changes))


def test_a_survey_whose_id_does_not_fit_is_refused():
    data = Survey("Have you?", randomizer=TwoCoins()).to_json()
    with pytest.raises(InvalidSurvey, match="changed"):
        Survey.from_json({**data, "question": "Do you?"})


def test_a_memoized_survey_that_loses_more_at_once_than_it_says_is_refused():
    survey = Survey("Which?", randomizer=Memoized(size=4, epsilon=2, once=1))
    lie = stored.write(KaryResponse(size=4, epsilon="19/10"))["lie"]
    with pytest.raises(InvalidSurvey, match="Hint"):
        Survey.from_json(crooked(survey, randomizer__instantaneous__lie=lie))


def test_a_line_of_one_bit_that_is_not_straight_is_refused():
    survey = Survey("n?", randomizer=OneBit(size=3, epsilon="ln 3"), scale=Scale.of(0, 2, 1))
    with pytest.raises(InvalidSurvey, match="Hint"):
        Survey.from_json(crooked(survey, randomizer__step="1/8"))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "1", "[" * 100_000, '{"discreet": 1}'])
def test_a_file_that_is_no_survey_is_refused(text, tmp_path):
    file = tmp_path / "survey.json"
    file.write_text(text)
    with pytest.raises(InvalidSurvey, match="Hint"):
        Survey.load(file)
    with pytest.raises(InvalidSurvey, match="no file"):
        Survey.load(tmp_path / "none.json")


def test_answers_have_numbers_and_others_are_refused_without_being_quoted():
    survey = Survey("Which?", randomizer=KaryResponse(size=3, epsilon=1), options=["a", "b", "c"])
    assert survey.values(["c", "a"]).tolist() == [2, 0]
    assert survey.respond("b") in range(3)
    for ask in (lambda: survey.value("secret"), lambda: survey.values(["a", "secret"])):
        with pytest.raises(InvalidValue, match="one of: a, b, c") as refused:
            ask()
        assert "secret" not in str(refused.value)


def test_numbers_are_put_on_the_scale_and_the_missing_refused():
    scale = Scale.of(0, 10, "1/2")
    assert scale.size == 21
    assert scale.points([-3, 0.24, 0.25, 9.9, 99]).tolist() == [0, 0, 1, 20, 20]
    assert scale.number(Fraction(5, 2)) == Fraction(5, 4)
    for bad in ([float("nan")], [float("inf")]):
        with pytest.raises(InvalidValue, match="Hint"):
            scale.points(bad)
    for low, high, step in ((0, 10, 3), (5, 5, 1), (9, 1, 1), (0, 1, -1)):
        with pytest.raises(InvalidValue, match="Hint"):
            Scale.of(low, high, step)


def test_taking_part_is_an_event_that_accountants_read():
    event = Survey("Have you?", randomizer=KaryResponse(size=2, epsilon="1/2")).event
    assert event.mechanism == "declared"
    assert dict(event.parameters) == {"epsilon": Fraction(1, 2), "delta": 0}
    many = Survey("Which?", randomizer=Memoized(size=3, epsilon=2, once=1, most_values=4)).event
    assert many.parameters["epsilon"] == 8


def test_options_and_scales_go_with_their_randomizers():
    with pytest.raises(InvalidValue, match="Hint"):
        Survey("?", randomizer=OneBit(size=3, epsilon=1))
    with pytest.raises(InvalidValue, match="Hint"):
        Survey("?", randomizer=TwoCoins(), scale=Scale.of(0, 1, 1))
    with pytest.raises(InvalidValue, match="Hint"):
        Survey("?", randomizer=TwoCoins(), options=["a", "b", "c"])
