"""What may be spent: by all analysts together, and by one of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from discreet import accounting
from discreet.accounting.loss import LEAST, MOST, small_delta
from discreet.accounting.measures import Measure, measure
from discreet.errors import InvalidInput
from discreet.exact.parameters import epsilon as exact_epsilon
from discreet.policy.mistakes import Mistake, refuse
from discreet.policy.values import number

Epsilon = Annotated[Fraction, BeforeValidator(lambda raw: exact_epsilon(number(raw)))]
SmallDelta = Annotated[Fraction, BeforeValidator(lambda raw: small_delta(number(raw)))]


class AnalystCap(BaseModel):
    """The most that one analyst may spend of a data set's budget."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    epsilon: Epsilon
    delta: SmallDelta = Fraction(0)

    @property
    def total(self) -> accounting.Budget:
        """The cap as accountants and ledgers take it."""
        return accounting.Budget(self.epsilon, self.delta)


class Budget(AnalystCap):
    """The most that all analysts together may learn about one person.

    >>> Budget(epsilon=Fraction(3)).accountant
    'pure'
    """

    accountant: str = ""
    """A filter's name; left out, ``pure`` where delta is 0 and ``approximate`` where it is not."""

    @model_validator(mode="before")
    @classmethod
    def _default(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "accountant" not in raw:
            return raw | {"accountant": "approximate" if raw.get("delta") else "pure"}
        return raw

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse(cap_mistakes(self.accountant, self, ("accountant",)))
        return self

    @property
    def measure(self) -> Measure:
        """What the accountant sums."""
        return measure(self.accountant)


def cap_mistakes(accountant: str, cap: AnalystCap, where: tuple[str, ...]) -> Iterator[Mistake]:
    """What an accountant cannot keep of a cap, or a ledger cannot count."""
    try:
        most, *_ = measure(accountant).cap(cap.total)
    except InvalidInput as error:
        yield Mistake(where, error.message, error.hint or "")
        return
    if not LEAST <= most <= MOST:
        yield Mistake(
            ("epsilon",) if isinstance(cap, Budget) else (*where, "epsilon"),
            f"a cap of {float(most):g} cannot be kept: it must lie between 1e-12 and {MOST:,}.",
            "epsilon = 1",
        )
