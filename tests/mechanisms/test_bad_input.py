"""Bad input: a typed error that names the parameter and what to try, and nothing is released."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import discreet
from discreet import (
    AboveThreshold,
    Exponential,
    Gaussian,
    Geometric,
    KeySelection,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Quantile,
)
from discreet.errors import (
    DiscreetError,
    InvalidConfidence,
    InvalidDelta,
    InvalidEpsilon,
    InvalidInput,
    InvalidRelation,
    InvalidSensitivity,
)
from discreet.mechanisms import classical_sigma
from discreet.noise import bits

NOT_NUMBERS: list[Any] = [
    None,
    "x",
    "",
    "1e",
    "1/0",
    True,
    False,
    float("nan"),
    float("inf"),
    -float("inf"),
    np.nan,
    "nan",
    "inf",
    "1e-999999999",
    "1e999999999",
    [1],
    (1, 2),
    {},
    1j,
    b"1",
    object,
]
NOT_POSITIVE = [0, -1, 0.0, -0.0, "-1e-400", "0/7", np.float64(-2)]
NOT_INSIDE_0_1 = [0, 1, -0.5, 1.5, "1e400", "-1e-400"]
NOT_WHOLE = [0, -1, 1.5, 2.0, *NOT_NUMBERS]

# Every public call, with arguments that are right; one of them is then made wrong.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "laplace": (lambda **k: discreet.laplace(7.5, **k), {"sensitivity": 1, "epsilon": 1}),
    "geometric": (lambda **k: discreet.geometric(7, **k), {"sensitivity": 1, "epsilon": 1}),
    "gaussian": (
        lambda **k: discreet.gaussian(7.5, **k),
        {"sensitivity": 1, "epsilon": 1, "delta": 1e-6},
    ),
    "Laplace.from_epsilon": (Laplace.from_epsilon, {"sensitivity": 1, "epsilon": 1}),
    "Laplace.from_scale": (Laplace.from_scale, {"sensitivity": 1, "scale": 1}),
    "Laplace.from_error": (Laplace.from_error, {"sensitivity": 1, "within": 5, "confidence": 0.9}),
    "Laplace.for_histogram": (Laplace.for_histogram, {"epsilon": 1, "rows_per_unit": 2}),
    "Geometric.from_epsilon": (Geometric.from_epsilon, {"sensitivity": 1, "epsilon": 1}),
    "Geometric.from_error": (
        Geometric.from_error,
        {"sensitivity": 1, "within": 5, "coordinates": 2},
    ),
    "Gaussian.from_epsilon": (
        Gaussian.from_epsilon,
        {"sensitivity": 1, "epsilon": 1, "delta": 1e-6, "grid": 1},
    ),
    "Gaussian.from_scale": (Gaussian.from_scale, {"sensitivity": 1, "sigma": 1}),
    "Gaussian.from_error": (
        Gaussian.from_error,
        {"sensitivity": 1, "within": 5, "confidence": 0.9, "coordinates": 2},
    ),
    "Gaussian.for_histogram": (
        Gaussian.for_histogram,
        {"epsilon": 1, "delta": 1e-6, "rows_per_unit": 2},
    ),
    "Gaussian.delta": (Gaussian.from_scale(sensitivity=1, sigma=3).delta, {"epsilon": 1}),
    "Gaussian.epsilon": (Gaussian.from_scale(sensitivity=1, sigma=3).epsilon, {"delta": 1e-6}),
    "classical_sigma": (classical_sigma, {"sensitivity": 1, "epsilon": 1, "delta": 1e-6}),
    "Exponential": (Exponential, {"sensitivity": 1, "epsilon": 1, "grid": 1}),
    "NoisyMax": (NoisyMax, {"sensitivity": 1, "epsilon": 1, "grid": 1}),
    "PermuteAndFlip": (PermuteAndFlip, {"sensitivity": 1, "epsilon": 1, "grid": 1}),
    "Exponential.error": (
        Exponential(sensitivity=1, epsilon=1).error,
        {"confidence": 0.9, "candidates": 3},
    ),
    "AboveThreshold": (AboveThreshold, {"sensitivity": 1, "epsilon": 1, "grid": 1}),
    "AboveThreshold.error": (
        AboveThreshold(sensitivity=1, epsilon=1).error,
        {"confidence": 0.9, "queries": 3},
    ),
    "Quantile": (
        lambda **k: Quantile(bounds=(0, 9), **k),
        {"epsilon": 1, "grid": 1, "rows_per_unit": 1},
    ),
    "Quantile.error": (Quantile(bounds=(0, 9), epsilon=1).error, {"confidence": 0.9}),
    "KeySelection": (
        KeySelection,
        {"epsilon": 1, "delta": 1e-6, "rows_per_unit": 1, "keys_per_unit": 1},
    ),
    "KeySelection.error": (
        KeySelection(epsilon=1, delta=1e-6).error,
        {"confidence": 0.9, "coordinates": 2},
    ),
    "KeySelection.shown_from": (
        KeySelection(epsilon=1, delta=1e-6).shown_from,
        {"confidence": 0.9},
    ),
    "Laplace.error": (
        Laplace.from_scale(sensitivity=1, scale=1).error,
        {"confidence": 0.9, "coordinates": 2},
    ),
    "Laplace.interval": (
        Laplace.from_scale(sensitivity=1, scale=1).interval,
        {"released": 1, "confidence": 0.9},
    ),
}

WRONG: dict[str, list[Any]] = {
    "sensitivity": NOT_NUMBERS + NOT_POSITIVE,
    "epsilon": NOT_NUMBERS + NOT_POSITIVE,
    "scale": NOT_NUMBERS + NOT_POSITIVE,
    "sigma": NOT_NUMBERS + NOT_POSITIVE,
    "within": NOT_NUMBERS + NOT_POSITIVE,
    "grid": NOT_NUMBERS + NOT_POSITIVE,
    "delta": NOT_NUMBERS + NOT_INSIDE_0_1,
    "confidence": NOT_NUMBERS + NOT_INSIDE_0_1,
    "released": NOT_NUMBERS,
    "rows_per_unit": NOT_WHOLE,
    "keys_per_unit": [value for value in NOT_WHOLE if value is not None],
    "coordinates": NOT_WHOLE,
    "candidates": NOT_WHOLE,
    "queries": NOT_WHOLE,
}

TYPES: dict[str, type[DiscreetError]] = {
    "sensitivity": InvalidSensitivity,
    "epsilon": InvalidEpsilon,
    "delta": InvalidDelta,
    "confidence": InvalidConfidence,
}


@pytest.fixture
def no_bits(monkeypatch) -> Any:
    """Nothing may be drawn, so nothing can have been released."""

    def refuse(*args) -> Any:
        pytest.fail("random bits were drawn for a call that is refused")

    monkeypatch.setattr(bits, "words", refuse)
    monkeypatch.setattr(bits, "word", refuse)


@pytest.mark.parametrize(
    ("call", "name"), [(call, name) for call, (_, right) in CALLS.items() for name in right]
)
def test_every_wrong_parameter_is_named_and_nothing_is_released(call, name, no_bits):
    function, right = CALLS[call]
    for value in WRONG[name]:
        if value is None and call in ("laplace", "gaussian") and name == "grid":
            continue  # the default
        with pytest.raises(TYPES.get(name, InvalidInput)) as refusal:
            function(**{**right, name: value})
        error = refusal.value
        assert name in error.message, f"{value!r}: {error}"
        assert error.hint
        assert str(error) == f"{error.message}\n\nHint: {error.hint}"
        assert isinstance(error, ValueError)


@pytest.mark.parametrize("call", CALLS)
def test_the_right_parameters_are_right(call):
    function, right = CALLS[call]
    function(**right)


@pytest.mark.parametrize("relation", [None, "", "both", "ADD_REMOVE", 1, ["add_remove"]])
def test_every_call_refuses_a_relation_that_nobody_defined(relation, no_bits):
    for call, (function, right) in CALLS.items():
        if "." in call and not call.split(".")[1].startswith(("from", "for")):
            continue
        if call == "classical_sigma":
            continue
        with pytest.raises(InvalidRelation, match=r"relation = .*\n\nHint: "):
            function(**right, relation=relation)


@pytest.mark.parametrize("call", ["laplace", "gaussian"])
def test_a_wrong_grid_is_refused_by_the_short_forms(call, no_bits):
    function, right = CALLS[call]
    for value in (0, -1, "x", float("nan"), float("inf"), "1e-400", "1e400", True):
        with pytest.raises(InvalidInput, match=r"grid.*\n\nHint: "):
            function(**right, grid=value)


@pytest.mark.parametrize("scale", ["1e-7", "1e16"])
def test_noise_that_cannot_be_exact_is_refused_when_a_mechanism_is_made(scale, no_bits):
    for make in (
        lambda: Laplace.from_scale(sensitivity=1, scale=scale),
        lambda: Gaussian.from_scale(sensitivity=1, sigma=scale),
        lambda: discreet.laplace(1.5, sensitivity=1, epsilon=1 / float(scale), grid=1),
        lambda: discreet.geometric(1, sensitivity=1, epsilon=1 / float(scale)),
    ):
        with pytest.raises(InvalidInput, match=r"steps of the grid.*\n\nHint: "):
            make()


BAD_VALUES = [
    float("nan"),
    float("inf"),
    [1.0, float("nan")],
    None,
    "31337",
    [31337, None],
    31337e300,
    [True],
    1j,
    [[31337], [1, 2]],
    {"a": float("nan"), "b": 31337},
    np.array([31337, np.nan]),
    np.ma.masked_array([31337, 2], mask=[False, True]),
]


@pytest.mark.parametrize("value", BAD_VALUES, ids=repr)
def test_bad_values_are_refused_without_a_word_about_them(value, no_bits):
    for release in (
        lambda v: discreet.laplace(v, sensitivity=1, epsilon=1),
        lambda v: discreet.gaussian(v, sensitivity=1, epsilon=1, delta=1e-6),
        lambda v: discreet.geometric(v, sensitivity=1, epsilon=1),
        Laplace.from_scale(sensitivity=1, scale=1).release,
        Exponential(sensitivity=1, epsilon=1).release,
        NoisyMax(sensitivity=1, epsilon=1).release,
        PermuteAndFlip(sensitivity=1, epsilon=1).release,
        KeySelection(epsilon=1, delta=1e-6).release,
        KeySelection(epsilon=1, delta=1e-6).release_array,
    ):
        with pytest.raises(InvalidInput) as refusal:
            release(value)
        assert refusal.value.hint
        assert "31337" not in str(refusal.value)
        assert "31337" not in repr(refusal.value)
        assert refusal.value.__cause__ is None, "no chained error tells either"


def test_a_value_off_the_grid_is_not_repeated():
    for release in (
        Laplace.from_scale(sensitivity=1, scale=1).release,
        Exponential(sensitivity=1, epsilon=1).release,
    ):
        with pytest.raises(InvalidInput) as refusal:
            release([31337.25])
        assert "31337" not in str(refusal.value)
    run = AboveThreshold(sensitivity=1, epsilon=1).start(threshold=0)
    with pytest.raises(InvalidInput) as refusal:
        run.ask(31337.25)
    assert "31337" not in str(refusal.value)


def test_the_guard_of_these_tests_sees_draws():
    drawn = patch.object(bits, "words", side_effect=RuntimeError("drawn"))
    with drawn, pytest.raises(RuntimeError, match="drawn"):
        discreet.laplace(1.5, sensitivity=1, epsilon=1)
