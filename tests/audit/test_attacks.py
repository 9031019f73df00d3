"""Attacks stay below what theory allows, and succeed where nothing protects.

Where a mechanism is tight an optimal attacker reaches the ceiling in the mean, so that three
standard errors would be a false alarm once in 700 runs: here it is five, once in three million.
"""

import pytest

from discreet.audit.attacks import ATTACKS, Outcome, Score
from discreet.audit.attacks.answers import averaging
from discreet.audit.attacks.budget import race, rollback

FEW = {
    "averaging": lambda: averaging(games=20),
    "race": lambda: race(games=5),
    "rollback": lambda: rollback(games=3),
}


# Not the clock: what a busy machine does to it proves nothing.
@pytest.mark.parametrize("name", [name for name in ATTACKS if name != "timing"])
def test_an_attack_fails_here_and_succeeds_against_the_control(name):
    outcome = FEW.get(name, ATTACKS[name])()
    assert outcome.name == name
    assert outcome.ours.success <= outcome.ceiling + 5 * outcome.ours.error * (outcome.ceiling > 0)
    assert outcome.bites
    assert outcome.to_json()["ceiling"] == outcome.ceiling


def test_an_outcome_above_its_ceiling_is_called_broken():
    sure = Score.of(1000, 1000)
    broken = Outcome("x", "y", sure, sure, 0.73)
    assert not broken.holds
    assert "BROKEN" in str(broken)
    assert not Outcome("x", "y", sure, sure, 0.0).holds
    toothless = Outcome("x", "y", Score.of(500, 1000), Score.of(500, 1000), 0.73)
    assert not toothless.bites
    assert "the control FAILED" in str(toothless)
