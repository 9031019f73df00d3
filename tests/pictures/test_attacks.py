"""A picture of attacks shows what its rows say."""

import pytest

from discreet.errors import InvalidValue
from discreet.pictures.attacks import FIELDS, attacks

ROW = {
    "attack": "averaging",
    "ceiling": 0.731,
    "success": 0.7,
    "standard_error": 0.01,
    "control_success": 0.99,
    "control_standard_error": 0.02,
}


def test_every_attack_has_its_ceiling_and_both_its_scores():
    never = {**ROW, "attack": "rollback", "ceiling": 0.0, "success": 0.0}
    ceilings, reaches, dots = (
        layer["data"]["values"] for layer in attacks([ROW, never]).spec["layer"]
    )
    assert [(row["attack"], row["share"]) for row in ceilings] == [
        ("averaging", 0.731),
        ("rollback", 0.0),
    ]
    assert [row["share"] for row in dots] == [0.99, 0.7, 0.99, 0.0]
    # Three standard errors, and never outside of what a share can be.
    assert (reaches[1]["low"], reaches[1]["high"]) == (0.67, 0.73)
    assert (reaches[0]["low"], reaches[0]["high"]) == (0.93, 1.0)
    # Where nothing may ever succeed there is no error to draw.
    assert (reaches[3]["low"], reaches[3]["high"]) == (0.0, 0.0)


@pytest.mark.parametrize("missing", FIELDS)
def test_a_row_that_lacks_something_is_refused(missing):
    row = {name: value for name, value in ROW.items() if name != missing}
    with pytest.raises(InvalidValue, match=f"no '{missing}'.*\n\nHint: "):
        attacks([row])


def test_no_attack_is_no_picture():
    with pytest.raises(InvalidValue, match="from 1 to"):
        attacks([])
