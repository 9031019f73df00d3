"""What an audit found, and what that means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.audit.claim import Claim
from discreet.exact import Real, float_down, float_up

NOT_A_PROOF = (
    "Not refuting is not proving: another event, other inputs or more samples may still refute it."
)


@dataclass(frozen=True)
class Evidence:
    """One event, measured on samples that had no part in choosing it."""

    event: str
    swapped: bool
    seen: int
    against: int
    trials: int
    alpha: float
    least: Fraction
    """The event's probability under the input that it is likelier for, at least."""
    most: Fraction
    """Its probability under the other one, at most."""

    def epsilon(self, delta: Fraction) -> float:
        """The epsilon that it proves, at this delta; rounded down, 0 where it proves nothing."""
        over = self.least - delta
        if over <= self.most:
            return 0.0
        return Real(over / self.most).log().float_down()

    def delta(self, epsilon: Fraction) -> float:
        """The delta that it proves, at this epsilon; rounded down."""
        return max((self.least - Real(epsilon).exp() * self.most).float_down(), 0.0)


@dataclass(frozen=True)
class Report:
    """The outcome of a black-box audit."""

    claim: Claim
    confidence: Fraction
    inputs: tuple[str, str]
    refuted: bool
    best: Evidence
    samples: int
    """Drawn for each of the two inputs."""
    seconds: float
    events: int
    features: tuple[str, ...]
    stopped: str

    @property
    def epsilon(self) -> float:
        """The privacy loss is at least this, at the stated confidence (and the claim's delta)."""
        return self.best.epsilon(self.claim.delta)

    @property
    def delta(self) -> float:
        """At the claim's epsilon, delta is at least this."""
        return self.best.delta(self.claim.epsilon)

    @property
    def bound(self) -> str:
        """The epsilon that is proved, as people read it; rounded down."""
        return f"{math.floor(self.epsilon * 10_000) / 10_000:g}"

    @property
    def verdict(self) -> str:
        """In two words at most."""
        return "REFUTED" if self.refuted else "not refuted"

    def to_json(self) -> dict[str, Any]:
        """As plain data; bounds are rounded outward."""
        best = self.best
        likelier, other = self.inputs[::-1] if best.swapped else self.inputs
        return {
            "claim": {"epsilon": str(self.claim.epsilon), "delta": str(self.claim.delta)},
            "confidence": float_down(self.confidence),
            "refuted": self.refuted,
            "epsilon_at_least": self.epsilon,
            "delta_at_least": self.delta,
            "event": {
                "words": best.event,
                "likelier_under": likelier,
                "other": other,
                "seen": best.seen,
                "seen_under_other": best.against,
                "trials": best.trials,
                "probability_at_least": float_down(best.least),
                "other_probability_at_most": float_up(best.most),
            },
            "samples_per_input": self.samples,
            "seconds": round(self.seconds, 3),
            "events_tried": self.events,
            "features_tried": list(self.features),
            "stopped": self.stopped,
            "note": None if self.refuted else NOT_A_PROOF,
        }

    def __str__(self) -> str:
        """As a few lines for people."""
        sure = f"{float(100 * self.confidence):g} %"
        likelier, other = self.inputs[::-1] if self.best.swapped else self.inputs
        lines = [
            f"REFUTED: {self.claim} does not hold."
            if self.refuted
            else f"Not refuted: {self.claim} stands so far.",
            "",
            f"  epsilon is      at least {self.bound}, with {sure} confidence",
        ]
        if self.claim.delta or (self.refuted and self.delta > 0):
            lines.append(f"  delta is        at least {self.delta:.4g} at the claimed epsilon")
        best = self.best
        lines += [
            f"  best event      {best.event}",
            f"  seen            {best.seen:,} times in {best.trials:,} with {likelier}",
            f"                  {best.against:,} times in {best.trials:,} with {other}",
            f"  tried           {self.events:,} events on {len(self.features)} features",
            f"  samples         {self.samples:,} of each input, in {self.seconds:.1f} s",
            f"  stopped         {self.stopped}",
        ]
        if not self.refuted:
            lines += ["", NOT_A_PROOF]
        return "\n".join(lines)
