"""The local model against pure-ldp and multi-freq-ldpy: error and speed at the same setting.

A *survey* is: everybody's answer randomized, the reports counted, the shares estimated. pure-ldp
estimates without bias, as we do; multi-freq-ldpy makes its estimates positive and sum to 1, so it
is compared with both of our consistent estimates, of which the posterior mean has to win.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness import Row, Sheet, timed
from bench.peers import Peer
from discreet.local import (
    Estimates,
    FrequencyRandomizer,
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    OneBit,
    Piecewise,
    SubsetSelection,
    Survey,
    Tally,
    TwoCoins,
    UnaryEncoding,
    central_error,
    expected_error,
    mean,
    mean_variance,
    share_variance,
    shares,
)
from discreet.local.numbers import NumberRandomizer

SIZE, EPSILON = 16, Fraction(1)
MADE: dict[str, Callable[[], FrequencyRandomizer]] = {
    "kary": lambda: KaryResponse(size=SIZE, epsilon=EPSILON),
    "unary": lambda: UnaryEncoding(size=SIZE, epsilon=EPSILON),
    "symmetric unary": lambda: UnaryEncoding(size=SIZE, epsilon=EPSILON, symmetric=True),
    "hashing": lambda: LocalHashing(size=SIZE, epsilon=EPSILON),
    "hadamard": lambda: HadamardResponse(size=SIZE, epsilon=EPSILON),
    "subset": lambda: SubsetSelection(size=SIZE, epsilon=EPSILON),
}
PURE = ("kary", "unary", "symmetric unary", "hashing", "hadamard")
MULTI = ("kary", "unary", "symmetric unary", "hashing", "subset")

# Shares that fall off, as they do in life.
WEIGHTS = np.array([1 / (place + 1) for place in range(SIZE)])
PIECE = 500  # surveys asked of a peer at a time
# How many surveys of how many people. The first are nearly all noise.
REPEATS = {100: 8_000, 1_000: 4_000}
MORE = 4  # times as many of ours, so that chance is nearly the peers' alone

SAME_ERROR = 1 / 1.02
PURE_TARGET, MULTI_TARGET = 50.0, 20.0
# Rounds about as long as the peers', so that a busy machine disturbs them as often.
SPEED_COUNT = {"kary": 500_000, "hadamard": 500_000}
SPEED_OTHERS, SPEED_PEER = 100_000, 20_000

SURVEYS = 40_000
SMALL = 150  # people in each of them
COVERAGE = 0.94
STANDARD_ERRORS = 3.0

REPORTS, FEWER = 100_000_000, 1_000_000
MEGABYTES = 100.0
FLAT = 1.5  # so much slower at most, per report, when there are a hundred times as many


def crowd(n: int) -> NDArray[np.int64]:
    """About n people with those shares."""
    return np.repeat(np.arange(SIZE), np.rint(n * WEIGHTS / WEIGHTS.sum()).astype(int))


def ours_mse(one: FrequencyRandomizer, n: int, kinds: tuple[str, ...]) -> list[float]:
    """The mean squared error of our shares, of each kind, over many surveys."""
    people = crowd(n)
    truth = np.bincount(people, minlength=SIZE) / len(people)
    squares = np.zeros(len(kinds))
    surveys = MORE * REPEATS[n]
    for _ in range(surveys // PIECE):
        rows = one.simulate(np.tile(people, PIECE))
        for part in np.split(rows, PIECE):
            found = shares(one, one.tally(part), len(people))
            squares += [((estimate(found, kind) - truth) ** 2).mean() for kind in kinds]
    figures: list[float] = (squares / surveys).tolist()
    return figures


def estimate(found: Estimates, kind: str) -> NDArray[np.float64]:
    """One kind of estimate."""
    if kind == "unbiased":
        return np.array([float(share) for share in found.shares])
    return np.array(found.projected() if kind == "projected" else found.posterior())


def peer_mse(peer: Peer, kind: str, n: int) -> float:
    """The mean squared error of a peer's."""
    options = {"size": SIZE, "epsilon": float(EPSILON), "people": crowd(n).tolist()}
    found = [
        peer.ask("survey", kind=kind, **options, repeats=PIECE)["mse"]
        for _ in range(REPEATS[n] // PIECE)
    ]
    return float(np.mean(found))


def errors(
    sheet: Sheet, name: str, peer: Peer, randomizers: tuple[str, ...], kinds: tuple[str, ...]
) -> None:
    """A row for each randomizer that both have, for each kind of estimate; the last has to win."""
    for n in REPEATS:
        for randomizer in randomizers:
            with sheet.console.status(f"mean squared error, {randomizer}, {n:,} people, {name}"):
                theirs = peer_mse(peer, randomizer, n)
                ours = ours_mse(MADE[randomizer](), n, kinds)
            for kind, figure in zip(kinds, ours, strict=True):
                row = f"{randomizer}, {n:,} people, {kind} shares: squared error against {name}"
                target = SAME_ERROR if kind == kinds[-1] else None
                sheet.add(Row.of(row, ours=figure, peer=theirs, unit="MSE", target=target))


def whole_survey(one: FrequencyRandomizer, values: NDArray[np.int64]) -> Callable[[], object]:
    """Simulation, validation, counting and estimates."""
    survey = Survey("Which one?", randomizer=one)

    def work() -> object:
        tally = Tally(survey)
        tally.add_reports(one.simulate(values))
        return shares(one, tally.counters, tally.n)

    return work


def speed(sheet: Sheet, name: str, peer: Peer, kinds: tuple[str, ...], target: float) -> None:
    """Reports a second, everything included."""
    few = (np.arange(SPEED_PEER) % SIZE).tolist()
    for kind in kinds:
        count = SPEED_COUNT.get(kind, SPEED_OTHERS)
        values = np.arange(count) % SIZE
        options: dict[str, Any] = {"size": SIZE, "epsilon": float(EPSILON), "people": few}
        sides = [
            timed(whole_survey(MADE[kind](), values)),
            peer.side("survey", kind=kind, **options, repeats=1),
        ]
        ours, theirs = sheet.best(f"{kind}, {name}", sides, [24, 6])
        sheet.add(
            Row.of(
                f"{kind}: reports simulated, counted and estimated, against {name}",
                ours=count / ours / 1e6,
                peer=SPEED_PEER / theirs / 1e6,
                unit="M/s",
                target=target if kind == "kary" or target == PURE_TARGET else None,
            )
        )


def many_small_surveys(sheet: Sheet) -> None:
    """40,000 surveys of each randomizer: bias, variance and coverage against theory."""
    small: list[FrequencyRandomizer | NumberRandomizer] = [
        TwoCoins(),
        KaryResponse(size=4, epsilon=1),
        UnaryEncoding(size=4, epsilon=1),
        UnaryEncoding(size=4, epsilon=1, symmetric=True),
        LocalHashing(size=4, epsilon=1),
        HadamardResponse(size=4, epsilon=1),
        SubsetSelection(size=6, epsilon=1),
        OneBit(size=11, epsilon=1),
        Piecewise(size=11, epsilon=2),
    ]
    bias = variance = 0.0
    coverage = 1.0
    for one in small:
        with sheet.console.status(f"{SURVEYS:,} small surveys, {one.kind}"):
            off, spread, covered = judge(one)
        bias, variance = max(bias, off), max(variance, spread)
        coverage = min(coverage, covered)
        name = f"{SURVEYS:,} surveys of {SMALL} people, {one.kind}: share not covered at 0.95"
        sheet.add(Row.of(name, ours=1 - covered, unit="share", target=1 - COVERAGE))
    what = f"{SURVEYS:,} surveys, the worst of {len(small)} randomizers"
    sheet.add(Row.of(f"{what}: bias", ours=bias, unit="standard errors", target=STANDARD_ERRORS))
    sheet.add(
        Row.of(f"{what}: variance", ours=variance, unit="standard errors", target=STANDARD_ERRORS)
    )


def judge(one: FrequencyRandomizer | NumberRandomizer) -> tuple[float, float, float]:
    """How far off the mean and the variance of one answer are, and how often it is covered."""
    people = np.arange(SMALL) % one.size
    if isinstance(one, NumberRandomizer):
        truth = float(people.mean())
        theory = float(mean_variance(one, people.tolist()))
    else:
        counts = [Fraction(int(c), SMALL) for c in np.bincount(people, minlength=one.size)]
        truth = float(counts[0])
        theory = float(share_variance(one.moments(0, counts), counts[0], SMALL))
    values, inside = np.empty(SURVEYS), 0
    known: dict[tuple[int, ...], tuple[float, bool]] = {}
    rows = one.simulate(np.tile(people, SURVEYS))
    for place, part in enumerate(np.split(rows, SURVEYS)):
        counters = one.tally(part)
        key = tuple(counters)
        if key not in known:
            found = (
                mean(one, counters, SMALL)
                if isinstance(one, NumberRandomizer)
                else shares(one, counters, SMALL)[0]
            )
            known[key] = float(found), found.low <= truth <= found.high
        values[place], covered = known[key]
        inside += covered
    off = abs(values.mean() - truth) / math.sqrt(theory / SURVEYS)
    squares = (values - truth) ** 2
    spread = abs(squares.mean() - theory) / (squares.std() / math.sqrt(SURVEYS))
    return float(off), float(spread), inside / SURVEYS


def collecting(sheet: Sheet) -> None:
    """A hundred million two-coin reports from an Arrow file."""
    with Peer(None, worker="bench.collecting") as ours, sheet.console.status("collecting"):
        ours.ask("collect", count=FEWER)
        few = min(
            ours.ask("collect", count=FEWER, rounds=20)["processor"] / 20 / FEWER for _ in range(5)
        )
        answers = [ours.ask("collect", count=REPORTS) for _ in range(3)]
    many = min(answer["seconds"] for answer in answers) / REPORTS
    what = f"{REPORTS / 1e6:g} million two-coin reports from an Arrow file"
    sheet.add(Row.of(f"{what}: rate", ours=1e-6 / many, unit="M/s", target=None))
    grown = max(answer["grown_megabytes"] for answer in answers)
    sheet.add(Row.of(f"{what}: memory", ours=grown, unit="MB", target=MEGABYTES))
    state = answers[0]["state_bytes"]
    sheet.add(Row.of(f"{what}: state", ours=state, unit="bytes", target=1000.0))
    # By the processor's clock, which other people's work does not disturb.
    spent = min(answer["processor"] for answer in answers) / REPORTS
    name = "time per report, 100 million against 1 million"
    sheet.add(Row.of(name, ours=spent / few, unit="times", target=FLAT))


def run(sheet: Sheet, *, long: bool) -> None:  # noqa: ARG001 - all of it is needed
    """Speed, error, honesty, scale; and the price of having no curator."""
    with sheet.console.status("preparing the peers"):
        pure = Peer("pure_ldp", worker="bench.peers.pure_ldp_surveys")
        multi = Peer("multi_freq_ldpy", worker="bench.peers.multi_freq_ldpy_surveys")
    with pure, multi:
        speed(sheet, "pure-ldp 1.2", pure, PURE, PURE_TARGET)
        speed(sheet, "multi-freq-ldpy 0.2", multi, MULTI, MULTI_TARGET)
        collecting(sheet)
        many_small_surveys(sheet)
        errors(sheet, "pure-ldp 1.2", pure, PURE, ("unbiased",))
        errors(sheet, "multi-freq-ldpy 0.2", multi, MULTI, ("projected", "posterior"))
    for n in (1_000, 1_000_000):
        sheet.add(
            Row.of(
                f"have you ever ...?, {n:,} people, ln 3: standard error, local against central",
                ours=expected_error(TwoCoins(), n),
                peer=central_error(n, "ln 3"),
                unit="share",
                target=None,
            )
        )
