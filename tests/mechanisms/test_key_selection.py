"""Key selection: delta by exact summation is never below the truth, for any spread of the rows."""

import random
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy.stats import binomtest

from discreet import KeySelection
from discreet.errors import InvalidInput, InvalidValue, OutOfRange
from discreet.noise import TwoSidedGeometric
from tests.mechanisms.distances import e_to, excess
from tests.mechanisms.every_draw import distribution, number, scripted

ALPHA = 1e-6
HIDDEN = "hidden"


def partitions(total, largest=None) -> Any:
    """The ways to spread so many rows over keys, as non-increasing tuples."""
    if total == 0:
        yield ()
        return
    for first in range(min(total, largest or total), 0, -1):
        yield from ((first, *rest) for rest in partitions(total - first, first))


class Truth:
    """The mechanism once more, from its formulas in mpmath."""

    def __init__(self, scale: Fraction, threshold: int) -> None:
        self.rate = mpf(scale.denominator) / scale.numerator
        self.threshold = threshold

    def at_least(self, k) -> Any:
        """P(Z >= k)."""
        a = mpmath.exp(-self.rate)
        return mpmath.exp(-self.rate * k) / (1 + a) if k >= 1 else 1 - a * self.below(k)

    def below(self, k) -> Any:
        """P(Z < k) / a, for k <= 0."""
        a = mpmath.exp(-self.rate)
        return mpmath.exp(-self.rate * -k) / (1 + a)

    def hides(self, spread) -> Any:
        """The chance that no key is shown, where keys have so many rows each."""
        return mpmath.fprod(1 - self.at_least(self.threshold - rows) for rows in spread)

    def common(self, count: int, most: int) -> Any:
        """What is seen of a key that others have too: nothing, or its noisy count.

        Counts from ``most`` up are one outcome: beyond both true counts the ratio of probabilities
        of two neighbours is the same for all of them, so lumping them loses nothing.
        """
        if count == 0:
            return {HIDDEN: mpf(1)}
        a = mpmath.exp(-self.rate)
        law: dict[Any, mpf] = {HIDDEN: 1 - self.at_least(self.threshold - count)}
        for seen in range(self.threshold, most):
            law[seen] = (1 - a) / (1 + a) * a ** abs(seen - count)
        law["more"] = self.at_least(most - count)
        return law


def worst_delta(mechanism, threshold, *, commons) -> Any:
    """The largest hockey-stick divergence over all pairs of neighbours, both ways.

    One key is common to both databases, with any number of rows of others. A unit puts some of its
    rows there, and spreads some over keys of its own.
    """
    truth = Truth(mechanism.noise.scale, threshold)
    rows = mechanism.rows_per_unit
    shares = [
        (there, spread)
        for there in range(rows + 1)
        for own in range(rows - there + 1)
        for spread in partitions(own)
    ]
    nobody: list[Any] = [(0, ())]
    hidden = {spread: truth.hides(spread) for _, spread in shares}
    ratio = e_to(mechanism.epsilon)
    worst = mpf(0)
    for others in commons:
        most = max(threshold, others + rows) + 1
        seen = [truth.common(others + count, most) for count in range(rows + 1)]
        for there, spread in shares:
            hides_new = hidden[spread]
            for then, before in nobody if mechanism.relation == "add_remove" else shares:
                hides_old = hidden[before]
                p, q = seen[there], seen[then]
                worst = max(
                    worst,
                    (1 - hides_new) + weighted(p, hides_new, q, hides_old, ratio),
                    (1 - hides_old) + weighted(q, hides_old, p, hides_new, ratio),
                )
    return worst


def weighted(p, hides_p, q, hides_q, ratio) -> Any:
    """The divergence on what both can show: the common key, with all other keys hidden."""
    return mpmath.fsum(
        max(mpf(0), hides_p * mass - ratio * hides_q * q.get(o, mpf(0))) for o, mass in p.items()
    )


def settings(count, *, rows, relation) -> Any:
    draw = random.Random(f"{count} {rows} {relation}")
    for _ in range(count):
        yield KeySelection(
            epsilon=Fraction(draw.randint(1, 400), 100),
            delta=Fraction(1, 10 ** draw.randint(1, 12)) * Fraction(draw.randint(10, 99), 100),
            rows_per_unit=draw.randint(1, rows),
            relation=relation,
        )


def check_worst(count, relation) -> Any:
    slack = mpf("1e-27")
    with mpmath.mp.workdps(30):
        for mechanism in settings(count, rows=4, relation=relation):
            threshold = mechanism.threshold
            commons = (0, 1, threshold)
            worst = worst_delta(mechanism, threshold, commons=commons)
            reported = number(mechanism.delta_at(threshold))
            assert worst <= reported + slack
            assert reported <= number(mechanism.delta)
            truth = Truth(mechanism.noise.scale, threshold)
            low = 1 - truth.hides((0,) * mechanism.rows_per_unit) > 1 - mpmath.exp(-truth.rate)
            if relation == "add_remove" or not low:
                assert reported <= worst + slack, "and no more than that"


