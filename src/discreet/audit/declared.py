"""Claims that a module makes of its own functions, and all of them put to the test.

A function that carries its claim is audited wherever it goes; ``discreet audit module`` finds
every such function of a module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any, TypeVar

from discreet.audit.blackbox import Function, Progress, audit
from discreet.audit.claim import Claim
from discreet.audit.report import NOT_A_PROOF, Report
from discreet.errors import InvalidInput
from discreet.exact import Rational, float_down
from discreet.exact import confidence as exact_confidence

_MARK = "__discreet_claims__"

Marked = TypeVar("Marked", bound=Callable[..., Any])


@dataclass(frozen=True)
class Declared:
    """A function, and one of the claims that it carries."""

    name: str
    function: Function
    inputs: tuple[Any, Any]
    claim: Claim


def claims(
    *, epsilon: Rational, inputs: tuple[Any, Any], delta: Rational = 0, group: int = 1
) -> Callable[[Marked], Marked]:
    """Write down beside a function what it claims between two neighbouring inputs.

    The function is called as ``function(input, n)``, returns n independent outputs, and stays what
    it was. Several claims, about several pairs of inputs, stand above one another.

    >>> from discreet.noise import TwoSidedGeometric
    >>> @claims(epsilon=1, inputs=(10, 11))
    ... @claims(epsilon=1, inputs=(10, 13), group=3)
    ... def noisy_count(count, n):
    ...     return count + TwoSidedGeometric(1).sample(n)
    >>> len(noisy_count(10, 5))
    5
    """
    if not isinstance(inputs, tuple) or len(inputs) != 2:
        raise InvalidInput(
            f"inputs = {inputs!r} are not two neighbouring inputs.", hint="inputs=(10, 11)"
        )
    made = (inputs, Claim(epsilon, delta=delta, group=group))

    def mark(function: Marked) -> Marked:
        # Decorators run from the bottom up; the claims are told from the top down.
        setattr(function, _MARK, (made, *getattr(function, _MARK, ())))
        return function

    return mark


def declared(module: ModuleType) -> tuple[Declared, ...]:
    """Every claim of a module, in the order in which its functions are written."""
    return tuple(_declared(module))


def _declared(module: ModuleType) -> Iterator[Declared]:
    seen: set[int] = set()
    for name, found in vars(module).items():
        if isinstance(found, type) or id(found) in seen:
            continue
        seen.add(id(found))
        for inputs, claim in getattr(found, _MARK, ()):
            yield Declared(name, found, inputs, claim)


def audit_module(
    module: ModuleType,
    *,
    samples: int = 10_000_000,
    seconds: float = 60.0,
    confidence: Rational = "0.999",
    progress: Progress | None = None,
) -> ModuleReport:
    """Try to refute every claim of a module.

    ``samples`` and ``seconds`` are for each claim. The confidence is that of the whole table: the
    chance that any true claim is refuted is shared out among them.
    """
    found, sure = declared(module), exact_confidence(confidence)
    if not found:
        raise InvalidInput(
            f"{module.__name__} declares no claim.",
            hint="@discreet.audit.claims(epsilon=1, inputs=(10, 11)) above def f(value, n): ...",
        )
    each = 1 - (1 - sure) / len(found)
    reports = []
    for place, one in enumerate(found):
        part = progress and _part(progress, place, len(found), one.name)
        reports.append(
            audit(
                one.function,
                one.inputs,
                one.claim,
                samples=samples,
                seconds=seconds,
                confidence=each,
                progress=part,
            )
        )
        if part:
            part(1.0, reports[-1].verdict)
    names = tuple(one.name for one in found)
    return ModuleReport(module.__name__, sure, names, tuple(reports))


def _part(progress: Progress, place: int, parts: int, name: str) -> Progress:
    return lambda done, told: progress((place + done) / parts, f"{name}: {told}")


_HEAD = ("function", "inputs", "claim", "epsilon is at least", "verdict")


@dataclass(frozen=True)
class ModuleReport:
    """What became of every claim of a module."""

    module: str
    confidence: Fraction
    """Of all verdicts together."""
    functions: tuple[str, ...]
    reports: tuple[Report, ...]

    @property
    def refuted(self) -> bool:
        """Whether any claim is."""
        return any(report.refuted for report in self.reports)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "module": self.module,
            "confidence": float_down(self.confidence),
            "refuted": self.refuted,
            "claims": [
                {"function": name, "inputs": list(report.inputs), **report.to_json()}
                for name, report in zip(self.functions, self.reports, strict=True)
            ],
        }

    def __str__(self) -> str:
        """A table, and for what is refuted the event that shows it."""
        rows = [_HEAD] + [
            (name, " ".join(report.inputs), str(report.claim), report.bound, report.verdict)
            for name, report in zip(self.functions, self.reports, strict=True)
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        events = [
            f"  {name}: {report.best.event}"
            for name, report in zip(self.functions, self.reports, strict=True)
            if report.refuted
        ]
        refuted = sum(report.refuted for report in self.reports)
        sure = f"{float(100 * self.confidence):g} %"
        return "\n".join(
            [
                *lines,
                "",
                f"{refuted} of {len(self.reports)} claims refuted, with {sure} confidence for all.",
                *(["The events that show it:", *events] if events else []),
                *([NOT_A_PROOF] if refuted < len(self.reports) else []),
            ]
        )
