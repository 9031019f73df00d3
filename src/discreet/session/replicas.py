"""Replicas of a noisy table: what the truth may have been, given what was released.

They are post-processing and protect nobody, so they need not be exact, but they must not change:
an answer that is shown again shows the same intervals. So they are drawn from a stream that the
released numbers themselves key.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from discreet.noise import RoundedGaussian
from discreet.noise.symmetric import Symmetric


class Replicas:
    """Draws of noise that depend on the released numbers alone."""

    def __init__(self, released: bytes) -> None:
        key = hashlib.sha256(b"discreet replicas\0" + released).digest()
        self._stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def draw(self, noise: Symmetric, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Noise of the given kind, in whole steps."""
        count = math.prod(shape)
        scale = float(noise.scale)
        if isinstance(noise, RoundedGaussian):
            radius = np.sqrt(-2.0 * np.log(self._uniform(count)))
            drawn = np.rint(scale * radius * np.cos(2.0 * math.pi * self._uniform(count)))
        else:
            u = 2.0 * self._uniform(count) - 1.0
            lift = math.log1p(math.expm1(-1.0 / scale) / 2.0)
            drawn = np.copysign(np.floor(-scale * (np.log(np.abs(u)) + lift)), u)
        return drawn.reshape(shape)

    def _uniform(self, count: int) -> NDArray[np.float64]:
        """Doubles strictly between 0 and 1."""
        words = np.frombuffer(self._stream.update(bytes(8 * count)), dtype=np.uint64)
        return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
