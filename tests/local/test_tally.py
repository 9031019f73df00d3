"""The collector: nothing received can stop it, nothing is counted twice, nothing is lost."""

import io
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from discreet.errors import CountedTwice, InvalidSurvey, InvalidValue
from discreet.local import KaryResponse, Survey, Tally, TwoCoins, arrow, reports, shares
from tests.local.test_client import MADE, survey_of

COINS = Survey("Have you ever ...?", randomizer=TwoCoins())
NAMES = [name for name in MADE if name != "hashing"] + ["hashing"]


def simulated(survey: Survey, n: int) -> Any:
    return survey.randomizer.simulate(np.arange(n) % survey.randomizer.size)


def line(**changes: Any) -> str:
    good = json.loads(reports.write(COINS, 1, name=bytes(16)))
    return json.dumps({**good, **changes})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "malformed"),
        ("{", "malformed"),
        ("[1, 2]", "malformed"),
        ("null", "malformed"),
        ("9" * 5000, "malformed"),
        ("[" * 100_000, "malformed"),
        ('{"v": NaN}', "malformed"),
        (line(v=2), "malformed"),
        (line(v=True), "malformed"),
        (line(v=1.0), "malformed"),
        (line(id="x" * 32), "malformed"),
        (line(id=None), "malformed"),
        (line(id="00"), "malformed"),
        (line(extra=1), "malformed"),
        (line(survey=7), "malformed"),
        (line(survey="0" * 32), "foreign"),
        (line(report=2), "out_of_domain"),
        (line(report=-1), "out_of_domain"),
        (line(report=True), "out_of_domain"),
        (line(report=1.0), "out_of_domain"),
        (line(report="1"), "out_of_domain"),
        (line(report=None), "out_of_domain"),
        (line(report=10**400), "out_of_domain"),
    ],
)
def test_a_report_that_is_none_is_counted_and_dropped(text, fault):
    assert reports.read(COINS, text) == fault
    tally = Tally(COINS)
    tally.add_lines([text or "x", reports.write(COINS, 0)])
    assert (tally.n, dict(tally.dropped)) == (1, {fault: 1})


@given(st.lists(st.one_of(st.binary(max_size=60), st.text(max_size=60))))
def test_no_bytes_stop_the_count(lines):
    tally = Tally(COINS)
    tally.add_lines(lines)
    assert tally.n == 0


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
        max_leaves=8,
    )
)
def test_no_report_of_any_shape_stops_the_count(anything):
    for name in NAMES:
        survey = survey_of(MADE[name]())
        tally = Tally(survey)
        wrapped = {"v": 1, "survey": survey.id, "id": "0" * 32, "report": anything}
        tally.add_lines([json.dumps(wrapped)])
        assert tally.n + sum(tally.dropped.values()) == 1


@pytest.mark.parametrize("name", NAMES)
def test_lines_arrays_and_arrow_give_the_same_counters(name, tmp_path):
    survey = survey_of(MADE[name]())
    rows = simulated(survey, 500)
    direct, lines, batches, files = (Tally(survey) for _ in range(4))
    direct.add_reports(rows)
    lines.add_lines(reports.write(survey, survey.randomizer.unrow(row)) for row in rows)
    ids = [reports.new_id() for _ in rows]
    batches.add_batch(arrow.to_batch(survey, rows[:200], ids[:200]))
    batches.add_batch(arrow.to_batch(survey, rows[200:], ids[200:]))
    for suffix, part in ((".arrow", rows[:300]), (".parquet", rows[300:])):
        arrow.write_file(survey, part, tmp_path / f"reports{suffix}")
        files.add_file(tmp_path / f"reports{suffix}")
    assert direct.n == 500
    for other in (lines, batches, files):
        assert (other.n, other.counters, sum(other.dropped.values())) == (500, direct.counters, 0)


@pytest.mark.parametrize("name", NAMES)
def test_an_engine_counts_with_a_group_by(name, tmp_path):
    survey = survey_of(MADE[name]())
    rows = simulated(survey, 2_000)
    direct, grouped = Tally(survey), Tally(survey)
    direct.add_reports(rows)
    arrow.write_file(survey, rows, tmp_path / "reports.parquet")
    engine = duckdb.connect()
    answer = engine.execute(
        "SELECT report, COUNT(*) FROM read_parquet(?) GROUP BY report",
        [str(tmp_path / "reports.parquet")],
    ).fetchall()
    engine.close()
    values: Any = np.empty(len(answer), dtype=object)
    values[:] = [value for value, _ in answer]
    if isinstance(answer[0][0], tuple | list):
        values = np.array([list(value) for value, _ in answer])
    elif isinstance(answer[0][0], int):
        values = np.array([value for value, _ in answer])
    grouped.add_groups(values, [count for _, count in answer])
    assert (grouped.n, grouped.counters) == (direct.n, direct.counters)


