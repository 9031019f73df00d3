"""Discreet: differential privacy with exact noise.

>>> import discreet
>>> isinstance(discreet.geometric(1234, sensitivity=1, epsilon=0.5), int)
True
"""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from discreet.session import Session

__version__ = "0.1.0"


def open(path: Any, **settings: Any) -> "Session":  # noqa: A001  # discreet.open, as in gzip.open
    """Open a policy file, or a data file as its own curator, for private SQL.

    ``discreet.open("policy.toml", analyst="ann")``, or ``discreet.open("visits.parquet",
    unit="patient_id", rows_per_unit=20, bounds={"age": (0, 110)}, epsilon=3)``. The engine is
    loaded now and not before.
    """
    from discreet.session import open_session

    return open_session(path, **settings)


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
    "open",
]
