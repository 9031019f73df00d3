"""`python -m bench.peers.outputs KIND INPUT N`: a peer's noisy outputs, one a line.

Each at epsilon 1 (the Gaussian: 0.9, delta 1e-5) for a sensitivity of 1, as its users call it.
"""

import importlib
import sys
from typing import Any


def diffprivlib_laplace(value: float, n: int) -> list[Any]:
    """diffprivlib's Laplace."""
    kinds = importlib.import_module("diffprivlib.mechanisms")
    mechanism = kinds.Laplace(epsilon=1, delta=0, sensitivity=1)
    return [float(mechanism.randomise(value)) for _ in range(n)]


def diffprivlib_gaussian(value: float, n: int) -> list[Any]:
    """diffprivlib's Gaussian."""
    kinds = importlib.import_module("diffprivlib.mechanisms")
    mechanism = kinds.Gaussian(epsilon=0.9, delta=1e-5, sensitivity=1)
    return [float(mechanism.randomise(value)) for _ in range(n)]


def pydp_laplace(value: float, n: int) -> list[Any]:
    """PyDP's Laplace."""
    kinds = importlib.import_module("pydp.algorithms.numerical_mechanisms")
    mechanism = kinds.LaplaceMechanism(1.0, 1.0)
    return [mechanism.add_noise(value) for _ in range(n)]


def opendp_laplace(value: float, n: int) -> list[Any]:
    """OpenDP's Laplace on floats."""
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    found: list[Any] = dp.m.make_laplace(domain, dp.l1_distance(T=float), 1.0)([value] * n)
    return found


def numpy_laplace(value: float, n: int) -> list[Any]:
    """NumPy's Laplace, as most people write it."""
    np = importlib.import_module("numpy")
    found: list[Any] = (value + np.random.default_rng().laplace(size=n)).tolist()
    return found


def numpy_gaussian(value: float, n: int) -> list[Any]:
    """NumPy's normal noise, as most people write it: sigma 4.7 is enough for 0.9 and 1e-5."""
    np = importlib.import_module("numpy")
    found: list[Any] = (value + np.random.default_rng().normal(scale=4.7, size=n)).tolist()
    return found


def textbook_laplace(value: float, n: int) -> list[Any]:
    """The inverse of the cdf at a uniform number, in doubles."""
    np = importlib.import_module("numpy")
    centred = np.random.default_rng().random(n) - 0.5
    found: list[Any] = (value - np.sign(centred) * np.log(1 - 2 * np.abs(centred))).tolist()
    return found


def float_sum(value: float, n: int) -> list[Any]:
    """A sum of numbers up to 1 in single precision, one of them there or not, with exact noise."""
    floats = importlib.import_module("discreet.audit.attacks.floats")
    noise = importlib.import_module("discreet.noise").TwoSidedGeometric(1)
    total = floats.running_sum(floats.tilting(person=bool(value)))
    found: list[Any] = (total + noise.sample(n)).tolist()
    return found


def discreet_laplace(value: float, n: int) -> list[Any]:
    """Ours."""
    discreet = importlib.import_module("discreet")
    mechanism = discreet.Laplace.from_epsilon(sensitivity=1, epsilon=1, grid="1/1048576")
    return [float(each) for each in mechanism.release([value] * n)]


if __name__ == "__main__":
    kind, value, n = sys.argv[1:]
    sys.stdout.write("\n".join(map(repr, globals()[kind](float(value), int(n)))) + "\n")
