"""dp-accounting's accountants on a list of Gaussians, Laplaces and geometrics of sensitivity 1."""

from collections.abc import Callable, Sequence

import dp_accounting
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant

from bench.peers.worker import serve


def rdp(
    gaussian: Sequence[float], laplace: Sequence[float], geometric: Sequence[float], delta: float
) -> Callable[[], object]:
    """RDP with the default orders, each geometric taken as the Laplace of its scale.

    That is the peer's fastest way, and a little less than is lost. The exact one, for sensitivity
    1, is its randomized response, which takes it 160 times as long for each event.
    """
    events = [dp_accounting.GaussianDpEvent(sigma) for sigma in gaussian]
    events += [dp_accounting.LaplaceDpEvent(scale) for scale in (*laplace, *geometric)]

    def work() -> dict[str, float]:
        accountant = RdpAccountant()
        for event in events:
            accountant.compose(event)
        return {"epsilon": float(accountant.get_epsilon(delta))}

    return work


def pld(
    gaussian: Sequence[float],
    laplace: Sequence[float],
    geometric: Sequence[float],
    delta: float,
    interval: float,
) -> Callable[[], object]:
    """Privacy loss distributions, one for each event, convolved one after another."""
    library = privacy_loss_distribution
    option = {"value_discretization_interval": interval}

    def work() -> dict[str, float]:
        total = library.identity(**option)
        for sigma in gaussian:
            total = total.compose(library.from_gaussian_mechanism(sigma, **option))
        for scale in laplace:
            total = total.compose(library.from_laplace_mechanism(scale, **option))
        for scale in geometric:
            dots = {**option, "use_connect_dots": True}
            total = total.compose(library.from_discrete_laplace_mechanism(1 / scale, **dots))
        return {"epsilon": float(total.get_epsilon_for_delta(delta))}

    return work


if __name__ == "__main__":
    serve({"rdp": rdp, "pld": pld})
