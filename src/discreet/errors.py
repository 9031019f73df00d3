"""Every error that Discreet raises on purpose.

::

    DiscreetError
    ├── InvalidInput (also a ValueError)      the caller's words are off          exit 2
    │   ├── InvalidNumber                     not a finite number at all
    │   ├── InvalidEpsilon                    epsilon not in (0, infinity)
    │   ├── InvalidDelta                      delta not in (0, 1)
    │   ├── InvalidSensitivity                sensitivity not in (0, infinity)
    │   ├── InvalidScale                      a scale outside what can be sampled
    │   ├── InvalidConfidence                 confidence not in (0, 1)
    │   ├── InvalidRelation                   a neighbour relation nobody defined
    │   ├── InvalidEvent                      a written event that cannot be read
    │   ├── InvalidProbability                rows that are not distributions
    │   ├── InvalidValue                      NaN, infinite or of the wrong kind
    │   ├── OffGrid                           a value that is not on the public grid
    │   ├── OutOfRange                        a value too large for exact integers
    │   ├── TooLarge                          a size that would take forever
    │   ├── UnboundedUniverse                 types that cannot all be listed
    │   ├── InvalidName                       a name that a ledger cannot write down
    │   ├── InvalidCharge                     too small to be counted
    │   ├── InvalidPolicy                     a policy with mistakes, each at its line
    │   ├── InvalidSurvey                     a survey, or its state, that cannot be read
    │   └── InvalidQuery                      SQL that does not parse or make sense
    │       ├── UnknownName                   a table, column or function nobody declared
    │       └── WrongType                     an operation on values of the wrong type
    ├── Refused                               understood, and not allowed         exit 3
    │   ├── UnboundedSensitivity              one person could change it without limit
    │   ├── Exhausted                         a mechanism that has already stopped
    │   ├── Undecided                         two reals too close to tell apart
    │   ├── UnknownEvent                      no theorem here prices the event
    │   ├── MixedRelations                    losses that speak of different neighbours
    │   ├── InsufficientBudget                it would cost more than is left      exit 4
    │   ├── NoSensitivity                     a query that the relation gives no bound
    │   ├── UnknownAccount                    a data set or an analyst without a budget
    │   ├── AccessRevoked                     the curator has closed the budget
    │   ├── KeyReused                         one idempotency key, two requests
    │   ├── RequestChanged                    one request, two different sets of events
    │   ├── PolicyDiffers                     the ledger holds other caps than the policy
    │   ├── LedgerExists                      a ledger is begun once
    │   ├── LedgerClosed                      the curator must decide first
    │   ├── CountedTwice                      two tallies that hold the same reports
    │   └── Unsupported                       SQL that is not on the list of what is allowed
    ├── NotInstalled                          a package asked for is not there     exit 1
    ├── EngineFailed                          the engine gave up                   exit 1
    └── LedgerFailed                          no charge could be written, so no answer  exit 1
        ├── LedgerBusy                        another process holds it for too long
        └── LedgerCorrupt                     damaged, or not what was written

Each class carries a stable ``code`` for programs, an HTTP status, a SQLSTATE and a process
exit status. A message says what was given and which rule it broke, then after a blank line
``Hint:`` with the text to try. Messages never hold a private value: where the fault lies in the
data, they say where and what kind, not what.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import ClassVar, NamedTuple


class DiscreetError(Exception):
    """The root of all of them: ``str(error)`` is the message followed by its hint."""

    code: ClassVar[str] = "error"
    http_status: ClassVar[int] = 500
    sqlstate: ClassVar[str] = "XX000"
    exit_status: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message if hint is None else f"{message}\n\nHint: {hint}")

    def to_json(self) -> dict[str, dict[str, str | None]]:
        """The one JSON shape of an error, the same in the shell and over HTTP."""
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


class InvalidInput(DiscreetError, ValueError):
    """What was given breaks a rule that could be read beforehand."""

    code = "invalid_input"
    http_status = 400
    sqlstate = "22023"
    exit_status = 2


class InvalidNumber(InvalidInput):
    """Not a number that can be taken exactly."""

    code = "invalid_number"


class InvalidEpsilon(InvalidInput):
    """epsilon must be positive and finite."""

    code = "invalid_epsilon"


class InvalidDelta(InvalidInput):
    """delta must lie strictly between 0 and 1."""

    code = "invalid_delta"


class InvalidSensitivity(InvalidInput):
    """sensitivity must be positive and finite."""

    code = "invalid_sensitivity"


class InvalidScale(InvalidInput):
    """The scale of the noise is outside what can be sampled exactly."""

    code = "invalid_scale"


class InvalidConfidence(InvalidInput):
    """confidence must lie strictly between 0 and 1."""

    code = "invalid_confidence"


class InvalidRelation(InvalidInput):
    """The neighbour relation is not one of those that are defined."""

    code = "invalid_relation"


class InvalidEvent(InvalidInput):
    """A written event that this version cannot read."""

    code = "invalid_event"


class InvalidProbability(InvalidInput):
    """Negative, above one, or rows that do not sum to one."""

    code = "invalid_probability"


class InvalidValue(InvalidInput):
    """A value of the wrong kind, NaN or infinite."""

    code = "invalid_value"


class OffGrid(InvalidInput):
    """A value that is not a multiple of the mechanism's grid."""

    code = "off_grid"


class OutOfRange(InvalidInput):
    """A value too large to be held exactly."""

    code = "out_of_range"
    sqlstate = "22003"


