"""Attacks stay below what theory allows, and succeed where nothing protects.

Where a mechanism is tight an optimal attacker reaches the ceiling in the mean, so that three
standard errors would be a false alarm once in 700 runs: here it is five, once in three million.
"""

import math

import duckdb
import numpy as np
import pytest

from discreet.audit.attacks import ATTACKS, Outcome, Score
from discreet.audit.attacks.answers import averaging
from discreet.audit.attacks.budget import race, rollback
from discreet.audit.attacks.data import PEOPLE, opened, table, with_canary
from discreet.audit.attacks.floats import by_support, of_formula, running_sum, tilting
from discreet.engines.duckdb import TABLE

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


def numpys_laplace(uniform):
    """The formula of NumPy's generators with the scale of the attack, by the same logarithm."""
    upper = uniform >= 0.5
    inside = np.where(upper, 2.0 - uniform - uniform, uniform + uniform)
    logs = np.fromiter(map(math.log, inside.ravel()), float, inside.size).reshape(inside.shape)
    return np.where(upper, 0 - 8.0 * logs, 0 + 8.0 * logs)


def test_numpys_laplace_gives_its_input_away_in_nearly_every_table_of_eight():
    drawn = np.random.default_rng().laplace(scale=8.0, size=(2, 500, 8))
    possible = of_formula(numpys_laplace)
    say = by_support(possible)
    # The true world is never ruled out, and the false one nearly always is: 18 % of single answers
    # could be of both, so that one in a million tables leaves a doubt.
    assert possible(drawn[0], 0).all()
    assert possible(1 + drawn[1], 1).all()
    assert (~say(drawn[0])).sum() + say(1 + drawn[1]).sum() >= 995


def test_one_person_moves_a_float_sum_by_far_more_than_any_value():
    with_them, without = (running_sum(tilting(person=present)) for present in (True, False))
    assert np.abs(tilting(person=True)).max() == 1
    assert with_them - without == 33


def test_whoever_has_a_million_rows_gives_the_engine_one_more_row_to_read():
    # What the clock would show, counted: no machine is too busy for that.
    read = []
    for rows in (table(PEOPLE), with_canary()):
        with opened(rows) as (session, data):
            session.prepare()
            session.close()
            (path,) = (data.parent / ".discreet" / "snapshots").glob("*.duckdb")
            with duckdb.connect(str(path), read_only=True) as engine:
                (counted,) = engine.execute(f"SELECT COUNT(*) FROM {TABLE}").fetchall()
                read.append(counted[0])
    assert read == [PEOPLE, PEOPLE + 1]
