"""Events: written once, read for ever."""

import json
import pickle
from copy import copy, deepcopy
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet import Event
from discreet.errors import InvalidDelta, InvalidEvent, InvalidInput, InvalidRelation
from discreet.events import PARAMETERS
from discreet.theory.neighbours import Relation

# What has been written down once must read the same for ever: lines are added here, never changed.
GOLDEN = {
    '{"version": 1, "mechanism": "laplace", "parameters": {"grid": "1/4", "scale": "5/2"}, '
    '"sensitivity": "1/1", "relation": "add_remove"}': Event(
        "laplace", {"scale": "5/2", "grid": "1/4"}, 1
    ),
    '{"version": 1, "mechanism": "geometric", "parameters": {"scale": "2/1"}, '
    '"sensitivity": "2/1", "relation": "change_one"}': Event(
        "geometric", {"scale": 2}, 2, "change_one"
    ),
    '{"version": 1, "mechanism": "gaussian", "parameters": {"grid": "1/1024", "sigma": "17/4"}, '
    '"sensitivity": "3/2", "relation": "add_remove"}': Event(
        "gaussian", {"sigma": 4.25, "grid": Fraction(1, 1024)}, 1.5
    ),
    '{"version": 1, "mechanism": "exponential", "parameters": {"epsilon": "1/10"}, '
    '"sensitivity": "1/1", "relation": "add_remove"}': Event("exponential", {"epsilon": 0.1}, 1),
    '{"version": 1, "mechanism": "noisy_max", "parameters": {"epsilon": "1/1"}, '
    '"sensitivity": "1/1", "relation": "add_remove"}': Event("noisy_max", {"epsilon": 1}, 1),
    '{"version": 1, "mechanism": "permute_and_flip", "parameters": {"epsilon": "1/3"}, '
    '"sensitivity": "1/1", "relation": "change_one"}': Event(
        "permute_and_flip", {"epsilon": "1/3"}, 1, "change_one"
    ),
    '{"version": 1, "mechanism": "quantile", "parameters": {"epsilon": "1/1"}, '
    '"sensitivity": "1/2", "relation": "add_remove"}': Event("quantile", {"epsilon": 1}, "1/2"),
    '{"version": 1, "mechanism": "above_threshold", "parameters": {"epsilon": "1/1"}, '
    '"sensitivity": "7/1", "relation": "add_remove"}': Event("above_threshold", {"epsilon": 1}, 7),
    '{"version": 1, "mechanism": "key_selection", "parameters": {"delta": "1/1000000000", '
    '"epsilon": "1/1"}, "sensitivity": "20/1", "relation": "add_remove"}': Event(
        "key_selection", {"epsilon": 1, "delta": "1e-9"}, 20
    ),
    '{"version": 1, "mechanism": "declared", "parameters": {"delta": "0/1", "epsilon": "1/2"}, '
    '"sensitivity": "1/1", "relation": "add_remove"}': Event(
        "declared", {"epsilon": 0.5, "delta": 0}, 1
    ),
}


@pytest.mark.parametrize("line", GOLDEN)
def test_what_was_written_once_reads_and_writes_the_same(line):
    event = GOLDEN[line]
    assert json.dumps(event.to_json()) == line
    assert Event.from_json(json.loads(line)) == event


def test_every_mechanism_has_a_golden_line():
    assert {event.mechanism for event in GOLDEN.values()} == set(PARAMETERS)


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (discreet.Laplace.from_epsilon(sensitivity="0.3", epsilon=1, grid="1/4"), "laplace"),
        (discreet.Geometric.from_epsilon(sensitivity=1, epsilon=1), "geometric"),
        (discreet.Gaussian.from_scale(sensitivity=1, sigma=2), "gaussian"),
        (discreet.Exponential(sensitivity=1, epsilon=1), "exponential"),
        (discreet.NoisyMax(sensitivity=1, epsilon=1), "noisy_max"),
        (discreet.PermuteAndFlip(sensitivity=1, epsilon=1), "permute_and_flip"),
        (discreet.Quantile(bounds=(0, 1), epsilon=1), "quantile"),
        (discreet.AboveThreshold(sensitivity=1, epsilon=1), "above_threshold"),
        (discreet.KeySelection(epsilon=1, delta=1e-6), "key_selection"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_mechanism_states_its_event(mechanism, expected):
    event = mechanism.event
    assert event.mechanism == expected
    assert event.sensitivity == mechanism.sensitivity
    assert event.relation == mechanism.relation == "add_remove"
    for name, value in event.parameters.items():
        assert value == getattr(mechanism, name)
    assert Event.from_json(json.loads(json.dumps(event.to_json()))) == event


positive = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9)


@given(scale=positive, grid=positive, sensitivity=positive, relation=st.sampled_from(Relation))
def test_writing_and_reading_lose_nothing(scale, grid, sensitivity, relation):
    event = Event("laplace", {"scale": scale, "grid": grid}, sensitivity, relation)
    again = Event.from_json(json.loads(json.dumps(event.to_json())))
    assert again == event
    assert hash(again) == hash(event)
    assert again.parameters == {"scale": scale, "grid": grid}
    assert (again.sensitivity, again.relation) == (sensitivity, relation)
    assert isinstance(again.relation, Relation)


