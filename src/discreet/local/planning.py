"""The error to expect before anyone is asked, and how many people to ask for a given one.

Central and local stand side by side. A trusted curator adds noise once, so the error of a share
falls like 1/n; when everybody adds noise it falls like 1/sqrt(n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidValue
from discreet.exact import Rational, Real, positive
from discreet.exact import confidence as exact_confidence
from discreet.local.estimates import Target, quantile, share_variance, target
from discreet.local.numbers import NumberRandomizer
from discreet.local.randomizer import FrequencyRandomizer, Moments, Randomizer
from discreet.noise import TwoSidedGeometric
from discreet.theory.losses import Loss, loss


def worst_variance(randomizer: Randomizer, *, target: str = "people") -> Fraction:
    """n times the largest variance an estimate can have: of a share, or of a mean in points.

    >>> from discreet.local.two_coins import TwoCoins
    >>> worst_variance(TwoCoins()), worst_variance(TwoCoins(), target="population")
    (Fraction(3, 4), Fraction(1, 1))
    """
    about = _target(target)
    if isinstance(randomizer, NumberRandomizer):
        last = randomizer.size - 1
        # Points may spread as far as half at either end; for one bit that is already within.
        drawn = Fraction(last**2, 4) if about is Target.POPULATION else Fraction(0)
        return randomizer.worst_variance + drawn
    if not isinstance(randomizer, FrequencyRandomizer):
        raise InvalidValue("this randomizer has no estimator.", hint="use one of discreet.local.")
    # The variance is linear in the share, or a parabola that opens downward.
    crowd = [Fraction(0)] * randomizer.size
    tried = []
    for share in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1)):
        crowd[0], crowd[-1] = share, 1 - share
        for value in (0, randomizer.size - 1):
            moments = randomizer.moments(value, crowd)
            tried.append(share_variance(moments, crowd[value], 1, target=about))
            tried.append(share_variance(moments, _peak(moments), 1, target=about))
    return max(tried)


def _peak(moments: Moments) -> Fraction:
    # d/df of square + square_slope f - (offset + slope f)^2
    at = (moments.square_slope - 2 * moments.offset * moments.slope) / (2 * moments.slope**2)
    return min(max(at, Fraction(0)), Fraction(1))


def expected_error(randomizer: Randomizer, n: int, *, target: str = "people") -> float:
    """The standard error of a share, or of a mean in points, at its worst.

    >>> from discreet.local.two_coins import TwoCoins
    >>> round(expected_error(TwoCoins(), 10_000), 5)
    0.00866
    """
    return math.sqrt(worst_variance(randomizer, target=target) / _people(n))


def sample_size(
    randomizer: Randomizer,
    *,
    error: Rational,
    confidence: Rational | None = None,
    target: str = "people",
) -> int:
    """How many people to ask: for this root mean square error, or with a confidence for this +-.

    >>> from discreet.local.two_coins import TwoCoins
    >>> sample_size(TwoCoins(), error=0.01)  # 0.75 / error^2
    7500
    >>> sample_size(TwoCoins(), error=0.01, target="population")  # 1 / (4 error^2) more
    10000
    """
    allowed = positive(error, name="error")
    n = worst_variance(randomizer, target=target) / allowed**2
    if confidence is not None:
        n *= Fraction(quantile(exact_confidence(confidence))) ** 2
    return math.ceil(n)


def central_error(n: int, epsilon: Loss, *, cells: int = 1) -> float:
    """The standard error of a share that a trusted curator would release from the same answers.

    Geometric noise on the count, for one person's answer changing: by 1 for a single share, by 2
    in all for a histogram (``cells`` above 1).

    >>> round(central_error(10_000, "ln 3") * 10_000, 3)  # people
    1.225
    """
    return float(_central_noise(epsilon, cells).variance.sqrt()) / _people(n)


def central_sample_size(error: Rational, epsilon: Loss, *, cells: int = 1) -> int:
    """How many people a trusted curator would need for this root mean square error."""
    wanted = positive(error, name="error")
    return math.ceil(float(_central_noise(epsilon, cells).variance.sqrt()) / wanted)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The standard errors of one share, from the same people at the same epsilon."""

    n: int
    epsilon: float
    local: float
    central: float

    @property
    def times_worse(self) -> float:
        """How many times larger the local model's error is."""
        return self.local / self.central


def compare(randomizer: Randomizer, n: int) -> Comparison:
    """Local against central.

    >>> from discreet.local.two_coins import TwoCoins
    >>> round(compare(TwoCoins(), 10_000).times_worse, 1)
    70.7
    """
    cells = 1 if randomizer.size == 2 else randomizer.size
    central = central_error(n, randomizer.declared, cells=cells)
    if isinstance(randomizer, NumberRandomizer):
        # One person moves the sum by the whole range; the mean is compared in points.
        central = central_error(n, randomizer.declared) * (randomizer.size - 1)
    local = expected_error(randomizer, n)
    return Comparison(n, float(randomizer.declared), local, central)


_target = target  # the functions' argument has the same name


def _central_noise(epsilon: Loss, cells: int) -> TwoSidedGeometric:
    spent = loss(epsilon)
    sensitivity = 1 if cells == 1 else 2
    # A scale must be rational: at least what the epsilon asks for.
    return TwoSidedGeometric((Real(sensitivity) / spent).upper(40))


def _people(n: int) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise InvalidValue(
            f"n = {n!r} is not a number of people: it must be a whole number, 1 or more.",
            hint="n=1000",
        )
    return n
