"""Pictures of the theory and of answers.

Each function here makes a ``Picture``: it shows itself in a notebook, and
``picture.save("laplace.svg")`` writes it as SVG, PNG, HTML or Vega-Lite JSON. ``CATALOGUE`` lists
those that need no data; every number in them is worked out by ``discreet.theory`` and
``discreet.accounting``.

>>> from discreet.pictures import composition
>>> composition(epsilon=0.1, delta=1e-6, queries=100)
<Picture: What k releases lose together, by four theorems and at best>
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from discreet.pictures.accuracy import error, people
from discreet.pictures.answers import error_bars
from discreet.pictures.beliefs import beliefs
from discreet.pictures.densities import laplace, neighbours
from discreet.pictures.losses import composition, delta
from discreet.pictures.picture import Picture
from discreet.pictures.surveys import survey

CATALOGUE: Mapping[str, Callable[..., Picture]] = MappingProxyType(
    {
        made.__name__: made
        for made in (
            laplace,
            neighbours,
            error,
            people,
            beliefs,
            delta,
            composition,
            survey,
        )
    }
)
"""The pictures that need no data, by name."""

__all__ = [
    "CATALOGUE",
    "Picture",
    "beliefs",
    "composition",
    "delta",
    "error",
    "error_bars",
    "laplace",
    "neighbours",
    "people",
    "survey",
]