def test_events_are_values():
    event = Event("laplace", {"scale": 2, "grid": 1}, 1)
    same = Event("laplace", {"grid": "1", "scale": 2.0}, Fraction(1))
    assert event == same
    assert len({event, same}) == 1
    for other in (
        Event("laplace", {"scale": 3, "grid": 1}, 1),
        Event("laplace", {"scale": 2, "grid": 1}, 2),
        Event("laplace", {"scale": 2, "grid": 1}, 1, "change_one"),
        Event("geometric", {"scale": 2}, 1),
    ):
        assert event != other
    for twin in (pickle.loads(pickle.dumps(event)), copy(event), deepcopy(event)):
        assert twin == event
        assert hash(twin) == hash(event)


def test_events_do_not_change():
    parameters = {"scale": Fraction(2), "grid": Fraction(1)}
    event = Event("laplace", parameters, 1)
    parameters["scale"] = Fraction(1000)
    assert event.parameters["scale"] == 2
    with pytest.raises(AttributeError):
        event.sensitivity = Fraction(0)  # type: ignore[misc]
    with pytest.raises(TypeError):
        event.parameters["scale"] = Fraction(1)  # type: ignore[index]


@pytest.mark.parametrize(
    "mechanism", ["", "Laplace", "staircase", None, 1, ["laplace"], b"laplace"]
)
def test_an_unknown_mechanism_is_refused(mechanism):
    with pytest.raises(InvalidEvent, match=r"mechanism = .*\n\nHint: one of: above_threshold"):
        Event(mechanism, {"scale": 1, "grid": 1}, 1)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"scale": 1},
        {"scale": 1, "grid": 1, "seed": 1},
        {"scale": 1, "Grid": 1},
        {"scale": 1, 2: 1},
        ["grid", "scale"],
        "scale",
        None,
        7,
    ],
)
def test_other_parameters_than_the_defined_ones_are_refused(parameters):
    with pytest.raises(InvalidEvent, match=r"\['grid', 'scale'\].*\n\nHint: give exactly"):
        Event("laplace", parameters, 1)


@pytest.mark.parametrize("value", [0, -1, "x", None, True, float("nan"), float("inf"), [1]])
def test_parameters_are_positive_numbers(value):
    with pytest.raises(InvalidEvent, match=r"scale = .*\n\nHint: "):
        Event("laplace", {"scale": value, "grid": 1}, 1)
    with pytest.raises(InvalidInput, match=r"sensitivity = .*\n\nHint: "):
        Event("laplace", {"scale": 1, "grid": 1}, value)


@pytest.mark.parametrize("delta", [-1, 1, 2, "x", None, True, float("nan")])
def test_delta_lies_in_the_unit_interval(delta):
    with pytest.raises(InvalidDelta, match=r"delta = .*\n\nHint: "):
        Event("declared", {"epsilon": 1, "delta": delta}, 1)
    assert Event("declared", {"epsilon": 1, "delta": 0}, 1).parameters["delta"] == 0


@pytest.mark.parametrize("relation", [None, "", "both", 3])
def test_an_unknown_relation_is_refused(relation):
    with pytest.raises(InvalidRelation, match=r"relation = "):
        Event("laplace", {"scale": 1, "grid": 1}, 1, relation)


WRITTEN = Event("laplace", {"scale": "5/2", "grid": "1/4"}, 1).to_json()


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "laplace",
        7,
        {},
        {**WRITTEN, "note": "x"},
        {name: value for name, value in WRITTEN.items() if name != "relation"},
        {**WRITTEN, "version": 2},
        {**WRITTEN, "version": "1"},
        {**WRITTEN, "version": True},
        {**WRITTEN, "version": 1.0},
        {**WRITTEN, "mechanism": "staircase"},
        {**WRITTEN, "mechanism": ["laplace"]},
        {**WRITTEN, "parameters": ["grid", "scale"]},
        {**WRITTEN, "parameters": {"scale": "5/2"}},
        {**WRITTEN, "parameters": {"scale": "5/2", "grid": "1/4", "x": "1/1"}},
        {**WRITTEN, "parameters": {"scale": "10/4", "grid": "1/4"}},
        {**WRITTEN, "parameters": {"scale": 2.5, "grid": "1/4"}},
        {**WRITTEN, "parameters": {"scale": "2.5", "grid": "1/4"}},
        {**WRITTEN, "parameters": {"scale": "-5/2", "grid": "1/4"}},
        {**WRITTEN, "parameters": {"scale": "5/0", "grid": "1/4"}},
        {**WRITTEN, "sensitivity": "1"},
        {**WRITTEN, "sensitivity": 1},
        {**WRITTEN, "sensitivity": None},
        {**WRITTEN, "relation": "both"},
    ],
    ids=repr,
)
def test_what_was_not_written_here_is_not_read(data):
    with pytest.raises(InvalidInput, match=r"\n\nHint: "):
        Event.from_json(data)
