"""Reports as they travel: one line of JSON each, and nothing received is trusted.

``{"v": 1, "survey": "<its id>", "id": "<32 hexadecimal digits>", "report": ...}``

The id is drawn at random for each report, so that a report sent twice is counted once. It must say
nothing of the person or the device.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import NamedTuple

from discreet.local.randomizer import Report
from discreet.local.survey import Survey
from discreet.noise import bits

VERSION = 1

_ID = re.compile("[0-9a-f]{32}")
_FIELDS = {"v", "survey", "id", "report"}
_LONGEST = 1 << 22  # a line longer than this is not worth reading


class Fault(StrEnum):
    """Why a report was dropped."""

    MALFORMED = "malformed"
    FOREIGN = "foreign"
    OUT_OF_DOMAIN = "out_of_domain"
    DUPLICATE = "duplicate"


class Received(NamedTuple):
    """A report that could be read: its id, and what it says."""

    id: bytes
    report: Report


def new_id() -> bytes:
    """A random name for one report."""
    return bits.random_bytes(16).tobytes()


def write(survey: Survey, report: Report, *, name: bytes | None = None) -> str:
    """One report as a line of JSON."""
    known = new_id() if name is None else name
    return json.dumps(
        {
            "v": VERSION,
            "survey": survey.id,
            "id": known.hex(),
            "report": survey.randomizer.write(report),
        },
        separators=(",", ":"),
    )


def read(survey: Survey, line: str | bytes) -> Received | Fault:
    """One report from a line of JSON, or what is wrong with it. Never an error.

    >>> from discreet.local.two_coins import TwoCoins
    >>> survey = Survey("Have you ever ...?", randomizer=TwoCoins())
    >>> read(survey, write(survey, 1)).report
    1
    >>> read(survey, '{"v": 1}')
    <Fault.MALFORMED: 'malformed'>
    """
    if len(line) > _LONGEST:
        return Fault.MALFORMED
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return Fault.MALFORMED
    if not isinstance(data, dict) or set(data) != _FIELDS:
        return Fault.MALFORMED
    if type(data["v"]) is not int or data["v"] != VERSION:
        return Fault.MALFORMED
    if not isinstance(data["id"], str) or not _ID.fullmatch(data["id"]):
        return Fault.MALFORMED
    if not isinstance(data["survey"], str):
        return Fault.MALFORMED
    if data["survey"] != survey.id:
        return Fault.FOREIGN
    report = survey.randomizer.read(data["report"])
    if report is None:
        return Fault.OUT_OF_DOMAIN
    return Received(bytes.fromhex(data["id"]), report)