class TooLarge(InvalidInput):
    """The answer would take too long or too much memory; stopped before it hurts."""

    code = "too_large"
    sqlstate = "54000"


class Refused(DiscreetError):
    """Understood, and not allowed."""

    code = "refused"
    http_status = 403
    sqlstate = "42501"
    exit_status = 3


class UnboundedSensitivity(Refused):
    """One person could change the answer without limit."""

    code = "unbounded_sensitivity"


class Exhausted(Refused):
    """The mechanism has given its last answer."""

    code = "exhausted"


class Undecided(Refused):
    """Two real numbers are equal, or too close to be told apart in reasonable time."""

    code = "undecided"


class UnknownEvent(Refused):
    """No theorem of this accountant bounds the loss of the event."""

    code = "unknown_event"


class MixedRelations(Refused):
    """Losses under different neighbour relations have no sum."""

    code = "mixed_relations"


class InsufficientBudget(Refused):
    """The charge does not fit under a cap; nothing was charged.

    ``asked`` and ``remaining`` map the components that are summed (``"epsilon"``, ``"delta"``,
    ``"rho"`` ...) to exact amounts; ``whose`` names the cap.
    """

    code = "insufficient_budget"
    http_status = 402
    sqlstate = "53400"
    exit_status = 4

    def __init__(
        self,
        message: str,
        *,
        asked: Mapping[str, Fraction],
        remaining: Mapping[str, Fraction],
        whose: str,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.asked = dict(asked)
        self.remaining = dict(remaining)
        self.whose = whose


class UnboundedUniverse(InvalidInput):
    """A universe whose types cannot all be listed, where a list of them is needed."""

    code = "unbounded_universe"


class NoSensitivity(Refused):
    """The neighbour relation gives the query no sensitivity at all, finite or not."""

    code = "no_sensitivity"


class InvalidName(InvalidInput):
    """A name of a data set, an analyst or a key that cannot be written down."""

    code = "invalid_name"


class InvalidCharge(InvalidInput):
    """A charge smaller than a ledger can count."""

    code = "invalid_charge"


class PolicyMistake(NamedTuple):
    """One mistake of a policy; lines and columns count from 1, and are None without a file."""

    where: str
    line: int | None
    column: int | None
    message: str
    hint: str


class InvalidPolicy(InvalidInput):
    """A policy that cannot be used; ``mistakes`` holds all that were found."""

    code = "invalid_policy"

    def __init__(
        self, message: str, *, mistakes: Iterable[PolicyMistake] = (), hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.mistakes = tuple(mistakes)


class UnknownAccount(Refused):
    """The ledger has no budget for this data set or analyst."""

    code = "unknown_account"
    http_status = 404
    sqlstate = "42704"


class AccessRevoked(Refused):
    """The curator has closed this budget."""

    code = "access_revoked"


class KeyReused(Refused):
    """The idempotency key already stands for another request."""

    code = "key_reused"
    http_status = 409
    sqlstate = "23505"


class RequestChanged(Refused):
    """The request is already charged, for other events than these."""

    code = "request_changed"
    http_status = 409
    sqlstate = "23505"


class PolicyDiffers(Refused):
    """The policy states other caps than the ledger holds, and the ledger is the truth."""

    code = "policy_differs"
    http_status = 409
    sqlstate = "55000"


class LedgerExists(Refused):
    """There is a ledger in the place where one was to begin."""

    code = "ledger_exists"
    http_status = 409
    sqlstate = "42P07"


class LedgerClosed(Refused):
    """The ledger is missing or older than it was: nothing is answered until the curator decides."""

    code = "ledger_closed"
    http_status = 503
    sqlstate = "55000"


class LedgerFailed(DiscreetError):
    """The ledger could not be read or written, so nothing may be answered."""

    code = "ledger_failed"
    http_status = 503
    sqlstate = "58030"


class LedgerBusy(LedgerFailed):
    """Another process has held the ledger for too long."""

    code = "ledger_busy"
    sqlstate = "55P03"


class LedgerCorrupt(LedgerFailed):
    """The ledger is damaged, or somebody has changed what was written."""

    code = "ledger_corrupt"
    sqlstate = "XX001"


class InvalidQuery(InvalidInput):
    """SQL that cannot be parsed, or that means nothing."""

    code = "invalid_query"
    sqlstate = "42601"


class UnknownName(InvalidQuery):
    """A table, column or function that nobody declared."""

    code = "unknown_name"
    sqlstate = "42703"


class WrongType(InvalidQuery):
    """An operation on values of a type that it is not defined for."""

    code = "wrong_type"
    sqlstate = "42804"


class Unsupported(Refused):
    """SQL that is not on the list of what is allowed."""

    code = "unsupported"
    sqlstate = "0A000"


class EngineFailed(DiscreetError):
    """The engine could not answer. What it said stays in the curator's log."""

    code = "engine_failed"
    sqlstate = "XX000"


class InvalidSurvey(InvalidInput):
    """A written survey, or the state of one, that this version cannot read or must not trust."""

    code = "invalid_survey"


class CountedTwice(Refused):
    """Two tallies that hold the same reports have no sum."""

    code = "counted_twice"
    http_status = 409
    sqlstate = "23505"


class NotInstalled(DiscreetError):
    """What was asked for needs a package that is not installed."""

    code = "not_installed"
    http_status = 501
    sqlstate = "0A000"
