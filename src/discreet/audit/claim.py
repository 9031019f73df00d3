"""What an audit tries to refute."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.groups import group_delta
from discreet.errors import InvalidDelta, InvalidInput
from discreet.exact import Rational, Real, rational
from discreet.exact import epsilon as exact_epsilon


@dataclass(frozen=True, init=False)
class Claim:
    """``P(M(x) in S) <= e^epsilon P(M(x') in S) + delta`` for every S, both ways round.

    With ``group`` people between the inputs, what the claim for one of them implies for all.

    >>> Claim(1, group=3).epsilon
    Fraction(3, 1)
    >>> str(Claim(0.5, delta=1e-6))
    'epsilon 0.5, delta 1e-06'
    """

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: Rational, *, delta: Rational = 0, group: int = 1) -> None:
        level, slack = exact_epsilon(epsilon), rational(delta, name="delta", error=InvalidDelta)
        if not 0 <= slack < 1:
            raise InvalidDelta(
                f"delta = {delta} is not allowed: it must be at least 0 and below 1.",
                hint="delta=1e-6",
            )
        if isinstance(group, bool) or not isinstance(group, int) or group < 1:
            raise InvalidInput(f"group = {group!r} is not a number of people.", hint="group=1")
        object.__setattr__(self, "epsilon", level * group)
        object.__setattr__(self, "delta", group_delta(level, slack, group))

    def allows(self, probability: Fraction, other: Fraction) -> bool:
        """Whether an event may have these probabilities under two neighbours."""
        return Real(self.epsilon).exp() * other + self.delta >= probability

    @property
    def ceiling(self) -> float:
        """How often an attacker can at most guess right which of two inputs it was, rounded up."""
        grown = Real(self.epsilon).exp()
        return min(((grown + self.delta) / (1 + grown)).float_up(), 1.0)

    def __str__(self) -> str:
        """As people write it."""
        also = f", delta {float(self.delta):g}" if self.delta else ""
        return f"epsilon {float(self.epsilon):g}{also}"
