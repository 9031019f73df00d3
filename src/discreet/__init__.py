"""Discreet: differential privacy with exact noise.

>>> import discreet
>>> isinstance(discreet.geometric(1234, sensitivity=1, epsilon=0.5), int)
True
"""

from discreet.errors import DiscreetError
from discreet.events import Event
from discreet.mechanisms import (
    AboveThreshold,
    Exponential,
    Gaussian,
    Geometric,
    KeySelection,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    Quantile,
    gaussian,
    geometric,
    laplace,
)

__version__ = "0.1.0"

__all__ = [
    "AboveThreshold",
    "DiscreetError",
    "Event",
    "Exponential",
    "Gaussian",
    "Geometric",
    "KeySelection",
    "Laplace",
    "NoisyMax",
    "PermuteAndFlip",
    "Quantile",
    "__version__",
    "gaussian",
    "geometric",
    "laplace",
]
