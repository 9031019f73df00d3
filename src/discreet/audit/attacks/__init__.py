"""Attacks by name, each with a control that it succeeds against."""

from collections.abc import Callable

from discreet.audit.attacks.answers import averaging, differencing, membership, singletons
from discreet.audit.attacks.budget import race, rollback
from discreet.audit.attacks.floats import floating_point, rounding
from discreet.audit.attacks.game import Outcome, Score
from discreet.audit.attacks.reconstruction import reconstruction
from discreet.audit.attacks.timing import timing

ATTACKS: dict[str, Callable[[], Outcome]] = {
    "floating-point": floating_point,
    "rounding": rounding,
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
