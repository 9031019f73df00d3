"""Pictures of surveys as Vega-Lite specifications: plain dictionaries, drawn by whoever can."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.local.estimates import Estimates
from discreet.local.kary import KaryResponse
from discreet.local.planning import central_error, expected_error

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_EPSILONS = tuple(Fraction(tenths, 10) for tenths in range(1, 41))
_PEOPLE = tuple(10**power for power in range(2, 9))


def shares(estimates: Estimates, options: Sequence[str], *, question: str) -> dict[str, Any]:
    """The estimated shares with their intervals."""
    rows = [
        {
            "answer": option,
            "share": float(share),
            "low": share.low,
            "high": share.high,
        }
        for option, share in zip(options, estimates.shares, strict=True)
    ]
    answer = {"field": "answer", "type": "nominal", "sort": None, "title": None}
    percent = {"axis": {"format": "%"}, "title": "share of the people"}
    return {
        "$schema": _SCHEMA,
        "title": {
            "text": question,
            "subtitle": f"{estimates.n:,} randomized reports; bars reach as far as "
            f"{float(estimates.confidence):.0%} intervals do",
        },
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "opacity": 0.6},
                "encoding": {
                    "y": answer,
                    "x": {"field": "share", "type": "quantitative", **percent},
                },
            },
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "y": answer,
                    "x": {"field": "low", "type": "quantitative", **percent},
                    "x2": {"field": "high"},
                },
            },
        ],
    }


def central_against_local(
    *,
    people: Sequence[int] = (1_000, 10_000, 100_000, 1_000_000),
    epsilons: Sequence[Fraction] = _EPSILONS,
) -> dict[str, Any]:
    """Privacy against accuracy for "have you ever ...?": the two models, for several n."""
    rows = [
        {"epsilon": float(epsilon), "error": error, "model": model, "people": f"{n:,}"}
        for n in people
        for epsilon in epsilons
        for model, error in (
            ("local: everybody adds noise", _local(epsilon, n)),
            ("central: a curator adds noise", central_error(n, epsilon)),
        )
    ]
    return {
        "$schema": _SCHEMA,
        "title": {
            "text": "Have you ever ...? What privacy costs without a curator",
            "subtitle": "standard error of the share of yes, against the people's own share",
        },
        "data": {"values": rows},
        "mark": {"type": "line"},
        "encoding": {
            "x": {"field": "epsilon", "type": "quantitative", "title": "epsilon (less is safer)"},
            "y": {
                "field": "error",
                "type": "quantitative",
                "scale": {"type": "log"},
                "axis": {"format": "~%"},
                "title": "standard error (less is better)",
            },
            "color": {"field": "people", "type": "nominal", "sort": None},
            "strokeDash": {"field": "model", "type": "nominal"},
        },
    }


def error_by_people(epsilon: Fraction, *, people: Sequence[int] = _PEOPLE) -> dict[str, Any]:
    """How the error falls: like 1/sqrt(n) in the local model, like 1/n in the central one."""
    rows = [
        {"people": n, "error": error, "model": model}
        for n in people
        for model, error in (("local", _local(epsilon, n)), ("central", central_error(n, epsilon)))
    ]
    return {
        "$schema": _SCHEMA,
        "title": f"The error of a share at epsilon {float(epsilon):g}",
        "data": {"values": rows},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "people", "type": "quantitative", "scale": {"type": "log"}},
            "y": {
                "field": "error",
                "type": "quantitative",
                "scale": {"type": "log"},
                "title": "standard error",
            },
            "color": {"field": "model", "type": "nominal"},
        },
    }


def _local(epsilon: Fraction, n: int) -> float:
    return expected_error(KaryResponse(size=2, epsilon=epsilon), n)
