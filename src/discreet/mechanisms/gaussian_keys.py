"""Key selection under Gaussian noise: much lower thresholds where a unit has few rows in a key."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.exact import Rational, Real
from discreet.mechanisms.key_selection import Thresholded, shown
from discreet.noise.gaussian import RoundedGaussian
from discreet.theory.neighbours import Relation


@dataclass(frozen=True)
class GaussianKeySelection(Thresholded):
    """Shows the keys whose counts, with Gaussian noise added, reach a threshold.

    Bounds on a unit are those of ``KeySelection``. ``sigma`` is the noise of a Gaussian mechanism
    that is (epsilon, delta')-private, of these counts alone or of a longer vector that they are
    part of; what is released of a key beside its count is shown with it or not at all.

    Guarantee: (epsilon, delta' + ``delta``)-differential privacy of all that is shown.
    Exactness: the threshold is the least whose ``delta``, summed exactly, is small enough. Rounded
    normal noise is log-concave, so the worst spread of rows is one of the same two.
    Reference: docs/explanation/key-selection.md.

    >>> selection = GaussianKeySelection(sigma=50, delta=5e-10, rows_per_unit=2, keys_per_unit=10)
    >>> selection.threshold
    326
    """

    sigma: Fraction
    delta: Fraction
    rows_per_unit: int
    keys_per_unit: int | None
    relation: Relation
    threshold: int

    def __init__(
        self,
        *,
        sigma: Rational,
        delta: Rational,
        rows_per_unit: int = 1,
        keys_per_unit: int | None = None,
        relation: str = "add_remove",
    ) -> None:
        object.__setattr__(self, "sigma", RoundedGaussian(sigma).sigma)
        self._bound(delta, rows_per_unit, keys_per_unit, relation)

    @property
    def noise(self) -> RoundedGaussian:
        """The noise added to each count."""
        return RoundedGaussian(self.sigma)

    def delta_at(self, threshold: int) -> Real:
        """What a threshold adds to the delta of the noise: keys of a unit's own that are shown.

        Where a unit is changed, keys may appear and others vanish: both count.
        """
        worst = Real.max_of(*(shown(self.noise, threshold, *spread) for spread in self.spreads()))
        return worst if self.relation is Relation.ADD_REMOVE else worst + worst