def test_delta_under_add_remove_is_the_worst_divergence_both_ways():
    check_worst(100, "add_remove")


def test_delta_under_change_one_is_never_below_the_worst_divergence():
    check_worst(20, "change_one")


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("epsilon", ["1/100", "1/4", "3"])
def test_delta_under_change_one_holds_at_low_thresholds_too(rows, epsilon):
    mechanism = KeySelection(epsilon=epsilon, delta=1e-6, rows_per_unit=rows, relation="change_one")
    with mpmath.mp.workdps(20):
        for threshold in (1, 2, 3, 8, 30):
            commons = (0, 1, threshold)
            worst = worst_delta(mechanism, threshold, commons=commons)
            assert worst <= number(mechanism.delta_at(threshold)) + mpf("1e-17")


@pytest.mark.deep
@pytest.mark.parametrize("relation", ["add_remove", "change_one"])
def test_delta_is_never_under_reported_in_a_thousand_settings(relation):
    check_worst(1000, relation)


@pytest.mark.parametrize("relation", ["add_remove", "change_one"])
def test_no_spread_of_up_to_twelve_rows_shows_a_key_more_often_than_reported(relation):
    for mechanism in settings(100, rows=12, relation=relation):
        truth = Truth(mechanism.noise.scale, mechanism.threshold)
        reported = number(mechanism.delta_at(mechanism.threshold))
        shown = [1 - truth.hides(spread) for spread in partitions(mechanism.rows_per_unit)]
        slack = mpf("1e-45")
        assert max(shown) <= reported + slack
        if relation == "add_remove":
            assert max(shown) >= reported - slack


@pytest.mark.parametrize("relation", ["add_remove", "change_one"])
def test_where_keys_are_bounded_all_of_them_full_is_the_worst(relation):
    for keys, rows in ((1, 1), (3, 2), (2, 5)):
        mechanism = KeySelection(
            epsilon=1, delta=1e-5, rows_per_unit=rows, keys_per_unit=keys, relation=relation
        )
        assert mechanism.sensitivity == keys * rows * (1 if relation == "add_remove" else 2)
        truth = Truth(mechanism.noise.scale, mechanism.threshold)
        reported = number(mechanism.delta_at(mechanism.threshold))
        assert 1 - truth.hides((rows,) * keys) <= reported + mpf("1e-45")


@pytest.mark.parametrize("relation", ["add_remove", "change_one"])
def test_the_threshold_is_the_smallest_that_will_do(relation):
    for mechanism in settings(50, rows=8, relation=relation):
        threshold = mechanism.threshold
        assert mechanism.delta_at(threshold) <= mechanism.delta
        if threshold > mechanism.rows_per_unit + 1:
            assert mechanism.delta_at(threshold - 1) > mechanism.delta


def test_a_threshold_for_one_row_under_reports_nineteenfold():
    # What happens to those who sum over one row only: 20 rows may sit in 20 keys.
    scale, wanted = Fraction(20), mpf("1e-9")
    naive = next(t for t in range(2, 2000) if Truth(scale, t).at_least(t - 1) <= wanted)
    truth = Truth(scale, naive)
    real = 1 - truth.hides((1,) * 20)
    assert mpf("1.9e-8") < real < mpf("2.0e-8")
    assert 1 - truth.hides((20,)) < real
    honest = KeySelection(epsilon=1, delta=1e-9, rows_per_unit=20)
    assert honest.noise == TwoSidedGeometric(scale)
    assert number(honest.delta_at(naive)) == pytest.approx(real, rel=1e-30)
    assert honest.threshold > naive


@pytest.mark.parametrize("spread", [(1, 1), (2,)])
def test_the_code_shows_a_new_key_as_often_as_delta_says(spread):
    # With noise this steep a boundary atom more or less would change the chance by e^2.
    mechanism = KeySelection(epsilon=4, delta=1e-3, rows_per_unit=2)
    counts = {f"key {i}": rows for i, rows in enumerate(spread)}
    found, leftover = distribution(lambda: bool(mechanism.release(counts)), reach=20)
    truth = Truth(mechanism.noise.scale, mechanism.threshold)
    assert leftover < 1e-15
    assert abs(found[True] - (1 - truth.hides(spread))) <= leftover
    assert found[True] <= number(mechanism.delta) + leftover


