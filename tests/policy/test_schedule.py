"""When a snapshot is due: by the clock, and by nothing else."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.policy.schedule import Schedule

NOW = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "latest", "following"),
    [
        ("every 6 hours", "2026-01-31 12:00", "2026-01-31 18:00"),
        ("every 1 hour", "2026-01-31 12:00", "2026-01-31 13:00"),
        ("every 20 minutes", "2026-01-31 12:20", "2026-01-31 12:40"),
        ("every 1 day", "2026-01-31 00:00", "2026-02-01 00:00"),
        ("every 7 days", "2026-01-29 00:00", "2026-02-05 00:00"),
        ("daily", "2026-01-31 00:00", "2026-02-01 00:00"),
        ("daily at 03:00", "2026-01-31 03:00", "2026-02-01 03:00"),
        ("daily at 12:30", "2026-01-31 12:30", "2026-02-01 12:30"),
        ("daily at 12:31", "2026-01-30 12:31", "2026-01-31 12:31"),
        ("daily at 23:59", "2026-01-30 23:59", "2026-01-31 23:59"),
    ],
)
def test_moments_are_counted_from_a_public_midnight(text, latest, following):
    schedule = Schedule.read(text)
    assert schedule is not None
    shown = [f"{moment:%Y-%m-%d %H:%M}" for moment in (schedule.latest(NOW), schedule.next(NOW))]
    assert shown == [latest, following]


@pytest.mark.parametrize(
    "text",
    ["", "often", "every 0 hours", "every hour", "every 6 weeks", "daily at 24:00", "Daily", "1d"],
)
def test_other_words_are_no_schedule(text):
    assert Schedule.read(text) is None


@given(
    st.datetimes(datetime(1970, 1, 3), datetime(9998, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    st.integers(1, 9999),
    st.sampled_from(["minutes", "hours", "days"]),
)
def test_now_is_always_between_two_moments_that_are_one_period_apart(now, count, unit):
    schedule = Schedule.read(f"every {count} {unit}")
    assert schedule is not None
    assert schedule.latest(now) <= now < schedule.next(now)
    assert schedule.next(now) - schedule.latest(now) == timedelta(**{unit: count})
    assert schedule.latest(schedule.latest(now)) == schedule.latest(now)
