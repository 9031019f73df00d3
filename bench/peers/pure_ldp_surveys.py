"""pure-ldp's frequency oracles: a client that privatises, a server that estimates."""

from collections.abc import Callable
from typing import Any

import numpy as np
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import (
    HadamardResponseClient,
    HadamardResponseServer,
)
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

from bench.peers.worker import serve


def same(index: int) -> int:
    """Answers are numbered from 0."""
    return index


def made(kind: str, size: int, epsilon: float) -> tuple[Any, Any]:
    """A client and a server."""
    if kind == "kary":
        return DEClient(epsilon, size, same), DEServer(epsilon, size, same)
    if kind in {"unary", "symmetric unary"}:
        best = kind == "unary"
        return UEClient(epsilon, size, best, same), UEServer(epsilon, size, best, same)
    if kind == "hashing":
        options = {"use_olh": True, "index_mapper": same}
        return LHClient(epsilon, size, **options), LHServer(epsilon, size, **options)
    server = HadamardResponseServer(epsilon, size, same)
    return HadamardResponseClient(epsilon, size, server.get_hash_funcs(), same), server


def survey(
    kind: str, size: int, epsilon: float, people: list[int], repeats: int
) -> Callable[[], object]:
    """The same people asked many times over; the squared error of the estimated shares."""
    client, server = made(kind, size, epsilon)
    truth = np.bincount(people, minlength=size) / len(people)

    def work() -> dict[str, float]:
        squares = 0.0
        for _ in range(repeats):
            server.reset()
            for value in people:
                server.aggregate(client.privatise(value))
            found = [server.estimate(v, suppress_warnings=True) for v in range(size)]
            squares += float(((np.array(found) / len(people) - truth) ** 2).mean())
        return {"mse": squares / repeats}

    return work


if __name__ == "__main__":
    serve({"survey": survey})