def test_groups_that_cannot_be_are_dropped_and_counted():
    tally = Tally(COINS)
    tally.add_groups([0, 1, 2, -5], [30, 70, 4, 6])
    assert (tally.n, tally.counters, tally.dropped["out_of_domain"]) == (100, [30, 70], 10)
    with pytest.raises(InvalidValue, match="GROUP BY"):
        tally.add_groups([0, 1], [1])
    with pytest.raises(InvalidValue, match="GROUP BY"):
        tally.add_groups([0, 1], [1, -1])
    with pytest.raises(InvalidValue, match="GROUP BY"):
        tally.add_groups([0, 1], [1.5, 1])


def test_billions_are_counted_exactly():
    tally = Tally(COINS)
    for _ in range(3):
        tally.add_groups([0, 1], [2**61, 2**61 + 1])
    assert tally.counters == [3 * 2**61, 3 * 2**61 + 3]


def test_arrow_columns_of_any_kind_never_stop_the_count():
    columns = [
        pa.array([None, 1, 5, 0]),
        pa.array(["a", "b", None, ""]),
        pa.array([1.0, 0.0, float("nan"), None]),
        pa.array([True, False, None, True]),
        pa.array([b"", b"\0", None, b"\xff\xff\xff"]),
        pa.array([[1], [], None, [1, 2, 3]]),
        pa.array([[1, 2, 3], None, [9, 9, 9], [0, None, 0]], pa.list_(pa.int64(), 3)),
        pa.array([2**64 - 1, 0, 1, 2], pa.uint64()),
        pa.nulls(4),
    ]
    for name in NAMES:
        survey = survey_of(MADE[name]())
        for column in columns:
            tally = Tally(survey)
            tally.add_batch(pa.record_batch([column], names=["report"]))
            tally.add_batch(pa.record_batch([column, column], names=["report", "id"]))
            tally.add_batch(pa.record_batch([column], names=["other"]))
            assert tally.n + sum(tally.dropped.values()) == 12


def test_a_report_sent_twice_is_counted_once_whichever_way_it_comes(tmp_path):
    tally = Tally(COINS)
    name = reports.new_id()
    tally.add_lines([reports.write(COINS, 1, name=name)] * 2)
    tally.add_batch(arrow.to_batch(COINS, np.array([0, 1]), [name, reports.new_id()]))
    tally.save(tmp_path / "state.json")
    again = Tally.load(COINS, tmp_path / "state.json")
    again.add_lines([reports.write(COINS, 0, name=name)])
    assert (again.n, again.dropped["duplicate"]) == (2, 3)


def test_a_dropped_report_does_not_use_up_its_id():
    tally = Tally(COINS)
    name = reports.new_id()
    tally.add_batch(arrow.to_batch(COINS, np.array([7]), [name]))
    tally.add_batch(arrow.to_batch(COINS, np.array([1]), [name]))
    assert (tally.n, dict(tally.dropped)) == (1, {"out_of_domain": 1, "duplicate": 0})


def test_reports_of_another_survey_are_foreign():
    other = Survey("Do you ...?", randomizer=TwoCoins())
    tally = Tally(COINS)
    tally.add_batch(arrow.to_batch(other, np.array([0, 1])))
    tally.add_lines([reports.write(other, 0)])
    assert (tally.n, tally.dropped["foreign"]) == (0, 3)


def test_a_file_is_counted_once(tmp_path):
    tally = Tally(COINS)
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(reports.write(COINS, k % 2) for k in range(10)))
    assert tally.add_file(file)
    copy = file.with_name("b.ndjson")
    copy.write_bytes(file.read_bytes())
    assert not tally.add_file(copy)
    assert tally.n == 10


