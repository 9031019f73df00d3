"""multi-freq-ldpy's clients and aggregators; its estimates are made positive and sum to 1."""

from collections.abc import Callable
from typing import Any

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

from bench.peers.worker import serve


def made(kind: str, size: int, epsilon: float) -> tuple[Callable[[int], Any], Callable[[Any], Any]]:
    """A client, and an aggregator of a list of reports."""
    if kind == "kary":
        return (
            lambda value: GRR_Client(value, size, epsilon),
            lambda reports: GRR_Aggregator_MI(reports, size, epsilon),
        )
    if kind == "subset":
        return (
            lambda value: SS_Client(value, size, epsilon),
            lambda reports: SS_Aggregator_MI(reports, size, epsilon),
        )
    if kind == "hashing":
        return (
            lambda value: LH_Client(value, size, epsilon),
            lambda reports: LH_Aggregator_MI(reports, size, epsilon),
        )
    best = kind == "unary"
    return (
        lambda value: UE_Client(value, size, epsilon, best),
        lambda reports: UE_Aggregator_MI(reports, epsilon, best),
    )


def survey(
    kind: str, size: int, epsilon: float, people: list[int], repeats: int
) -> Callable[[], object]:
    """The same people asked many times over; the squared error of the estimated shares."""
    client, aggregate = made(kind, size, epsilon)
    truth = np.bincount(people, minlength=size) / len(people)
    client(0)  # compiled outside the clock

    def work() -> dict[str, float]:
        squares = 0.0
        for _ in range(repeats):
            found = aggregate([client(value) for value in people])
            squares += float(((np.array(found) - truth) ** 2).mean())
        return {"mse": squares / repeats}

    return work


if __name__ == "__main__":
    serve({"survey": survey})
