"""Exact noise: integers distributed as the theory says, at the speed of unsafe noise."""

from discreet.noise.bernoulli import Bernoulli
from discreet.noise.gaussian import RoundedGaussian
from discreet.noise.geometric import OneSidedGeometric, TwoSidedGeometric
from discreet.noise.laplace import GridLaplace
from discreet.noise.selection import Selection
from discreet.noise.uniform import UniformBelow

__all__ = [
    "Bernoulli",
    "GridLaplace",
    "OneSidedGeometric",
    "RoundedGaussian",
    "Selection",
    "TwoSidedGeometric",
    "UniformBelow",
]
