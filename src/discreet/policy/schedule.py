"""When a snapshot is made anew: a clock that everybody can read, and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_EVERY = re.compile(r"every ([1-9][0-9]{0,3}) (minutes?|hours?|days?)")
_DAILY = re.compile(r"daily(?: at ([01][0-9]|2[0-3]):([0-5][0-9]))?")
_MIDNIGHT = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Moments that are ``period`` apart, counted from the first midnight of 1970 (UTC).

    They do not depend on when a snapshot was made, how long that took, or what is in it.

    >>> noon = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
    >>> schedule = Schedule.read("every 6 hours")
    >>> str(schedule.latest(noon)), str(schedule.next(noon))
    ('2026-01-31 12:00:00+00:00', '2026-01-31 18:00:00+00:00')
    """

    period: timedelta
    start: datetime = _MIDNIGHT

    @staticmethod
    def read(text: str) -> Schedule | None:
        """``every 6 hours``, ``daily`` or ``daily at 03:00``; anything else is no schedule."""
        if every := _EVERY.fullmatch(text):
            return Schedule(timedelta(**{every[2].rstrip("s") + "s": int(every[1])}))
        if daily := _DAILY.fullmatch(text):
            at = timedelta(hours=int(daily[1] or 0), minutes=int(daily[2] or 0))
            return Schedule(timedelta(days=1), _MIDNIGHT + at)
        return None

    def latest(self, now: datetime) -> datetime:
        """The last moment that has come: what was made before it is outdated."""
        return self.start + (now - self.start) // self.period * self.period

    def next(self, now: datetime) -> datetime:
        """The first moment that is still to come."""
        return self.latest(now) + self.period
