"""Auditing a whole SQL answer: from the rows of two neighbouring files to the noisy table.

The exact numbers of each file are computed once; what is repeated is the release, through the same
call that answers analysts. Nothing is charged, since nobody is told: the report speaks of both
files, is as private as they are, and belongs to whoever holds them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from discreet.audit.blackbox import Progress, audit
from discreet.audit.claim import Claim
from discreet.audit.features import Array
from discreet.audit.greybox import groups_of
from discreet.audit.report import Report
from discreet.errors import InvalidInput
from discreet.exact import Rational
from discreet.session import Session
from discreet.session.measure import Aggregates
from discreet.session.request import Request
from discreet.session.terms import Terms

_MOST_GROUPS = 12
"""How many groups are watched: those that differ, and a few others."""


@dataclass(frozen=True)
class Pair:
    """A query on two neighbouring data sets, ready to be released as often as one likes."""

    session: Session
    requests: tuple[Request, Request]
    exact: tuple[Aggregates, Aggregates]

    @property
    def claim(self) -> Claim:
        """What the session would charge for the answer."""
        noise = self.requests[0].noise
        return Claim(noise.epsilon, delta=noise.delta)

    def release(self, which: int, n: int) -> Array:
        """``n`` independent answers about one of the two, a row each; NaN where no group shows."""
        request, exact = self.requests[which], self.exact[which]
        watched = self.watched()
        here = {group: place for place, group in enumerate(groups_of(exact))}
        shown = [(column, here[group]) for column, group in enumerate(watched) if group in here]
        parts, places = len(exact.values), [place for _, place in shown]
        columns = np.full((n, len(watched), parts), np.nan)
        if places:
            # Groups get their noise independently: n answers are one with n times the groups.
            many = Aggregates(
                (tuple(range(n * len(places))),),
                [np.tile(values[places], n) for values in exact.values],
                n * len(places),
            )
            table = self.session.release(request, many)
            answers = np.full((n * len(places), parts), np.nan)
            kept = np.asarray(table.keys[0], dtype=np.intp)
            for part, values in enumerate(table.primitives):
                answers[kept, part] = values
            columns[:, [column for column, _ in shown]] = answers.reshape(n, len(places), parts)
        flat = columns.reshape(n, -1)
        return flat if request.noise.selection is not None else flat.astype(np.int64)

    def watched(self) -> list[Any]:
        """The groups that an answer here shows: those that differ first."""
        one, other = (
            dict(zip(groups_of(each), np.transpose(each.values).tolist(), strict=True))
            if each.values
            else {}
            for each in self.exact
        )
        every = list(dict.fromkeys([*one, *other]))
        differing = [group for group in every if one.get(group) != other.get(group)]
        same = [group for group in every if one.get(group) == other.get(group)]
        return (differing + same[:2])[:_MOST_GROUPS]


def pair(session: Session, swap: Callable[[], None], text: str, **terms: Unpack[Terms]) -> Pair:
    """Plan a query and aggregate it, before and after ``swap`` changes the data underneath."""
    first = session.plan(text, **terms)
    before = session.aggregate(first)
    swap()
    session.prepare(first.dataset.name, refresh=True)
    second = session.plan(text, **terms)
    after = session.aggregate(second)
    if first.noise.scales != second.noise.scales:
        raise InvalidInput(
            "the two data sets get different noise, so that alone tells them apart.",
            hint="two files of the same columns and the same policy.",
        )
    return Pair(session, (first, second), (before, after))


def audit_sql(
    found: Pair,
    *,
    claim: Claim | None = None,
    samples: int = 1_000_000,
    seconds: float = 60.0,
    confidence: Rational = "0.999",
    progress: Progress | None = None,
) -> Report:
    """Try to refute that an answer costs no more than it is charged."""
    return audit(
        lambda which, n: found.release(int(which == "the neighbour"), n),
        ("the data", "the neighbour"),
        claim or found.claim,
        samples=samples,
        seconds=seconds,
        confidence=confidence,
        progress=progress,
    )
