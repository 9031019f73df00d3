"""The interrupt key stops a question, says what stays charged, and leaves with status 1."""

from __future__ import annotations

import os
import signal
import time

from discreet.engines.duckdb import DuckDB

COUNT = "SELECT COUNT(*) AS n FROM visits"
WHO = ("--data", "visits.csv", "--unit", "patient_id", "--rows-per-unit", "7")


def test_a_question_is_stopped_and_answered_for_its_charge_when_it_is_asked_again(
    discreet, visits, monkeypatch
):
    assert discreet("snapshot", "build", *WHO).status == 0

    def interrupted(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)

    with monkeypatch.context() as patched:
        patched.setattr(DuckDB, "run", interrupted)
        done = discreet("ask", COUNT, *WHO, "--epsilon", "0.5")
    assert done.status == 1
    assert "stays charged" in done.err
    again = discreet("ask", COUNT, *WHO, "--epsilon", "0.5")
    assert again.status == 0
    assert "Left: epsilon 2.5" in again.out
