"""Frequent values are found among more than anybody could list."""

import math
from collections import Counter

import numpy as np
import pytest

from discreet.errors import InvalidValue
from discreet.local import PrefixTree
from discreet.local.heavy_hitters import of_text, to_text
from discreet.theory.losses import ln

TREE = PrefixTree(bits=32, epsilon=3, step=8)


def crowd(n: int) -> list[int]:
    """A third say "rain", a fifth "snow", the rest all sorts of things."""
    common = [of_text("rain", bits=32)] * (n // 3) + [of_text("snow", bits=32)] * (n // 5)
    others: list[int] = np.random.default_rng(1).integers(0, 2**32, n - len(common)).tolist()
    return common + others


def test_frequent_texts_are_found_and_rare_ones_are_not():
    found = TREE.find(TREE.simulate(crowd(60_000)))
    words = [to_text(each.value, bits=32) for each in found]
    assert words[:2] == ["rain", "snow"]
    assert len(words) <= 3
    for each, share in zip(found, (1 / 3, 1 / 5), strict=False):
        # Reports of the last level only: a quarter of the people.
        assert abs(float(each.share) - share) < 6 * each.share.standard_error + 0.01


def test_nothing_is_found_where_nothing_is_frequent():
    values = np.random.default_rng(2).integers(0, 2**32, 20_000).tolist()
    assert len(TREE.find(TREE.simulate(values))) <= 1


def test_single_reports_are_like_simulated_ones():
    values = crowd(6_000)
    written = [list(TREE.respond(value)) for value in values]
    gathered, dropped = TREE.gather(written)
    assert dropped == 0
    levels = Counter(report[0] for report in written)
    assert all(abs(levels[level] - 1_500) < 6 * math.sqrt(1_500) for level in range(4))
    assert to_text(TREE.find(gathered)[0].value, bits=32) == "rain"


@pytest.mark.parametrize(
    "report", [None, [], [4, 1, 1, 1], [0], [0, 1, 1], [0, 1, 1, 99], [0, -1, 1, 1], "x", [True]]
)
def test_reports_that_cannot_be_are_counted_and_dropped(report):
    gathered, dropped = TREE.gather([report, list(TREE.respond(5))])
    assert dropped == 1
    assert sum(map(len, gathered.values())) == 1


def test_a_report_loses_epsilon_at_every_level():
    assert float(ln(TREE.ratio)) <= 3
    assert {level.kind for level in TREE.levels} == {"hashing"}
    small = PrefixTree(bits=4, epsilon=1, step=2)
    # The level is drawn before the value is looked at.
    words = [[7, 1, 2, 3], [7, 1, 2, 3]]
    assert small.perturb(0, iter(words[0]))[0] == small.perturb(15, iter(words[1]))[0]


def test_no_reports_find_nothing():
    assert TREE.find({}) == ()
    assert TREE.find(TREE.gather([])[0]) == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda: PrefixTree(bits=32, epsilon=1, step=7),
        lambda: PrefixTree(bits=4, epsilon=1, step=8),
        lambda: PrefixTree(bits=10**6, epsilon=1, step=8),
        lambda: TREE.respond(2**32),
        lambda: TREE.respond(-1),
        lambda: TREE.respond(True),
        lambda: TREE.find({}, most=10**9),
        lambda: of_text("too long a text", bits=32),
        lambda: of_text("a\0b", bits=32),
    ],
)
def test_what_makes_no_sense_is_refused(make):
    with pytest.raises(InvalidValue, match="Hint"):
        make()
