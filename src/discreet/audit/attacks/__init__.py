"""Attacks by name, each with a control that it succeeds against."""

from collections.abc import Callable

from discreet.audit.attacks.answers import averaging, differencing, membership, singletons
from discreet.audit.attacks.arithmetic import floating_point, reconstruction
from discreet.audit.attacks.budget import race, rollback
from discreet.audit.attacks.game import Outcome, Score
from discreet.audit.attacks.timing import timing

ATTACKS: dict[str, Callable[[], Outcome]] = {
    "floating-point": floating_point,
    "averaging": averaging,
    "differencing": differencing,
    "reconstruction": reconstruction,
    "membership": membership,
    "singletons": singletons,
    "timing": timing,
    "race": race,
    "rollback": rollback,
}

__all__ = ["ATTACKS", "Outcome", "Score"]
