"""Privacy loss distributions of a fixed batch, through dp-accounting (extra ``pld``).

The tightest numbers there are, and the only ones here that are not certified: dp-accounting rounds
each distribution pessimistically onto a grid, which is sound, and then convolves with fast Fourier
transforms in double precision and truncates tails, whose rounding nobody has bounded. Read them as
an estimate, good to about 1e-9 in delta; never spend by them.
"""

from __future__ import annotations

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


def epsilon(counted: Batch, delta: Fraction) -> Fraction:
    """dp-accounting's epsilon at delta: an estimate in floats."""
    library = _library()
    total: Any = None
    for known, count in counted.counts:
        one = _distribution(library, known)
        many = one.self_compose(count) if count > 1 else one
        total = many if total is None else total.compose(many)
    return Fraction(float(total.get_epsilon_for_delta(float(delta))))


def _distribution(library: Any, known: Curve) -> Any:
    if isinstance(known, Normal):
        return library.from_gaussian_mechanism(1 / float(known.square) ** 0.5)
    if isinstance(known, Geometric) and known.steps <= _MOST_STEPS:
        return library.from_discrete_laplace_mechanism(
            float_up(known.rate), sensitivity=known.steps
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
