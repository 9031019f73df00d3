"""10,000 unequal events composed to (epsilon, 1e-6): every accountant beside its peers."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from bench.harness import Row, Sheet, timed
from bench.peers import Peer
from discreet.accounting import Loss, account
from discreet.accounting.batch import batch
from discreet.accounting.renyi import rdp_epsilon
from discreet.events import Event

COUNT = 10_000
DELTA = 1e-6
GRID = Fraction(1, 2**20)
INTERVAL = 1e-4  # of the peer's discretized losses, its default

OURS_ROUNDS = 4
PEER_ROUNDS = 2

FASTER = 3.0
AS_TIGHT = 0.99
EXCESS = 0.01


def scales() -> dict[str, list[float]]:
    """Standard deviations and scales, no two alike."""
    rng = np.random.default_rng(3)
    third = COUNT // 3
    return {
        "gaussian": rng.uniform(60, 600, COUNT - 2 * third).tolist(),
        "laplace": rng.uniform(150, 1500, third).tolist(),
        "geometric": rng.uniform(150, 1500, third).tolist(),
    }


def events(given: dict[str, list[float]]) -> list[Event]:
    """The same as our events, of sensitivity 1."""
    normals = (Event("gaussian", {"sigma": x, "grid": GRID}, 1) for x in given["gaussian"])
    laplaces = (Event("laplace", {"scale": x, "grid": GRID}, 1) for x in given["laplace"])
    geometrics = (Event("geometric", {"scale": x}, 1) for x in given["geometric"])
    return [*normals, *laplaces, *geometrics]


def theorem(given: dict[str, list[float]], order: Fraction) -> Any:
    """RDP of the batch at one order, turned into epsilon, at 100 digits."""
    with mpmath.workdps(100):
        alpha = mpmath.mpf(order.numerator) / order.denominator
        step = mpmath.mpf(GRID.numerator) / GRID.denominator
        total = sum(alpha / (2 * mpmath.mpf(repr(x)) ** 2) for x in given["gaussian"])
        for kind, grid in (("laplace", step), ("geometric", mpmath.mpf(1))):
            steps = 1 / grid
            for x in given[kind]:
                a = mpmath.exp(-grid / mpmath.mpf(repr(x)))
                ratio = a ** (2 * alpha - 1)
                ends = (a ** (-(alpha - 1) * steps) + a ** (alpha * steps)) / (1 - a)
                between = a ** (-(alpha - 1) * steps) * (ratio - ratio**steps) / (1 - ratio)
                total += mpmath.log((1 - a) / (1 + a) * (ends + between)) / (alpha - 1)
        price = -mpmath.log(mpmath.mpf(repr(DELTA)) * alpha) / (alpha - 1)
        return total + price + mpmath.log(1 - 1 / alpha)


def side(accountant: str, found: dict[str, Loss]) -> Callable[[], float]:
    """Our round: from the events to epsilon."""
    given = events(scales())

    def work() -> None:
        found[accountant] = account(given, accountant=accountant, delta=DELTA)

    return timed(work)


def versus(
    sheet: Sheet, accountant: str, theirs: Callable[[], dict[str, Any]], who: str, *, rounds: int
) -> None:
    """Two rows, seconds and epsilon, against one peer."""
    found: dict[str, Loss] = {}
    answers: list[float] = []

    def peer() -> float:
        answer = theirs()
        answers.append(float(answer["epsilon"]))
        return float(answer["seconds"])

    sides = [side(accountant, found), peer]
    ours, seconds = sheet.best(f"{accountant} against {who}", sides, [OURS_ROUNDS, rounds])
    what = f"{COUNT:,} events, {accountant}"
    target = FASTER if accountant == "rdp" else None
    sheet.add(
        Row.of(f"{what}: time against {who}", ours=ours, peer=seconds, unit="s", target=target)
    )
    epsilon = float(found[accountant].epsilon)
    tight = AS_TIGHT if accountant in ("rdp", "zcdp") else None
    name = f"{what}: epsilon against {who}"
    sheet.add(Row.of(name, ours=epsilon, peer=answers[-1], unit="epsilon", target=tight))


def run(sheet: Sheet, *, long: bool) -> None:  # noqa: ARG001
    """RDP and the tightest certified accountant against dp-accounting, zCDP against OpenDP."""
    given = scales()
    with sheet.console.status("preparing dp-accounting"):
        google = Peer("dpacc", worker="bench.peers.dpacc_accounting")
    with google:
        ask = google.ask
        options: dict[str, Any] = {**given, "delta": DELTA}
        versus(sheet, "rdp", lambda: ask("rdp", **options), "dp-accounting RDP", rounds=PEER_ROUNDS)
        pld = {**options, "interval": INTERVAL}
        versus(sheet, "gdp", lambda: ask("pld", **pld), "dp-accounting PLD", rounds=1)
    with sheet.console.status("preparing OpenDP"):
        harvard = Peer("opendp", worker="bench.peers.opendp_accounting")
    with harvard:
        versus(
            sheet, "zcdp", lambda: harvard.ask("zcdp", **options), "OpenDP zCDP", rounds=PEER_ROUNDS
        )
    for accountant in ("approximate", "advanced"):
        found: dict[str, Loss] = {}
        (seconds,) = sheet.best(accountant, [side(accountant, found)], [1])
        what = f"{COUNT:,} events, {accountant}"
        sheet.add(Row.of(f"{what}: time", ours=seconds, unit="s", target=None))
        epsilon = float(found[accountant].epsilon)
        sheet.add(Row.of(f"{what}: epsilon", ours=epsilon, unit="epsilon", target=None))
    epsilon_up, order = rdp_epsilon(batch(events(given)), Fraction(1, 10**6))
    with mpmath.workdps(100):
        ours = mpmath.mpf(epsilon_up.numerator) / epsilon_up.denominator
        excess = float(ours / theorem(given, order) - 1)
    name = f"{COUNT:,} events, rdp: above the same theorem at 100 digits"
    # Below it would be a wrong guarantee, not a good score.
    worst = excess if excess >= 0 else float("inf")
    sheet.add(Row.of(name, ours=worst, unit="relative excess", target=EXCESS))
