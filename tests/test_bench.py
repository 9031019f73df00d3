"""The benchmarks' own machinery."""

import importlib
import json

import pytest
from rich.console import Console

from bench import table
from bench.__main__ import NAMES
from bench.harness import RESULTS, Row, Sheet, best, timed, turns
from bench.peers import Peer, PeerError

KEYS = ["name", "ours", "peer", "unit", "ratio", "target", "holds"]


def test_the_sides_take_turns_and_each_has_its_rounds():
    order = turns([10, 10, 2])
    assert [order.count(side) for side in range(3)] == [10, 10, 2]
    assert order[:4] == [0, 1, 0, 1]
    # The rare side plays once in each half, and not only at one end.
    assert [turn < len(order) / 2 for turn, side in enumerate(order) if side == 2] == [True, False]


def test_each_side_is_judged_by_its_best_round():
    first, second = iter([3.0, 1.0, 2.0]), iter([5.0])
    assert best([lambda: next(first), lambda: next(second)], [3, 1]) == [1.0, 5.0]


def test_a_timed_side_does_the_work_and_says_how_long_it_took():
    done = []
    assert timed(lambda: done.append(1))() >= 0
    assert done == [1]


@pytest.mark.parametrize(
    ("ours", "peer", "unit", "target", "ratio", "holds"),
    [
        (50.0, 100.0, "M/s", 0.5, 0.5, True),
        (49.0, 100.0, "M/s", 0.5, 0.49, False),
        (0.5, 1.0, "s", 1.0, 2.0, True),
        (2.0, 1.0, "s", 1.0, 0.5, False),
        (0.2, None, "s", 0.3, None, True),
        (0.4, None, "s", 0.3, None, False),
        (40.0, None, "M/s", 50.0, None, False),
        (40.0, None, "M/s", None, None, None),
    ],
)
def test_a_row_is_better_when_its_ratio_is_higher(ours, peer, unit, target, ratio, holds):
    row = Row.of("a race", ours=ours, peer=peer, unit=unit, target=target)
    assert (row.ratio, row.holds) == (ratio, holds)


def test_the_verdict_is_on_what_was_measured_not_on_what_is_shown():
    row = Row.of("close", ours=0.499999, peer=1.0, unit="M/s", target=0.5)
    assert row.ratio == 0.5
    assert row.holds is False


def test_a_sheet_writes_the_rows_it_was_given(tmp_path):
    sheet = Sheet("race", Console(quiet=True))
    sheet.add(Row.of("a race", ours=2.0, peer=1.0, unit="M/s", target=1.0))
    (row,) = json.loads(sheet.write(tmp_path).read_text())
    assert list(row) == KEYS
    assert row["ratio"] == 2.0


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_committed_results_have_the_agreed_form(path):
    assert path.stem in NAMES
    rows = json.loads(path.read_text())
    assert rows
    assert all(list(row) == KEYS for row in rows)


def test_the_page_of_benchmarks_is_the_one_the_results_give():
    assert table.PAGE.read_text() == table.page()


def test_a_row_that_falls_short_is_shown_as_such(tmp_path):
    sheet = Sheet("race", Console(quiet=True))
    sheet.add(Row.of("lost", ours=1.0, peer=2.0, unit="M/s", target=1.0))
    sheet.write(tmp_path)
    assert "| lost | 1 | 2 | M/s | 0.5 | 1 | **no** |" in table.page(tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_can_be_run(name):
    assert callable(importlib.import_module(f"bench.{name}").run)


def test_a_worker_answers_over_the_pipe():
    with Peer(None, worker="bench.streaming") as worker:
        for kind in ("geometric", "gaussian"):
            answer = worker.ask("stream", kind=kind, scale=10, count=1000)
            assert answer["seconds"] > 0
            assert answer["grown_megabytes"] >= 0
        assert worker.side("stream", kind="geometric", scale=1, count=10)() > 0


def test_a_worker_says_what_it_cannot_do_and_goes_on():
    with Peer(None, worker="bench.streaming") as worker:
        with pytest.raises(PeerError, match="no task 'dance'; there are: stream"):
            worker.ask("dance")
        with pytest.raises(PeerError, match="TypeError"):
            worker.ask("stream", kind="geometric")
        assert worker.ask("stream", kind="geometric", scale=1, count=1)["seconds"] > 0


def test_a_dead_worker_is_an_error_not_a_silence():
    with (
        Peer(None, worker="bench.no_such_worker") as worker,
        pytest.raises(PeerError, match="ended"),
    ):
        worker.ask("stream")
