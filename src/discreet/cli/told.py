"""What ``discreet theory`` found, as people read it; every number is rounded up."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from discreet.accounting.outward import significant_up


def six(value: Fraction | float) -> str:
    """Six digits, rounded up.

    >>> six(Fraction(2, 3)), six(0.25)
    ('0.666667', '0.25')
    """
    exact = Fraction(value)
    return f"{float(significant_up(exact, 6)):.6g}" if exact > 0 else "0"


def epsilon_lines(found: dict[str, Any]) -> Iterator[str]:
    """The epsilon of a table, and what shows it."""
    worst = found["worst"]
    if found["epsilon"] is None:
        yield "epsilon   infinite: not private at any epsilon"
    else:
        yield f"epsilon   {_valued(found, 'epsilon')}"
    if worst is not None:
        often = "never" if worst["ratio"] is None else worst["neighbour_probability"]
        times = "" if worst["ratio"] is None else f", {worst['ratio']} times as likely"
        yield (
            f"worst     output {worst['output']!r}: {worst['probability']} for input "
            f"{worst['input']!r}, {often} for {worst['neighbour']!r}{times}"
        )
    whom = {"all": "every two inputs", "chain": "each input and the next"}
    yield f"between   {whom.get(found['neighbours'], found['neighbours'])}"
    for point in found.get("curve", []):
        yield f"delta     {_valued(point, 'delta')} at epsilon {point['epsilon']}"
    if "at_delta" in found:
        at = found["at_delta"]
        yield f"epsilon   {_valued(at, 'epsilon')} at delta {at['delta']}"
    if "claim" in found:
        claim = found["claim"]
        said = f"epsilon {claim['epsilon']}, delta {claim['delta']}"
        yield f"claim     {said}: {'holds' if claim['holds'] else 'REFUTED'}"
        if claim["witness"]:
            seen = claim["witness"]
            yield (
                f"witness   outputs {', '.join(map(repr, seen['event']))}: "
                f"{seen['probability']} for input {seen['input']!r}, "
                f"{seen['neighbour_probability']} for {seen['neighbour']!r}"
            )


def _valued(found: dict[str, Any], name: str) -> str:
    if found[name] is None:
        return "infinite"
    decimals, exact = six(found[name]), found["exact"]
    if exact is None or exact == decimals:
        return decimals
    same = "ln" not in exact and Fraction(exact) == Fraction(decimals)
    return f"{exact} = {decimals}" if same else f"{exact}, at most {decimals}"


def error_lines(found: dict[str, Any]) -> Iterator[str]:
    """The errors to expect."""
    many = found["count"]
    whose = "the error" if many == 1 else f"the worst of {many:,} errors"
    also = "" if found["delta"] is None else f", delta {found['delta']}"
    yield (
        f"{found['mechanism']} noise of scale {six(found['scale'])} "
        f"(epsilon {found['epsilon']}{also}, sensitivity {found['sensitivity']})"
    )
    yield f"  {whose} is at most {six(found['within'])} with {found['confidence']} confidence"
    if found["textbook"] is not None:
        yield f"  the textbook's bound for that is {six(found['textbook'])}"
    yield f"  on average one error is {six(found['mean_error'])} (rms {six(found['rms_error'])})"
    if found["expected_largest"] is not None and many > 1:
        yield f"  on average the worst of {many:,} is {six(found['expected_largest'])}"
