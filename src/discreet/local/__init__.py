"""The local model: no curator at all. Each device randomizes its own answer before sending it.

>>> survey = Survey("Have you ever ...?", randomizer=TwoCoins())
>>> tally = Tally(survey)
>>> tally.add_reports(survey.randomizer.simulate(survey.values(["yes"] * 300 + ["no"] * 700)))
>>> estimate = shares(survey.randomizer, tally.counters, tally.n)[0]
>>> estimate.low < estimate.value < estimate.high
True
"""

from discreet.local.adviser import Advice, advise
from discreet.local.consistent import posterior, project
from discreet.local.duchi import OneBit
from discreet.local.estimates import (
    Estimate,
    Estimates,
    mean,
    mean_variance,
    share_variance,
    shares,
)
from discreet.local.hadamard import HadamardResponse
from discreet.local.hashing import LocalHashing
from discreet.local.heavy_hitters import HeavyHitter, PrefixTree
from discreet.local.kary import KaryResponse
from discreet.local.memoized import Device, Memoized
from discreet.local.piecewise import Piecewise
from discreet.local.planning import (
    Comparison,
    central_error,
    central_sample_size,
    compare,
    expected_error,
    sample_size,
)
from discreet.local.randomizer import FrequencyRandomizer, Randomizer
from discreet.local.subset import SubsetSelection
from discreet.local.survey import Scale, Survey
from discreet.local.tally import Tally
from discreet.local.two_coins import TwoCoins
from discreet.local.unary import UnaryEncoding

__all__ = [
    "Advice",
    "Comparison",
    "Device",
    "Estimate",
    "Estimates",
    "FrequencyRandomizer",
    "HadamardResponse",
    "HeavyHitter",
    "KaryResponse",
    "LocalHashing",
    "Memoized",
    "OneBit",
    "Piecewise",
    "PrefixTree",
    "Randomizer",
    "Scale",
    "SubsetSelection",
    "Survey",
    "Tally",
    "TwoCoins",
    "UnaryEncoding",
    "advise",
    "central_error",
    "central_sample_size",
    "compare",
    "expected_error",
    "mean",
    "mean_variance",
    "posterior",
    "project",
    "sample_size",
    "share_variance",
    "shares",
]
