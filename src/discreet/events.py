"""Released facts as data: what a mechanism did, written so that it can be re-read for ever.

An event says which mechanism ran, with which parameters, on a query of which sensitivity, under
which neighbour relation. It makes no claim of its own: accountants read events and derive the
privacy loss, today's or better ones later. So *the meaning of a written event never changes*:

================  =============================  ================================================
mechanism         parameters                     what was released
================  =============================  ================================================
laplace           scale, grid                    value + noise on multiples of ``grid`` with
                                                 P(z) proportional to exp(-abs(z)/scale);
                                                 sensitivity is l1, over all coordinates
geometric         scale                          the same with grid 1
gaussian          sigma, grid                    value + normal noise of standard deviation
                                                 ``sigma``, rounded to multiples of ``grid``, each
                                                 coordinate independently; sensitivity is l2
exponential       epsilon                        one candidate, with probability proportional to
                                                 exp(epsilon * utility / (2 * sensitivity))
noisy_max         epsilon                        the index of the largest noisy utility
permute_and_flip  epsilon                        one candidate by permute-and-flip
quantile          epsilon                        one grid point, by the exponential mechanism
above_threshold   epsilon                        the position of the first value above a noisy
                                                 threshold
key_selection     epsilon, delta                 the keys whose noisy counts reach a threshold,
                                                 with those counts
declared          epsilon, delta                 anything proved (epsilon, delta)-private elsewhere
================  =============================  ================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from discreet.errors import InvalidDelta, InvalidEvent
from discreet.exact import Rational, rational
from discreet.exact.parameters import positive
from discreet.exact.parameters import sensitivity as exact_sensitivity
from discreet.theory.neighbours import Relation, relation

VERSION = 1

PARAMETERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "laplace": frozenset({"scale", "grid"}),
        "geometric": frozenset({"scale"}),
        "gaussian": frozenset({"sigma", "grid"}),
        "exponential": frozenset({"epsilon"}),
        "noisy_max": frozenset({"epsilon"}),
        "permute_and_flip": frozenset({"epsilon"}),
        "quantile": frozenset({"epsilon"}),
        "above_threshold": frozenset({"epsilon"}),
        "key_selection": frozenset({"epsilon", "delta"}),
        "declared": frozenset({"epsilon", "delta"}),
    }
)
"""The mechanisms that can be written down, each with the parameters it must carry."""


@dataclass(frozen=True, slots=True)
class Event:
    """One release.

    >>> event = Event("laplace", {"scale": "5/2", "grid": "1/4"}, 1, "add_remove")
    >>> event.parameters["scale"]
    Fraction(5, 2)
    >>> Event.from_json(event.to_json()) == event
    True
    """

    mechanism: str
    parameters: Mapping[str, Fraction]
    sensitivity: Fraction
    relation: Relation
    _hash: int = field(repr=False, compare=False)
    """Kept, because rationals take long to hash."""

    def __init__(
        self,
        mechanism: str,
        parameters: Mapping[str, Rational],
        sensitivity: Rational,
        relation: str = "add_remove",
    ) -> None:
        expected = PARAMETERS.get(mechanism) if isinstance(mechanism, str) else None
        if expected is None:
            raise InvalidEvent(
                f"mechanism = {mechanism!r} is not an event that is defined here.",
                hint=f"one of: {', '.join(sorted(PARAMETERS))}.",
            )
        if not isinstance(parameters, Mapping) or set(parameters) != expected:
            given = list(parameters) if isinstance(parameters, Mapping) else parameters
            raise InvalidEvent(
                f"a {mechanism} event has the parameters {sorted(expected)}, not {given}.",
                hint=f"give exactly: {', '.join(sorted(expected))}.",
            )
        exact = {name: _parameter(name, value) for name, value in sorted(parameters.items())}
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "parameters", MappingProxyType(exact))
        object.__setattr__(self, "sensitivity", exact_sensitivity(sensitivity))
        object.__setattr__(self, "relation", _relation(relation))
        said = (mechanism, tuple(exact.items()), self.sensitivity, self.relation)
        object.__setattr__(self, "_hash", hash(said))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy cannot be pickled; the constructor's own arguments can.
        return Event, (self.mechanism, dict(self.parameters), self.sensitivity, str(self.relation))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data with rationals as "p/q"."""
        return {
            "version": VERSION,
            "mechanism": self.mechanism,
            "parameters": {name: _written(value) for name, value in self.parameters.items()},
            "sensitivity": _written(self.sensitivity),
            "relation": str(self.relation),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Event:
        """Read what ``to_json`` wrote; anything else is refused."""
        expected = {"version", "mechanism", "parameters", "sensitivity", "relation"}
        hint = "read it with the release of discreet that wrote it, or a newer one."
        known = isinstance(data, Mapping) and set(data) == expected
        if not known or type(data["version"]) is not int or data["version"] != VERSION:
            raise InvalidEvent(
                f"an event of version {VERSION} has exactly the fields {sorted(expected)}.",
                hint=hint,
            )
        event = cls(data["mechanism"], data["parameters"], data["sensitivity"], data["relation"])
        if event.to_json() != data:
            # A number in another spelling was not written here, and its writer may have meant
            # another number.
            raise InvalidEvent('an event has its numbers in lowest terms, as "p/q".', hint=hint)
        return event


_relation = relation  # the constructor's argument has the same name


def _parameter(name: str, value: Rational) -> Fraction:
    if name != "delta":
        return positive(value, name=name, error=InvalidEvent)
    exact = rational(value, name=name, error=InvalidDelta)
    if not 0 <= exact < 1:
        raise InvalidDelta(
            f"delta = {value} is not allowed: it must lie in [0, 1).", hint="delta=1e-6"
        )
    return exact


def _written(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
