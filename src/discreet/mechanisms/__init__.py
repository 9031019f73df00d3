"""The mechanisms of the central model, one file each, and their short forms."""

from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.additive import Error
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian, classical_sigma
from discreet.mechanisms.gaussian_keys import GaussianKeySelection
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.short import gaussian, geometric, laplace

__all__ = [
    "AboveThreshold",
    "Error",
    "Exponential",
    "Gaussian",
    "GaussianKeySelection",
    "Geometric",
    "KeySelection",
    "Laplace",
    "NoisyMax",
    "PermuteAndFlip",
    "Quantile",
    "classical_sigma",
    "gaussian",
    "geometric",
    "laplace",
]
