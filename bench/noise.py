"""Exact noise against OpenDP's exact noise and NumPy's inexact noise, single thread.

NumPy's side is the bare draw, also where ours is the public call: it checks nothing, adds nothing
and accounts for nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import discreet
from bench.harness import Row, Sheet, timed
from bench.peers import Peer
from discreet.noise import GridLaplace, RoundedGaussian, TwoSidedGeometric

COUNT = 1_000_000
EXPONENT = -20
GRID = Fraction(1, 2**-EXPONENT)
SCALES = (1, 10, 1_000_000)

OURS_ROUNDS = 10
OPENDP_ROUNDS = 2  # some ten seconds each

OPENDP_TARGET = 100.0
LAPLACE_TARGET = 0.5
NORMAL_TARGET = 0.25

STREAM = 100_000_000
LONG_STREAM = 1_000_000_000
CENSUS = 3_000_000_000
STREAM_MEGABYTES = 100.0  # the draws themselves, if they were kept, would be eight times as many


@dataclass(frozen=True)
class Case:
    """One distribution, drawn by everyone."""

    name: str
    sampler: Callable[[], object]
    public: Callable[[], object]
    numpy: Callable[[], object]
    numpy_target: float
    opendp: Callable[[Peer], Callable[[], float]]


# The one place where a generator that is not cryptographic belongs: it is the peer.
UNSAFE = np.random.default_rng()
INTEGERS = np.zeros(COUNT, dtype=np.int64)
REALS = np.zeros(COUNT)


def integer_laplace(scale: int) -> Case:
    """The two-sided geometric."""
    epsilon = Fraction(1, scale)
    return Case(
        name=f"integer Laplace, scale {scale:,}",
        sampler=lambda: TwoSidedGeometric(scale).sample(COUNT),
        public=lambda: discreet.geometric(INTEGERS, sensitivity=1, epsilon=epsilon),
        numpy=lambda: UNSAFE.laplace(0, scale, COUNT),
        numpy_target=LAPLACE_TARGET,
        opendp=lambda peer: peer.side("integers", kind="laplace", scale=float(scale), count=COUNT),
    )


def grid_laplace(scale: int) -> Case:
    """Real values on a fine public grid."""
    epsilon = Fraction(1, scale)
    return Case(
        name=f"Laplace on the grid of step 2^{EXPONENT}, scale {scale:,}",
        sampler=lambda: GridLaplace(scale, grid=GRID).sample(COUNT),
        public=lambda: discreet.laplace(REALS, sensitivity=1, epsilon=epsilon, grid=GRID),
        numpy=lambda: UNSAFE.laplace(0, scale, COUNT),
        numpy_target=LAPLACE_TARGET,
        opendp=lambda peer: peer.side(
            "grid_laplace", scale=float(scale), exponent=EXPONENT, count=COUNT
        ),
    )


def integer_gaussian(sigma: int) -> Case:
    """The rounded Gaussian; OpenDP's is the discrete one."""
    mechanism = discreet.Gaussian.from_scale(sensitivity=1, sigma=sigma)
    return Case(
        name=f"integer Gaussian, sigma {sigma:,}",
        sampler=lambda: RoundedGaussian(sigma).sample(COUNT),
        public=lambda: mechanism.release(INTEGERS),
        numpy=lambda: UNSAFE.normal(0, sigma, COUNT),
        numpy_target=NORMAL_TARGET,
        opendp=lambda peer: peer.side("integers", kind="gaussian", scale=float(sigma), count=COUNT),
    )


def cases() -> list[Case]:
    """Integers at three scales each, and Laplace on a fine grid."""
    laplaces = [integer_laplace(scale) for scale in SCALES]
    return [*laplaces, grid_laplace(10), *(integer_gaussian(sigma) for sigma in SCALES)]


def compare(sheet: Sheet, case: Case, peer: Peer) -> None:
    """Four rows: the sampler and the public call, each against both peers."""
    sides = [timed(case.sampler), timed(case.public), timed(case.numpy), case.opendp(peer)]
    rounds = [OURS_ROUNDS, OURS_ROUNDS, OURS_ROUNDS, OPENDP_ROUNDS]
    sampler, public, numpy, opendp = (
        COUNT / seconds / 1e6 for seconds in sheet.best(case.name, sides, rounds)
    )
    for what, rate in (("sampler", sampler), ("public call", public)):
        for who, theirs, target in (
            ("OpenDP 0.16", opendp, OPENDP_TARGET),
            ("NumPy", numpy, case.numpy_target),
        ):
            name = f"{case.name}: {what} against {who}"
            sheet.add(Row.of(name, ours=rate, peer=theirs, unit="M/s", target=target))


def stream(sheet: Sheet, kind: str, count: int) -> None:
    """Time and memory of a stream that nobody keeps."""
    what = f"stream of {count / 1e6:g} million, {kind}, scale 10"
    with Peer(None, worker="bench.streaming") as ours, sheet.console.status(what):
        answer = ours.ask("stream", kind=kind, scale=10, count=count)
    seconds, grown = answer["seconds"], answer["grown_megabytes"]
    sheet.add(Row.of(f"{what}: rate", ours=count / seconds / 1e6, unit="M/s", target=None))
    sheet.add(Row.of(f"{what}: memory", ours=grown, unit="MB", target=STREAM_MEGABYTES))
    name = f"{kind}, scale 10: 3 billion draws, extrapolated from {count / 1e6:g} million"
    sheet.add(Row.of(name, ours=CENSUS / count * seconds, unit="s", target=None))


def run(sheet: Sheet, *, long: bool) -> None:
    """Every distribution against every peer, then the streams."""
    with sheet.console.status("preparing OpenDP"):
        peer = Peer("opendp", worker="bench.peers.opendp_noise")
    with peer:
        for case in cases():
            compare(sheet, case, peer)
    for kind in ("geometric", "gaussian"):
        stream(sheet, kind, STREAM)
        if long:
            stream(sheet, kind, LONG_STREAM)
