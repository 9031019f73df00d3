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

    def __init__(self, released: bytes, stream: int = 0) -> None:
        key = hashlib.sha256(b"discreet replicas %d\0" % stream + released).digest()
        self._stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def draw(self, noise: Symmetric, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Noise of the given kind, in whole steps."""
        count = math.prod(shape)
        scale = float(noise.scale)
        # In place, because the longest answers have replicas by the million.
        drawn = self._uniform(count)
        if isinstance(noise, RoundedGaussian):
            np.log(drawn, out=drawn)
            drawn *= -2.0
            np.sqrt(drawn, out=drawn)
            angle = self._uniform(count)
            angle *= 2.0 * math.pi
            drawn *= np.cos(angle, out=angle)
            drawn *= scale
            np.rint(drawn, out=drawn)
        else:
            drawn *= 2.0
            drawn -= 1.0
            size = np.abs(drawn)
            np.log(size, out=size)
            size += math.log1p(math.expm1(-1.0 / scale) / 2.0)
            size *= -scale
            np.floor(size, out=size)
            np.copysign(size, drawn, out=drawn)
        return drawn.reshape(shape)

    def _uniform(self, count: int) -> NDArray[np.float64]:
        """Doubles strictly between 0 and 1."""
        words = np.frombuffer(self._stream.update(bytes(8 * count)), dtype=np.uint64)
        uniform = (words >> np.uint64(12)).astype(np.float64)
        uniform += 0.5
        uniform *= 2.0**-52
        return uniform
