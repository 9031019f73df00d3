"""Exact numbers: rationals for parameters, computable reals for everything transcendental.

Nothing here rests on the accuracy of floating point. ``rational`` reads a parameter as written,
``Real`` is a number known to as many bits as are asked for, ``Grid`` puts values on a public grid.
"""

from discreet.exact.grid import Grid
from discreet.exact.parameters import (
    confidence,
    delta,
    epsilon,
    positive,
    probability,
    sensitivity,
)
from discreet.exact.rational import Rational, rational
from discreet.exact.real import Real
from discreet.exact.rounding import float_down, float_up, fraction_down, fraction_up

__all__ = [
    "Grid",
    "Rational",
    "Real",
    "confidence",
    "delta",
    "epsilon",
    "float_down",
    "float_up",
    "fraction_down",
    "fraction_up",
    "positive",
    "probability",
    "rational",
    "sensitivity",
]
