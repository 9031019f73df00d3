"""The audit refutes what is false, and does not refute what is true.

Confidence 99.9 %: a true claim is refuted by chance at most once in a thousand runs by the theorem.
Where a test would fail by that chance it asks for confidence 1 - 1e-6 instead, so that it fails
once in a million runs; the share of refuted runs is tested as such below.
"""

import math
from typing import Any

import pytest

from discreet.audit import Claim, audit
from discreet.errors import InvalidDelta, InvalidEpsilon, InvalidInput
from tests.audit import mechanisms

SURE = "0.999999"

TRUE = [
    (mechanisms.geometric, (0, 1), Claim(1)),
    (mechanisms.geometric, (0, 3), Claim(1, group=3)),
    (mechanisms.grid_laplace, (0.0, 1.0), Claim(1)),
    (mechanisms.response, (0, 1), Claim("1.0986122886681099")),
    (mechanisms.rounded_gaussian, (0, 1), Claim(1, delta="1e-4")),
    (mechanisms.pairs, (0, 1), Claim(2)),
    (mechanisms.words, ("ann", "bob"), Claim(1, delta="0.0101")),
]


@pytest.mark.parametrize(("function", "inputs", "claim"), TRUE)
def test_a_true_claim_is_not_refuted(function, inputs, claim):
    report = audit(function, inputs, claim, samples=400_000, confidence=SURE)
    assert not report.refuted
    assert report.epsilon <= claim.epsilon
    assert "Not refuting is not proving" in str(report)


FALSE = [
    (mechanisms.short_geometric, (0, 1), Claim(1)),
    (mechanisms.geometric, (0, 4), Claim(1, group=3)),
    (mechanisms.numpy_laplace, (0.0, 1.0), Claim(1)),
    (mechanisms.textbook_laplace, (0.0, 1.0), Claim(1)),
    (mechanisms.textbook_laplace, (5.0, 6.0), Claim(1)),
    (mechanisms.numpy_gaussian, (0.0, 1.0), Claim(1, delta="1e-4")),
    (mechanisms.response, (0, 1), Claim(1)),
    (mechanisms.pairs, (0, 1), Claim(1)),
    (mechanisms.infinite, (0, 1), Claim(1)),
    (mechanisms.naive_sum, (0, 1), Claim(1)),
    (mechanisms.words, ("ann", "bob"), Claim(5, delta="0.005")),
]


@pytest.mark.parametrize(("function", "inputs", "claim"), FALSE)
def test_a_false_claim_is_refuted_blind(function, inputs, claim):
    report = audit(function, inputs, claim, samples=4_000_000, seconds=30)
    assert report.refuted
    assert report.epsilon > claim.epsilon
    assert report.delta > 0
    assert "REFUTED" in str(report)


def test_floats_are_told_by_their_bits():
    report = audit(mechanisms.numpy_laplace, (0.0, 1.0), Claim(1))
    assert "bit" in report.best.event
    assert report.best.against == 0
    assert report.epsilon > 4


def test_the_report_is_plain_data():
    report = audit(mechanisms.geometric, (0, 1), Claim(1), samples=20_000)
    found = report.to_json()
    assert found["refuted"] is False
    assert found["claim"] == {"epsilon": "1", "delta": "0"}
    assert 0.5 < found["epsilon_at_least"] <= 1.05
    assert found["samples_per_input"] == 20_000
    assert found["event"]["trials"] <= 20_000
    assert "not proving" in found["note"]


def test_progress_ends_at_one():
    told: list[float] = []
    audit(
        mechanisms.geometric,
        (0, 1),
        Claim(1),
        samples=100_000,
        progress=lambda done, _: told.append(done),
    )
    assert told == sorted(told)
    assert told[-1] == 1


def test_time_ends_an_audit_too():
    report = audit(mechanisms.geometric, (0, 1), Claim(1), samples=10**12, seconds=0.5)
    assert report.stopped == "the time is up"
    assert report.samples < 10**12


def test_nonsense_is_refused():
    with pytest.raises(InvalidInput, match="shape"):
        audit(mechanisms.never_twice, (0, 1), Claim(1))
    with pytest.raises(InvalidInput, match="too few"):
        audit(mechanisms.geometric, (0, 1), Claim(1), samples=10)
    with pytest.raises(InvalidEpsilon):
        Claim(0)
    with pytest.raises(InvalidDelta):
        Claim(1, delta=1)
    with pytest.raises(InvalidInput):
        Claim(1, group=0)


def test_the_ceiling_is_what_two_hypotheses_allow():
    assert Claim(1).ceiling == pytest.approx(math.e / (1 + math.e))
    assert Claim(1, delta=0.1).ceiling == pytest.approx((math.e + 0.1) / (1 + math.e))


def refutations(function: Any, claim: Claim, inputs: Any, runs: int, **limits: Any) -> int:
    return sum(audit(function, inputs, claim, **limits).refuted for _ in range(runs))


def test_true_claims_are_refuted_no_more_often_than_stated_and_false_ones_always():
    # 20 runs at 99.9 %: three or more false refutations are chance once in a million runs.
    assert refutations(mechanisms.geometric, Claim(1), (0, 1), 20, samples=60_000) <= 2
    assert refutations(mechanisms.short_geometric, Claim(1), (0, 1), 5, seconds=20) == 5


@pytest.mark.deep
@pytest.mark.parametrize(("function", "inputs", "claim"), TRUE[:2] + TRUE[3:5])
def test_at_most_one_of_two_hundred_runs_refutes_a_true_claim(function, inputs, claim):
    # At 99.9 % two or more of 200 would be chance in fewer than 2 of 100 runs at the very worst.
    limits = {"samples": 2_000_000, "seconds": 5}
    assert refutations(function, claim, inputs, 200, **limits) <= 1


@pytest.mark.deep
def test_a_scale_five_percent_short_is_refuted_in_nineteen_of_twenty_runs():
    runs = 100
    found = refutations(mechanisms.short_geometric, Claim(1), (0, 1), runs, seconds=60)
    assert found >= 0.95 * runs


@pytest.mark.deep
def test_ten_million_samples_bound_a_true_epsilon_from_closely_below():
    report = audit(mechanisms.geometric, (0, 1), Claim(1), samples=10**7)
    assert not report.refuted
    assert report.epsilon >= 0.95
