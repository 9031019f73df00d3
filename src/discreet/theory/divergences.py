"""How far apart two output distributions are, in the measures that define privacy."""

from __future__ import annotations

from fractions import Fraction

from discreet.exact import Real


def gaussian_delta(*, sigma: Fraction, sensitivity: Fraction, epsilon: Fraction) -> Real:
    """The smallest delta for which Gaussian noise is (epsilon, delta)-private.

    With s = sensitivity / sigma: ``Phi(s/2 - epsilon/s) - e^epsilon Phi(-s/2 - epsilon/s)``, the
    hockey-stick divergence between two normals at distance ``sensitivity``.

    Reference: Balle and Wang (2018), Theorem 8.

    >>> float(gaussian_delta(sigma=Fraction(1), sensitivity=Fraction(1), epsilon=Fraction(1)))
    0.12693673750664394
    """
    shift = sensitivity / sigma / 2
    tilt = epsilon * sigma / sensitivity
    above = Real(shift - tilt).normal_cdf()
    below = Real(-shift - tilt).normal_cdf()
    return above - Real(epsilon).exp() * below
