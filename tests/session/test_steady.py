"""What the clock shows: whole ticks, whatever happened in between."""

from __future__ import annotations

import time

import pytest

from discreet.errors import EngineFailed, InvalidPolicy
from discreet.session.steady import TICK, steady
from tests.session.made import ward

SLOW = 0.3  # seconds: longer than these queries take


def test_the_next_tick_ends_work_that_failed_too():
    begun = time.perf_counter()
    with pytest.raises(ZeroDivisionError), steady():
        raise ZeroDivisionError
    assert time.perf_counter() - begun >= TICK


def test_work_that_ends_at_a_tick_waits_for_the_next():
    # Were it let through at once, its length would tell that it ended just there.
    slept: list[float] = []
    times = iter([0.0, 2 * TICK, 3 * TICK])
    with steady(clock=lambda: next(times), sleep=slept.append):
        pass
    assert slept == [TICK]


def test_answers_and_failures_of_a_data_set_come_at_its_ticks(tmp_path):
    with ward(tmp_path, tick=SLOW, mode="live") as session:
        begun = time.perf_counter()
        session.sql("SELECT COUNT(*) FROM visits", epsilon=1)
        assert time.perf_counter() - begun >= SLOW
        for file in tmp_path.glob("*.parquet"):  # its schema can be read, and no row
            whole = file.read_bytes()
            file.write_bytes(whole[:4] + b"\xff" * 200 + whole[204:])
        begun = time.perf_counter()
        with pytest.raises(EngineFailed):
            session.sql("SELECT COUNT(*) FROM visits", epsilon=2)
        assert time.perf_counter() - begun >= SLOW


@pytest.mark.parametrize("tick", [0, -1, 3601, float("nan"), "soon"])
def test_a_tick_is_a_number_of_seconds(tmp_path, tick):
    with pytest.raises(InvalidPolicy, match="tick"):
        ward(tmp_path, tick=tick)
