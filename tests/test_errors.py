"""Errors: one tree, stable codes, one shape."""

import inspect
import pickle
import re
from collections import Counter
from typing import Any

import pytest

from discreet import errors
from discreet.errors import DiscreetError, InvalidInput, Refused

CLASSES = [
    thing
    for _, thing in inspect.getmembers(errors, inspect.isclass)
    if issubclass(thing, DiscreetError)
]
PLAIN = [kind for kind in CLASSES if "asked" not in inspect.signature(kind).parameters]


def drawn() -> Any:
    """The tree in the module's own words: (depth, name, exit status)."""
    for line in errors.__doc__.splitlines():
        found = re.match(r"^ {4}([│ ├└─]*)([A-Z]\w+)", line)
        if found:
            status = re.search(r"exit (\d)$", line)
            yield len(found[1]) // 4, found[2], int(status[1]) if status else None


def test_the_tree_that_is_drawn_is_the_tree_that_there_is():
    stack: list[Any] = []
    seen: list[Any] = []
    for depth, name, status in drawn():
        kind = getattr(errors, name)
        stack[depth:] = [kind]
        seen.append(kind)
        if depth:
            assert stack[depth - 1] in kind.__bases__, name
        if status is not None:
            assert kind.exit_status == status, name
    assert Counter(seen) == Counter(CLASSES)


def test_codes_are_stable_words_and_all_different():
    codes = [kind.code for kind in CLASSES]
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)
    assert len(set(codes)) == len(codes)
    for kind in CLASSES:
        if kind is not DiscreetError:
            spelled = "_".join(re.findall(r"[A-Z][a-z]+", kind.__name__)).lower()
            assert kind.code == spelled


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_says_how_it_shows_elsewhere(kind):
    assert 400 <= kind.http_status < 600
    assert re.fullmatch(r"[0-9A-Z]{5}", kind.sqlstate)
    assert 1 <= kind.exit_status <= 4
    assert kind.__doc__


@pytest.mark.parametrize("kind", PLAIN)
def test_a_message_is_what_and_then_what_to_try(kind):
    error = kind("epsilon = -1 is not allowed.", hint="epsilon=0.5")
    assert str(error) == "epsilon = -1 is not allowed.\n\nHint: epsilon=0.5"
    assert error.to_json() == {
        "error": {
            "code": kind.code,
            "message": "epsilon = -1 is not allowed.",
            "hint": "epsilon=0.5",
        }
    }
    assert str(kind("no more to say.")) == "no more to say."


def test_wrong_words_are_value_errors_and_refusals_are_not():
    for kind in CLASSES:
        assert issubclass(kind, ValueError) == issubclass(kind, InvalidInput)
        assert not (issubclass(kind, InvalidInput) and issubclass(kind, Refused))
        if issubclass(kind, InvalidInput):
            assert kind.exit_status == 2
            assert kind.http_status == 400


@pytest.mark.parametrize("kind", PLAIN)
def test_an_error_survives_the_way_from_another_process(kind):
    error = pickle.loads(pickle.dumps(kind("what.", hint="try.")))
    assert type(error) is kind
    assert (error.message, error.hint, str(error)) == ("what.", "try.", "what.\n\nHint: try.")
