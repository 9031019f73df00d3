"""Privacy loss distributions of a fixed batch, through dp-accounting (extra ``pld``).

The tightest numbers there are, and the only ones here that are not certified: dp-accounting rounds
each distribution pessimistically onto a grid, which is sound, and then convolves with fast Fourier
transforms in double precision and truncates tails, whose rounding nobody has bounded. Read them as
an estimate, good to about 1e-9 in delta; never spend by them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from discreet.accounting.batch import Batch
from discreet.accounting.curves import Curve, Geometric, Normal
from discreet.errors import Refused
from discreet.exact import float_up

THEOREM = (
    "privacy loss distributions: Sommer, Meiser and Mohammadi (2019); Doroshenko et al. (2022), "
    "in dp-accounting's floats"
)

# Over more steps than this, noise is taken as randomized response of the same epsilon, which
# dominates it: dp-accounting walks through the steps one by one.
_MOST_STEPS = 100_000

_MOST_LOSS = 500


def epsilon(counted: Batch, delta: Fraction) -> Fraction:
    """dp-accounting's epsilon at delta: an estimate in floats."""
    library = _library()
    _small_enough(counted)
    total: Any = None
    for known, count in counted.counts:
        one = _distribution(library, known)
        many = one.self_compose(count) if count > 1 else one
        total = many if total is None else total.compose(many)
    estimate = float(total.get_epsilon_for_delta(float(delta)))
    if not math.isfinite(estimate):
        raise Refused(
            f"the accountant 'pld' cannot see a delta as small as {float(delta):g}: it cuts off "
            "more than that.",
            hint='accountant="rdp"',
        )
    return Fraction(estimate)


def _small_enough(counted: Batch) -> None:
    # On a grid of 1e-4, losses beyond these would fill the memory, or overflow a float.
    largest = max((known.epsilon for known, _ in counted.others), default=Fraction(0))
    mean = float(counted.square / 2)
    mean += sum(
        count * min(float(known.epsilon), float(known.epsilon) ** 2 / 2)
        for known, count in counted.others
    )
    if largest > _MOST_LOSS or mean > _MOST_LOSS:
        raise Refused(
            f"the accountant 'pld' stops at losses of {_MOST_LOSS}, and these are larger.",
            hint='accountant="rdp"',
        )


def _distribution(library: Any, known: Curve) -> Any:
    if isinstance(known, Normal):
        return library.from_gaussian_mechanism(1 / float(known.square) ** 0.5)
    if isinstance(known, Geometric) and known.steps <= _MOST_STEPS:
        return library.from_discrete_laplace_mechanism(
            float_up(known.rate), sensitivity=known.steps, use_connect_dots=True
        )
    if known.delta == 0:  # one step of it is randomized response
        return library.from_discrete_laplace_mechanism(
            float_up(known.epsilon), use_connect_dots=True
        )
    parameters = library.common.DifferentialPrivacyParameters(
        float_up(known.epsilon), float_up(known.delta)
    )
    return library.from_privacy_parameters(parameters)


def _library() -> Any:
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        raise Refused(
            "the accountant 'pld' needs dp-accounting, which is not installed.",
            hint="pip install 'discreet[pld]', or accountant=\"rdp\", which is certified.",
        ) from None
    return privacy_loss_distribution