@pytest.mark.parametrize("form", ["arrow", "parquet", "arrows"])
def test_a_damaged_table_counts_for_nothing(form, tmp_path):
    whole = tmp_path / f"whole.{form}"
    rows = simulated(COINS, 5_000)
    if form == "arrows":
        with pa.ipc.new_stream(str(whole), arrow.schema(COINS, ids=False)) as writer:
            for start in range(0, 5_000, 500):
                writer.write_batch(arrow.to_batch(COINS, rows[start : start + 500]))
    else:
        arrow.write_file(COINS, rows, whole)
    content = whole.read_bytes()
    for place, damaged in enumerate((b"", b"nonsense", content[: len(content) // 2])):
        file = tmp_path / f"damaged{place}.{form}"
        file.write_bytes(damaged)
        tally = Tally(COINS)
        tally.add_file(file)
        # A stream may end wherever a batch does; a file that ends early has no footer.
        assert (tally.n == 0 and tally.dropped["unreadable"] == 1) or form == "arrows"
        assert tally.n < 5_000
    tally.add_file(whole)
    assert tally.n >= 5_000


def test_a_stream_counts_as_far_as_it_goes():
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, arrow.schema(COINS, ids=False)) as writer:
        for _ in range(4):
            writer.write_batch(arrow.to_batch(COINS, simulated(COINS, 100)))
    whole, broken = Tally(COINS), Tally(COINS)
    whole.add_stream(io.BytesIO(sink.getvalue()))
    broken.add_stream(io.BytesIO(sink.getvalue()[:-900]))
    assert (whole.n, sum(whole.dropped.values())) == (400, 0)
    assert 0 < broken.n < 400
    assert broken.dropped["unreadable"] == 1


def test_tallies_merge_and_what_was_counted_by_both_is_refused(tmp_path):
    rows = simulated(COINS, 1_000)
    parts = [Tally(COINS), Tally(COINS)]
    parts[0].add_reports(rows[:400])
    parts[1].add_reports(rows[400:])
    both = Tally(COINS)
    both.add_reports(rows)
    parts[0].merge(parts[1])
    assert (parts[0].n, parts[0].counters) == (both.n, both.counters)

    name = reports.new_id()
    left, right = Tally(COINS), Tally(COINS)
    left.add_lines([reports.write(COINS, 0, name=name)])
    right.add_lines([reports.write(COINS, 0, name=name)])
    with pytest.raises(CountedTwice, match="Hint"):
        left.merge(right)
    with pytest.raises(CountedTwice, match="Hint"):
        left.merge(left)
    with pytest.raises(InvalidValue, match="different surveys"):
        left.merge(Tally(Survey("Do you?", randomizer=TwoCoins())))
    assert left.n == 1


def test_a_state_survives_and_a_crash_leaves_the_old_one(tmp_path, monkeypatch):
    state = tmp_path / "state.json"
    tally = Tally(COINS)
    tally.add_reports(simulated(COINS, 1_000))
    tally.save(state)
    assert Tally.load(COINS, state).to_json() == tally.to_json()
    tally.add_reports(simulated(COINS, 1_000))

    def fail(*_: object) -> None:
        raise OSError("no power")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no power"):
        tally.save(state)
    assert Tally.load(COINS, state).n == 1_000


def test_the_state_is_small_however_many_reports():
    tally = Tally(COINS)
    tally.add_reports(simulated(COINS, 1_000_000))
    assert len(json.dumps(tally.to_json())) < 300


@pytest.mark.parametrize(
    "change",
    [
        {"discreet": "survey"},
        {"version": 2},
        {"survey": "0" * 32},
        {"counters": [1]},
        {"counters": [1, -1]},
        {"counters": [1, 1.5]},
        {"counters": None},
        {"n": -1},
        {"n": True},
        {"dropped": []},
        {"dropped": {"malformed": -1}},
        {"ids": "AAAA"},
        {"ids": "not base64"},
        {"sources": [1]},
        {"sources": None},
    ],
)
def test_a_state_that_is_none_is_refused(change):
    good = Tally(COINS).to_json()
    with pytest.raises(InvalidSurvey, match="Hint"):
        Tally.from_json(COINS, {**good, **change})


def test_files_that_cannot_be_are_refused(tmp_path):
    tally = Tally(COINS)
    with pytest.raises(InvalidValue, match="jsonl"):
        tally.add_file(tmp_path / "reports.csv")
    with pytest.raises(InvalidValue, match="opened"):
        tally.add_file(tmp_path / "none.jsonl")


def test_parquet_written_by_others_is_read(tmp_path):
    survey = Survey("Which?", randomizer=KaryResponse(size=5, epsilon=1))
    rows = simulated(survey, 1_000)
    table = pa.table({"report": pa.array(rows.astype(np.uint8)), "when": pa.array(range(1_000))})
    parquet.write_table(table, tmp_path / "theirs.parquet")
    tally = Tally(survey)
    tally.add_file(tmp_path / "theirs.parquet")
    assert tally.n == 1_000
    assert len(shares(survey.randomizer, tally.counters, tally.n)) == 5  # type: ignore[arg-type]
