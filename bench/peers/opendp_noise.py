"""OpenDP's noise on a vector: `make_laplace` and `make_gaussian`, as its users call them."""

from collections.abc import Callable

import opendp.prelude as dp

from bench.peers.worker import serve


def integers(kind: str, scale: float, count: int) -> Callable[[], object]:
    """Integer noise on a vector of zeros."""
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if kind == "laplace":
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T=int), scale)
    else:
        measurement = dp.m.make_gaussian(domain, dp.l2_distance(T=int), scale)
    zeros = [0] * count
    return lambda: measurement(zeros)


def grid_laplace(scale: float, exponent: int, count: int) -> Callable[[], object]:
    """Laplace noise on the grid of step 2**exponent, on a vector of zeros.

    OpenDP's default grid is far finer and 2.5 times slower; on ours it does the same work as we do.
    """
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=count)
    measurement = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale, k=exponent)
    zeros = [0.0] * count
    return lambda: measurement(zeros)


if __name__ == "__main__":
    dp.enable_features("contrib")
    serve({"integers": integers, "grid_laplace": grid_laplace})