def test_the_code_is_private_where_keys_are_shared_and_new():
    mechanism = KeySelection(epsilon=4, delta=1e-3, rows_per_unit=2)
    base = mechanism.threshold - 1

    def law(counts) -> Any:
        run = lambda: tuple(sorted(mechanism.release(counts).items()))  # noqa: E731
        return distribution(run, reach=20)

    before, lost = law({"shared": base})
    after, lost_too = law({"shared": base + 1, "new": 1})
    for p, q in ((before, after), (after, before)):
        assert excess(p, q, 4) <= number(mechanism.delta) + lost + lost_too
    # Not so with less noise than was asked for.
    assert excess(after, before, 1) > number(mechanism.delta) + lost + lost_too


def test_a_noisy_count_equal_to_the_threshold_is_shown():
    mechanism = KeySelection(epsilon=1, delta=1e-6)
    missing = mechanism.threshold - 5
    release = lambda: mechanism.release({"a": 5, "b": 5})  # noqa: E731
    assert scripted(release, [missing, missing - 1]) == {"a": mechanism.threshold}


def test_a_key_of_no_rows_is_no_key():
    mechanism = KeySelection(epsilon=1, delta=1e-6)
    assert scripted(lambda: mechanism.release({"ghost": 0}), [10**6]) == {}
    shown, noisy = scripted(lambda: mechanism.release_array([0, 1]), [10**6, 10**6])
    assert shown.tolist() == [False, True]
    assert noisy.tolist() == [0, 10**6 + 1]


def test_the_order_of_the_counts_is_not_released():
    mechanism = KeySelection(epsilon=1, delta=1e-6)
    counts = {"b": 1000, "a": 1000, "c": 2000}
    for order in (["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]):
        shuffled = {key: counts[key] for key in order}
        released = scripted(partial(mechanism.release, shuffled), [0, 0, 0])
        assert list(released.items()) == [("c", 2000), ("a", 1000), ("b", 1000)]


def test_no_keys_give_no_keys():
    mechanism = KeySelection(epsilon=1, delta=1e-6)
    assert mechanism.release({}) == {}
    shown, noisy = mechanism.release_array([])
    assert (shown.shape, noisy.shape) == ((0,), (0,))


def test_counts_shown_follow_the_noise():
    # Binomial; false alarms: one in a million each.
    mechanism = KeySelection(epsilon=1, delta="1e-2")
    n = 40_000
    count = mechanism.threshold - 1
    shown, noisy = mechanism.release_array(np.full(n, count))
    chance = float(1 - mechanism.noise.cdf(0))
    assert binomtest(int(shown.sum()), n, chance).pvalue > ALPHA
    atom = float(mechanism.noise.pmf(1))
    assert binomtest(int((noisy == mechanism.threshold).sum()), n, atom).pvalue > ALPHA
    shown, _ = mechanism.release_array(np.ones(n, np.int64))
    assert binomtest(int(shown.sum()), n, float(mechanism.delta_at(mechanism.threshold))).pvalue > (
        ALPHA
    )


def test_a_key_is_shown_from_the_stated_count_on():
    mechanism = KeySelection(epsilon="1/2", delta=1e-8, rows_per_unit=3)
    enough = mechanism.shown_from("0.99")
    assert 1 - mechanism.noise.cdf(mechanism.threshold - enough - 1) >= Fraction(99, 100)
    assert 1 - mechanism.noise.cdf(mechanism.threshold - enough) < Fraction(99, 100)


@pytest.mark.parametrize(
    "counts",
    [
        None,
        [1, 2],
        5,
        {"a": -1},
        {"a": 1.0},
        {"a": None},
        {"a": "1"},
        {"a": True},
        {"a": [1], "b": [1, 2]},
        {"a": float("nan")},
    ],
)
def test_counts_are_whole_numbers_by_key(counts):
    with pytest.raises(InvalidValue, match=r"\n\nHint: "):
        KeySelection(epsilon=1, delta=1e-6).release(counts)


def test_counts_too_large_are_refused_and_large_ones_do_not_wrap():
    mechanism = KeySelection(epsilon="1/1000", delta=1e-6)
    assert mechanism.release({"a": 2**61 - 1})["a"] > 2**60
    with pytest.raises(OutOfRange):
        mechanism.release({"a": 2**61})


@pytest.mark.parametrize("name", ["rows_per_unit", "keys_per_unit"])
@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, "2", True, float("nan"), float("inf"), [2]])
def test_rows_and_keys_per_unit_are_whole_numbers(name, value):
    with pytest.raises(InvalidInput, match=rf"{name} = .*\n\nHint: {name}=1"):
        KeySelection(epsilon=1, delta=1e-6, **{name: value})


def test_the_event_says_what_was_promised():
    event = KeySelection(epsilon=1, delta=1e-9, rows_per_unit=20, relation="change_one").event
    assert event.mechanism == "key_selection"
    assert event.parameters == {"epsilon": 1, "delta": Fraction(1, 10**9)}
    assert event.sensitivity == 40
    assert event.relation == "change_one"
