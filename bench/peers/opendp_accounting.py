"""OpenDP's zCDP on a list of Gaussians, Laplaces and geometrics of sensitivity 1."""

from collections.abc import Callable, Sequence

import opendp.prelude as dp

from bench.peers.worker import serve


def zcdp(
    gaussian: Sequence[float], laplace: Sequence[float], geometric: Sequence[float], delta: float
) -> Callable[[], object]:
    """Measurements on one number, composed under zCDP, then turned into (epsilon, delta)."""
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)

    def work() -> dict[str, float]:
        normals = [dp.m.make_gaussian(*space, sigma) for sigma in gaussian]
        # One domain for all: a geometric is priced as the Laplace of its scale, as OpenDP does.
        pures = [
            dp.c.make_pureDP_to_zCDP(dp.m.make_laplace(*space, scale))
            for scale in (*laplace, *geometric)
        ]
        whole = dp.c.make_zCDP_to_approxDP(dp.c.make_composition([*normals, *pures]))
        return {"epsilon": float(whole.map(1.0).epsilon(delta))}

    return work


if __name__ == "__main__":
    dp.enable_features("contrib", "honest-but-curious")
    serve({"zcdp": zcdp})
