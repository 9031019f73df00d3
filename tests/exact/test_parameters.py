"""Each parameter has one rule."""

from fractions import Fraction

import pytest

from discreet.errors import (
    InvalidConfidence,
    InvalidDelta,
    InvalidEpsilon,
    InvalidNumber,
    InvalidProbability,
    InvalidSensitivity,
)
from discreet.exact import confidence, delta, epsilon, positive, probability, sensitivity

NOT_NUMBERS = [True, None, "x", float("nan"), float("inf")]


@pytest.mark.parametrize(
    ("read", "good", "bad", "error"),
    [
        (epsilon, [0.1, "1/3", 10**9], [0, -1, "-1/3"], InvalidEpsilon),
        (sensitivity, [1, "1e-9"], [0, -0.5], InvalidSensitivity),
        (delta, [1e-9, 0.5, "0.999"], [0, 1, 1.5, -1e-9], InvalidDelta),
        (confidence, [0.95, "1/2"], [0, 1, 95], InvalidConfidence),
        (probability, [0, 1, 0.3], [-0.1, 1.1], InvalidProbability),
    ],
)
def test_a_parameter_is_exact_or_refused(read, good, bad, error):
    for value in good:
        assert read(value) == Fraction(str(value))
    for value in [*bad, *NOT_NUMBERS]:
        with pytest.raises(error, match="Hint: "):
            read(value)


def test_a_positive_number_is_named_in_its_refusal():
    with pytest.raises(InvalidNumber, match="scale = 0 is not allowed"):
        positive(0, name="scale")
